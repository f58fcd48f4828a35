//! The commit of a checkpoint, and what is known where it fails.

use super::damage::{failed, folder_failed, io_failed};
use super::failpoint::{cut, point};
use super::known::Known;
use super::manifest::Manifest;
use super::manifest_file;
use super::names::{Kind, Name};
use super::store::Store;
use super::writing::Writing;
use crate::error::{Error, ErrorKind, Result};
use std::fmt;
use std::io;

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
    /// Another process has taken over the folder, or an earlier commit was `Unknown`. Nothing may be committed or aborted; the process has to end.
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
    /// Makes the checkpoint: the only commit point. Files of older checkpoints that the manifest lists are kept from now on.
    ///
    /// Of `manifest` it sets the job, the epoch, and length and hash of the file that is being written ([`Writing::file`]). Where the manifest
    /// does not list that file, it is removed.
    ///
    /// # Errors
    /// [`CommitError`] says what is known.
    pub fn commit(&mut self, mut writing: Writing, manifest: Manifest) -> Result<Committed, CommitError> {
        self.may_write().map_err(|error| self.not_ours(error))?;
        let (manifest, bytes) = self.prepare(&mut writing, manifest).map_err(CommitError::Failed)?;
        let temp = Name::new(Kind::Temp, writing.at()).to_string();
        let outcome = self.put_in_force(&mut writing, &temp, &bytes);
        match &outcome {
            Ok(()) => {
                self.known.push(Known::of(&manifest));
                self.committed = true;
            }
            Err(CommitError::Failed(_)) => {}
            Err(CommitError::Fenced(error) | CommitError::Unknown(error)) => {
                self.ended.get_or_insert_with(|| error.message().to_owned());
            }
        }
        if !writing.is_kept() {
            // If it will not go, it is removed with the garbage.
            let _ = self.storage.remove(&temp);
        }
        outcome?;
        let bytes = writing.bytes();
        if !self.known.iter().any(|known| known.needs(Name::new(Kind::State, writing.at()))) {
            writing.forget();
        }
        Ok(Committed { manifest, bytes })
    }

    /// Ends the state file, and makes the bytes of the manifest.
    fn prepare(&self, writing: &mut Writing, mut manifest: Manifest) -> Result<(Manifest, Vec<u8>)> {
        let at = writing.at();
        if manifest.id != at.id || at.epoch != self.epoch {
            let what = format!("a manifest of checkpoint {} came with the state of {}", manifest.id, at.id);
            return Err(Error::new(ErrorKind::State, what));
        }
        if self.known.iter().any(|known| known.at > at) {
            let what = format!("checkpoint {} is older than one that has been committed", at.id);
            return Err(Error::new(ErrorKind::State, what));
        }
        writing.sync()?;
        let own = writing.file();
        for file in &mut manifest.files {
            if file.name == own.name {
                file.clone_from(&own);
            } else if !self.has_file(&file.name) {
                let what = "it is in no checkpoint that is retained, and a new one cannot refer to it";
                return Err(failed(&*self.storage, &file.name, what));
            }
        }
        manifest.epoch = self.epoch;
        manifest.job.clone_from(&self.job);
        let bytes = manifest_file::write(&manifest);
        let name = Name::new(Kind::Manifest, at).to_string();
        let bytes = bytes.map_err(|what| failed(&*self.storage, &name, what))?;
        Ok((manifest, bytes))
    }

    fn has_file(&self, name: &str) -> bool {
        let listed = |known: &Known| known.files.iter().flatten().any(|file| file == name);
        self.known.iter().any(listed)
    }

    /// From the bytes of the manifest to the commit point, and beyond it.
    fn put_in_force(&mut self, writing: &mut Writing, temp: &str, bytes: &[u8]) -> Result<(), CommitError> {
        self.stage(temp, bytes).map_err(CommitError::Failed)?;
        self.has_lock().map_err(|error| self.not_ours(error))?;
        let name = Name::new(Kind::Manifest, writing.at()).to_string();
        point("P7c");
        // From here on a manifest may list the state file.
        writing.keep();
        if let Err(error) = self.storage.rename(temp, &name) {
            let error = io_failed(&*self.storage, &name, "given its name", &error);
            return Err(match self.storage.len(&name) {
                Err(gone) if gone.kind() == io::ErrorKind::NotFound => {
                    writing.forget();
                    // A successor may have removed what was to be renamed.
                    self.has_lock().map_or_else(|lost| self.not_ours(lost), |()| CommitError::Failed(error))
                }
                _ => CommitError::Unknown(unknown(error)),
            });
        }
        point("P7d");
        let synced = self.storage.sync_folder();
        let synced = synced.map_err(|error| folder_failed(&*self.storage, "brought to the disk", &error));
        synced.map_err(|error| CommitError::Unknown(unknown(error)))?;
        // Who took over between the two looks may have seen our manifest, or not: it decides.
        self.has_lock().map_err(|error| match self.ended {
            Some(_) => CommitError::Fenced(error),
            None => CommitError::Unknown(unknown(error)),
        })
    }

    /// Writes the manifest beside its place, and brings its name and that of the state file to the disk.
    fn stage(&self, temp: &str, bytes: &[u8]) -> Result<()> {
        let storage = &*self.storage;
        point("P7a");
        let mut file = storage.create(temp).map_err(|error| io_failed(storage, temp, "created", &error))?;
        let (first, rest) = cut("P7b", bytes);
        file.write(first).map_err(|error| io_failed(storage, temp, "written", &error))?;
        point("P7b");
        if !rest.is_empty() {
            file.write(rest).map_err(|error| io_failed(storage, temp, "written", &error))?;
        }
        file.sync().map_err(|error| io_failed(storage, temp, "brought to the disk", &error))?;
        point("P4e");
        storage.sync_folder().map_err(|error| folder_failed(storage, "brought to the disk", &error))
    }

    /// The lock could not be looked at, or is not ours any more.
    fn not_ours(&self, error: Error) -> CommitError {
        if self.ended.is_some() { CommitError::Fenced(error) } else { CommitError::Failed(error) }
    }
}

#[cold]
fn unknown(error: Error) -> Error {
    error.note("whether the checkpoint is there will be known at the next start")
}
