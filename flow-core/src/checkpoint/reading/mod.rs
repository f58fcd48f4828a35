//! Checkpoints for people and tests: what is in them, typed, or as lines of JSON that can be made a checkpoint again.
//!
//! | to see | look at |
//! |---|---|
//! | keys and values of their types | [`Snapshot::keyed`], `values.rs` |
//! | the lines | [`Snapshot::export`], `export.rs` |
//! | the way back | [`import`](import()), `import.rs`, `entries.rs` |

mod entries;
mod export;
mod import;
mod values;

use super::known;
use super::records::merge;
use super::restored::since_whole;
use super::{Folder, Manifest, OperatorState, Parts, Slot, Storage, Store};
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::KEY_GROUPS;
use crate::state::shape::{State, state};
use serde_core::de::DeserializeOwned;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub use import::{import, import_into};
pub(crate) use values::Keyed;

/// The checkpoints in a folder, to look at: nothing is changed or locked. The job may run; then a checkpoint may go while it is read,
/// unless it is a savepoint.
///
/// ```
/// use flow_core::prelude::*;
/// let folder = tempfile::tempdir().unwrap();
/// let job = Job::build("sums", |job| {
///     let numbers = source(generate(u64::MAX, |n| n)).durable().rate_limit(10_000);
///     job.add(numbers.key_by(|n| n % 3).count().named("counts").collect(&Collected::new()));
/// });
/// let handle = job.checkpoints(Checkpoints::to(folder.path())).start().unwrap();
/// handle.stop_with_savepoint().unwrap();
/// handle.join().unwrap();
///
/// let snapshot = flow_core::checkpoint::read(folder.path()).unwrap().newest().unwrap();
/// assert!(snapshot.manifest().savepoint);
/// for counted in snapshot.keyed::<u64, u64>("counts/count").unwrap() {
///     let (key, n) = counted.unwrap();
///     println!("{n} numbers have the rest {key}");
/// }
/// ```
///
/// # Errors
/// When there is no such folder.
pub fn read(folder: impl AsRef<Path>) -> Result<Reader> {
    let folder = folder.as_ref();
    if !folder.is_dir() {
        let what = format!("there is no folder {}", folder.display());
        return Err(Error::new(ErrorKind::State, what));
    }
    let opened = Folder::open(folder);
    let opened = opened.map_err(|error| {
        Error::new(ErrorKind::State, format!("the folder {} cannot be opened: {error}", folder.display()))
    })?;
    Ok(Reader::of(Arc::new(opened)))
}

/// See [`read`].
pub struct Reader(Arc<dyn Storage>);

impl Reader {
    /// Of a storage of your own.
    pub fn of(storage: Arc<dyn Storage>) -> Self {
        Reader(storage)
    }

    /// What each checkpoint has, oldest first. One that is damaged is left out: [`Reader::at`] says what is wrong with it.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn checkpoints(&self) -> Result<Vec<Manifest>> {
        let all = known::manifests(&known::names(&*self.0)?);
        Ok(all.iter().filter_map(|at| known::read(&*self.0, *at, &[]).ok()).collect())
    }

    /// The newest one.
    ///
    /// # Errors
    /// When there is none, or it is damaged.
    pub fn newest(&self) -> Result<Snapshot> {
        let all = known::manifests(&known::names(&*self.0)?);
        let Some((newest, older)) = all.split_last() else {
            let what = format!("{} has no checkpoint", self.0.describe(""));
            return Err(Error::new(ErrorKind::State, what));
        };
        let manifest = known::read(&*self.0, *newest, older)?;
        Ok(Snapshot { storage: Arc::clone(&self.0), manifest })
    }

    /// The one of this number.
    ///
    /// # Errors
    /// When there is none, or it is damaged.
    pub fn at(&self, checkpoint: u64) -> Result<Snapshot> {
        let manifest = Store::read(&*self.0, checkpoint)?;
        Ok(Snapshot { storage: Arc::clone(&self.0), manifest })
    }
}

/// A checkpoint that is looked at.
#[derive(Clone)]
pub struct Snapshot {
    storage: Arc<dyn Storage>,
    manifest: Manifest,
}

impl Snapshot {
    /// What belongs to it: the operators with their schemas and numbers of instances, and what sinks have staged.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// How many bytes an operator has in its files.
    ///
    /// # Errors
    /// When there is no such operator, or its files cannot be read.
    pub fn bytes(&self, operator: &str) -> Result<u64> {
        Ok(self.parts(self.operator(operator)?)?.bytes())
    }

    /// The keys and values of an operator, group by group. Of an operator with several values, or of a process with several states,
    /// it has to be said which: `joined/join/left`, `balances/process/last`. Where a key has several, as in windows and joins, each comes with
    /// the key; windows of the same key are told apart by [`Snapshot::export`].
    ///
    /// # Errors
    /// When there is no such operator, when it keeps no keyed state, or of other types; when the checkpoint goes while it is read.
    pub fn keyed<K: DeserializeOwned + 'static, V: DeserializeOwned + 'static>(
        &self,
        operator: &str,
    ) -> Result<impl Iterator<Item = Result<(K, V)>> + use<K, V>> {
        self.keyed_in(operator, 0..KEY_GROUPS)
    }

    /// Those in some of the key groups, in an iterator that says how far it has come.
    pub(crate) fn keyed_in<K: DeserializeOwned + 'static, V: DeserializeOwned + 'static>(
        &self,
        operator: &str,
        groups: Range<usize>,
    ) -> Result<Keyed<K, V>> {
        values::keyed(self, operator, groups)
    }

    /// Writes all that there is as lines of JSON, from which [`import`](import()) makes a checkpoint again. How many.
    ///
    /// ```text
    /// {"checkpoint":7,"job":"sums","savepoint":true,"finished":false,"format":2,"key_groups":256,"hash":1}
    /// {"operator":"sums/sum","schema":"string -> u64","instances":2,"finished":false}
    /// {"operator":"sums/sum","group":17,"key":"a","value":12}
    /// {"operator":"hours/aggregate","group":3,"window":{"start":0,"length":3600000},"header":{"fired":0},"key":"a","value":[2,7.5]}
    /// {"operator":"found/process","group":3,"part":"timers","key":"a","at":1500,"every":0,"value":4}
    /// {"operator":"numbers","instance":0,"bytes":"0c00000000000000"}
    /// {"sink":"out","instance":0,"checkpoint":7,"bytes":""}
    /// {"end":7}
    /// ```
    ///
    /// A value is the JSON that `serde_json` makes of it, but for what JSON has no words for: `NaN` and infinities are texts, `"NaN"`, `"-inf"`; an
    /// option of what may be `null` itself is in brackets where it is there, `[null]`; a map whose keys are neither texts, numbers, flags nor plain variants is a list
    /// of pairs; integers have all their digits, also beyond 64 bits. What is kept beside keyed state, and state whose schema does not say all, are the
    /// hexadecimal digits of its bytes.
    ///
    /// # Errors
    /// When something cannot be read or written.
    pub fn export(&self, out: &mut dyn std::io::Write) -> Result<u64> {
        export::export(self, out)
    }

    /// Where the job has removed the checkpoint while it was read, that is what has happened.
    #[cold]
    fn has_it_gone(&self, error: Error) -> Error {
        let Ok(names) = known::names(&*self.storage) else { return error };
        let (epoch, id) = (self.manifest.epoch, self.manifest.id);
        if known::manifests(&names).iter().any(|at| (at.epoch, at.id) == (epoch, id)) {
            return error;
        }
        let what = format!("checkpoint {id} has gone while it was read: the job keeps the newest alone");
        Error::new(ErrorKind::State, what)
            .note(error.message().to_owned())
            .note("take one that stays, `handle.savepoint()`, and read that, or keep more of them, `Checkpoints::retained(n)`")
    }

    fn operator(&self, operator: &str) -> Result<&OperatorState> {
        let found = self.manifest.operators.iter().find(|state| state.id == operator);
        found.ok_or_else(|| {
            let all: Vec<&str> = self.manifest.operators.iter().map(|state| state.id.as_str()).collect();
            let what = format!(
                "checkpoint {} has no state of `{operator}`: there are {}",
                self.manifest.id,
                if all.is_empty() { "none".into() } else { all.join(", ") }
            );
            Error::new(ErrorKind::State, what)
        })
    }

    fn parts(&self, operator: &OperatorState) -> Result<Parts> {
        let parts = Parts::open(&self.storage, &self.manifest, &operator.id);
        parts.map_err(|error| self.has_it_gone(error))
    }
}

/// The state of an operator, if its schema says what it looks like.
fn state_of(operator: &OperatorState) -> Option<State> {
    state(&operator.schema).ok()
}

/// The merged bytes of a slot, as the operator gets them.
fn slot(parts: &Parts, slot: Slot) -> Result<Vec<Vec<u8>>> {
    let history = since_whole(parts.read(slot)?)?;
    match slot {
        Slot::Instance(_) => Ok(history),
        Slot::Group(_) if history.is_empty() => Ok(history),
        Slot::Group(_) => Ok(vec![merge(&history)?]),
    }
}

/// What is wrong with the state of an operator.
#[cold]
fn wrong(operator: &str, what: &str) -> Error {
    Error::new(ErrorKind::State, format!("the state of `{operator}`: {what}"))
}
