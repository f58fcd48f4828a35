//! What a user asks of checkpoints: savepoints, which are waited for, and that the job ends at the next one.

use crate::error::{Error, ErrorKind, Result};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What has been asked for and what has come of it. A clone is the same one.
#[derive(Clone, Default)]
pub(crate) struct Savepoints(Arc<(Mutex<Asked>, Condvar)>);

#[derive(Default)]
struct Asked {
    /// How many have been asked for, how many of those by the time at which the last one began, and how many have an outcome.
    wanted: u64,
    begun: u64,
    given: u64,
    /// The newest outcome.
    outcome: Option<Result<u64, String>>,
    stop: Stop,
    /// The job is over, and why.
    over: Option<String>,
}

/// Whether the job ends at a checkpoint.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Stop {
    #[default]
    No,
    /// At one that begins at once.
    Wanted,
    /// At the next one: the one before it has failed.
    Later,
    /// At the one that has begun.
    Begun,
    /// It is complete.
    Done,
}

impl Savepoints {
    fn lock(&self) -> MutexGuard<'_, Asked> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for one; the number to wait for.
    pub fn ask(&self) -> u64 {
        let mut asked = self.lock();
        asked.wanted += 1;
        asked.wanted
    }

    /// Waits for the savepoint that was asked for: the number of the checkpoint.
    pub fn wait(&self, number: u64) -> Result<u64> {
        let mut asked = self.lock();
        while asked.given < number && asked.over.is_none() {
            asked = self.0.1.wait(asked).unwrap_or_else(PoisonError::into_inner);
        }
        let outcome = asked.outcome.clone().filter(|_| asked.given >= number);
        let over = || Err(asked.over.clone().unwrap_or_default());
        outcome
            .unwrap_or_else(over)
            .map_err(|why| Error::new(ErrorKind::State, format!("there is no savepoint: {why}")))
    }

    /// Whether one is wanted.
    pub fn are_wanted(&self) -> bool {
        let asked = self.lock();
        asked.wanted > asked.given
    }

    /// One begins: it is that of all who have asked by now. Who asks later wants what is read until then.
    pub fn begin(&self) {
        let mut asked = self.lock();
        asked.begun = asked.wanted;
    }

    /// The outcome of the one that has begun.
    pub fn give(&self, outcome: Result<u64, String>) {
        let mut asked = self.lock();
        (asked.given, asked.outcome) = (asked.begun, Some(outcome));
        self.0.1.notify_all();
    }

    /// The job is to end at a checkpoint which begins from now on.
    pub fn stop(&self) {
        let mut asked = self.lock();
        if matches!(asked.stop, Stop::No | Stop::Later) {
            asked.stop = Stop::Wanted;
        }
    }

    /// Whether a checkpoint is to begin for that.
    pub fn stop_is_wanted(&self) -> bool {
        self.lock().stop == Stop::Wanted
    }

    /// Whether the one that was to be the last has failed, so that the next is not waited for as long as usually.
    pub fn stop_is_late(&self) -> bool {
        self.lock().stop == Stop::Later
    }

    /// A checkpoint begins.
    pub fn checkpoint_begins(&self) {
        let mut asked = self.lock();
        if matches!(asked.stop, Stop::Wanted | Stop::Later) {
            asked.stop = Stop::Begun;
        }
    }

    /// It is complete, or has failed.
    pub fn checkpoint_ends(&self, complete: bool) {
        let mut asked = self.lock();
        if asked.stop == Stop::Begun {
            asked.stop = if complete { Stop::Done } else { Stop::Later };
        }
    }

    /// Whether the job ends here.
    pub fn has_stopped(&self) -> bool {
        self.lock().stop == Stop::Done
    }

    /// The job is over, and why: nobody waits any more.
    pub fn close(&self, why: impl Into<String>) {
        self.lock().over.get_or_insert(why.into());
        self.0.1.notify_all();
    }
}
