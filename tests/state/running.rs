//! Pipelines that are stopped on the way, and go on.

use crate::pipelines::{CASES, Case, EVENTS};
use flow_core::prelude::*;
use std::path::Path;
use std::time::{Duration, Instant};

/// As fast as it goes.
const AT_ONCE: u64 = 1_000_000_000;
/// Slow enough to be stopped on the way.
const A_SECOND: u64 = 2_000;

pub fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort();
    rows
}

/// What comes out if nothing happens.
pub fn complete(case: &Case) -> Vec<String> {
    let out = Collected::new();
    (case.job)(AT_ONCE, out.clone()).run().unwrap_or_else(|error| panic!("{}: {error}", case.name));
    sorted(out.take())
}

/// Whether the rows are those that are expected, in any order.
pub fn check(name: &str, found: Vec<String>, expected: &[String]) {
    let found = sorted(found);
    let differ = found.iter().zip(expected).find(|both| both.0 != both.1);
    assert_eq!(differ, None, "{name}: {} rows, {} expected", found.len(), expected.len());
    assert_eq!(found.len(), expected.len(), "{name}");
}

/// Runs the pipeline half way, into a savepoint; what has come out.
pub fn begin(case: &Case, folder: &Path, parallelism: usize) -> Vec<String> {
    begin_with(case, Checkpoints::to(folder), parallelism, EVENTS / 2)
}

/// The same with other settings, until so many records have been read.
pub fn begin_with(case: &Case, checkpoints: Checkpoints, parallelism: usize, records: u64) -> Vec<String> {
    let out = Collected::new();
    let job = (case.job)(A_SECOND, out.clone()).parallelism(parallelism).batch_size(8);
    let handle = job.checkpoints(checkpoints.every(Millis(20))).start();
    let handle = handle.unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let since = Instant::now();
    while handle.metrics().iter().all(|stage| stage.records_in < records) {
        assert!(since.elapsed() < Duration::from_secs(60), "{} reads nothing", case.name);
        std::thread::sleep(Duration::from_millis(1));
    }
    handle.stop_with_savepoint().unwrap_or_else(|error| panic!("{}: {error}", case.name));
    handle.join().expect("it was stopped");
    out.take()
}

/// A copy of a folder.
pub fn copied(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a folder");
    for file in std::fs::read_dir(folder).expect("it can be read") {
        let file = file.expect("it can be read");
        std::fs::copy(file.path(), copy.path().join(file.file_name())).expect("it can be copied");
    }
    copy
}

/// Goes on from what is in the folder, to the end.
pub fn go_on(case: &Case, checkpoints: Checkpoints, parallelism: usize) -> Result<Vec<String>> {
    let out = Collected::new();
    (case.job)(AT_ONCE, out.clone()).parallelism(parallelism).checkpoints(checkpoints).run()?;
    Ok(out.take())
}

dataflow! {
    #[checkpointed]
    fn two_ends(out: Collected<u64>) {
        let numbers = source(generate(100, |n| n));
        numbers.filter(|n| n % 2 == 0).collect(&out);
        numbers.map(|n| n + 1_000).collect(&out);
    }
}

#[test]
fn two_ends_may_fill_one_collection() {
    let (folder, out) = (tempfile::tempdir().expect("a folder"), Collected::new());
    let job = two_ends(out.clone()).checkpoints(Checkpoints::to(folder.path()));
    job.parallelism(2).simulate(1).expect("a run");
    assert_eq!(out.take().len(), 150);
}

#[test]
fn what_was_stopped_comes_to_the_same_end() {
    for case in CASES {
        let folder = tempfile::tempdir().expect("a folder");
        let before = begin(case, folder.path(), 2);
        let rest = go_on(case, Checkpoints::to(folder.path()), 3).expect("it goes on");
        check(case.name, [before, rest].concat(), &complete(case));
    }
}
