//! When a stage that has no room will have some because time passes: an operator that holds records back sets it, the task
//! that steps the stage sleeps until then.
//!
//! The operator sees the time of the current step, not that of the clock: whether there is room is also asked while a thread goes to sleep,
//! and there time alone must not be news (see [`Waiter::wait`](crate::channel::Waiter::wait)).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

/// See the module. A clone is the same alarm; only the thread that steps the stage touches it.
#[derive(Debug, Clone)]
pub struct Alarm(Arc<State>);

#[derive(Debug)]
struct State {
    now: AtomicI64,
    at: AtomicI64,
    stepping: AtomicBool,
}

impl Default for Alarm {
    fn default() -> Self {
        Alarm(Arc::new(State {
            now: AtomicI64::new(0),
            at: AtomicI64::new(i64::MAX),
            stepping: AtomicBool::new(false),
        }))
    }
}

impl Alarm {
    /// A step begins at `now`: who needs an alarm sets it again.
    pub fn begin(&self, now: i64) {
        self.0.now.store(now, Relaxed);
        self.0.at.store(i64::MAX, Relaxed);
        self.0.stepping.store(true, Relaxed);
    }

    /// The step is over: from here on the stage is only asked whether it has room.
    pub fn end(&self) {
        self.0.stepping.store(false, Relaxed);
    }

    /// Whether the stage is stepped. If not, [`Alarm::now`] is of its last step, and nothing may begin by it.
    pub fn is_stepping(&self) -> bool {
        self.0.stepping.load(Relaxed)
    }

    /// The tick of the clock at which the step began.
    pub fn now(&self) -> i64 {
        self.0.now.load(Relaxed)
    }

    /// At this tick there may be room.
    pub fn set(&self, tick: i64) {
        self.0.at.fetch_min(tick, Relaxed);
    }

    /// The tick at which there may be room, if anybody knows one.
    pub fn at(&self) -> Option<i64> {
        Some(self.0.at.load(Relaxed)).filter(|at| *at < i64::MAX)
    }
}
