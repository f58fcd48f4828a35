//! Savepoints: checkpoints that a user asks for and waits for.

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
    /// The job is over.
    over: bool,
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
        while asked.given < number && !asked.over {
            asked = self.0.1.wait(asked).unwrap_or_else(PoisonError::into_inner);
        }
        let outcome = asked.outcome.clone().filter(|_| asked.given >= number);
        let over = || Err("the job ended before".to_owned());
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

    /// The job is over: nobody waits any more.
    pub fn close(&self) {
        self.lock().over = true;
        self.0.1.notify_all();
    }
}
