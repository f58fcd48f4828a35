//! Keys that are spread unevenly, and records out of order.

use super::runner::all;
use flow_core::prelude::*;
use flow_core::stage::split_mix;
use flow_core::testing::SimFs;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A number below 1 that looks random, of record `i`.
fn drawn(i: u64) -> f64 {
    let mut seed = i;
    (split_mix(&mut seed) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Nine of ten records have one key.
fn hot(i: u64) -> u64 {
    if drawn(i) < 0.9 { 7 } else { i % 1_000 }
}

/// Ranks by Zipf with exponent 1.5: the rank of `u` is near `u^-2`.
fn zipf(i: u64) -> u64 {
    (drawn(i).max(1e-3).powi(-2)) as u64
}

type Rows = Vec<(u64, i64, (u64, u64))>;

/// Count and sum by key and window of 1,000 ms, on threads, with checkpoints.
fn windows(count: u64, key: fn(u64) -> u64) -> Rows {
    let (folder, out) = (tempfile::tempdir().unwrap(), Collected::new());
    let job = Job::build("skewed", |job| {
        let numbers = source(generate(count, |i| i).splits(2)).durable();
        let timed = numbers.event_time(|i| *i as i64).monotonic();
        let windows = timed.key_by(move |i| key(*i)).window(tumbling(Millis(1_000)));
        let rows = windows.aggregate(|a| (a.count(), a.sum(|i| *i)));
        job.add(rows.map(|w| (w.key, w.start.millis(), w.value)).collect(&out));
    });
    let checkpoints = Checkpoints::to(folder.path()).every(Millis(50));
    let report = job.checkpoints(checkpoints).parallelism(4).host(HostKind::Threads).run().unwrap();
    assert_eq!(report.rescues, 0);
    let mut rows: Rows = out.take();
    rows.sort_unstable();
    rows
}

fn exact(count: u64, key: fn(u64) -> u64, what: &str) {
    let mut expected = BTreeMap::<_, (u64, u64)>::new();
    for i in 0..count {
        let pane = expected.entry((key(i), i as i64 / 1_000 * 1_000)).or_default();
        *pane = (pane.0 + 1, pane.1 + i);
    }
    let expected: Rows = expected.into_iter().map(|((key, start), value)| (key, start, value)).collect();
    let rows = windows(count, key);
    assert!(rows == expected, "{what}: {} rows, not {}", rows.len(), expected.len());
}

#[test]
fn f_x1_skewed_keys() {
    let count = if all() { 5_000_000 } else { 200_000 };
    exact(count, hot, "nine of ten");
    exact(count, zipf, "Zipf");
}

#[test]
fn f_x1_many_keys() {
    let count = if all() { 10_000_000 } else { 200_000 };
    let (folder, out) = (tempfile::tempdir().unwrap(), Collected::new());
    let job = Job::build("keys", |job| {
        let numbers = source(generate(count * 2, move |i| i % count).splits(2)).durable();
        // Of each key the second record.
        let twice = numbers.key_by(|i| *i).scan(0_u8, |seen, i| {
            *seen += 1;
            (*seen == 2).then_some(i)
        });
        job.add(twice.map(|(key, i)| (key, i)).collect(&out));
    });
    let checkpoints = Checkpoints::to(folder.path()).every(Millis(if all() { 5_000 } else { 50 }));
    job.checkpoints(checkpoints).parallelism(4).host(HostKind::Threads).run().unwrap();
    let mut rows: Vec<(u64, u64)> = out.take();
    rows.sort_unstable();
    assert!(rows.into_iter().eq((0..count).map(|i| (i, i))));
}

#[test]
fn f_x1_one_window_of_one_key() {
    let count = if all() { 10_000_000 } else { 200_000 };
    let (folder, out) = (tempfile::tempdir().unwrap(), Collected::new());
    let job = Job::build("window", |job| {
        let numbers = source(generate(count, |i| i)).durable();
        let timed = numbers.event_time(|i| *i as i64).monotonic();
        let windows = timed.key_by(|_| 0_u8).window(tumbling(Millis(1 << 40)));
        job.add(windows.aggregate(|a| a.collect()).map(|w| w.value).collect(&out));
    });
    let checkpoints = Checkpoints::to(folder.path()).every(Millis(if all() { 2_000 } else { 50 }));
    job.checkpoints(checkpoints).parallelism(2).host(HostKind::Threads).run().unwrap();
    let windows: Vec<Vec<u64>> = out.take();
    assert_eq!(windows.len(), 1);
    assert!(windows[0].iter().copied().eq(0..count), "{} elements", windows[0].len());
}

/// How far records are out of order at most.
const DISORDER: i64 = 40;
type Record = (u64, i64);
type Counts = Vec<(u64, i64, (u64, i64))>;

/// Records of three keys, each up to the bound later than its place.
fn disordered(mut seed: u64) -> Vec<Record> {
    let records = (0..300).map(|i| (split_mix(&mut seed) % 3, i * 3 / 2));
    let mut placed: Vec<(i64, Record)> = Vec::new();
    for record in records.collect::<Vec<_>>() {
        placed.push((record.1 + (split_mix(&mut seed) % (DISORDER as u64 + 1)) as i64, record));
    }
    // Of one place those with the later time first: the bound is met.
    placed.sort_by_key(|(place, record)| (*place, -record.1));
    placed.into_iter().map(|(_, record)| record).collect()
}

fn naive(records: &[Record]) -> Counts {
    let mut panes = BTreeMap::<_, (u64, i64)>::new();
    for (key, t) in records {
        let pane = panes.entry((*key, t / 50 * 50)).or_default();
        *pane = (pane.0 + 1, pane.1 + t);
    }
    panes.into_iter().map(|((key, start), value)| (key, start, value)).collect()
}

/// Runs it in the simulation, in a process that dies twice; rows in the order in which they came.
fn simulated(records: &[Record], disorder: i64, lateness: i64, mut seed: u64) -> Counts {
    let (disk, out) = (SimFs::new(), Collected::new());
    for crash in [Some(1 + split_mix(&mut seed) % 300), Some(1 + split_mix(&mut seed) % 300), None] {
        let job = Job::build("disorder", |job| {
            let timed = source(from_vec(records.to_vec())).durable().event_time(|r| r.1);
            let keyed = timed.disorder(Millis(disorder)).key_by(|r| r.0);
            let windows = keyed.window(tumbling(Millis(50))).lateness(Millis(lateness));
            let rows = windows.aggregate(|a| (a.count(), a.sum(|r| r.1)));
            job.add(rows.map(|w| (w.key, w.start.millis(), w.value)).collect(&out));
        });
        let job = job.checkpoints(Checkpoints::in_storage(Arc::new(disk.clone())));
        let job = job.parallelism(2).batch_size(8);
        let job = if let Some(steps) = crash { job.crash_at(steps) } else { job };
        match job.simulate(split_mix(&mut seed)) {
            Ok(report) => {
                assert_eq!(report.late(), 0);
                break;
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Crash, "{error}"),
        }
    }
    out.take()
}

#[test]
fn f_x2_disorder_within_the_bound() {
    for seed in 0..if all() { 500 } else { 30 } {
        let records = disordered(seed);
        assert!(records.windows(2).any(|two| two[0].1 > two[1].1));
        let mut rows = simulated(&records, DISORDER, 0, seed);
        rows.sort_unstable();
        assert!(rows == naive(&records), "seed {seed}");
    }
}

#[test]
fn f_x2_disorder_within_the_lateness() {
    let mut updates = 0;
    for seed in 0..if all() { 500 } else { 30 } {
        let records = disordered(seed);
        let rows = simulated(&records, 0, DISORDER, seed);
        let last: BTreeMap<(u64, i64), (u64, i64)> =
            rows.iter().map(|(key, start, value)| ((*key, *start), *value)).collect();
        updates += rows.len() - last.len();
        let last: Counts = last.into_iter().map(|((key, start), value)| (key, start, value)).collect();
        assert!(last == naive(&records), "seed {seed}");
    }
    assert!(updates > 0, "some windows fire again");
}
