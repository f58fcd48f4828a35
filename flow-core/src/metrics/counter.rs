//! Counters with one writer: a plain load and store, no read-modify-write.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// A number that only grows. One stage instance writes it, anybody may read it.
///
/// ```
/// let seen = flow_core::metrics::Counter::default();
/// seen.add(2);
/// assert_eq!(seen.get(), 2);
/// ```
#[derive(Debug, Clone)]
pub struct Counter(Arc<AtomicU64>);

// Not derived: what is derived is compiled again in every crate that uses it, and each operator has counters.
impl Default for Counter {
    fn default() -> Self {
        Counter(Arc::new(AtomicU64::new(0)))
    }
}

impl Counter {
    /// Adds `n`. Only the owner of the counter may call this: two writers would lose counts.
    #[inline]
    pub fn add(&self, n: u64) {
        // Relaxed load and store: there is one writer, and a reader may be a moment late.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    /// What it stands at.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A number that goes up and down.
#[derive(Debug, Clone, Default)]
pub struct Gauge(Arc<AtomicI64>);

impl Gauge {
    /// Sets it.
    #[inline]
    pub fn set(&self, value: i64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// What it stands at.
    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}
