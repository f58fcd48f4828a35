//! The protocol: open, begin, commit, remove.

use super::manifest::Manifest;
use super::parts::Parts;
use super::storage::Storage;
use super::writing::Writing;
use crate::error::{Error, ErrorKind, Result};
use std::fmt;
use std::sync::Arc;

/// The checkpoints of a job in their folder. It has the lock.
pub struct Store {}

/// A checkpoint that is on the disk, whatever happens.
#[derive(Debug)]
pub struct Committed {
    /// Its manifest as it was written: the next one may refer to its files.
    pub manifest: Manifest,
    /// Bytes of its state file.
    pub bytes: u64,
}

/// Why a commit has not succeeded, and what that means for what sinks have staged.
#[derive(Debug)]
pub enum CommitError {
    /// The checkpoint is not there and never will be. What was staged for it is aborted; the job goes on.
    Failed(Error),
    /// It may be there or not. Nothing may be committed or aborted; the process has to end, and the next start sees.
    Unknown(Error),
    /// Another process has taken over the folder. Nothing may be committed or aborted; the process has to end.
    Fenced(Error),
}

impl CommitError {
    /// What happened.
    pub fn error(&self) -> &Error {
        let (Self::Failed(error) | Self::Unknown(error) | Self::Fenced(error)) = self;
        error
    }

    /// What happened, by value.
    pub fn into_error(self) -> Error {
        let (Self::Failed(error) | Self::Unknown(error) | Self::Fenced(error)) = self;
        error
    }
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error().fmt(f)
    }
}

impl std::error::Error for CommitError {}

impl Store {
    /// Locks the folder, reads the newest checkpoint (`None` where there is none), and removes what a dead process left behind. At
    /// least one checkpoint is retained, whatever `retained` says.
    ///
    /// # Errors
    /// When another process has the lock; when the newest manifest is damaged, of another job, another format or another number of key groups; when the
    /// disk fails. Nothing is removed then.
    pub fn open(storage: Arc<dyn Storage>, job: &str, retained: usize) -> Result<(Store, Option<Manifest>)> {
        let _ = (storage, job, retained);
        Err(not_yet())
    }

    /// As [`open`](Self::open), but goes on from checkpoint `id`, whatever the newer ones say: the user's `restore_from`.
    ///
    /// # Errors
    /// As those of `open`, and when there is no such checkpoint.
    pub fn open_at(
        storage: Arc<dyn Storage>,
        job: &str,
        retained: usize,
        id: u64,
    ) -> Result<(Store, Manifest)> {
        let _ = (storage, job, retained, id);
        Err(not_yet())
    }

    /// Reads a checkpoint without taking the lock: to look at, or to take over into another folder.
    ///
    /// # Errors
    /// When there is none with this number, it is damaged, or of another format or number of key groups.
    pub fn read(storage: &dyn Storage, id: u64) -> Result<Manifest> {
        let _ = (storage, id);
        Err(not_yet())
    }

    /// A number above those of all checkpoints in the folder, whole or not.
    pub fn next_id(&self) -> u64 {
        1
    }

    /// Which opening of the folder this is.
    pub fn epoch(&self) -> u64 {
        1
    }

    /// Begins checkpoint `id`, which is at least [`next_id`](Self::next_id).
    ///
    /// # Errors
    /// When its file cannot be created, when another process has taken over, or when the outcome of an earlier commit is unknown.
    pub fn begin(&mut self, id: u64) -> Result<Writing> {
        Ok(Writing::new(id))
    }

    /// Makes the checkpoint: the only commit point. Files of older checkpoints that the manifest lists are kept from now on.
    ///
    /// Of `manifest` it sets the job, the epoch, and length and hash of the file that is being written ([`Writing::file`]).
    ///
    /// # Errors
    /// [`CommitError`] says what is known.
    pub fn commit(&mut self, writing: Writing, manifest: Manifest) -> Result<Committed, CommitError> {
        let _ = (writing, manifest);
        Err(CommitError::Failed(not_yet()))
    }

    /// Gives a checkpoint up, and removes its file.
    pub fn abort(&mut self, writing: Writing) {
        drop(writing);
    }

    /// Removes checkpoints that are not retained, and files that none lists. To be called after the sinks have committed. Returns
    /// how many files went.
    ///
    /// # Errors
    /// When a file cannot be removed; the next call tries again.
    pub fn collect_garbage(&mut self) -> Result<usize> {
        Ok(0)
    }

    /// The state of an operator in a checkpoint. One that saved nothing has no slots.
    ///
    /// # Errors
    /// When a file is missing, of another length, or not the one that the manifest lists.
    pub fn parts(&self, manifest: &Manifest, operator: &str) -> Result<Parts> {
        let _ = (manifest, operator);
        Err(not_yet())
    }
}

fn not_yet() -> Error {
    Error::new(ErrorKind::State, "not yet")
}
