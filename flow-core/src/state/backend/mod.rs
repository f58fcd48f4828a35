//! Where keyed state goes that does not fit into memory.
//!
//! A [`StateBackend`] is given to a job. For each run it opens [`StateStores`], of which every stage instance takes what it needs: a
//! [`StateStore`] is an ordered map from bytes to bytes that one instance writes and nobody else sees.
//!
//! **A store is no copy of the state, and survives nothing.** What an operator keeps is at any moment either in its memory or in the store,
//! never in both, and a store is empty when a run begins. What survives a process are checkpoints, which are written from both by way of
//! [`StateStore::snapshot`]. So a store never has to be synced to the disk.

#[cfg(feature = "fjall")]
mod fjall;
mod space;
#[cfg(test)]
mod tests;

#[cfg(feature = "fjall")]
pub use fjall::Fjall;
pub(crate) use space::{Space, Spaces};

use crate::error::Result;
use std::sync::Arc;

/// Where the state of a job goes that does not fit into memory: what [`Job::state_backend`](crate::job::Job::state_backend) is given.
///
/// To write one, look at [`MapBackend`](crate::testing::MapBackend), which keeps everything in a map.
pub trait StateBackend: Send + Sync {
    /// A run of `job` begins, which has so many tables of keyed state in all its stage instances. What earlier runs have left is removed.
    ///
    /// # Errors
    /// When it cannot be opened; the job does not start.
    fn begin(&self, job: &str, tables: usize) -> Result<Arc<dyn StateStores>>;
}

impl<B: StateBackend + ?Sized> StateBackend for Arc<B> {
    fn begin(&self, job: &str, tables: usize) -> Result<Arc<dyn StateStores>> {
        (**self).begin(job, tables)
    }
}

/// The stores of one run of a job. When the last of them is dropped nothing is left of them.
pub trait StateStores: Send + Sync {
    /// How many bytes of state one table is to keep in memory at most, beside what the stores themselves take.
    fn share(&self) -> usize;
    /// A new store, which is empty; `name` tells it apart in messages.
    ///
    /// # Errors
    /// When it cannot be opened.
    fn open(&self, name: &str) -> Result<Box<dyn StateStore>>;
}

/// What can be read of a store, as it is or as it was.
pub trait StateRead: Send {
    /// Puts what lies under `key` into `found`, whose earlier content goes; whether there is something.
    ///
    /// # Errors
    /// When it cannot be read.
    fn get(&self, key: &[u8], found: &mut Vec<u8>) -> Result<bool>;
    /// Shows the keys from `from`, up to `to` but without it, in order and with their values, until `each` says that it has seen enough.
    ///
    /// # Errors
    /// When it cannot be read.
    fn scan(&self, from: &[u8], to: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()>;
}

/// An ordered map from bytes to bytes, of one stage instance.
pub trait StateStore: StateRead {
    /// Makes these changes, in their order.
    ///
    /// # Errors
    /// When they cannot be written; the job ends.
    fn write(&mut self, changes: &Changes) -> Result<()>;
    /// The store as it is now, whatever is written later. At a checkpoint it is taken while nothing else goes on, so it has to be quick.
    ///
    /// # Errors
    /// When it cannot be taken.
    fn snapshot(&self) -> Result<Box<dyn StateRead>>;
}

/// Changes of a store that are written together.
///
/// ```
/// use flow_core::state::Changes;
/// let mut changes = Changes::default();
/// changes.put(b"key", |value| value.extend_from_slice(b"value"));
/// changes.remove(b"gone");
/// let all: Vec<_> = changes.iter().collect();
/// assert_eq!(all, [(&b"key"[..], Some(&b"value"[..])), (b"gone", None)]);
/// ```
#[derive(Debug, Default)]
pub struct Changes {
    bytes: Vec<u8>,
    /// Where each key ends and each value does, which begins there; none where the key goes.
    ends: Vec<(usize, Option<usize>)>,
}

impl Changes {
    /// What `value` appends comes under `key`, in the place of what is there.
    pub fn put(&mut self, key: &[u8], value: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.extend_from_slice(key);
        let key = self.bytes.len();
        value(&mut self.bytes);
        self.ends.push((key, Some(self.bytes.len())));
    }

    /// `key` goes, if it is there.
    pub fn remove(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push((self.bytes.len(), None));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// How many bytes keys and values have.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Each key with its value, or none where it goes.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        let mut begin = 0;
        self.ends.iter().map(move |(key, value)| {
            let from = std::mem::replace(&mut begin, value.unwrap_or(*key));
            (&self.bytes[from..*key], value.map(|value| &self.bytes[*key..value]))
        })
    }
}
