//! Where jobs of the suite keep their state: every case runs with each of them.

use flow_core::state::{Changes, StateBackend, StateRead, StateStore, StateStores};
use flow_core::testing::MapBackend;
use flow_core::{Job, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A state backend.
#[derive(Debug, Clone, Copy)]
pub enum Backend {
    Memory,
    /// Nothing stays in the memory of a table that need not; the store is a map.
    Maps,
}

/// All that there are.
pub const BACKENDS: [Backend; 2] = [Backend::Memory, Backend::Maps];

impl Backend {
    /// The same job with this backend.
    pub fn give(self, job: Job) -> Job {
        match self {
            Backend::Memory => job,
            Backend::Maps => job.state_backend(MapBackend::with_limit(0)),
        }
    }

    /// Whether the order of rows is defined with it, where nobody dies.
    pub fn in_order(self) -> bool {
        match self {
            Backend::Memory => true,
            Backend::Maps => false,
        }
    }
}

/// As [`Backend::Maps`]; counts what is put into stores.
#[derive(Clone, Default)]
pub struct Watched(pub Arc<AtomicUsize>);

struct Stores(Arc<dyn StateStores>, Arc<AtomicUsize>);
struct Store(Box<dyn StateStore>, Arc<AtomicUsize>);

impl StateBackend for Watched {
    fn begin(&self, job: &str, tables: usize) -> Result<Arc<dyn StateStores>> {
        Ok(Arc::new(Stores(MapBackend::with_limit(0).begin(job, tables)?, Arc::clone(&self.0))))
    }
}

impl StateStores for Stores {
    fn share(&self) -> usize {
        self.0.share()
    }
    fn open(&self, name: &str) -> Result<Box<dyn StateStore>> {
        Ok(Box::new(Store(self.0.open(name)?, Arc::clone(&self.1))))
    }
}

impl StateRead for Store {
    fn get(&self, key: &[u8], found: &mut Vec<u8>) -> Result<bool> {
        self.0.get(key, found)
    }
    fn scan(&self, from: &[u8], to: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        self.0.scan(from, to, each)
    }
}

impl StateStore for Store {
    fn write(&mut self, changes: &Changes) -> Result<()> {
        self.1.fetch_add(changes.iter().filter(|change| change.1.is_some()).count(), Relaxed);
        self.0.write(changes)
    }
    fn snapshot(&self) -> Result<Box<dyn StateRead>> {
        self.0.snapshot()
    }
}
