//! One run after the other of a job that begins again when it has failed.

use super::Job;
use super::handle::{Began, Running, Stages};
use crate::checkpoint::Savepoints;
use crate::error::{ErrorKind, Result};
use crate::host::Control;
use crate::metrics::{Report, StageMetrics};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
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

/// The run that is under way, as a handle sees it. A clone is the same one.
#[derive(Clone, Default)]
pub(super) struct Attempts(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// The job was asked to stop: it does not begin again.
    stopped: AtomicBool,
    current: Mutex<Option<Current>>,
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
    /// Ends it at its next checkpoint, which begins at once; where it takes none the sources end.
    fn stop(&self) {
        match &self.savepoints {
            Some(savepoints) => savepoints.stop(),
            None => self.control.stop(),
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
        if self.0.stopped.load(Relaxed) {
            current.stop();
        }
        *now = Some(current);
    }

    /// See [`Current::stop`].
    pub fn stop(&self) {
        self.end(Current::stop);
    }

    /// Asks the sources to end.
    pub fn drain(&self) {
        self.end(|current| current.control.stop());
    }

    /// Ends the run where it stands.
    pub fn halt(&self) {
        self.end(|current| current.control.halt());
    }

    /// The job does not begin again.
    fn end(&self, how: impl FnOnce(&Current)) {
        let current = self.lock();
        self.0.stopped.store(true, Relaxed);
        if let Some(current) = current.as_ref() {
            how(current);
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
            if restarts == job.restarts || self.0.stopped.load(Relaxed) || error.kind() == ErrorKind::Plan {
                let times = format!("begun again {restarts} times before");
                return Err(if restarts > 0 { error.note(times) } else { error });
            }
            restarts += 1;
            if self.current().is_some_and(|run| run.has_completed()) {
                begin = Begin::GoOn;
            }
            self.pause(Duration::from_millis(job.restart_delay.0.unsigned_abs()));
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
            if self.0.stopped.load(Relaxed) {
                return;
            }
            current = self.0.changed.wait_timeout(current, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
