//! JSON lines through whole jobs, and against a reader of a few lines.
#![cfg(feature = "json")]
#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::prelude::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;

#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
struct Row {
    name: String,
    n: Option<i64>,
    parts: Vec<(u8, String)>,
}

fn row() -> impl Strategy<Value = Row> {
    let parts = proptest::collection::vec((any::<u8>(), ".{0,3}"), 0..3);
    (".{0,8}", proptest::option::of(any::<i64>()), parts).prop_map(|(name, n, parts)| Row { name, n, parts })
}

/// A row, a blank line, or one that is broken; and whether it ends in CRLF.
fn line() -> impl Strategy<Value = (String, bool)> {
    let row = row().prop_map(|row| serde_json::to_string(&row).unwrap());
    let blank = prop::sample::select(vec!["", "  ", "\t"]).prop_map(str::to_owned);
    let broken = prop::sample::select(vec!["{", "{}", "[1]", "null", "{\"name\": 1}", "nonsense"])
        .prop_map(str::to_owned);
    (prop_oneof![6 => row, 1 => blank, 1 => broken], any::<bool>())
}

/// What is in a line: nothing, a row, or the number of a broken one.
fn naive(lines: &[(String, bool)]) -> Vec<Result<Row, u64>> {
    let numbered = (1u64..).zip(lines);
    let some = numbered.filter(|(_, (line, _))| !line.trim().is_empty());
    some.map(|(number, (line, _))| serde_json::from_str(line).map_err(|_| number)).collect()
}

fn config() -> ProptestConfig {
    let cases = std::env::var("FLOW_RANDOM_CASES").map_or(100, |text| text.parse().expect("a number"));
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_line_comes_once_whatever_the_ranges(
        lines in proptest::collection::vec(line(), 0..20), splits in 1usize..6, bom in any::<bool>(), last in any::<bool>(), seed in any::<u64>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.jsonl");
        let mut text: String = lines.iter().map(|(line, crlf)| format!("{line}{}", if *crlf { "\r\n" } else { "\n" })).collect();
        if last && text.ends_with('\n') && !text.ends_with("\r\n") {
            text.pop();
        }
        fs::write(&path, if bom { format!("\u{feff}{text}") } else { text }).unwrap();
        let out = Collected::new();
        let job = Job::build("json", |job| {
            let records = source(json_lines::<Row>(&path).splits(splits).results());
            job.add(records.map(|r: Result<Row, Broken>| r.map_err(|broken| broken.record)).collect(&out));
        });
        let report = job.simulate(seed).unwrap();
        let expected = naive(&lines);
        let broken = expected.iter().filter(|row| row.is_err()).count();
        // The partitions are read side by side.
        let sorted = |mut rows: Vec<Result<Row, u64>>| {
            rows.sort_by_key(|row| format!("{row:?}"));
            rows
        };
        let rows = out.take();
        prop_assert_eq!(report.counter("invalid"), broken as i64);
        if splits == 1 { prop_assert_eq!(rows, expected) } else { prop_assert_eq!(sorted(rows), sorted(expected)) }
    }

    #[test]
    fn what_is_written_is_read(rows in proptest::collection::vec(row(), 0..20), parallelism in 1usize..3) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.jsonl");
        let job = Job::build("write", |job| job.add(source(from_vec(rows.clone())).sink(json_file(&path))));
        let report = job.parallelism(parallelism).run().unwrap();
        prop_assert_eq!(report.counter("bytes"), fs::metadata(&path).unwrap().len() as i64);
        let out = Collected::new();
        Job::build("read", |job| job.add(source(json_lines::<Row>(&path)).collect(&out))).run().unwrap();
        prop_assert_eq!(out.take(), rows);
    }
}

#[test]
fn what_json_cannot_say_ends_the_job_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.jsonl");
    let job = Job::build("keys", |job| {
        let maps = source(from_vec(vec![BTreeMap::from([(vec![1u8], 2)])]));
        job.add(maps.sink(json_file(&path)));
    });
    let error = job.run().unwrap_err().to_string();
    assert!(error.contains("json_file") && error.contains("key must be a string"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    let job =
        Job::build("full", |job| job.add(source(generate(100_000, |i| i)).sink(json_file("/dev/full"))));
    let error = job.run().unwrap_err().to_string();
    assert!(error.contains("/dev/full: cannot be written: No space left"), "{error}");
}
