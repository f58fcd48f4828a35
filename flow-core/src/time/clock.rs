//! The only place that asks what time it is.

use super::Timestamp;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Processing time. A host gives its clock to the stages; the simulation's is virtual.
pub trait Clock: Send + Sync + 'static {
    /// Wall-clock time, for what a user sees.
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
