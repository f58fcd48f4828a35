//! The protocol: open, begin, commit, remove. Its steps are in the documentation of the room.

use super::damage::{failed, folder_failed, io_failed};
use super::failpoint::point;
use super::known::{self, Known};
use super::manifest::Manifest;
use super::names::{At, Kind, Name};
use super::parts::Parts;
use super::storage::{LOCK, Storage};
use super::writing::Writing;
use crate::error::{Error, ErrorKind, Result};
use std::io;
use std::sync::Arc;

/// The checkpoints of a job in their folder. It has the lock.
///
/// ```
/// use flow_core::checkpoint::{Manifest, OperatorState, Slot, Store};
/// use flow_core::testing::SimFs;
/// use std::sync::Arc;
///
/// let folder = Arc::new(SimFs::new());
/// let (mut store, newest) = Store::open(folder.clone(), "job", 3)?;
/// assert!(newest.is_none());
/// let mut writing = store.begin(store.next_id())?;
/// writing.part("count", Slot::Group(7), b"state")?;
/// let count = OperatorState { id: "count".into(), files: vec![0], ..OperatorState::default() };
/// let manifest =
///     Manifest { id: 1, operators: vec![count], files: vec![writing.file()], ..Manifest::default() };
/// store.commit(writing, manifest).unwrap();
/// drop(store);
///
/// let (store, newest) = Store::open(folder, "job", 3)?;
/// let newest = newest.unwrap();
/// assert_eq!((newest.id, store.epoch()), (1, 2));
/// assert_eq!(store.parts(&newest, "count")?.read(Slot::Group(7))?, [b"state"]);
/// # Ok::<(), flow_core::Error>(())
/// ```
pub struct Store {
    pub(super) storage: Arc<dyn Storage>,
    pub(super) job: String,
    pub(super) retained: usize,
    pub(super) epoch: u64,
    next_id: u64,
    /// What we wrote into the lock file.
    turn: Vec<u8>,
    /// The manifests in the folder, oldest first.
    pub(super) known: Vec<Known>,
    /// We have made one ourselves: it supersedes whatever others left.
    pub(super) committed: bool,
    /// Manifests were removed, and the folder was not synced since.
    pub(super) unsynced: bool,
    /// Why nothing may be written any more.
    pub(super) ended: Option<String>,
    _lock: Box<dyn Send + Sync>,
}

/// Which checkpoint to go on from.
#[derive(Clone, Copy)]
enum From {
    Newest,
    Id(u64),
}

impl Store {
    /// Locks the folder, reads the newest checkpoint (`None` where there is none), and removes what a dead process left behind. At
    /// least one checkpoint is retained, whatever `retained` says.
    ///
    /// # Errors
    /// When another process has the lock; when the newest manifest is damaged, of another job, another format or another number of key groups; when the
    /// disk fails. No checkpoint is touched then.
    pub fn open(storage: Arc<dyn Storage>, job: &str, retained: usize) -> Result<(Store, Option<Manifest>)> {
        Self::open_from(storage, job, retained, From::Newest)
    }

    /// As [`open`](Self::open), but goes on from checkpoint `id`, whatever the newer ones say: the user's `restore_from`. They stay where
    /// they are until the job has committed as many as are retained; before its first commit the newest is still the newest.
    ///
    /// # Errors
    /// As those of `open`, and when there is no such checkpoint.
    pub fn open_at(
        storage: Arc<dyn Storage>,
        job: &str,
        retained: usize,
        id: u64,
    ) -> Result<(Store, Manifest)> {
        let (store, manifest) = Self::open_from(storage, job, retained, From::Id(id))?;
        let manifest = manifest.expect("a wanted checkpoint is there, or it was an error");
        Ok((store, manifest))
    }

    fn open_from(
        storage: Arc<dyn Storage>,
        job: &str,
        retained: usize,
        from: From,
    ) -> Result<(Store, Option<Manifest>)> {
        let lock = storage.lock().map_err(|error| locked(&*storage, &error))?;
        let turn = lock_content(&*storage).map_err(|error| io_failed(&*storage, LOCK, "read", &error))?;
        // What a killed process renamed last may be in memory only; before anybody acts on it, it has to be on the disk.
        storage.sync_folder().map_err(|error| folder_failed(&*storage, "brought to the disk", &error))?;
        let names = known::names(&*storage)?;
        let chosen = choose(&*storage, &names, from)?;
        if chosen.is_some() {
            point("R1");
        }
        if let Some(manifest) = &chosen
            && manifest.job != job
        {
            return Err(other_job(&*storage, manifest, job));
        }
        let known = known::known(&*storage, &known::manifests(&names), chosen.as_ref());
        let left = |name: &Name| match name.kind {
            Kind::Temp => true,
            Kind::State => !known.iter().any(|known| known.needs(*name)),
            Kind::Manifest => false,
        };
        let (_, fault) = known::remove_all(&*storage, names.iter().copied().filter(left));
        if let Some(error) = fault {
            return Err(error);
        }
        let above = |number: fn(&Name) -> u64| names.iter().map(number).max().unwrap_or(0).saturating_add(1);
        let store = Store {
            job: job.to_owned(),
            retained: retained.max(1),
            epoch: above(|name| name.at.epoch),
            next_id: above(|name| name.at.id),
            turn,
            known,
            committed: false,
            unsynced: false,
            ended: None,
            _lock: lock,
            storage,
        };
        Ok((store, chosen))
    }

    /// Reads a checkpoint without taking the lock: to look at, or to take over into another folder.
    ///
    /// # Errors
    /// When there is none with this number, it is damaged, or of another format or number of key groups.
    pub fn read(storage: &dyn Storage, id: u64) -> Result<Manifest> {
        let manifest = choose(storage, &known::names(storage)?, From::Id(id))?;
        Ok(manifest.expect("a wanted checkpoint is there, or it was an error"))
    }

    /// The newest checkpoint, without taking the lock.
    ///
    /// # Errors
    /// When there is none, or as [`Store::read`].
    pub fn read_newest(storage: &dyn Storage) -> Result<Manifest> {
        let newest = choose(storage, &known::names(storage)?, From::Newest)?;
        newest.ok_or_else(|| {
            Error::new(ErrorKind::State, format!("{} has no checkpoint", storage.describe("")))
        })
    }

    /// A number above those of all files that were found in the folder, and of all checkpoints begun since.
    pub fn next_id(&self) -> u64 {
        self.next_id
    }

    /// Which opening of the folder this is: each has a higher number than those whose files it found.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Begins checkpoint `id`, which is at least [`next_id`](Self::next_id).
    ///
    /// # Errors
    /// When its file cannot be created, when another process has taken over, or when the outcome of an earlier commit is unknown.
    pub fn begin(&mut self, id: u64) -> Result<Writing> {
        self.may_write()?;
        if id < self.next_id {
            let what =
                format!("checkpoint {id} cannot begin: {} is the lowest number that is free", self.next_id);
            return Err(Error::new(ErrorKind::State, what));
        }
        self.next_id = id.saturating_add(1);
        Writing::create(&self.storage, At { epoch: self.epoch, id })
    }

    /// Gives a checkpoint up, and removes its file.
    pub fn abort(&mut self, writing: Writing) {
        drop(writing);
    }

    /// The state of an operator in a checkpoint. One that saved nothing has no slots.
    ///
    /// # Errors
    /// When a file is missing, of another length, or not the one that the manifest lists.
    pub fn parts(&self, manifest: &Manifest, operator: &str) -> Result<Parts> {
        Parts::open(&self.storage, manifest, operator)
    }

    /// Whether anything may be written: the lock is ours, and all outcomes are known.
    pub(super) fn may_write(&mut self) -> Result<()> {
        if let Some(why) = &self.ended {
            return Err(Error::new(ErrorKind::State, why.clone()));
        }
        self.has_lock()
    }

    /// Whether nothing may be written any more: another process has taken over, or the outcome of a commit is not known.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Whether the lock file still says what we wrote. Where the lock was taken by force, it does not.
    pub(super) fn has_lock(&mut self) -> Result<()> {
        let found = match lock_content(&*self.storage) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(io_failed(&*self.storage, LOCK, "read", &error)),
        };
        if found == self.turn {
            return Ok(());
        }
        let by = match String::from_utf8_lossy(&found).split_whitespace().nth(1) {
            Some(pid) => format!("process {pid} has taken over"),
            None => "the lock file is gone".into(),
        };
        let why = failed(&*self.storage, LOCK, &format!("{by}: this job may write no checkpoint any more"));
        self.ended = Some(why.message().to_owned());
        Err(why)
    }
}

/// Reads the checkpoint to go on from.
fn choose(storage: &dyn Storage, names: &[Name], from: From) -> Result<Option<Manifest>> {
    let all = known::manifests(names);
    let place = match from {
        From::Newest => all.len().checked_sub(1),
        From::Id(wanted) => all.iter().rposition(|at| at.id == wanted),
    };
    match (place, from) {
        (Some(place), _) => known::read(storage, all[place], &all[..place]).map(Some),
        (None, From::Newest) => Ok(None),
        (None, From::Id(wanted)) => {
            let there: Vec<String> = all.iter().map(|at| at.id.to_string()).collect();
            let there = if there.is_empty() { "none".into() } else { there.join(", ") };
            let what = format!("{} has no checkpoint {wanted}: there are {there}", storage.describe(""));
            Err(Error::new(ErrorKind::State, what))
        }
    }
}

fn lock_content(storage: &dyn Storage) -> io::Result<Vec<u8>> {
    storage.read_at(LOCK, 0, storage.len(LOCK)? as usize)
}

#[cold]
fn locked(storage: &dyn Storage, error: &io::Error) -> Error {
    if error.kind() == io::ErrorKind::WouldBlock {
        let note = "two jobs cannot share a folder of checkpoints: stop the other one, or give this one a folder of its own";
        return failed(storage, "", &error.to_string()).note(note);
    }
    folder_failed(storage, "locked", error)
}

#[cold]
fn other_job(storage: &dyn Storage, manifest: &Manifest, job: &str) -> Error {
    let name = Name::new(Kind::Manifest, At { epoch: manifest.epoch, id: manifest.id }).to_string();
    let what = format!("it is of the job `{}`, not of `{job}`", manifest.job);
    failed(storage, &name, &what).note("give each job a folder of its own")
}
