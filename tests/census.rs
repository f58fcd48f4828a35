//! Records that are counted while they live.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// How many records live, and how many did at most. A clone is the same one.
#[derive(Clone, Default)]
pub struct Census(Arc<Counted>);

#[derive(Default)]
struct Counted {
    live: AtomicUsize,
    most: AtomicUsize,
}

impl Census {
    /// A new record.
    pub fn citizen(&self, number: u64) -> Citizen {
        let live = self.0.live.fetch_add(1, SeqCst) + 1;
        self.0.most.fetch_max(live, SeqCst);
        Citizen { number, census: self.clone() }
    }

    /// How many live.
    pub fn live(&self) -> usize {
        self.0.live.load(SeqCst)
    }

    /// How many did at most.
    pub fn most(&self) -> usize {
        self.0.most.load(SeqCst)
    }
}

/// A record.
pub struct Citizen {
    /// Which one it is.
    pub number: u64,
    census: Census,
}

impl Drop for Citizen {
    fn drop(&mut self) {
        self.census.0.live.fetch_sub(1, SeqCst);
    }
}
