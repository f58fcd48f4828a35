//! The memory of the operators that need all their input, which they share.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What all of them may have together, unless said.
const LIMIT: usize = 1 << 30;
/// What each may have in any case: less would be files of a few records.
const LEAST: usize = 1 << 20;
/// Memory is taken in pieces of so many bytes.
const PIECE: usize = 1 << 18;

/// What a job says of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryLimit {
    pub bytes: Option<usize>,
    pub folder: Option<PathBuf>,
}

impl MemoryLimit {
    /// The memory of one run.
    pub fn pool(&self) -> Memory {
        let folder = self.folder.clone().unwrap_or_else(std::env::temp_dir);
        Memory::new(self.bytes.unwrap_or(LIMIT), folder)
    }
}

/// How much memory operators that need all their input may have, and where the rest goes.
#[derive(Debug, Clone)]
pub struct Memory(Arc<Pool>);

#[derive(Debug)]
struct Pool {
    folder: PathBuf,
    /// What each may have in any case.
    least: usize,
    /// What nobody has.
    free: AtomicUsize,
}

impl Default for Memory {
    fn default() -> Self {
        MemoryLimit::default().pool()
    }
}

impl Memory {
    /// So many bytes, and a folder for the rest.
    pub(crate) fn new(bytes: usize, folder: PathBuf) -> Self {
        Self::with_least(bytes, LEAST, folder)
    }

    /// So many bytes, of which each has `least` in any case.
    pub(crate) fn with_least(bytes: usize, least: usize, folder: PathBuf) -> Self {
        Memory(Arc::new(Pool { folder, least, free: AtomicUsize::new(bytes) }))
    }

    /// Of one operator.
    pub(crate) fn share(&self) -> Share {
        Share { memory: self.clone(), taken: 0 }
    }

    /// Where files go.
    pub(crate) fn folder(&self) -> &std::path::Path {
        &self.0.folder
    }
}

/// What an operator has of it.
pub(crate) struct Share {
    memory: Memory,
    taken: usize,
}

impl Share {
    /// Whether it may have so many bytes.
    pub fn reaches(&mut self, bytes: usize) -> bool {
        let allowed = self.memory.0.least + self.taken;
        bytes <= allowed || self.take((bytes - allowed).next_multiple_of(PIECE))
    }

    fn take(&mut self, more: usize) -> bool {
        let free = &self.memory.0.free;
        let taken = free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| free.checked_sub(more));
        if taken.is_ok() {
            self.taken += more;
        }
        taken.is_ok()
    }

    /// Gives all of it back.
    pub fn release(&mut self) {
        self.memory.0.free.fetch_add(std::mem::take(&mut self.taken), Ordering::Relaxed);
    }

    /// Where files go.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.release();
    }
}
