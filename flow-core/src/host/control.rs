//! What all threads of a job share: the first failure, the stop request, and how to wake everybody.

use crate::channel::Signal;
use crate::error::Error;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Shared by the threads of a job and its handle.
#[derive(Clone, Default)]
pub struct Control(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// The job is over: nobody steps any more.
    over: Arc<AtomicBool>,
    /// It was ended where it stood, by a user who has a savepoint.
    halted: AtomicBool,
    /// Sources are asked to end.
    stop: Arc<AtomicBool>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    failure: Option<Error>,
    signals: Vec<Signal>,
    /// Threads that have not finished.
    running: Vec<Running>,
}

/// A thread that has not finished.
struct Running {
    number: usize,
    /// The stage instances it steps.
    names: Vec<String>,
    /// Which of them it is stepping; it writes that before each step.
    at: Arc<AtomicUsize>,
}

impl Running {
    fn whereabouts(&self) -> (usize, String) {
        let name = self.names.get(self.at.load(Ordering::Relaxed)).cloned();
        (self.number, name.unwrap_or_else(|| "a thread".to_owned()))
    }
}

/// For so many times as long a job that ends at a checkpoint waits for the user's closures: nothing is wrong with them yet.
const PATIENCE: u32 = 20;

impl Control {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a thread to wake when something happens.
    pub fn attach(&self, signal: Signal) {
        self.lock().signals.push(signal);
    }

    /// Wakes all threads.
    pub(crate) fn wake_all(&self) {
        let signals = self.lock().signals.clone();
        signals.iter().for_each(Signal::wake);
    }

    /// Ends the job with `error`, unless it has failed already.
    pub fn fail(&self, error: Error) {
        self.lock().failure.get_or_insert(error);
        self.0.over.store(true, Ordering::Release);
        self.wake_all();
        self.0.changed.notify_all();
    }

    /// Ends the job where it stands, without a failure: a checkpoint says from where it goes on.
    pub fn halt(&self) {
        self.0.halted.store(true, Ordering::Relaxed);
        self.0.over.store(true, Ordering::Release);
        self.wake_all();
        self.0.changed.notify_all();
    }

    /// Whether it was ended where it stood.
    pub fn has_halted(&self) -> bool {
        self.0.halted.load(Ordering::Relaxed)
    }

    /// Whether the job has failed: nobody steps any more.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.0.over.load(Ordering::Relaxed)
    }

    /// The same, for stages, which know no hosts.
    pub(crate) fn over(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0.over)
    }

    /// Takes the failure.
    pub fn take_failure(&self) -> Option<Error> {
        self.lock().failure.take()
    }

    /// Asks the sources to end as if their input had.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
        self.wake_all();
    }

    /// Whether the sources are to end.
    #[inline]
    pub fn stopping(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }

    /// The same, for stages.
    pub(crate) fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0.stop)
    }

    /// Thread `number` is about to begin, with stage instances of these names. It writes into what is returned which of
    /// them it is stepping, and says with [`Control::finished`] that it is done.
    pub fn started(&self, number: usize, names: Vec<String>) -> Arc<AtomicUsize> {
        let at = Arc::new(AtomicUsize::new(0));
        self.lock().running.push(Running { number, names, at: Arc::clone(&at) });
        at
    }

    /// Thread `number` has finished.
    pub fn finished(&self, number: usize) {
        self.lock().running.retain(|r| r.number != number);
        self.0.changed.notify_all();
    }

    /// Waits until all threads have finished. Once the job is over it waits for `grace` only: the numbers of those still
    /// inside a user's closure are returned, and the names of what they are stepping.
    pub fn wait(&self, grace: Duration) -> Vec<(usize, String)> {
        let mut state = self.lock();
        let mut failed_at = None;
        loop {
            if state.running.is_empty() {
                return Vec::new();
            }
            if state.failure.is_some() || self.has_halted() {
                let since = *failed_at.get_or_insert_with(Instant::now);
                let grace = if state.failure.is_some() { grace } else { grace * PATIENCE };
                let Some(left) = grace.checked_sub(since.elapsed()).filter(|left| !left.is_zero()) else {
                    return state.running.iter().map(Running::whereabouts).collect();
                };
                state = self.0.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            } else {
                state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Lost wake-ups over all threads: always 0, or there is a bug.
    pub fn rescues(&self) -> u64 {
        self.lock().signals.iter().map(Signal::rescues).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    /// A thread that is inside a closure, and comes out of it after `pause`, or never.
    fn waits(control: &Control, grace: u64, pause: Option<u64>) -> (Duration, Vec<(usize, String)>) {
        control.started(3, vec!["slow[0]".to_owned()]);
        let (begun, other) = (Instant::now(), control.clone());
        let thread = pause.map(|pause| {
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(pause));
                other.finished(3);
            })
        });
        let left = control.wait(Duration::from_millis(grace));
        let waited = begun.elapsed();
        if let Some(thread) = thread {
            thread.join().unwrap();
        }
        (waited, left)
    }

    #[test]
    fn a_job_that_ends_at_a_checkpoint_waits_longer_than_one_that_has_failed() {
        let slow = [(3, "slow[0]".to_owned())];
        let failed = Control::default();
        failed.fail(Error::new(ErrorKind::Panic, "lost"));
        assert_eq!(waits(&failed, 100, Some(1_000)).1, slow);
        let halted = Control::default();
        halted.halt();
        assert_eq!(waits(&halted, 100, Some(300)).1, [], "nothing is wrong with it");
        let stuck = Control::default();
        stuck.halt();
        let (waited, left) = waits(&stuck, 5, None);
        assert_eq!(left, slow);
        assert!(waited >= Duration::from_millis(5 * u64::from(PATIENCE)), "{waited:?}");
    }

    /// What fails on the way out of a job that was ended has failed: nobody is waited for any longer then.
    #[test]
    fn a_failure_ends_the_patience() {
        let control = Control::default();
        control.halt();
        let other = control.clone();
        let failing = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            other.fail(Error::new(ErrorKind::Panic, "lost"));
        });
        let (waited, left) = waits(&control, 3_000, None);
        failing.join().unwrap();
        assert_eq!(left.len(), 1);
        assert!(waited < Duration::from_millis(3_000 * u64::from(PATIENCE) / 2), "{waited:?}");
    }
}
