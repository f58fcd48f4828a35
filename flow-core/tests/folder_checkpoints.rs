//! Folders of files in jobs that take checkpoints and die: in the end each record stands there once.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const RECORDS: u64 = 1000;

/// Names and lines of the files below a folder.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let (path, name) =
            entry.map(|entry| (entry.path(), entry.file_name().into_string().unwrap())).unwrap();
        if path.is_dir() {
            files.extend(
                self::files(&path).into_iter().map(|(below, text)| (format!("{name}/{below}"), text)),
            );
        } else if name != ".lock" {
            files.insert(name, fs::read_to_string(path).unwrap());
        }
    }
    files
}

/// The lines that everybody may read.
fn lines_of(files: &BTreeMap<String, String>) -> Vec<String> {
    let last = files.iter().filter(|file| !file.0.ends_with(".staged"));
    let mut lines: Vec<_> = last.flat_map(|file| file.1.lines().map(str::to_owned)).collect();
    lines.sort();
    lines
}

fn expected() -> Vec<String> {
    let mut expected: Vec<_> = (0..RECORDS).map(|n| format!("{},{}", n % 10, n / 10 + 1)).collect();
    expected.sort();
    expected
}

/// Counts by key into two folders, one of them partitioned.
fn job(at: &Path, every: i64, rate: Option<u64>) -> Job {
    let job = Job::build("counts", |job| {
        let numbers = source(from_iter(0..RECORDS)).durable();
        let numbers = numbers.rate_limit(rate.unwrap_or(1_000_000_000)).named("paced");
        let counts = numbers.key_by(|n| n % 10).count();
        let whole = counts.root().sink(csv_files(at.join("whole")).roll_bytes(500));
        let parts = csv_files(at.join("parts")).partition_by(|count: &(u64, u64)| count.0 % 3).max_open(2);
        let parts = counts.root().sink(parts);
        job.add(counts.tee(|both| both.both(whole, parts)));
    });
    job.checkpoints(Checkpoints::to(at.join("state")).every(Millis(every))).parallelism(2)
}

fn check(at: &Path) {
    for out in ["whole", "parts"] {
        let found = files(&at.join(out));
        assert_eq!(lines_of(&found), expected(), "{out}");
        assert!(found.keys().all(|name| !name.ends_with(".staged")), "{:?}", found.keys());
    }
}

/// The simulated process dies every so many steps, until it comes to the end.
#[test]
fn once_each_whatever_step_the_process_dies_at() {
    for seed in 0..3 {
        let at = tempfile::tempdir().unwrap();
        let mut deaths = 0;
        let mut steps = 40 + 17 * seed;
        while let Err(error) = job(at.path(), 1, None).batch_size(16).crash_at(steps).simulate(seed) {
            assert_eq!(error.kind(), ErrorKind::Crash, "{error}");
            deaths += 1;
            steps += 5;
            assert!(deaths < 500, "it comes nowhere");
            for out in ["whole", "parts"] {
                let lines = lines_of(&files(&at.path().join(out)));
                assert!(lines.windows(2).all(|pair| pair[0] != pair[1]), "a record stands there twice");
            }
        }
        assert!(deaths > 3, "{deaths}");
        check(at.path());
        // Once more: there is nothing to do.
        job(at.path(), 1, None).simulate(seed).unwrap();
        check(at.path());
    }
}

const CHILD: &str = "FLOW_FOLDER_CHILD";

/// Not a test of its own: what the next one starts and kills.
#[test]
fn child() {
    let Some(at) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    job(&at, 20, Some(1200)).batch_size(16).run().unwrap();
}

/// A real process, killed after a while, again and again.
#[test]
fn once_each_whenever_the_process_is_killed() {
    let at = tempfile::tempdir().unwrap();
    let start = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child", "--quiet"]).env(CHILD, at.path()).spawn().unwrap()
    };
    let mut kills = 0;
    for after in [90, 260, 130, 310, 70, 200] {
        let mut child = start();
        std::thread::sleep(Duration::from_millis(after));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        child.wait().unwrap();
        for out in ["whole", "parts"] {
            let lines = lines_of(&files(&at.path().join(out)));
            assert!(lines.windows(2).all(|pair| pair[0] != pair[1]), "a record stands there twice");
        }
    }
    assert!(kills > 0);
    assert!(!lines_of(&files(&at.path().join("whole"))).is_empty(), "it went on between the kills");
    assert!(start().wait().unwrap().success());
    check(at.path());
}

/// The state is gone, the results are not: they would stand there twice.
#[test]
fn results_without_their_state_are_an_error() {
    let at = tempfile::tempdir().unwrap();
    job(at.path(), 1, None).run().unwrap();
    let before = files(&at.path().join("whole"));
    fs::remove_dir_all(at.path().join("state")).unwrap();
    let error = job(at.path(), 1, None).run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Sink);
    assert!(
        error.to_string().contains("the job starts from the beginning: it would be written twice"),
        "{error}"
    );
    assert_eq!(files(&at.path().join("whole")), before);
}
