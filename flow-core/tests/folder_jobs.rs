//! Folders of files through whole jobs: what stands there afterwards, at every parallelism and on every host.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::prelude::*;
use std::fs;
use std::path::Path;

/// The files below a folder with what they hold, by name; the lock is left out.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let (path, name) =
            entry.map(|entry| (entry.path(), entry.file_name().into_string().unwrap())).unwrap();
        if path.is_dir() {
            files.extend(
                self::files(&path).into_iter().map(|(below, text)| (format!("{name}/{below}"), text)),
            );
        } else if name != ".lock" {
            files.push((name, fs::read_to_string(path).unwrap()));
        }
    }
    files.sort();
    files
}

/// Threads, workers, and the simulation.
const ON: [Option<HostKind>; 3] = [Some(HostKind::Threads), Some(HostKind::Workers(2)), None];

fn run(job: Job, on: Option<HostKind>) -> Result<Report> {
    match on {
        Some(host) => job.host(host).run(),
        None => job.simulate(7),
    }
}

fn rows(files: &[(String, String)], head: Option<&str>) -> Vec<String> {
    let mut rows = Vec::new();
    for (name, text) in files {
        let mut lines = text.lines();
        if head.is_some() {
            assert_eq!(lines.next(), head, "{name}");
        }
        rows.extend(lines.map(str::to_owned));
    }
    rows.sort();
    rows
}

#[test]
fn each_instance_writes_its_own() {
    #[derive(serde::Serialize)]
    struct Row {
        key: u64,
        n: u64,
    }
    for (parallelism, on) in [1, 3].into_iter().flat_map(|p| ON.map(|on| (p, on))) {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("deep/out");
        let job = Job::build("rows", |job| {
            let keyed = source(from_iter(0..500u64)).key_by(|n| n % 50).count();
            let rows = keyed.map(|(key, n)| Row { key, n });
            job.add(rows.sink(csv_files(&out).roll_bytes(300).extension("tsv")));
        });
        let report = run(job.parallelism(parallelism), on).unwrap();
        let found = files(&out);
        let mut expected: Vec<_> = (0..500).map(|n| format!("{},{}", n % 50, n / 50 + 1)).collect();
        expected.sort();
        assert_eq!(rows(&found, Some("key,n")), expected, "{parallelism}");
        for (name, text) in &found {
            assert!(name.starts_with("part-0000000000-00") && name.ends_with(".tsv"), "{name}");
            assert!(text.len() < 306, "{name} has {} bytes", text.len());
        }
        let instances: std::collections::BTreeSet<&str> = found.iter().map(|file| &file.0[16..19]).collect();
        assert_eq!(instances.len(), parallelism);
        assert_eq!(report.counter("files"), found.len() as i64);
        assert_eq!(report.counter("bytes"), found.iter().map(|file| file.1.len() as i64).sum::<i64>());
    }
}

#[test]
fn partitions_are_folders() {
    let names = ["", "..", "a/b", "north", "12:30"];
    for on in ON {
        let folder = tempfile::tempdir().unwrap();
        let job = Job::build("parts", |job| {
            let records = source(from_iter(0..100usize)).map(move |n| (names[n % 5], n));
            let sink = text_files(folder.path())
                .header("n")
                .partition_by(|record: &String| record.split('=').next().unwrap_or_default().to_owned());
            job.add(records.rebalance().map(|(name, n)| format!("{name}={n}")).sink(sink.max_open(2)));
        });
        run(job.parallelism(2), on).unwrap();
        let found = files(folder.path());
        assert_eq!(rows(&found, Some("n")).len(), 100);
        for (name, text) in &found {
            let (partition, _) = name.split_once('/').unwrap();
            let shown = match partition {
                "%empty" => "",
                "%2E%2E" => "..",
                "a%2Fb" => "a/b",
                "12%3A30" => "12:30",
                other => other,
            };
            assert!(
                text.lines().skip(1).all(|line| line.starts_with(&format!("{shown}="))),
                "{name}: {text}"
            );
        }
    }
}

#[test]
fn nothing_stands_there_after_a_failure_or_without_records() {
    for on in ON {
        let folder = tempfile::tempdir().unwrap();
        let job = |last: u64, fails: u64| {
            Job::build("picky", |job| {
                let picky = move |n| if n == fails { Err("that is too much") } else { Ok(n) };
                let records = source(from_iter(0..last)).rebalance().try_map(picky);
                job.add(records.sink(text_files(folder.path()).partition_by(|n: &u64| n % 3).roll_bytes(40)));
            })
            .parallelism(2)
            .batch_size(16)
        };
        assert_eq!(run(job(1000, 900), on).unwrap_err().stage(), Some("try_map"));
        run(job(0, 900), on).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the lock alone");
        run(job(10, 900), on).unwrap();
        assert_eq!(rows(&files(folder.path()), None).len(), 10);
    }
}

/// A folder has one job's results, and one sink's.
#[test]
fn results_are_never_mixed() {
    let folder = tempfile::tempdir().unwrap();
    let job = |to: &[&str]| {
        Job::build("numbers", |job| {
            for name in to {
                job.add(source(from_iter(0..3)).sink(text_files(folder.path().join(name))));
            }
        })
    };
    let error = job(&["a", "a"]).run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Sink);
    assert!(error.to_string().contains("another sink is writing into this folder"), "{error}");
    job(&["a", "b"]).run().unwrap();
    let before = files(folder.path());
    assert_eq!(before.len(), 2);
    let error = job(&["c", "b"]).run().unwrap_err().to_string();
    assert!(error.contains("b/part-0000000000-000-00000.txt: results are there already"), "{error}");
    assert!(error.contains("text_files") && error.contains("folder_jobs.rs:"), "{error}");
    assert_eq!(files(folder.path()), before);
}

#[test]
fn a_record_that_is_no_row_ends_the_job() {
    let folder = tempfile::tempdir().unwrap();
    let job = Job::build("rows", |job| {
        let rows = source(from_vec(vec![vec![1], vec![1, 2]]));
        job.add(rows.sink(csv_files(folder.path())));
    });
    let error = job.run().unwrap_err().to_string();
    assert!(error.contains("a record has 2 fields where the first line has 1"), "{error}");
    assert!(error.contains(folder.path().to_str().unwrap()), "{error}");
    assert_eq!(files(folder.path()), []);
}
