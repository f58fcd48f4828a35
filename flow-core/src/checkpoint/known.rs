//! The checkpoints in the folder, and which files they need.

use super::damage::{damaged, failed, folder_failed, io_failed, sinks};
use super::failpoint::point;
use super::manifest::Manifest;
use super::manifest_file::{self, MANIFEST_BYTES_MAX};
use super::names::{At, Kind, Name};
use super::storage::Storage;
use crate::error::{Error, Result};
use crate::sorted::Sorted;
use std::io;

/// A manifest in the folder.
pub(super) struct Known {
    pub at: At,
    pub savepoint: bool,
    /// The files it lists; `None` for one that cannot be read, and may need every file that is no newer.
    pub files: Option<Vec<String>>,
}

impl Known {
    pub fn of(manifest: &Manifest) -> Known {
        let files = manifest.files.iter().map(|file| file.name.clone()).collect();
        Known {
            at: At { epoch: manifest.epoch, id: manifest.id },
            savepoint: manifest.savepoint,
            files: Some(files),
        }
    }

    /// Whether it needs the state file `name`, or may.
    pub fn needs(&self, name: Name) -> bool {
        match &self.files {
            Some(files) => files.contains(&name.to_string()),
            None => name.at.id <= self.at.id,
        }
    }
}

/// The files of checkpoints in the folder.
pub(super) fn names(storage: &dyn Storage) -> Result<Vec<Name>> {
    let names = storage.list().map_err(|error| folder_failed(storage, "read", &error))?;
    Ok(names.iter().filter_map(|name| Name::parse(name)).collect())
}

/// The manifests among them, oldest first.
pub(super) fn manifests(names: &[Name]) -> Vec<At> {
    let mut manifests = Sorted::default();
    for name in names.iter().filter(|name| name.kind == Kind::Manifest) {
        manifests.insert(name.at, ());
    }
    manifests.into_keys()
}

/// Reads a manifest. `older` are those before it, of which the user may choose one where it is damaged.
pub(super) fn read(storage: &dyn Storage, at: At, older: &[At]) -> Result<Manifest> {
    let name = Name::new(Kind::Manifest, at).to_string();
    let read = |error: &io::Error| io_failed(storage, &name, "read", error);
    let len = storage.len(&name).map_err(|error| read(&error))?;
    let bytes = if len <= MANIFEST_BYTES_MAX {
        storage.read_at(&name, 0, len as usize).map_err(|error| read(&error))?
    } else {
        Vec::new()
    };
    manifest_file::read(&bytes, at).map_err(|what| {
        // Which sinks commit stands in the damaged one; the one before it most likely knows the same.
        let before = older.iter().rev().find_map(|at| read_quietly(storage, *at));
        let known = before.map(|manifest| sinks(&manifest)).unwrap_or_default();
        damaged(storage, at.id, &known, failed(storage, &name, &what))
    })
}

/// Reads a manifest if it can be read.
fn read_quietly(storage: &dyn Storage, at: At) -> Option<Manifest> {
    read(storage, at, &[]).ok()
}

/// All manifests but `chosen`, which has been read: the files they list.
pub(super) fn known(storage: &dyn Storage, all: &[At], chosen: Option<&Manifest>) -> Vec<Known> {
    let known = |at: &At| match chosen {
        Some(manifest) if (At { epoch: manifest.epoch, id: manifest.id }) == *at => Known::of(manifest),
        _ => match read_quietly(storage, *at) {
            Some(manifest) => Known::of(&manifest),
            None => Known { at: *at, savepoint: false, files: None },
        },
    };
    all.iter().map(known).collect()
}

/// Removes a file, which may be gone already.
pub(super) fn remove(storage: &dyn Storage, name: Name) -> Result<()> {
    let name = name.to_string();
    match storage.remove(&name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(io_failed(storage, &name, "removed", &error))
        }
        _ => {
            point("P10");
            Ok(())
        }
    }
}

/// Removes files; returns how many went, and what failed first.
pub(super) fn remove_all(storage: &dyn Storage, names: impl Iterator<Item = Name>) -> (usize, Option<Error>) {
    let (mut removed, mut failed) = (0, None);
    for name in names {
        match remove(storage, name) {
            Ok(()) => removed += 1,
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    (removed, failed)
}
