//! What is said about files that fail or are damaged.

use super::manifest::Manifest;
use super::names::{Kind, Name};
use super::storage::Storage;
use crate::error::{Error, ErrorKind};
use crate::sorted::Sorted;
use std::io;

/// An error of a file: `what` is wrong.
#[cold]
pub(super) fn failed(storage: &dyn Storage, name: &str, what: &str) -> Error {
    Error::new(ErrorKind::State, format!("{}: {what}", storage.describe(name)))
}

/// An error of the system: what was to be `done` with a file was not.
#[cold]
pub(super) fn io_failed(storage: &dyn Storage, name: &str, done: &str, error: &io::Error) -> Error {
    failed(storage, name, &format!("cannot be {done}: {error}"))
}

/// An error of the system with the folder.
#[cold]
pub(super) fn folder_failed(storage: &dyn Storage, done: &str, error: &io::Error) -> Error {
    let folder = storage.describe("");
    Error::new(ErrorKind::State, format!("the folder of checkpoints {folder} cannot be {done}: {error}"))
}

/// `error` makes checkpoint `id` useless: says what the user can do about it. `sinks` are those that are known to commit with checkpoints.
#[cold]
pub(super) fn damaged(storage: &dyn Storage, id: u64, sinks: &[String], error: Error) -> Error {
    let error = error.note(format!("checkpoint {id} cannot be restored, and nothing was changed"));
    let older = older(storage, id);
    if older.is_empty() {
        return error.note("there is no older checkpoint: with another, empty folder the job begins anew, and all of its sinks write again");
    }
    let older: Vec<String> = older.iter().map(u64::to_string).collect();
    let sinks = match sinks {
        [] => "every sink that is not idempotent".into(),
        known => format!("every sink that is not idempotent ({})", known.join(", ")),
    };
    error.note(format!(
        "to go on from an older one knowingly, give its number to `restore_from` (there are {}): {sinks} may then write a second time what it committed since",
        older.join(", ")
    ))
}

/// The sinks that a manifest knows of.
pub(super) fn sinks(manifest: &Manifest) -> Vec<String> {
    let mut sinks = Sorted::default();
    for staged in &manifest.staged {
        sinks.insert(format!("`{}`", staged.sink), ());
    }
    sinks.into_keys()
}

fn older(storage: &dyn Storage, id: u64) -> Vec<u64> {
    let names = storage.list().unwrap_or_default();
    let manifests = names.iter().filter_map(|name| Name::parse(name)).filter(|n| n.kind == Kind::Manifest);
    let mut ids = Sorted::default();
    for older in manifests.map(|name| name.at.id).filter(|other| *other < id) {
        ids.insert(older, ());
    }
    ids.into_keys()
}
