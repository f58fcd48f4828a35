//! State on the disk, in an LSM tree: the crate `fjall`.
//!
//! One database for each run of a job, with a keyspace for each store: one journal, one cache and two threads however many instances there
//! are, so that what it takes in memory is known. Nothing in it has to survive, so nothing is synced by us and nothing is recovered.
//!
//! **Memory.** Of the limit a quarter is for the entries that the operators keep, an eighth for the cache of blocks, three sixteenths for what has been
//! written and is not on the disk yet: each keyspace has a table of it that fills and three at most that are being written. The rest is for what nobody counts.
//!
//! fjall begins a new table when one of its threads finds the time, which may be long after it is full: so we do that.
//!
//! **Waiting.** fjall itself waits without limit while its threads are behind, also when they have died of a full disk. So before each write
//! we look whether they are behind, and wait here, where the death is seen.

use super::{Changes, StateBackend, StateRead, StateStore, StateStores};
use crate::error::{Error, ErrorKind, Result};
use ::fjall::config::{BlockSizePolicy, PinningPolicy};
use ::fjall::{
    AbstractTree as _, Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions, PersistMode, Readable,
    Snapshot,
};
use scratch::Scratch;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

mod scratch;

/// Keeps state beyond a memory limit on the disk. Needs the feature `fjall`.
///
/// ```
/// use flow_core::prelude::*;
/// let folder = tempfile::tempdir().unwrap();
/// let out = Collected::new();
/// let job = Job::build("sums", |job| {
///     let numbers = source(from_iter(1..=4)).durable();
///     job.add(numbers.key_by(|n| n % 2).sum(|n| *n).collect(&out));
/// });
/// job.state_backend(Fjall::at(folder.path()).memory_limit(64 << 20)).run().unwrap();
/// assert_eq!(out.take(), [(1, 1), (0, 2), (1, 4), (0, 6)]);
/// ```
#[derive(Debug, Clone)]
#[must_use = "state goes to the disk when a job is given the backend"]
pub struct Fjall {
    folder: PathBuf,
    limit: usize,
}

/// Bytes of memory for state, unless said otherwise, and the least that may be said.
const LIMIT: usize = 1 << 30;
const LIMIT_MIN: usize = 16 << 20;

/// Bytes of what is written that a keyspace collects in memory at least and at most.
const TABLE_MIN: usize = 1 << 16;
const TABLE_MAX: usize = 64 << 20;

/// Tables of a keyspace that are in memory: one fills, the others are being written.
const TABLES: usize = 4;

/// Threads of the database: one writes what is full, the other puts files together.
const WORKERS: usize = 2;

/// Who writes waits where there are so many tables that are not on the disk, or files that have not been put together.
const TABLES_WAITING: usize = 2;
const FILES_WAITING: usize = 16;

/// How long it waits at most, and how often it looks.
const PATIENCE: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(1);

/// Bytes of a value from which on it lies in a file of such values, and bytes of one.
const LONG: u32 = 512;
const LONG_FILE: u64 = 8 << 20;

/// Files that are held open at most.
const FILES_OPEN: usize = 128;

/// Bytes of a block.
const BLOCK: u32 = 4 << 10;

impl Fjall {
    /// In a folder of its own below `folder`, for each run. It is gone when the run has ended; what a process leaves that is killed is
    /// removed by the next run.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Fjall { folder: folder.into(), limit: LIMIT }
    }

    /// How many bytes of memory the keyed state of the job takes at most, with what the database needs for itself; 1 GiB unless said otherwise, at
    /// least 16 MiB. It is divided evenly among the tables of keyed state: one for each instance of an operator that keeps some.
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }
}

impl StateBackend for Fjall {
    fn begin(&self, _: &str, tables: usize) -> Result<Arc<dyn StateStores>> {
        if self.limit < LIMIT_MIN {
            let what = format!(
                "a memory limit of {} bytes for state: it has to be at least {LIMIT_MIN}",
                self.limit
            );
            return Err(Error::new(ErrorKind::Plan, what));
        }
        let tables = tables.max(1);
        let scratch = Scratch::make(&self.folder)?;
        let database = Database::builder(scratch.database())
            .worker_threads(WORKERS)
            .manual_journal_persist(true)
            .max_journaling_size(64 << 20)
            .cache_size((self.limit / 8) as u64)
            .max_cached_files(Some(FILES_OPEN))
            .open();
        let database = database.map_err(|error| {
            broken("the database of the state backend cannot be opened", &error, &scratch)
        })?;
        Ok(Arc::new(Stores {
            share: self.limit / 4 / tables,
            table: (self.limit / 16 * 3 / tables / TABLES).clamp(TABLE_MIN, TABLE_MAX),
            opened: std::sync::atomic::AtomicUsize::new(0),
            open: Arc::new(Open { database, scratch }),
        }))
    }
}

/// The database, which is closed before its folder goes.
struct Open {
    database: Database,
    scratch: Scratch,
}

struct Stores {
    share: usize,
    table: usize,
    opened: std::sync::atomic::AtomicUsize,
    open: Arc<Open>,
}

impl StateStores for Stores {
    fn share(&self) -> usize {
        self.share
    }

    fn open(&self, _: &str) -> Result<Box<dyn StateStore>> {
        // Names are limited in length and in letters.
        let name = self.opened.fetch_add(1, std::sync::atomic::Ordering::Relaxed).to_string();
        let options = || {
            KeyspaceCreateOptions::default()
                .manual_journal_persist(true)
                .max_memtable_size(self.table as u64)
                // Long values are not copied each time that files are put together: half the work at 4 KB.
                .with_kv_separation(Some(
                    KvSeparationOptions::default().separation_threshold(LONG).file_target_size(LONG_FILE),
                ))
                .data_block_size_policy(BlockSizePolicy::all(BLOCK))
                // What is pinned is counted nowhere.
                .index_block_pinning_policy(PinningPolicy::all(false))
                .filter_block_pinning_policy(PinningPolicy::all(false))
        };
        let keyspace = self.open.database.keyspace(&name, options);
        let keyspace =
            keyspace.map_err(|error| broken("a state store cannot be opened", &error, &self.open.scratch))?;
        Ok(Box::new(Store { keyspace, table: self.table, open: Arc::clone(&self.open) }))
    }
}

struct Store {
    keyspace: Keyspace,
    /// Bytes of a table in memory.
    table: usize,
    open: Arc<Open>,
}

impl Store {
    fn read(&self) -> Past {
        Past {
            snapshot: self.open.database.snapshot(),
            keyspace: self.keyspace.clone(),
            open: Arc::clone(&self.open),
        }
    }

    /// Waits while the threads of the database are behind.
    fn wait(&self) -> Result<()> {
        let is_behind = || {
            self.keyspace.sealed_memtable_count() > TABLES_WAITING
                || self.keyspace.l0_table_count() >= FILES_WAITING
        };
        if !is_behind() {
            return Ok(());
        }
        let begun = Instant::now();
        while is_behind() {
            // It fails once a thread of the database has died.
            self.open.database.persist(PersistMode::Buffer).map_err(|error| self.unwritten(&error))?;
            if begun.elapsed() > PATIENCE {
                let what = format!("the state backend has not come further for {} s", PATIENCE.as_secs());
                return Err(Error::new(ErrorKind::State, what).note(self.open.scratch.advice()));
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    #[cold]
    fn unwritten(&self, error: &::fjall::Error) -> Error {
        broken("state cannot be written", error, &self.open.scratch)
    }
}

impl StateRead for Store {
    fn get(&self, key: &[u8], found: &mut Vec<u8>) -> Result<bool> {
        let value = self.keyspace.get(key).map_err(|error| unread(&error, &self.open.scratch))?;
        found.clear();
        found.extend_from_slice(value.as_deref().unwrap_or_default());
        Ok(value.is_some())
    }

    fn scan(&self, from: &[u8], to: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        self.read().scan(from, to, each)
    }
}

impl StateStore for Store {
    fn write(&mut self, changes: &Changes) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        self.wait()?;
        let mut batch = self.open.database.batch();
        for (key, value) in changes.iter() {
            match value {
                Some(value) => batch.insert(&self.keyspace, key, value),
                None => batch.remove(&self.keyspace, key),
            }
        }
        batch.commit().map_err(|error| self.unwritten(&error))?;
        if self.keyspace.tree.active_memtable().size() > self.table as u64 {
            self.keyspace.rotate_memtable().map_err(|error| self.unwritten(&error))?;
        }
        Ok(())
    }

    fn snapshot(&self) -> Result<Box<dyn StateRead>> {
        Ok(Box::new(self.read()))
    }
}

/// A keyspace as it was.
struct Past {
    snapshot: Snapshot,
    keyspace: Keyspace,
    open: Arc<Open>,
}

impl StateRead for Past {
    fn get(&self, key: &[u8], found: &mut Vec<u8>) -> Result<bool> {
        let value =
            self.snapshot.get(&self.keyspace, key).map_err(|error| unread(&error, &self.open.scratch))?;
        found.clear();
        found.extend_from_slice(value.as_deref().unwrap_or_default());
        Ok(value.is_some())
    }

    fn scan(&self, from: &[u8], to: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        if from >= to {
            return Ok(());
        }
        for entry in self.snapshot.range(&self.keyspace, from..to) {
            let (key, value) = entry.into_inner().map_err(|error| unread(&error, &self.open.scratch))?;
            if !each(&key, &value) {
                break;
            }
        }
        Ok(())
    }
}

#[cold]
fn unread(error: &::fjall::Error, scratch: &Scratch) -> Error {
    broken("state cannot be read back", error, scratch)
}

#[cold]
fn broken(what: &str, error: &::fjall::Error, scratch: &Scratch) -> Error {
    let why = match error {
        ::fjall::Error::Io(error) | ::fjall::Error::Storage(::fjall::LsmError::Io(error)) => {
            error.to_string()
        }
        ::fjall::Error::Poisoned => "an earlier write failed".to_owned(),
        error => error.to_string(),
    };
    Error::new(ErrorKind::State, format!("{what}: {why}")).note(scratch.advice())
}
