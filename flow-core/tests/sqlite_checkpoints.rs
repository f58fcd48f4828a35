//! Rows of SQLite in jobs that take checkpoints and die: in the end each is there once.

#![cfg(feature = "sqlite")]
#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::prelude::*;
use rusqlite::Connection;
use std::path::Path;

fn job(at: &Path) -> Job {
    let job = Job::build("counts", |job| {
        let counts = source(from_iter(0..1000i64)).durable().key_by(|n| n % 10).count();
        let rows = counts.map(|(key, n)| (key, i64::try_from(n).unwrap()));
        job.add(rows.sink(sqlite(at.join("out.db"), "insert into counts values (?1, ?2)")));
    });
    job.checkpoints(Checkpoints::to(at.join("state")).every(Millis(1))).parallelism(2).batch_size(16)
}

/// Without a primary key: a row that is inserted twice is there twice.
#[test]
fn sqlite_rows_once_each_whatever_step_the_process_dies_at() {
    for seed in 0..3 {
        let at = tempfile::tempdir().unwrap();
        let database = Connection::open(at.path().join("out.db")).unwrap();
        database.execute_batch("create table counts (key integer, n integer)").unwrap();
        let number = |query: &str| database.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
        let (mut deaths, mut steps) = (0, 40 + 17 * seed);
        while let Err(error) = job(at.path()).crash_at(steps).simulate(seed) {
            assert_eq!(error.kind(), ErrorKind::Crash, "{error}");
            let (all, different) =
                (number("select count(*) from counts"), "select distinct key, n from counts");
            assert_eq!(all, number(&format!("select count(*) from ({different})")));
            (deaths, steps) = (deaths + 1, steps + 5);
            assert!(deaths < 500, "it comes nowhere");
        }
        assert!(deaths > 3, "{deaths}");
        job(at.path()).simulate(seed).unwrap();
        assert_eq!(number("select count(*) from counts"), 1000);
        assert_eq!(number("select count(*) from (select distinct key, n from counts where n <= 100)"), 1000);
        assert_eq!(number("select count(*) from flow_staged"), 0);
    }
}
