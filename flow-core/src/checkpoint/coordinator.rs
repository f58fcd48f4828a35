//! Who takes checkpoints: says when, gathers what the stages give, writes the manifest, then lets the sinks commit.
//!
//! 1. `Begin`: sources are told to put barrier n into their sequence. Only one is in flight.
//! 2. Each stage instance gives its state as the barrier passes, and says so; one that has ended needs not.
//! 3. When all have, the state file and the manifest are written: the manifest's rename is the only commit point.
//! 4. The sinks commit what they have staged up to n; then files that nobody needs are removed.
//!
//! What was staged for a checkpoint that failed belongs to the next one: its records have been read.
//!
//! It knows no threads: it is called with news and the time, by a thread of the job or by the simulation.

use super::current::{Current, States};
use super::failpoint::point;
use super::listing::{Written, manifest};
use super::manifest::{Manifest, StagedOutput};
use super::saves::{FROM_NOW_ON, Inbox, News, ROOM};
use super::{Acknowledgers, Checkpoints, CommitError, Committers, Orders, Savepoints, Slot, Store};
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::{KEY_GROUPS, instance_of};
use crate::metrics::StageMetrics;
use crate::sorted::Sorted;
use crate::time::Clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A stage instance, as the coordinator knows it.
#[derive(Debug, Clone)]
pub(crate) struct Tracked {
    pub stage: String,
    pub instance: usize,
    pub instances: usize,
    pub ended: bool,
    /// It has ended because its input had, and not because the job was asked to stop: it has nothing to do in any later run.
    pub finished: bool,
    /// The types of its keyed state.
    pub schema: Arc<str>,
}

/// See the module.
pub(crate) struct Coordinator {
    store: Store,
    settings: Checkpoints,
    inbox: Inbox,
    orders: Orders,
    tasks: Vec<Tracked>,
    outside: Outside,
    /// What stands in all checkpoints to come, of stages that have ended.
    last: Sorted<(String, Slot), Vec<u8>>,
    /// What has been staged and not committed.
    staged: Vec<StagedOutput>,
    current: Option<Current>,
    /// The newest complete checkpoint.
    complete: Manifest,
    next: u64,
    /// When the last one was begun.
    begun: i64,
    failed: u32,
    /// Checkpoints since the last whole one; none where the next has to be whole.
    changes: Option<u32>,
    savepoints: Savepoints,
    /// The job was asked to stop: what ends from now on does so before its input has.
    stopping: Arc<AtomicBool>,
    /// All stages have ended: the last checkpoint.
    finishing: bool,
    metrics: StageMetrics,
    clock: Arc<dyn Clock>,
}

/// What is told of complete checkpoints.
pub(crate) struct Outside {
    pub committers: Committers,
    pub acknowledgers: Acknowledgers,
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
        Coordinator {
            store,
            settings,
            inbox,
            orders: Orders::default(),
            tasks,
            outside,
            last: Sorted::default(),
            staged: Vec::new(),
            current: None,
            complete: newest.unwrap_or_default(),
            next,
            begun: clock.ticks(),
            failed: 0,
            changes: None,
            savepoints: Savepoints::default(),
            stopping,
            finishing: false,
            metrics: StageMetrics::default(),
            clock,
        }
    }

    pub fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    pub fn orders(&self) -> &Orders {
        &self.orders
    }

    pub fn savepoints(&self) -> &Savepoints {
        &self.savepoints
    }

    pub fn metrics(&self) -> &StageMetrics {
        &self.metrics
    }

    /// When it wants to be called although there is no news, in ticks. One that has failed waits for its barriers, however long they take.
    pub fn deadline(&self) -> i64 {
        let (since, after) = match &self.current {
            // There is nothing to do before its stages have said so.
            Some(current) if current.failed.is_some() => return i64::MAX,
            Some(current) => (current.since, self.settings.timeout),
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
        if self.current.is_none() && self.savepoints.are_wanted() {
            return self.begin(now, true);
        }
        if now < self.deadline() {
            return Ok(());
        }
        match &mut self.current {
            None => self.begin(now, false),
            Some(current) if current.failed.is_none() => {
                let what =
                    format!("checkpoint {} is not complete after {}", current.id, self.settings.timeout);
                if current.savepoint {
                    self.savepoints.give(Err(what.clone()));
                }
                let note = "where it needs longer than that, say so: `Checkpoints::timeout(…)`";
                current.fail(&mut self.store, Error::new(ErrorKind::State, what).note(note));
                Ok(())
            }
            Some(_) => Ok(()),
        }
    }

    /// Begins a checkpoint now, unless one is in flight; whether it did.
    pub fn begin_now(&mut self, now: i64) -> Result<bool> {
        let begins = self.current.is_none();
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
        if savepoint {
            self.savepoints.begin();
        }
        let mut waiting = Sorted::default();
        for (task, _) in self.tasks.iter().enumerate().filter(|task| !task.1.ended) {
            waiting.insert(task, ());
        }
        let writing = match self.store.begin(id) {
            Err(taken_over) if self.store.has_ended() => return Err(taken_over),
            writing => writing,
        };
        self.current = Some(Current::new(id, now, savepoint, writing, waiting));
        self.changes = if savepoint {
            None
        } else if whole {
            Some(0)
        } else {
            self.changes.map(|n| n + 1)
        };
        self.orders.begin(id, whole);
        self.complete_if_whole()
    }

    fn take_news(&mut self) -> Result<()> {
        while let Some(news) = self.inbox.take() {
            self.hear(news)?;
        }
        Ok(())
    }

    fn hear(&mut self, news: News) -> Result<()> {
        let in_flight = self.current.as_ref().map(|current| current.id);
        match news {
            News::Part { id: FROM_NOW_ON, state, slot, bytes } => {
                self.outside.acknowledgers.hear(&state, slot, &bytes);
                self.last.insert((state, slot), bytes);
            }
            News::Staged { id, sink, instance, bytes } => {
                self.staged.push(StagedOutput { sink, instance, checkpoint: id, bytes });
            }
            News::Part { id, state, slot, bytes } if Some(id) == in_flight => {
                self.outside.acknowledgers.hear(&state, slot, &bytes);
                if let Some(current) = &mut self.current {
                    current.part(&mut self.store, &state, slot, &bytes);
                }
            }
            News::Keyed { id, state, whole } if Some(id) == in_flight => {
                if let Some(current) = &mut self.current {
                    current.keyed(state, whole);
                }
            }
            News::Saved { id, task } if Some(id) == in_flight => {
                if let Some(current) = &mut self.current {
                    current.saved(task);
                }
                return self.complete_if_whole();
            }
            News::Ended { task } => return self.ended(task),
            News::Part { .. } | News::Keyed { .. } | News::Saved { .. } => {
                debug_assert!(false, "news of a checkpoint that is not in flight");
            }
        }
        Ok(())
    }

    /// A stage instance has ended. Of its key groups nothing is left; files that say what has changed do not say that by themselves.
    fn ended(&mut self, task: usize) -> Result<()> {
        let Some(tracked) = self.tasks.get_mut(task) else { return Ok(()) };
        tracked.ended = true;
        tracked.finished = !self.stopping.load(Ordering::Relaxed);
        let Tracked { stage, instance, instances, .. } = tracked.clone();
        self.changes = None;
        if let Some(current) = &mut self.current
            && current.ended(task)
            && self.complete.operators.iter().any(|state| state.id == stage)
        {
            for group in (0..KEY_GROUPS).filter(|group| instance_of(*group as u64, instances) == instance) {
                let group = u16::try_from(group).unwrap_or(u16::MAX);
                current.nothing(&mut self.store, &stage, Slot::Group(group));
            }
        }
        self.complete_if_whole()
    }

    fn complete_if_whole(&mut self) -> Result<()> {
        if self.current.as_ref().is_some_and(Current::is_whole)
            && let Some(current) = self.current.take()
        {
            return self.complete(current);
        }
        Ok(())
    }

    /// All have given what they have: writes the manifest, and lets the sinks commit.
    fn complete(&mut self, mut current: Current) -> Result<()> {
        for ((state, slot), bytes) in self.last.iter() {
            if !current.has(state, *slot) {
                current.part(&mut self.store, state, *slot, bytes);
            }
        }
        // One that has saved and then ended was still there at the barrier.
        let at_barrier = |(i, task): (usize, &Tracked)| Tracked {
            finished: task.finished && !current.has_saved(i),
            ..task.clone()
        };
        let tasks: Vec<Tracked> = self.tasks.iter().enumerate().map(at_barrier).collect();
        let (id, savepoint) = (current.id, current.savepoint);
        let (writing, states) = match current.finish() {
            Ok(written) => written,
            Err(error) => return self.failed(id, savepoint, error),
        };
        match self.write(id, savepoint, writing, &states, &tasks) {
            Ok(()) => {
                self.metrics.counter("checkpoints.completed").add(1);
                self.failed = 0;
                self.commit(id)?;
                if savepoint {
                    self.savepoints.give(Ok(id));
                }
                Ok(())
            }
            Err(CommitError::Failed(error)) => self.failed(id, savepoint, error),
            Err(unknown @ (CommitError::Unknown(_) | CommitError::Fenced(_))) => Err(unknown.into_error()),
        }
    }

    fn write(
        &mut self,
        id: u64,
        savepoint: bool,
        writing: super::Writing,
        states: &States,
        tasks: &[Tracked],
    ) -> Result<(), CommitError> {
        let written = Written {
            id,
            taken: self.clock.wall(),
            savepoint,
            finished: self.finishing && tasks.iter().all(|task| task.finished),
            file: writing.file(),
            states,
            staged: self.staged.iter().filter(|output| output.checkpoint <= id).cloned().collect(),
            tasks,
        };
        let manifest = manifest(written, &self.complete);
        let committed = self.store.commit(writing, manifest)?;
        self.metrics.counter("checkpoints.bytes").add(committed.bytes);
        self.complete = committed.manifest;
        Ok(())
    }

    /// The checkpoint has failed; the job goes on, unless too many have.
    fn failed(&mut self, id: u64, savepoint: bool, error: Error) -> Result<()> {
        if savepoint {
            self.savepoints.give(Err(error.to_string()));
        }
        self.metrics.counter("checkpoints.failed").add(1);
        self.changes = None;
        self.failed += 1;
        if self.finishing {
            let note = format!(
                "checkpoint {id} was the last: what sinks have staged since the one before is taken back"
            );
            return Err(error.note(note));
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

    /// Commits what was staged up to checkpoint `id`, which is complete, and tells the sources that they are safe; then removes files that
    /// nobody needs.
    fn commit(&mut self, id: u64) -> Result<()> {
        let staged = std::mem::take(&mut self.staged);
        let (mut due, later): (Vec<_>, Vec<_>) =
            staged.into_iter().partition(|output| output.checkpoint <= id);
        self.staged = later;
        point("P8a");
        self.outside.committers.commit(&mut due)?;
        point("P8c");
        self.outside.acknowledgers.acknowledge(id)?;
        point("P9");
        match self.store.collect_garbage() {
            Err(error) if self.store.has_ended() => Err(error),
            // All else is done; what has not gone goes after the next checkpoint.
            Err(_) => {
                self.metrics.counter("checkpoints.garbage_errors").add(1);
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }

    /// What is staged and not committed is taken back: the next start reads those records again. Unless it is not known whether it is
    /// committed, or by whom: the next start sees.
    fn take_back(&mut self) {
        if !self.store.has_ended() {
            self.outside.committers.abort(&self.staged);
        }
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
            let finished = self.take_last(now);
            self.savepoints.close();
            if finished.is_err() {
                self.take_back();
            }
            finished
        } else {
            self.savepoints.close();
            while let Some(news) = self.inbox.take() {
                if let News::Staged { id, sink, instance, bytes } = news {
                    self.staged.push(StagedOutput { sink, instance, checkpoint: id, bytes });
                }
            }
            if let Some(mut current) = self.current.take() {
                current.fail(&mut self.store, Error::new(ErrorKind::State, "the job has failed"));
            }
            self.take_back();
            Ok(())
        }
    }

    fn take_last(&mut self, now: i64) -> Result<()> {
        self.take_news()?;
        let staged = self.staged.iter().map(|output| output.checkpoint).max();
        self.next = self.next.max(staged.unwrap_or(0));
        self.finishing = true;
        self.begin(now, false)
    }
}

impl Drop for Coordinator {
    /// Whatever has happened, nobody waits for ever.
    fn drop(&mut self) {
        self.savepoints.close();
    }
}
