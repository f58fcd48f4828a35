//! Staging, committing, taking back and recovering, and whole jobs without checkpoints.

use super::*;
use crate::prelude::*;
use crate::stage::tests::open_cx;
use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value;
use std::path::Path;
use tempfile::TempDir;

const NONE: [i64; 0] = [];
const INSERT: &str = "insert into numbers values (?1)";

fn database() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.db");
    Connection::open(&path).unwrap().execute_batch("create table numbers (n integer primary key)").unwrap();
    (folder, path)
}

/// All there is in a table.
fn all(path: &Path, query: &str) -> Vec<i64> {
    let connection = Connection::open(path).unwrap();
    let mut prepared = connection.prepare(query).unwrap();
    prepared.query_map([], |row| row.get(0)).unwrap().map(|n| n.unwrap()).collect()
}

fn numbers(path: &Path) -> Vec<i64> {
    all(path, "select n from numbers order by n")
}

/// A job from checkpoint `newest` on: its committer and its writer.
fn start(sink: &Sqlite, newest: u64) -> (Box<dyn Committer>, SqliteWriter) {
    let mut committer = CommittingSink::<(i64,)>::committer(sink);
    committer.recover(newest).unwrap();
    let mut writer = Sink::<(i64,)>::open(sink, &mut open_cx(1)).unwrap();
    writer.batch = newest + 1;
    (committer, writer)
}

fn write(writer: &mut SqliteWriter, numbers: impl IntoIterator<Item = i64>) {
    numbers.into_iter().for_each(|n| writer.write((n,), Timestamp::MIN).unwrap());
}

fn stage(writer: &mut SqliteWriter, checkpoint: u64) -> Vec<u8> {
    StagingWriter::<(i64,)>::stage(writer, checkpoint).unwrap().unwrap()
}

#[test]
fn rows_appear_once_with_their_checkpoint() {
    let (_folder, path) = database();
    let sink = sqlite(&path, INSERT);
    let (mut committer, mut writer) = start(&sink, 0);
    write(&mut writer, 0..3000);
    let first = stage(&mut writer, 4);
    assert_eq!((numbers(&path).len(), all(&path, "select count(*) from flow_staged")), (0, vec![3000]));
    write(&mut writer, 3000..3010);
    committer.commit(4, 0, &first).unwrap();
    committer.commit(4, 0, &first).unwrap();
    assert_eq!(numbers(&path), (0..3000).collect::<Vec<_>>());
    let second = stage(&mut writer, 5);

    // The process dies before 5 is complete.
    write(&mut writer, 3010..6000);
    std::mem::forget(writer);
    drop(committer);
    let (mut committer, mut writer) = start(&sink, 4);
    committer.commit(4, 0, &first).unwrap();
    assert_eq!((numbers(&path).len(), all(&path, "select count(*) from flow_staged")), (3000, vec![0]));
    let error = committer.commit(5, 0, &second).unwrap_err().to_string();
    assert!(error.contains("rows of checkpoint 5 are lost: 10 were staged, and 0 are"), "{error}");
    write(&mut writer, 3000..3001);
    let again = stage(&mut writer, 6);

    // The process dies when 6 is complete, and before it is committed.
    drop((committer, writer));
    let (mut committer, writer) = start(&sink, 6);
    committer.commit(6, 0, &again).unwrap();
    assert_eq!(numbers(&path), (0..3001).collect::<Vec<_>>());
    drop((committer, writer));
}

#[test]
fn nothing_is_left_of_what_is_taken_back() {
    let (_folder, path) = database();
    let (mut committer, mut writer) = start(&sqlite(&path, INSERT), 0);
    write(&mut writer, [1]);
    let staged = stage(&mut writer, 1);
    write(&mut writer, 2..2000);
    committer.abort(1, 0, &staged);
    drop(writer);
    drop(committer);
    assert_eq!(all(&path, "select count(*) from flow_staged"), [0]);
    assert_eq!(numbers(&path), NONE);
}

/// A thread that was left behind in a closure when its run failed goes on when the next run of the same job has begun: it writes nothing
/// into that, and takes nothing from it.
#[test]
fn a_writer_of_a_run_that_is_over() {
    let (_folder, path) = database();
    let sink = sqlite(&path, INSERT);
    let (committer, mut old) = start(&sink, 0);
    write(&mut old, 0..1024);
    drop(committer);
    let error = (0..1024).find_map(|n| old.write((n,), Timestamp::MIN).err()).unwrap().to_string();
    assert!(error.contains("the database is not open"), "{error}");
    let (mut committer, mut writer) = start(&sink, 0);
    write(&mut writer, 0..1024);
    let error = (1024..2048).find_map(|n| old.write((n,), Timestamp::MIN).err()).unwrap().to_string();
    assert!(error.contains("another job or sink has taken over"), "{error}");
    drop(old);
    write(&mut writer, 1024..1030);
    let staged = stage(&mut writer, 1);
    committer.commit(1, 0, &staged).unwrap();
    assert_eq!(numbers(&path), (0..1030).collect::<Vec<_>>());
}

/// The same in a job without checkpoints: what it leaves to be committed is not wanted any more.
#[test]
fn what_a_run_that_is_over_leaves_to_commit() {
    let (_folder, path) = database();
    let sink = sqlite(&path, INSERT);
    let open = || Sink::<(i64,)>::open(&sink, &mut open_cx(1)).unwrap();
    let mut old = open();
    write(&mut old, 0..5);
    let left = Writer::<(i64,)>::finish(old).unwrap().unwrap();
    let mut writer = open();
    write(&mut writer, 0..3);
    drop(left);
    let commit = Writer::<(i64,)>::finish(writer).unwrap().unwrap();
    commit.commit().unwrap();
    assert_eq!(numbers(&path), [0, 1, 2]);
}

/// A checkpoint whose rows cannot all be inserted inserts none.
#[test]
fn a_row_that_the_table_refuses() {
    let (_folder, path) = database();
    let (mut committer, mut writer) = start(&sqlite(&path, INSERT), 0);
    write(&mut writer, [1, 2, 1]);
    let staged = stage(&mut writer, 1);
    let error = committer.commit(1, 0, &staged).unwrap_err().to_string();
    assert!(error.contains("`insert into numbers values (?1)` with [Integer(1)]: UNIQUE"), "{error}");
    assert_eq!(numbers(&path), NONE);
}

#[test]
fn who_is_not_in_charge_changes_nothing() {
    let (_folder, path) = database();
    let (mut old, mut writer) = start(&sqlite(&path, INSERT), 0);
    write(&mut writer, [1]);
    let staged = stage(&mut writer, 1);
    let _new = start(&sqlite(&path, INSERT), 1);
    let error = old.commit(1, 0, &staged).unwrap_err().to_string();
    assert!(error.contains("another job or sink has taken over `insert into numbers"), "{error}");
    assert_eq!(numbers(&path), NONE);
    // Its staged rows are of a complete checkpoint, and not removed.
    assert_eq!(all(&path, "select count(*) from flow_staged"), [1]);
}

#[test]
fn mistakes_are_told_before_anything_is_read() {
    let (folder, path) = database();
    let open = |sink: Sqlite| Sink::<(i64,)>::open(&sink, &mut open_cx(1)).err().unwrap().to_string();
    let missing = folder.path().join("missing.db");
    assert!(open(sqlite(&missing, INSERT)).contains("missing.db: cannot be opened: "));
    assert!(!missing.exists());
    let error = open(sqlite(&path, "insert into none values (?1)"));
    assert!(
        error.contains("`insert into none values (?1)` cannot be prepared: no such table: none"),
        "{error}"
    );
    let error = open(sqlite(&path, "insert into numbers values (?1 + ?2)"));
    assert!(error.contains("has 2 parameters, and a record 1 values"), "{error}");
    assert!(open(sqlite(&path, "select ?1")).contains("`select ?1` writes nothing"));
    let (mut committer, mut writer) = start(&sqlite(&path, INSERT), 0);
    write(&mut writer, [1]);
    let staged = stage(&mut writer, 3);
    committer.commit(3, 0, &staged).unwrap();
    drop((committer, writer));
    let error =
        CommittingSink::<(i64,)>::committer(&sqlite(&path, INSERT)).recover(0).unwrap_err().to_string();
    assert!(error.contains("has been committed up to checkpoint 3, and the job starts from 0"), "{error}");
}

#[test]
fn a_job_without_checkpoints_commits_at_its_end() {
    let (_folder, path) = database();
    let job = |fails: i64| {
        Job::build("numbers", |job| {
            let picky = move |n: i64| if n == fails { Err("that is too much") } else { Ok((n,)) };
            job.add(source(from_iter(0..5000)).rebalance().try_map(picky).sink(sqlite(&path, INSERT)));
        })
        .parallelism(2)
    };
    job(4900).run().unwrap_err();
    assert_eq!((numbers(&path), all(&path, "select count(*) from flow_staged")), (vec![], vec![0]));
    job(-1).run().unwrap();
    assert_eq!(numbers(&path), (0..5000).collect::<Vec<_>>());
}

proptest! {
    #[test]
    fn rows_are_read_as_they_were_written(
        n in any::<i64>(), x in any::<f64>(), text in ".*", blob in prop::collection::vec(any::<u8>(), 0..20),
        foreign in prop::collection::vec(any::<u8>(), 0..20), cut in any::<prop::sample::Index>(),
    ) {
        let values = vec![Value::Integer(n), Value::Null, Value::Real(x), Value::Text(text), Value::Blob(blob)];
        let bytes = row::encode(&values);
        let read = row::decode(&bytes).unwrap();
        prop_assert_eq!(row::encode(&read), bytes.clone());
        prop_assert_eq!(read.len(), 5);
        // Neither panics.
        let _ = (row::decode(&foreign), row::decode(&bytes[..cut.index(bytes.len())]));
    }
}
