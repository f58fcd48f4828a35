//! The only place that asks what time it is.

use super::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Processing time. A host gives its clock to the stages; the simulation's is virtual.
pub trait Clock: Send + Sync + 'static {
    /// Wall-clock time, for what a user sees. A job sees to it that its operators are not told that it goes back.
    fn wall(&self) -> Timestamp;
    /// Milliseconds that never go back, from an arbitrary start: for timeouts and deadlines.
    fn ticks(&self) -> i64;
}

/// The machine's clock.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// A clock whose ticks start now.
    pub fn new() -> Self {
        SystemClock { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn wall(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn ticks(&self) -> i64 {
        i64::try_from(self.start.elapsed().as_millis()).unwrap_or(i64::MAX)
    }
}

/// A clock whose wall time goes on as its ticks do, at least: where that of the machine is set back or stands still, it does not, and where that
/// is set forward, it follows. So no time comes twice while a job runs, and who waits for one waits no longer than it takes.
pub(crate) struct Steady {
    clock: Arc<dyn Clock>,
    /// How far the wall has been before the ticks, at most.
    ahead: AtomicI64,
}

impl Steady {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Steady { clock, ahead: AtomicI64::new(i64::MIN) }
    }
}

impl Clock for Steady {
    fn wall(&self) -> Timestamp {
        // In this order: a thread that loses its turn in between sees too little, which is nothing to remember.
        let wall = self.clock.wall();
        let ticks = self.clock.ticks();
        let ahead = wall.0.saturating_sub(ticks);
        let most = self.ahead.fetch_max(ahead, Ordering::Relaxed).max(ahead);
        Timestamp(ticks.saturating_add(most))
    }

    fn ticks(&self) -> i64 {
        self.clock.ticks()
    }
}

/// A clock that moves only when it is told to.
///
/// ```
/// use flow_core::time::{Clock, VirtualClock};
/// let clock = VirtualClock::new();
/// clock.advance_to(50);
/// assert_eq!(clock.ticks(), 50);
/// ```
#[derive(Debug, Default)]
pub struct VirtualClock {
    now: AtomicI64,
}

impl VirtualClock {
    /// A clock at 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves it forward; never back.
    pub fn advance_to(&self, ticks: i64) {
        self.now.fetch_max(ticks, Ordering::Relaxed);
    }
}

impl Clock for VirtualClock {
    fn wall(&self) -> Timestamp {
        Timestamp(self.now.load(Ordering::Relaxed))
    }

    fn ticks(&self) -> i64 {
        self.now.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that is set by hand: its wall and its ticks.
    #[derive(Default)]
    struct Set(AtomicI64, AtomicI64);

    impl Clock for Set {
        fn wall(&self) -> Timestamp {
            Timestamp(self.0.load(Ordering::Relaxed))
        }
        fn ticks(&self) -> i64 {
            self.1.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn steady_whatever_the_machine_says() {
        let set = Arc::new(Set::default());
        let steady = Steady::new(Arc::clone(&set) as Arc<dyn Clock>);
        let rows = [
            (1_000, 0, 1_000),
            (1_010, 10, 1_010),
            // Set back, frozen: it goes on.
            (500, 15, 1_015),
            (500, 40, 1_040),
            // It follows when it is set forward, and does not come back.
            (9_000, 50, 9_000),
            (1_060, 60, 9_010),
            (i64::MAX, 70, i64::MAX),
            (i64::MIN, 80, i64::MAX),
        ];
        for (wall, ticks, expected) in rows {
            set.0.store(wall, Ordering::Relaxed);
            set.1.store(ticks, Ordering::Relaxed);
            assert_eq!(steady.wall(), Timestamp(expected), "{wall} at {ticks}");
        }
    }
}
