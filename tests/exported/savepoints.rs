//! The state of a stream, read as the input of a batch.

use crate::bootstrap::World;
use flow_core::checkpoint::read;
use flow_core::prelude::*;
use flow_core::testing::MapBackend;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

type Sums = Collected<(String, u64)>;

fn key(n: u64) -> String {
    format!("key {}", n * n % 97)
}

dataflow! {
    #[checkpointed]
    fn live(numbers: std::ops::Range<u64>, rate: u64, out: Sums) {
        let numbers = source(from_iter(numbers)).rate_limit(rate);
        let sums = numbers.key_by(|n| key(*n)).sum(|n| *n);
        sums.collect(&out);
    }

    /// A list for each key, long enough for pages of its own.
    #[checkpointed]
    fn lists(till: u64, rate: u64, out: Collected<u64>) {
        let numbers = source(generate(till, |n| n)).rate_limit(rate);
        let lists = numbers.key_by(|n| n % 3).process({
            let mut all: ListState<u64> = ListState::new();
            let mut count: u64 = 0;
            on_event(|n, ctx| {
                all.push(n);
                *count += 1;
                if *count % 1_000 == 0 {
                    ctx.emit(*count);
                }
            });
        });
        lists.collect(&out);
    }

    #[batch]
    fn report(folder: PathBuf, parts: usize, out: Sums) {
        let sums = source(savepoint(folder).state::<String, u64>("sums/sum").splits(parts));
        sums.collect(&out);
    }

    #[batch]
    fn lengths(folder: PathBuf, parts: usize, out: Collected<(u64, usize, u64)>) {
        let lists = source(savepoint(folder).state::<u64, ListState<u64>>("lists/process/all").splits(parts));
        lists.map(|(key, mut all)| (key, all.len(), all.iter().sum())).collect(&out);
    }

    /// Every sum is doubled, and a stream goes on with that.
    #[batch(exported)]
    fn doubled(folder: PathBuf) {
        let before = source(savepoint(folder).state::<String, u64>("sums/sum").splits(3));
        let doubled = before.map(|(key, sum)| (key, 2 * sum));
        let sums = doubled.key_by(|pair| pair.0.clone()).sum(|pair| pair.1);
        sums.for_each(|_| ());
    }

    /// A stream may read it too, and dies on the way.
    #[checkpointed]
    fn copied(folder: PathBuf, parts: usize, out: Sums) {
        let sums = source(savepoint(folder).state::<String, u64>("sums/sum").splits(parts)).rate_limit(200);
        sums.collect(&out);
    }

    #[batch]
    fn other_value(folder: PathBuf, out: Collected<(String, i32)>) {
        source(savepoint(folder).state::<String, i32>("sums/sum")).collect(&out);
    }

    #[batch]
    fn other_operator(folder: PathBuf, out: Sums) {
        source(savepoint(folder).state::<String, u64>("totals/sum")).collect(&out);
    }
}

/// Runs a stream, and stops it with a savepoint when it has read so many records.
fn stopped(job: Job, folder: &Path, records: u64) {
    let handle = job.checkpoints(Checkpoints::to(folder).every(Millis(10))).start().expect("it starts");
    while handle.metrics().iter().all(|stage| stage.records_in < records) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    handle.stop_with_savepoint().expect("a savepoint");
    handle.join().expect("it was stopped");
}

fn sorted<T: Ord>(mut rows: Vec<T>) -> Vec<T> {
    rows.sort_unstable();
    rows
}

fn last(rows: Vec<(String, u64)>) -> Vec<(String, u64)> {
    rows.into_iter().collect::<BTreeMap<_, _>>().into_iter().collect()
}

#[test]
fn the_state_of_a_stream_is_read_and_changed_and_a_stream_goes_on_with_it() {
    let world = World::new();
    let (folder, out) = (world.path("live"), Sums::new());
    stopped(live(0..1_000_000, 20_000, out.clone()).parallelism(2), &folder, 500);
    let rows = out.take();
    let read = u64::try_from(rows.len()).expect("it is small");
    let sums = last(rows);
    for (parts, instances) in [(1, 1), (2, 4), (7, 2), (10_000, 1)] {
        let found = Sums::new();
        report(folder.clone(), parts, found.clone()).parallelism(instances).run().expect("a report");
        assert_eq!(sorted(found.take()), sums, "{parts}");
    }
    let changed = world.path("doubled");
    doubled(folder).parallelism(2).savepoint_to(&changed).run().expect("a savepoint");
    let checkpoints = Checkpoints::to(world.path("then")).begin_from(changed);
    live(read..read + 300, 1_000_000_000, out.clone())
        .parallelism(4)
        .checkpoints(checkpoints)
        .run()
        .expect("it goes on");
    let mut expected: BTreeMap<String, u64> = sums.into_iter().map(|(key, sum)| (key, 2 * sum)).collect();
    let mut rows = Vec::new();
    for n in read..read + 300 {
        let sum = expected.entry(key(n)).or_default();
        *sum += n;
        rows.push((key(n), *sum));
    }
    assert_eq!(sorted(out.take()), sorted(rows));
}

#[test]
fn long_lists_and_state_beyond_the_memory_are_read() {
    let world = World::new();
    for limit in [None, Some(0)] {
        let (folder, out) = (world.path(&format!("{limit:?}")), Collected::new());
        let job = lists(1_000_000, 30_000, out.clone()).parallelism(2);
        let job = match limit {
            Some(limit) => job.state_backend(MapBackend::with_limit(limit)),
            None => job,
        };
        stopped(job, &folder, 6_000);
        let found = Collected::new();
        lengths(folder.clone(), 2, found.clone()).run().expect("lengths");
        let found = sorted(found.take());
        assert_eq!(found.len(), 3, "{found:?}");
        for (key, len, sum) in found {
            assert!(len > 1_500, "{len}");
            assert_eq!(sum, (0..len as u64).map(|i| 3 * i + key).sum::<u64>(), "{key}");
        }
    }
}

#[test]
fn a_stream_that_reads_a_savepoint_goes_on_where_it_was() {
    let world = World::new();
    let (folder, out) = (world.path("many"), Sums::new());
    let many = Job::build("many", |job| {
        let numbers = source(generate(300, |n| n)).exported();
        job.add(numbers.key_by(|n| format!("key {n}")).sum(|n| *n).named("sums").for_each(|_| ()));
    });
    many.savepoint_to(&folder).run().expect("a savepoint");
    let sums = sorted((0..300).map(|n| (format!("key {n}"), n)).collect());
    let mut restored = 0;
    for seed in (1..60).step_by(3) {
        let checkpoints = Checkpoints::to(world.path(&format!("copy {seed}"))).every(Millis(1));
        for attempt in 0.. {
            let job = copied(folder.clone(), 3, out.clone()).batch_size(1).checkpoints(checkpoints.clone());
            let job = if attempt < 3 { job.crash_at(seed * 20 * (attempt + 1)) } else { job };
            match job.simulate(seed + attempt) {
                Ok(report) => restored += u64::from(report.restored.is_some()),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Crash, "{error}");
                    continue;
                }
            }
            break;
        }
        assert_eq!(sorted(out.take()), sums, "{seed}");
    }
    assert!(restored > 0, "{restored}");
}

#[test]
fn what_is_not_there_is_said_before_anything_is_read() {
    let world = World::new();
    let (folder, out) = (world.path("live"), Sums::new());
    let refused = |job: Job, parts: &[&str]| {
        let error = job.run().expect_err("it is refused").to_string();
        for part in parts {
            assert!(error.contains(part), "`{part}` is missing: {error}");
        }
    };
    refused(
        report(folder.clone(), 1, out.clone()),
        &["sums/savepoint", "there is no folder", "savepoints.rs"],
    );
    std::fs::create_dir(&folder).expect("a folder");
    refused(report(folder.clone(), 1, out.clone()), &["has no checkpoint"]);
    stopped(live(0..1_000_000, 20_000, out.clone()), &folder, 10);
    let newest = read(&folder).and_then(|reader| reader.newest()).expect("a savepoint").manifest().id;
    refused(
        other_value(folder.clone(), Collected::new()),
        &["its value is `u64`, and is read as `i32`", "`sums/sum` in", "/live"],
    );
    refused(
        other_operator(folder.clone(), out.clone()),
        &["no state of `totals/sum`: there are", "sums/sum"],
    );
    let other = Job::build("other", |job| {
        job.add(
            source(savepoint(&folder).at(newest + 7).state::<String, u64>("sums/sum")).collect(&Sums::new()),
        );
    });
    refused(other, &[&format!("no checkpoint {}", newest + 7)]);
}

#[test]
fn another_job_begins_from_the_savepoint_of_a_stream_where_that_was() {
    let world = World::new();
    let (folder, out) = (world.path("live"), Sums::new());
    stopped(live(0..2_000, 10_000, out.clone()).parallelism(2), &folder, 500);
    let before = out.take();
    let checkpoints = || Checkpoints::to(world.path("other")).begin_from(&folder);
    let job = live(0..2_000, 1_000_000_000, out.clone()).parallelism(3);
    let report = job.checkpoints(checkpoints()).run().expect("it goes on");
    assert!(report.restored.is_some());
    let rows = sorted([before, out.take()].concat());
    let complete = Sums::new();
    live(0..2_000, 1_000_000_000, complete.clone()).run().expect("a run");
    assert_eq!(rows, sorted(complete.take()));
    // There is a checkpoint of its own now, which says that all has been read.
    std::fs::remove_dir_all(&folder).expect("it is no longer needed");
    live(0..2_000, 1_000_000_000, out.clone())
        .checkpoints(checkpoints())
        .run()
        .expect("there is nothing to do");
    assert_eq!(out.take(), []);
}

#[test]
fn the_savepoint_of_a_batch_is_lines_and_back() {
    let world = World::new();
    let (folder, out) = (world.path("live"), Sums::new());
    stopped(live(0..1_000_000, 20_000, out.clone()), &folder, 300);
    let sums = last(out.take());
    let [changed, imported] = ["changed", "imported"].map(|name| world.path(name));
    doubled(folder).parallelism(2).savepoint_to(&changed).run().expect("a savepoint");
    let mut lines = Vec::new();
    let snapshot = read(&changed).and_then(|reader| reader.newest()).expect("a savepoint");
    assert!(snapshot.manifest().history && snapshot.manifest().savepoint);
    assert!(snapshot.manifest().operators.iter().all(|operator| !operator.finished));
    snapshot.export(&mut lines).expect("lines");
    flow_core::checkpoint::import(&imported, &*lines).expect("a savepoint");
    let found = Sums::new();
    report(imported.clone(), 2, found.clone()).run().expect("a report");
    let doubled: Vec<(String, u64)> = sums.into_iter().map(|(key, sum)| (key, 2 * sum)).collect();
    assert_eq!(sorted(found.take()), doubled);
    let checkpoints = Checkpoints::to(world.path("then")).begin_from(imported);
    live(0..1, 1_000, out.clone()).checkpoints(checkpoints).run().expect("it goes on");
    let first = doubled.iter().find(|pair| pair.0 == key(0)).expect("a sum");
    assert_eq!(out.take(), std::slice::from_ref(first));
}
