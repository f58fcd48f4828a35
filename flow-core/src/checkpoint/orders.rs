//! What the coordinator asks of the stages.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The checkpoint to be taken. A clone is the same one.
#[derive(Clone, Default)]
pub(crate) struct Orders(Arc<Asked>);

#[derive(Default)]
struct Asked {
    /// The newest checkpoint that sources are to begin; 0 for none.
    begin: AtomicU64,
    /// The newest one that is to be written whole.
    whole: AtomicU64,
    /// The only one, at the end of the input; 0 for none.
    cut: AtomicU64,
}

impl Orders {
    /// Sources are to put barrier `id` into their sequence; operators are to write all they keep, or what has changed.
    pub fn begin(&self, id: u64, whole: bool) {
        if whole {
            self.0.whole.store(id, Ordering::Relaxed);
        }
        // Whoever sees the barrier sees what was asked of it.
        self.0.begin.store(id, Ordering::Release);
    }

    /// The barrier that sources are to have passed on.
    #[inline]
    pub fn begun(&self) -> u64 {
        self.0.begin.load(Ordering::Acquire)
    }

    /// Checkpoint `id` is to be taken where the input ends, and no other: before anything runs.
    pub fn cut(&self, id: u64) {
        self.0.whole.store(id, Ordering::Relaxed);
        self.0.cut.store(id, Ordering::Relaxed);
    }

    /// The checkpoint that is taken where the input ends, if that is what is wanted.
    pub fn cut_at(&self) -> Option<u64> {
        Some(self.0.cut.load(Ordering::Relaxed)).filter(|id| *id > 0)
    }

    pub fn wants_whole(&self, id: u64) -> bool {
        self.0.whole.load(Ordering::Relaxed) >= id
    }
}
