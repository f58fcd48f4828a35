//! A state backend as another one, with nothing left in memory.

use crate::error::Result;
use crate::state::{Changes, StateBackend, StateRead, StateStore, StateStores};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Another state backend, which says that no table may keep anything in memory: all state that can leaves, and comes back for
/// each record. It counts what it is given, so that a test can say that something has left.
///
/// ```
/// use flow_core::prelude::*;
/// use flow_core::testing::{MapBackend, NothingInMemory};
/// let out = Collected::new();
/// let job = Job::build("sums", |job| {
///     let numbers = source(from_iter(1..=4)).durable();
///     job.add(numbers.key_by(|n| n % 2).sum(|n| *n).collect(&out));
/// });
/// let backend = NothingInMemory::of(MapBackend::with_limit(1 << 20));
/// job.batch_size(1).state_backend(backend.clone()).simulate(7).unwrap();
/// assert_eq!(out.take(), [(1, 1), (0, 2), (1, 4), (0, 6)]);
/// assert!(backend.puts() > 0 && backend.tables() > 0);
/// ```
#[derive(Clone)]
#[must_use = "it is used when a job is given it"]
pub struct NothingInMemory<B> {
    backend: B,
    seen: Arc<Seen>,
}

/// What stores have been given.
struct Seen {
    tables: AtomicUsize,
    puts: AtomicUsize,
    first: Box<dyn Fn() + Send + Sync>,
}

impl<B: StateBackend> NothingInMemory<B> {
    /// As `backend`, with nothing in memory.
    pub fn of(backend: B) -> Self {
        Self::marked(backend, || {})
    }

    /// The same; calls `first` when the first entry comes.
    pub fn marked(backend: B, first: impl Fn() + Send + Sync + 'static) -> Self {
        let (tables, puts) = (AtomicUsize::new(0), AtomicUsize::new(0));
        NothingInMemory { backend, seen: Arc::new(Seen { tables, puts, first: Box::new(first) }) }
    }

    /// How many entries have come, in all runs of all its clones.
    pub fn puts(&self) -> usize {
        self.seen.puts.load(Relaxed)
    }

    /// How many tables the last run had that wanted to know what they may keep.
    pub fn tables(&self) -> usize {
        self.seen.tables.load(Relaxed)
    }
}

impl<B: StateBackend> StateBackend for NothingInMemory<B> {
    fn begin(&self, job: &str, tables: usize) -> Result<Arc<dyn StateStores>> {
        self.seen.tables.store(tables, Relaxed);
        Ok(Arc::new(Stores { stores: self.backend.begin(job, tables)?, seen: Arc::clone(&self.seen) }))
    }
}

struct Stores {
    stores: Arc<dyn StateStores>,
    seen: Arc<Seen>,
}

impl StateStores for Stores {
    fn share(&self) -> usize {
        0
    }
    fn open(&self, name: &str) -> Result<Box<dyn StateStore>> {
        Ok(Box::new(Store { store: self.stores.open(name)?, seen: Arc::clone(&self.seen) }))
    }
}

struct Store {
    store: Box<dyn StateStore>,
    seen: Arc<Seen>,
}

impl StateRead for Store {
    fn get(&self, key: &[u8], found: &mut Vec<u8>) -> Result<bool> {
        self.store.get(key, found)
    }
    fn scan(&self, from: &[u8], to: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        self.store.scan(from, to, each)
    }
}

impl StateStore for Store {
    fn write(&mut self, changes: &Changes) -> Result<()> {
        let puts = changes.iter().filter(|change| change.1.is_some()).count();
        if puts > 0 && self.seen.puts.fetch_add(puts, Relaxed) == 0 {
            (self.seen.first)();
        }
        self.store.write(changes)
    }
    fn snapshot(&self) -> Result<Box<dyn StateRead>> {
        self.store.snapshot()
    }
}
