//! Pipelines that are stopped on the way, and go on.

use crate::pipelines::{CASES, Case, EVENTS};
use flow_core::checkpoint::read;
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
    let job = (case.job)(A_SECOND, out.clone()).parallelism(parallelism);
    half_way(job, checkpoints, records);
    out.take()
}

/// Runs a job until so many records have been read, into a savepoint.
pub fn half_way(job: Job, checkpoints: Checkpoints, records: u64) {
    let handle = job.batch_size(8).checkpoints(checkpoints.every(Millis(20))).start();
    let handle = handle.unwrap_or_else(|error| panic!("it does not start: {error}"));
    wait(&handle, records);
    handle.stop_with_savepoint().unwrap_or_else(|error| panic!("no savepoint: {error}"));
    handle.join().expect("it was stopped");
}

fn wait(handle: &JobHandle, records: u64) {
    let since = Instant::now();
    while handle.metrics().iter().all(|stage| stage.records_in < records) {
        assert!(since.elapsed() < Duration::from_secs(60), "it reads nothing");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Runs the pipeline in a process that dies on the way, with checkpoints that say what has changed; the newest is such, and needs a
/// few files.
pub fn begin_with_changes(case: &Case, folder: &Path) -> Vec<String> {
    for steps in (100..5_000).step_by(25) {
        std::fs::remove_dir_all(folder).expect("the folder can go");
        let out = Collected::new();
        let checkpoints = Checkpoints::to(folder).every(Millis(1)).deltas(1_000);
        let job = (case.job)(A_SECOND, out.clone()).parallelism(2).batch_size(64);
        let died = job.checkpoints(checkpoints).crash_at(steps).simulate(1).expect_err("it dies");
        assert_eq!(died.kind(), flow_core::ErrorKind::Crash, "{died}");
        let files = read(folder).and_then(|reader| reader.newest()).map_or(0, |it| it.manifest().files.len());
        let rows = out.take();
        if files > 4 && rows.len() > 20 {
            return rows;
        }
    }
    panic!("no checkpoint is such");
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
