//! Who takes checkpoints: says when, gathers what the stages give, writes the manifest, then lets the sinks commit.
//!
//! 1. `Begin`: sources are told to put barrier n into their sequence. Only one is in flight.
//! 2. Each stage instance gives its state as the barrier passes, and says so; one that has ended needs not.
//! 3. When all have, the state file and the manifest are written: the manifest's rename is the only commit point.
//! 4. The sinks commit what they have staged up to n; then files that nobody needs are removed.
//!
//! What was staged for a checkpoint that failed belongs to the next one: its records have been read.
//!
//! Here it is decided when; what stages give lies in `in_flight.rs`, what becomes of it then stands in `complete.rs`.
//!
//! It knows no threads: it is called with news and the time, by a thread of the job or by the simulation.

use super::complete::{Complete, Outside, Taken};
use super::in_flight::{Given, InFlight, Tracked};
use super::manifest::{Manifest, StagedOutput};
use super::saves::{Inbox, News, ROOM};
use super::{Checkpoints, CommitError, Orders, Savepoints, Store};
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::StageMetrics;
use crate::time::{Clock, Millis};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// After a checkpoint at which the job was to end has failed, the next one begins after so long at most.
const AGAIN: Millis = Millis(1_000);

/// See the module.
pub(crate) struct Coordinator {
    settings: Checkpoints,
    inbox: Inbox,
    orders: Orders,
    in_flight: InFlight,
    complete: Complete,
    /// The number of the next checkpoint.
    next: u64,
    /// When the last one was begun.
    begun: i64,
    /// How many have failed in a row.
    failed: u32,
    /// Checkpoints since the last whole one; none where the next has to be whole.
    changes: Option<u32>,
    savepoints: Savepoints,
    /// All stages have ended: the last checkpoint.
    finishing: bool,
    /// The only one is taken where the input ends.
    cut: Option<u64>,
    /// What that checkpoint has, until the job is over.
    held: Option<Given>,
}

impl Coordinator {
    pub fn new(
        store: Store,
        newest: Option<Manifest>,
        settings: Checkpoints,
        tasks: Vec<Tracked>,
        outside: Outside,
        stopping: Arc<AtomicBool>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let (next, inbox) = (store.next_id(), Inbox::of(settings.buffer.unwrap_or(ROOM)));
        let cut = settings.cut.then_some(next);
        Coordinator {
            settings,
            inbox,
            orders: Orders::default(),
            in_flight: InFlight::new(tasks, stopping),
            next,
            begun: clock.ticks(),
            complete: Complete::new(store, newest, outside, clock),
            failed: 0,
            changes: None,
            savepoints: Savepoints::default(),
            finishing: false,
            cut,
            held: None,
        }
    }

    /// What comes is numbered behind `checkpoint`, from which the job starts.
    pub fn go_on_behind(&mut self, checkpoint: u64) {
        self.next = self.next.max(checkpoint.saturating_add(1));
    }

    /// Begins the only checkpoint of a job that takes it where its input ends, before anything runs.
    ///
    /// # Errors
    /// As [`Coordinator::work`].
    pub fn begin_at_the_end(&mut self, now: i64) -> Result<()> {
        self.orders.cut(self.next);
        self.begin(now, true)
    }

    pub fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    pub fn orders(&self) -> &Orders {
        &self.orders
    }

    #[cfg(test)]
    pub fn settings_mut(&mut self, change: impl FnOnce(Checkpoints) -> Checkpoints) {
        self.settings = change(self.settings.clone());
    }

    pub fn savepoints(&self) -> &Savepoints {
        &self.savepoints
    }

    pub fn metrics(&self) -> &StageMetrics {
        self.complete.metrics()
    }

    /// When it wants to be called although there is no news, in ticks. One that has failed waits for its barriers, however long they take.
    pub fn deadline(&self) -> i64 {
        if self.cut.is_some() {
            // It is there when its input has ended, whenever that is.
            return i64::MAX;
        }
        let (since, after) = match self.in_flight.current() {
            // There is nothing to do before its stages have said so.
            Some(current) if current.failed.is_some() => return i64::MAX,
            Some(current) => (current.since, self.settings.timeout),
            // A job that is to end does not wait as long as one that goes on.
            None if self.savepoints.stop_is_late() => (self.begun, self.settings.every.min(AGAIN)),
            None => (self.begun, self.settings.every),
        };
        since.saturating_add(after.0)
    }

    /// Takes all news, and begins a checkpoint where one is due.
    ///
    /// # Errors
    /// When the job must not go on: too many checkpoints have failed, an output cannot be committed, another process has
    /// taken over, or nobody knows whether a checkpoint is complete.
    pub fn work(&mut self, now: i64) -> Result<()> {
        self.take_news()?;
        if self.cut.is_some() && self.savepoints.stop_is_wanted() && self.held.is_none() {
            return Err(cut_short());
        }
        if self.savepoints.has_stopped() || self.cut.is_some() {
            return Ok(());
        }
        if self.in_flight.current().is_none() && self.savepoints.are_wanted() {
            return self.begin(now, true);
        }
        if self.in_flight.current().is_none() && self.savepoints.stop_is_wanted() {
            return self.begin(now, false);
        }
        if now < self.deadline() {
            return Ok(());
        }
        match self.in_flight.current() {
            None => self.begin(now, false),
            Some(current) if current.failed.is_none() => {
                let what =
                    format!("checkpoint {} is not complete after {}", current.id, self.settings.timeout);
                if current.savepoint {
                    self.savepoints.give(Err(what.clone()));
                }
                let note = "where it needs longer than that, say so: `Checkpoints::timeout(…)`";
                self.in_flight.fail(Error::new(ErrorKind::State, what).note(note));
                Ok(())
            }
            Some(_) => Ok(()),
        }
    }

    /// Begins a checkpoint now, unless one is in flight; whether it did.
    pub fn begin_now(&mut self, now: i64) -> Result<bool> {
        let begins = self.in_flight.current().is_none() && self.cut.is_none();
        if begins {
            self.begin(now, false)?;
        }
        Ok(begins)
    }

    fn begin(&mut self, now: i64, savepoint: bool) -> Result<()> {
        let id = self.next;
        self.next += 1;
        self.begun = now;
        // A savepoint stands alone: it may be kept when the others have gone, and taken away when they have not.
        let whole = savepoint || self.changes.is_none_or(|n| n >= self.settings.deltas);
        self.savepoints.checkpoint_begins();
        if savepoint {
            self.savepoints.begin();
        }
        let writing = self.complete.begin(id)?;
        self.in_flight.begin(id, now, savepoint, writing);
        self.changes = if savepoint {
            None
        } else if whole {
            Some(0)
        } else {
            self.changes.map(|n| n + 1)
        };
        if self.cut.is_none() {
            self.orders.begin(id, whole);
        }
        self.complete_if_whole()
    }

    fn take_news(&mut self) -> Result<()> {
        while let Some(news) = self.inbox.take() {
            self.hear(news)?;
        }
        Ok(())
    }

    fn hear(&mut self, news: News) -> Result<()> {
        match news {
            News::Staged { id, sink, instance, bytes } => {
                self.complete.stage(StagedOutput { sink, instance, checkpoint: id, bytes });
            }
            News::Part { id, state, slot, bytes } if self.in_flight.expects(id) => {
                self.complete.hear(id, &state, slot, &bytes);
                self.in_flight.part(id, state, slot, bytes);
            }
            News::Keyed { id, state, whole } if self.in_flight.expects(id) => {
                self.in_flight.keyed(state, whole);
            }
            News::Saved { id, task } if self.in_flight.expects(id) => {
                self.in_flight.saved(task);
                return self.complete_if_whole();
            }
            News::Ended { task } => {
                self.in_flight.ended(task, |stage| self.complete.has(stage));
                self.changes = None;
                return self.complete_if_whole();
            }
            News::Part { .. } | News::Keyed { .. } | News::Saved { .. } => {}
        }
        Ok(())
    }

    fn complete_if_whole(&mut self) -> Result<()> {
        match self.in_flight.take_whole() {
            // It says that the whole history is there: outputs that are made final at the end of the job are so before it is complete.
            Some(given) if self.cut.is_some() => self.held = Some(given),
            Some(given) => self.complete(given)?,
            None => {}
        }
        Ok(())
    }

    /// Whether its only checkpoint is that of a history, which is complete when [`Coordinator::finish`] has been called.
    pub fn ends_at_a_cut(&self) -> bool {
        self.cut.is_some()
    }

    /// All have given what they have: writes the manifest, and lets the sinks commit.
    fn complete(&mut self, given: Given) -> Result<()> {
        let Given { id, savepoint, tasks, written } = given;
        let written = match written {
            Ok(written) => written,
            Err(error) => return self.failed(id, savepoint, error),
        };
        let kind = Taken { savepoint, finishing: self.finishing, history: self.cut.is_some() };
        match self.complete.write(id, kind, written, &tasks) {
            Ok(()) => {
                self.failed = 0;
                self.complete.commit(id)?;
                self.savepoints.checkpoint_ends(true);
                if savepoint {
                    self.savepoints.give(Ok(id));
                }
                Ok(())
            }
            Err(CommitError::Failed(error)) => self.failed(id, savepoint, error),
            Err(unknown @ (CommitError::Unknown(_) | CommitError::Fenced(_))) => Err(unknown.into_error()),
        }
    }

    /// The checkpoint has failed; the job goes on, unless too many have.
    fn failed(&mut self, id: u64, savepoint: bool, error: Error) -> Result<()> {
        self.savepoints.checkpoint_ends(false);
        if savepoint {
            self.savepoints.give(Err(error.to_string()));
        }
        self.complete.metrics().counter("checkpoints.failed").add(1);
        self.changes = None;
        self.failed += 1;
        let error = self.complete.why_garbage_stays().into_iter().fold(error, Error::note);
        if self.finishing {
            let note = format!(
                "checkpoint {id} was the last: what sinks have staged since the one before is taken back"
            );
            return Err(error.note(note));
        }
        if self.cut.is_some() {
            return Err(error.note("it was the savepoint that the job was to write"));
        }
        if self.failed <= self.settings.failures {
            return Ok(());
        }
        let note = format!(
            "checkpoint {id} is number {} in a row that has failed; {} may, as `Checkpoints::max_failed` says",
            self.failed, self.settings.failures
        );
        Err(error.note(note))
    }

    /// The job is over. When all stages have ended, a last checkpoint commits what is left; after a failure what was staged and
    /// not committed is taken back: the next start reads those records again.
    ///
    /// # Errors
    /// As [`Coordinator::work`].
    pub fn finish(&mut self, now: i64, ran: &Result<()>) -> Result<()> {
        if ran.as_ref().is_err_and(|error| error.kind() == ErrorKind::Crash) {
            return Ok(());
        }
        if ran.is_ok() {
            let finished = if self.cut.is_some() { self.end_at_the_cut() } else { self.take_last(now) };
            self.savepoints.close(over(&finished));
            if finished.is_err() {
                self.complete.take_back();
            }
            return finished;
        }
        self.savepoints.close(over(ran));
        self.give_up();
        Ok(())
    }

    /// The job ends where it stands, at a checkpoint: what has been staged since is written again by the next start. Not where all
    /// stages have come to their end meanwhile, which this says: then [`Coordinator::finish`] is to be called.
    ///
    /// # Errors
    /// As [`Coordinator::work`].
    pub fn halt(&mut self) -> Result<bool> {
        self.take_news()?;
        if self.in_flight.have_all_ended() {
            return Ok(false);
        }
        self.savepoints.close("the job was stopped before");
        self.give_up();
        Ok(true)
    }

    /// The newest checkpoint that it has completed.
    pub fn newest(&self) -> Option<u64> {
        self.complete.newest()
    }

    /// Takes back what is staged and not committed.
    fn give_up(&mut self) {
        while let Some(news) = self.inbox.take() {
            if let News::Staged { id, sink, instance, bytes } = news {
                self.complete.stage(StagedOutput { sink, instance, checkpoint: id, bytes });
            }
        }
        self.in_flight.give_up(Error::new(ErrorKind::State, "the job is over"));
        self.complete.take_back();
    }

    /// The savepoint is complete, and with it all that there is to commit committed.
    fn end_at_the_cut(&mut self) -> Result<()> {
        self.take_news()?;
        match self.held.take() {
            Some(given) => self.complete(given),
            None => {
                Err(Error::new(ErrorKind::State, "the job has ended without its savepoint: a bug of a stage"))
            }
        }
    }

    fn take_last(&mut self, now: i64) -> Result<()> {
        self.take_news()?;
        self.next = self.next.max(self.complete.staged_for().unwrap_or(0));
        self.finishing = true;
        self.begin(now, false)
    }
}

/// Of a stream's history a part is none.
#[cold]
pub(crate) fn cut_short() -> Error {
    let what = "the job was asked to end before all its input had been read, so there is no savepoint of it";
    Error::new(ErrorKind::State, what).note("let it run to its end, or give it less to read")
}

/// Why nobody need wait for a savepoint any more.
fn over(ran: &Result<()>) -> String {
    match ran {
        Ok(()) => "the job ended before".to_owned(),
        Err(error) => format!("the job has failed: {error}"),
    }
}

impl Drop for Coordinator {
    /// Whatever has happened, nobody waits for ever.
    fn drop(&mut self) {
        self.savepoints.close("the job ended before");
    }
}
