//! What a stage instance has of a state backend.

use super::{Changes, StateRead, StateStore};
use crate::error::{Error, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A store of one operator, with how much of its state may be in memory and what ends the job when the store fails. A clone is the same
/// store.
#[derive(Clone)]
pub(crate) struct Space {
    /// The store.
    pub store: Shared,
    /// Bytes of it that a table keeps in memory at most.
    pub share: usize,
    report: Arc<dyn Fn(Error) + Send + Sync>,
}

impl Space {
    /// `report` ends the job with an error.
    pub fn new(
        store: Box<dyn StateStore>,
        share: usize,
        report: impl Fn(Error) + Send + Sync + 'static,
    ) -> Self {
        Space { store: Shared(Arc::new(Mutex::new(store))), share, report: Arc::new(report) }
    }

    /// Ends the job: state could not be written or read back.
    #[cold]
    pub fn report(&self, error: Error) {
        (self.report)(error);
    }
}

/// A store that the table and what is large in its entries have together; one thread alone uses it at a time.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<Box<dyn StateStore>>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Box<dyn StateStore>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// See [`StateRead::get`].
    pub fn get(&self, key: &[u8], found: &mut Vec<u8>) -> Result<bool> {
        self.lock().get(key, found)
    }

    /// See [`StateRead::scan`].
    pub fn scan(&self, from: &[u8], to: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        self.lock().scan(from, to, each)
    }

    /// See [`StateStore::write`].
    pub fn write(&self, changes: &Changes) -> Result<()> {
        self.lock().write(changes)
    }

    /// See [`StateStore::snapshot`].
    pub fn snapshot(&self) -> Result<Box<dyn StateRead>> {
        self.lock().snapshot()
    }
}
