//! One run after the other of a job that begins again when it has failed.

use super::Job;
use super::handle::{Began, Running, Stages};
use crate::checkpoint::Savepoints;
use crate::error::{ErrorKind, Result};
use crate::host::Control;
use crate::metrics::{Report, StageMetrics};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// From where a run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// As the job says.
    First,
    /// From the newest checkpoint, whatever it says: there is one since it was sent back to an older one.
    GoOn,
}

/// How a job is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// At its next checkpoint, which begins at once; where it takes none as [`End::Drain`].
    Stop,
    /// As if its input had ended.
    Drain,
    /// Where it stands: there is a checkpoint of that.
    Halt,
}

/// The run that is under way, as a handle sees it. A clone is the same one.
#[derive(Clone, Default)]
pub(super) struct Attempts(Arc<Shared>);

#[derive(Default)]
struct Shared {
    current: Mutex<Option<Current>>,
    /// How the job was asked to end, the last time that it was: it does not begin again.
    asked: Mutex<Option<End>>,
    changed: Condvar,
}

/// What can be asked of a run.
#[derive(Clone)]
pub(super) struct Current {
    pub control: Control,
    pub stages: Stages,
    pub began: Began,
    pub savepoints: Option<Savepoints>,
    /// Wakes whoever takes checkpoints.
    pub inbox: Option<crate::checkpoint::Inbox>,
}

impl Current {
    fn end(&self, how: End) {
        match (how, &self.savepoints) {
            (End::Stop, Some(savepoints)) => savepoints.stop(),
            (End::Stop | End::Drain, _) => self.control.stop(),
            (End::Halt, _) => self.control.halt(),
        }
        if let Some(inbox) = &self.inbox {
            inbox.wake();
        }
    }

    /// Whether a checkpoint is complete that it has taken.
    fn has_completed(&self) -> bool {
        let completed = |metrics: &StageMetrics| metrics.counter("checkpoints.completed").get() > 0;
        self.stages.iter().any(|(name, metrics)| name == "checkpoints" && metrics.iter().any(completed))
    }
}

impl Attempts {
    fn lock(&self) -> MutexGuard<'_, Option<Current>> {
        self.0.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run that is under way, or was last.
    pub fn current(&self) -> Option<Current> {
        self.lock().clone()
    }

    fn begin(&self, running: &Running) {
        let current = running.current();
        let mut now = self.lock();
        if let Some(how) = self.asked() {
            current.end(how);
        }
        *now = Some(current);
    }

    /// How the job was asked to end.
    fn asked(&self) -> Option<End> {
        *self.0.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the job at a checkpoint.
    pub fn stop(&self) {
        self.end(End::Stop);
    }

    /// Asks the sources to end.
    pub fn drain(&self) {
        self.end(End::Drain);
    }

    /// Ends the run where it stands.
    pub fn halt(&self) {
        self.end(End::Halt);
    }

    fn end(&self, how: End) {
        let current = self.lock();
        *self.0.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(how);
        if let Some(current) = current.as_ref() {
            current.end(how);
        }
        self.0.changed.notify_all();
    }

    /// Runs `first`, and the job again when it has failed, as often as it says.
    pub fn run(&self, job: &Job, first: Running) -> Result<Report> {
        let (mut restarts, mut begin) = (0, Begin::First);
        let mut next = Some(first);
        loop {
            let ran = match next.take() {
                Some(running) => running.finish(),
                None => job.launch(None, begin).and_then(|running| {
                    self.begin(&running);
                    running.finish()
                }),
            };
            let error = match ran {
                Ok(report) => return Ok(Report { restarts, ..report }),
                Err(error) => error,
            };
            if restarts == job.restarts || self.asked().is_some() || error.kind() == ErrorKind::Plan {
                let times = format!("begun again {restarts} times before");
                return Err(if restarts > 0 { error.note(times) } else { error });
            }
            restarts += 1;
            if self.current().is_some_and(|run| run.has_completed()) {
                begin = Begin::GoOn;
            }
            self.pause(Duration::from_millis(job.restart_delay.0.unsigned_abs()));
            // The checkpoint that it would end at is there already.
            if matches!(self.asked(), Some(End::Stop | End::Halt)) {
                return Err(error.note("the job was stopped before it began again"));
            }
        }
    }

    /// The first run.
    pub fn first(&self, job: &Job) -> Result<Running> {
        let running = job.launch(None, Begin::First)?;
        self.begin(&running);
        Ok(running)
    }

    /// Waits before the next run; a stop ends it.
    fn pause(&self, delay: Duration) {
        let begun = Instant::now();
        let mut current = self.lock();
        while let Some(left) = delay.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) {
            if self.asked().is_some() {
                return;
            }
            current = self.0.changed.wait_timeout(current, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
