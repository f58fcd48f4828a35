//! What a stage instance has of a state backend.

use super::{Changes, StateRead, StateStore};
use crate::error::{Error, Result};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
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
        Space { store: Shared::of(store), share, report: Arc::new(report) }
    }

    /// What is written is counted in `bytes`.
    pub fn counted(mut self, bytes: Arc<AtomicUsize>) -> Self {
        self.store.1 = bytes;
        self
    }

    /// Ends the job: state could not be written or read back.
    #[cold]
    pub fn report(&self, error: Error) {
        (self.report)(error);
    }
}

/// A store that the table and what is large in its entries have together; one thread alone uses it at a time.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<Box<dyn StateStore>>>, Arc<AtomicUsize>);

impl Shared {
    fn of(store: Box<dyn StateStore>) -> Self {
        Shared(Arc::new(Mutex::new(store)), Arc::default())
    }

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
        self.1.fetch_add(changes.bytes(), Relaxed);
        self.lock().write(changes)
    }

    /// See [`StateStore::snapshot`].
    pub fn snapshot(&self) -> Result<Box<dyn StateRead>> {
        self.lock().snapshot()
    }
}

/// One store for tables that come and go: each has the keys that begin with its number, and finds nothing there at first.
pub(crate) struct Spaces {
    whole: Shared,
    /// Bytes that all tables keep in memory at most.
    pub share: usize,
    report: Arc<dyn Fn(Error) + Send + Sync>,
    next: u64,
}

impl Spaces {
    pub fn new(space: Space) -> Self {
        Spaces { whole: space.store, share: space.share, report: space.report, next: 0 }
    }

    /// A part that nobody has had.
    pub fn part(&mut self) -> Space {
        let prefix = self.next.to_be_bytes();
        self.next += 1;
        let part = Part { whole: self.whole.clone(), prefix };
        let store = Shared::of(Box::new(part));
        Space { store, share: self.share, report: Arc::clone(&self.report) }
    }
}

type Prefix = [u8; 8];

/// The keys of a store that begin with `prefix`, without it.
struct Part {
    whole: Shared,
    prefix: Prefix,
}

/// A part as it was.
struct Past {
    whole: Box<dyn StateRead>,
    prefix: Prefix,
}

impl Part {
    /// One thread has all parts, so nobody waits.
    fn whole(&self) -> MutexGuard<'_, Box<dyn StateStore>> {
        self.whole.lock()
    }
}

fn long(prefix: Prefix, key: &[u8]) -> Vec<u8> {
    [&prefix, key].concat()
}

fn scan_part(
    whole: &(impl StateRead + ?Sized),
    prefix: Prefix,
    (from, to): (&[u8], &[u8]),
    each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
) -> Result<()> {
    let mut short = |key: &[u8], value: &[u8]| each(key.get(prefix.len()..).unwrap_or_default(), value);
    whole.scan(&long(prefix, from), &long(prefix, to), &mut short)
}

impl StateRead for Part {
    fn get(&self, key: &[u8], found: &mut Vec<u8>) -> Result<bool> {
        self.whole().get(&long(self.prefix, key), found)
    }
    fn scan(&self, from: &[u8], to: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        scan_part(&**self.whole(), self.prefix, (from, to), each)
    }
}

impl StateRead for Past {
    fn get(&self, key: &[u8], found: &mut Vec<u8>) -> Result<bool> {
        self.whole.get(&long(self.prefix, key), found)
    }
    fn scan(&self, from: &[u8], to: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        scan_part(&*self.whole, self.prefix, (from, to), each)
    }
}

impl StateStore for Part {
    fn write(&mut self, changes: &Changes) -> Result<()> {
        let mut long_ones = Changes::default();
        for (key, value) in changes.iter() {
            let key = long(self.prefix, key);
            match value {
                Some(value) => long_ones.put(&key, |out| out.extend_from_slice(value)),
                None => long_ones.remove(&key),
            }
        }
        self.whole.write(&long_ones)
    }
    fn snapshot(&self) -> Result<Box<dyn StateRead>> {
        Ok(Box::new(Past { whole: self.whole().snapshot()?, prefix: self.prefix }))
    }
}
