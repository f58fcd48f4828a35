//! A sink into an SQLite database, whose rows count once.
//!
//! Rows between two barriers lie in a table beside, written in short transactions; when their checkpoint is complete, one transaction of the database executes
//! the statement with each, removes them there and notes the checkpoint. So a commit happens once, however often it is asked for.

mod database;
mod row;
#[cfg(test)]
mod tests;

pub use row::SqlRow;

use super::{CommittingSink, Sink, StagingWriter, Writer, sink_error};
use crate::checkpoint::Committer;
use crate::error::Result;
use crate::metrics::Counter;
use crate::stage::{Commit, OpenCx};
use crate::time::Timestamp;
use crate::unpack::Unpack;
use database::Database;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rows gathered before they are written beside.
const ROWS_MAX: usize = 1024;
/// And their bytes.
const BYTES_MAX: usize = 1 << 20;

/// A sink into an SQLite database; made by [`sqlite`].
#[derive(Clone)]
pub struct Sqlite {
    path: PathBuf,
    statement: Arc<str>,
    shared: Shared,
}

/// The connection of a sink: its writer and its committer do not wait for each other's locks.
type Shared = Arc<Mutex<Option<Database>>>;

/// Executes `statement` in the SQLite database `path` once for each record, a tuple of what binds to its parameters. Needs the feature `sqlite`.
///
/// In a pipeline with checkpoints the rows of one become visible together, in a transaction of the database, when it is complete; in a job
/// without, all of them when it has ended well. There is one writer whatever the parallelism. The tables `flow_sinks` and `flow_staged`
/// are made in the database. A sink is known there by its statement: each needs another, if only by a comment.
///
/// ```
/// # use flow_core::prelude::*;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("counts.db");
/// let database = rusqlite::Connection::open(&path).unwrap();
/// database.execute_batch("create table counts (word text, n integer)").unwrap();
/// let job = Job::build("counts", |job| {
///     let words = source(from_vec(vec!["one", "three"]));
///     let rows = words.map(|word| (word, word.len() as i64));
///     job.add(rows.sink(sqlite(&path, "insert into counts values (?1, ?2)")));
/// });
/// job.run().unwrap();
/// let sum: i64 = database.query_row("select sum(n) from counts", [], |row| row.get(0)).unwrap();
/// assert_eq!(sum, 8);
/// ```
pub fn sqlite(path: impl Into<PathBuf>, statement: impl Into<String>) -> Sqlite {
    Sqlite { path: path.into(), statement: statement.into().into(), shared: Shared::default() }
}

impl std::fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sqlite").field("path", &self.path).field("statement", &self.statement).finish()
    }
}

fn lock(shared: &Shared) -> MutexGuard<'_, Option<Database>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does something with the database, which is open, and still as it was for whoever asks: a thread that was left behind in a closure when
/// its run failed may go on when the next one has begun.
fn with<R>(shared: &Shared, opened: i64, work: impl FnOnce(&mut Database) -> Result<R>) -> Result<R> {
    match &mut *lock(shared) {
        Some(database) => {
            database.check_opened(opened)?;
            work(database)
        }
        None => Err(sink_error("the database is not open")),
    }
}

/// Closes the database, unless somebody else has opened it since.
fn close(shared: &Shared, opened: i64) {
    lock(shared).take_if(|database| database.opened() == opened);
}

#[diagnostic::do_not_recommend]
impl<T: SqlRow> Sink<T> for Sqlite {
    type Writer = SqliteWriter;
    const SINGLE: bool = true;

    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn open(&self, cx: &mut OpenCx) -> Result<SqliteWriter> {
        let mut shared = lock(&self.shared);
        let known = shared.as_ref().filter(|database| database.is_checkpointed()).map(Database::opened);
        let checkpointed = known.is_some();
        let opened = match known {
            Some(opened) => opened,
            None => shared.insert(Database::open(&self.path, &self.statement, T::WIDTH, 0, false)?).opened(),
        };
        drop(shared);
        Ok(SqliteWriter {
            shared: Arc::clone(&self.shared),
            opened,
            batch: if checkpointed { cx.checkpoint() + 1 } else { 0 },
            n: 0,
            rows: Vec::new(),
            bytes: 0,
            written: cx.metrics().counter("bytes"),
        })
    }

    fn committing(&self) -> Option<Box<dyn Committer>> {
        Some(CommittingSink::<T>::committer(self))
    }
}

#[diagnostic::do_not_recommend]
impl<T: SqlRow> CommittingSink<T> for Sqlite {
    fn committer(&self) -> Box<dyn Committer> {
        Box::new(SqliteCommitter { sink: self.clone(), opened: 0, width: T::WIDTH })
    }
}

/// Writes rows beside.
pub struct SqliteWriter {
    shared: Shared,
    /// Which opening of the database it writes in.
    opened: i64,
    batch: u64,
    /// How many of the batch are written.
    n: u64,
    rows: Vec<Vec<u8>>,
    bytes: usize,
    written: Counter,
}

impl SqliteWriter {
    fn add(&mut self, row: Vec<u8>) -> Result<()> {
        self.bytes += row.len();
        self.rows.push(row);
        if self.rows.len() >= ROWS_MAX || self.bytes >= BYTES_MAX { self.write_out() } else { Ok(()) }
    }

    fn write_out(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        self.written.add(std::mem::take(&mut self.bytes) as u64);
        if !rows.is_empty() {
            with(&self.shared, self.opened, |database| database.stage(self.batch, self.n, &rows))?;
            self.n += rows.len() as u64;
        }
        Ok(())
    }
}

/// What was not staged is taken back.
impl Drop for SqliteWriter {
    fn drop(&mut self) {
        if self.n > 0 {
            // The next start removes what cannot be removed now.
            let _ = with(&self.shared, self.opened, |database| database.abort(self.batch));
        }
    }
}

impl<T: SqlRow> Writer<T> for SqliteWriter {
    fn write(&mut self, record: T, _: Timestamp) -> Result<()> {
        let values = record.values().map_err(|error| sink_error(error.to_string()))?;
        self.add(row::encode(&values))
    }

    fn finish(mut self) -> Result<Option<Box<dyn Commit>>> {
        self.write_out()?;
        let (shared, opened) = (Arc::clone(&self.shared), self.opened);
        let (batch, count) = (self.batch, std::mem::take(&mut self.n));
        Ok((count > 0).then(|| Box::new(AtTheEnd { shared, opened, batch, count }) as Box<dyn Commit>))
    }

    fn staging(&mut self, checkpoint: u64) -> Result<Option<Vec<u8>>> {
        StagingWriter::<T>::stage(self, checkpoint)
    }
}

/// What a checkpoint says of staged rows: the batch and how many, 8 bytes each, little-endian.
impl<T: SqlRow> StagingWriter<T> for SqliteWriter {
    fn stage(&mut self, checkpoint: u64) -> Result<Option<Vec<u8>>> {
        self.write_out()?;
        let staged = (self.n > 0).then(|| [self.batch.to_le_bytes(), self.n.to_le_bytes()].concat());
        (self.batch, self.n) = (checkpoint + 1, 0);
        Ok(staged)
    }
}

struct SqliteCommitter {
    sink: Sqlite,
    /// Which opening of the database is its; 0 before there is one.
    opened: i64,
    width: usize,
}

fn batch_of(staged: &[u8]) -> Option<(u64, u64)> {
    Unpack::all(staged, |bytes| Some((bytes.u64()?, bytes.u64()?)))
}

impl Committer for SqliteCommitter {
    fn commit(&mut self, checkpoint: u64, _: u32, staged: &[u8]) -> Result<()> {
        let Some((batch, count)) = batch_of(staged) else {
            return Err(sink_error(format!(
                "what checkpoint {checkpoint} says of staged rows cannot be read"
            )));
        };
        with(&self.sink.shared, self.opened, |database| database.commit(checkpoint, batch, count))
    }

    fn abort(&mut self, _: u64, _: u32, staged: &[u8]) {
        if let Some((batch, _)) = batch_of(staged) {
            // The next start removes what cannot be removed now.
            let _ = with(&self.sink.shared, self.opened, |database| database.abort(batch));
        }
    }

    fn recover(&mut self, checkpoint: u64) -> Result<()> {
        let Sqlite { path, statement, shared } = &self.sink;
        let database = Database::open(path, statement, self.width, checkpoint, true)?;
        self.opened = lock(shared).insert(database).opened();
        Ok(())
    }
}

/// The job is over and nobody commits any more.
impl Drop for SqliteCommitter {
    fn drop(&mut self) {
        close(&self.sink.shared, self.opened);
    }
}

/// The rows of a job without checkpoints. Dropped before they are committed, they are removed.
struct AtTheEnd {
    shared: Shared,
    opened: i64,
    batch: u64,
    count: u64,
}

impl Commit for AtTheEnd {
    fn commit(mut self: Box<Self>) -> Result<()> {
        let count = std::mem::take(&mut self.count);
        with(&self.shared, self.opened, |database| database.commit(0, self.batch, count))
    }

    fn abort(self: Box<Self>) {}
}

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        if self.count > 0 {
            // The next start removes what cannot be removed now.
            let _ = with(&self.shared, self.opened, |database| database.abort(self.batch));
        }
        close(&self.shared, self.opened);
    }
}
