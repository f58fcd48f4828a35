//! What the sink does in the database, one transaction each.
//!
//! | table | what stands there |
//! |---|---|
//! | `flow_sinks` | of each sink: how often it was opened, and the checkpoint it has committed last |
//! | `flow_staged` | rows that are not committed: the sink, a batch number, their order, the row's values as bytes |
//!
//! A sink is known by its statement. Who opens it counts `opened` up, and every transaction looks whether it is still what it was: a process
//! from which another has taken over changes nothing any more.

use super::row::decode;
use crate::error::{Error, Result};
use crate::sink::sink_error;
use rusqlite::types::Value;
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params, params_from_iter,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long is waited for others who write into the database.
const WAIT: Duration = Duration::from_secs(60);

const TABLES: &str = "
    create table if not exists flow_sinks (sink text primary key, opened integer not null, checkpoint integer not null) without rowid;
    create table if not exists flow_staged (sink text, batch integer, n integer, row blob not null, primary key (sink, batch, n)) without rowid;
";

/// The database, opened by a sink.
pub(super) struct Database {
    path: PathBuf,
    statement: String,
    connection: Connection,
    opened: i64,
    checkpointed: bool,
}

impl Database {
    /// Opens it; `width` values are bound to the statement. What was staged in batches after `newest` is removed; `checkpointed`: what was committed after it is an error.
    ///
    /// # Errors
    /// When it cannot be opened, or has no such tables and columns, or rows from later checkpoints.
    pub fn open(path: &Path, statement: &str, width: usize, newest: u64, checkpointed: bool) -> Result<Self> {
        let cannot = |error: rusqlite::Error| failed(path, "cannot be opened", &error);
        // Not made where it is missing: it has to have the user's tables.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(cannot)?;
        connection.busy_timeout(WAIT).map_err(cannot)?;
        connection.pragma_update(None, "synchronous", "full").map_err(cannot)?;
        check(&connection, path, statement, width)?;
        connection.execute_batch(TABLES).map_err(cannot)?;
        let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(cannot)?;
        let opened = take_over(&begun, path, statement, newest, checkpointed)?;
        begun.commit().map_err(cannot)?;
        Ok(Database { path: path.into(), statement: statement.to_owned(), connection, opened, checkpointed })
    }

    /// Whether a committer has opened it.
    pub fn is_checkpointed(&self) -> bool {
        self.checkpointed
    }

    /// How often the sink has been opened, this time with it.
    pub fn opened(&self) -> i64 {
        self.opened
    }

    /// Whether it was opened by who has this number.
    ///
    /// # Errors
    /// When somebody else has.
    pub fn check_opened(&self, opened: i64) -> Result<()> {
        if opened == self.opened { Ok(()) } else { Err(taken_over(&self.path, &self.statement)) }
    }

    /// Stages rows, whose order goes on at `n`.
    pub fn stage(&mut self, batch: u64, n: u64, rows: &[Vec<u8>]) -> Result<()> {
        self.transaction(|it, statement| {
            let mut insert =
                it.prepare("insert into flow_staged (sink, batch, n, row) values (?1, ?2, ?3, ?4)")?;
            for (row, n) in rows.iter().zip(n..) {
                insert.execute(params![statement, number(batch), number(n), row])?;
            }
            Ok(Ok(()))
        })
    }

    /// Executes the statement with the `count` rows of a batch. Of a checkpoint that was committed before, nothing.
    pub fn commit(&mut self, checkpoint: u64, batch: u64, count: u64) -> Result<()> {
        let path = self.path.clone();
        self.transaction(|it, statement| {
            let done: i64 =
                it.query_row("select checkpoint from flow_sinks where sink = ?1", [statement], |row| {
                    row.get(0)
                })?;
            if checkpoint > 0 && done >= number(checkpoint) {
                return Ok(Ok(()));
            }
            let staged: i64 = it.query_row(
                "select count(*) from flow_staged where sink = ?1 and batch = ?2",
                params![statement, number(batch)],
                |row| row.get(0),
            )?;
            if staged != number(count) {
                return Ok(Err(lost(&path, checkpoint, staged, count)));
            }
            if let Err(error) = apply(it, &path, statement, batch)? {
                return Ok(Err(error));
            }
            it.execute(
                "delete from flow_staged where sink = ?1 and batch = ?2",
                params![statement, number(batch)],
            )?;
            it.execute(
                "update flow_sinks set checkpoint = ?2 where sink = ?1 and checkpoint < ?2",
                params![statement, number(checkpoint)],
            )?;
            Ok(Ok(()))
        })
    }

    /// Removes a batch.
    pub fn abort(&mut self, batch: u64) -> Result<()> {
        self.transaction(|it, statement| {
            it.execute(
                "delete from flow_staged where sink = ?1 and batch = ?2",
                params![statement, number(batch)],
            )?;
            Ok(Ok(()))
        })
    }

    /// All of `work`, or nothing; and only as long as nobody has taken over.
    fn transaction(
        &mut self,
        work: impl FnOnce(&Transaction<'_>, &str) -> rusqlite::Result<Result<()>>,
    ) -> Result<()> {
        let Database { path, statement, connection, opened, .. } = self;
        let run = || -> rusqlite::Result<Result<()>> {
            let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let now: i64 =
                begun.query_row("select opened from flow_sinks where sink = ?1", [&*statement], |row| {
                    row.get(0)
                })?;
            if now != *opened {
                return Ok(Err(taken_over(path, statement)));
            }
            if let Err(error) = work(&begun, statement)? {
                return Ok(Err(error));
            }
            begun.commit().map(Ok)
        };
        run().unwrap_or_else(|error| Err(failed(path, "cannot be written", &error)))
    }
}

/// The statement is one, writes, and takes so many values.
fn check(connection: &Connection, path: &Path, statement: &str, width: usize) -> Result<()> {
    let prepared = connection
        .prepare(statement)
        .map_err(|error| failed(path, &format!("`{statement}` cannot be prepared"), &error))?;
    let wrong = if prepared.readonly() {
        "writes nothing".to_owned()
    } else if prepared.parameter_count() != width {
        format!("has {} parameters, and a record {width} values", prepared.parameter_count())
    } else {
        return Ok(());
    };
    Err(sink_error(format!("{}: `{statement}` {wrong}", path.display())))
}

/// Counts up who has opened the sink.
fn take_over(
    it: &Transaction<'_>,
    path: &Path,
    statement: &str,
    newest: u64,
    checkpointed: bool,
) -> Result<i64> {
    let cannot = |error: rusqlite::Error| failed(path, "cannot be read", &error);
    let known = it
        .query_row("select opened, checkpoint from flow_sinks where sink = ?1", [statement], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
        })
        .optional()
        .map_err(cannot)?;
    let (opened, committed) = known.unwrap_or((0, 0));
    if checkpointed && committed > number(newest) {
        let what = format!(
            "{}: `{statement}` has been committed up to checkpoint {committed}, and the job starts from {newest}: rows would be written twice",
            path.display()
        );
        return Err(sink_error(what).note(
            "where its checkpoints were deleted, or it goes back on purpose, remove those rows, and the sink from the table `flow_sinks`; a new job needs tables of its own",
        ));
    }
    it.execute(
        "insert or replace into flow_sinks (sink, opened, checkpoint) values (?1, ?2, ?3)",
        params![statement, opened + 1, committed],
    )
    .map_err(cannot)?;
    it.execute(
        "delete from flow_staged where sink = ?1 and (batch > ?2 or batch = 0)",
        params![statement, if checkpointed { number(newest) } else { i64::MAX }],
    )
    .map_err(cannot)?;
    Ok(opened + 1)
}

/// Executes the statement once for each row of a batch.
fn apply(it: &Transaction<'_>, path: &Path, statement: &str, batch: u64) -> rusqlite::Result<Result<()>> {
    let mut rows = it.prepare("select row from flow_staged where sink = ?1 and batch = ?2 order by n")?;
    let mut rows = rows.query(params![statement, number(batch)])?;
    let mut prepared = it.prepare(statement)?;
    while let Some(row) = rows.next()? {
        let bytes: Vec<u8> = row.get(0)?;
        let Some(values) = decode(&bytes) else {
            return Ok(Err(sink_error(format!("{}: a row of `flow_staged` is damaged", path.display()))));
        };
        if let Err(error) = prepared.execute(params_from_iter(&values)) {
            return Ok(Err(refused(path, statement, &values, &error)));
        }
    }
    Ok(Ok(()))
}

/// SQLite's integers have a sign; checkpoints do not come so far.
fn number(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

#[cold]
fn failed(path: &Path, what: &str, error: &rusqlite::Error) -> Error {
    sink_error(format!("{}: {what}: {error}", path.display()))
}

#[cold]
fn refused(path: &Path, statement: &str, values: &[Value], error: &rusqlite::Error) -> Error {
    sink_error(format!("{}: `{statement}` with {values:?}: {error}", path.display()))
        .note("nothing of its checkpoint is in the table; `insert or replace`, or `on conflict`, says what to do with rows that meet")
}

#[cold]
fn lost(path: &Path, checkpoint: u64, found: i64, staged: u64) -> Error {
    sink_error(format!(
        "{}: rows of checkpoint {checkpoint} are lost: {staged} were staged, and {found} are in `flow_staged`",
        path.display()
    ))
    .note("the database was replaced by another, or the table changed: give the sink the one it had")
}

#[cold]
fn taken_over(path: &Path, statement: &str) -> Error {
    sink_error(format!("{}: another job or sink has taken over `{statement}`", path.display()))
        .note("give each sink a statement of its own; a comment in it is enough")
}
