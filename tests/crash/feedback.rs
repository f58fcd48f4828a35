//! Loops whose worksets are far larger than all rings together, under checkpoints: no ring is in the cycle, so nothing waits for itself.

use super::runner::{all, names};
use flow_core::op::fork::Either;
use flow_core::prelude::*;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const BATCH: usize = 16;
const RING: usize = 2;
const ROUNDS: u64 = 4;
/// What all rings between two stages of four instances hold.
const IN_RINGS: u64 = (4 * 4 * (RING + 2) * BATCH) as u64;

/// What makes a record large, so that what comes back goes to the disk.
type Load = [u64; 32];

/// Every record goes to two others, by an exchange; and one of each superstep leaves.
fn bulk(count: u64, folder: &std::path::Path) -> Job {
    Job::build("bulk", |job| {
        let numbers = source(generate(count, |n| (n, 1u64, [n; 32]))).durable();
        let left = numbers.iterate(ROUNDS, |n| {
            let both = n.flat_map(move |(n, times, load): (u64, u64, Load)| {
                assert_eq!(load, [n; 32]);
                [(n, times), ((n + 7) % count, times)]
            });
            let summed = both.key_by(|n| n.0).wrapping_sum(|n| n.1).superstep();
            summed.flat_map(|(step, n)| {
                let leaves = (n.0 == step || step == ROUNDS).then_some(Either::B((step, n.0, n.1)));
                [Some(Either::A((n.0, n.1, [n.0; 32]))).filter(|_| step < ROUNDS), leaves]
                    .into_iter()
                    .flatten()
            })
        });
        job.add(left.sink(csv_files(folder.join("rows")).no_header()));
    })
}

fn expected(count: u64) -> Vec<String> {
    let (mut all, mut rows) = ((0..count).map(|n| (n, 1u64)).collect::<BTreeMap<_, _>>(), Vec::new());
    for step in 1..=ROUNDS {
        all = (0..count).map(|n| (n, all[&n].wrapping_add(all[&((n + count - 7) % count)]))).collect();
        let leave = all.iter().filter(|(n, _)| **n == step || step == ROUNDS);
        rows.extend(leave.map(|(n, times)| format!("{step},{n},{times}")));
    }
    rows.sort();
    rows
}

/// What has changed goes to each of the next: a value for each number, the least that has come to it.
fn delta(count: u64, folder: &std::path::Path) -> Job {
    Job::build("delta", |job| {
        let numbers = source(generate(count, |n| (n, (n, [n; 32])))).durable();
        let least = |kept: &mut (u64, Load), came: (u64, Load)| {
            let less = came < *kept;
            *kept = came.min(*kept);
            less
        };
        let found = numbers.iterate_delta(least, |changed| {
            changed.flat_map(move |(n, least)| [((n + 1) % count, least), ((n * 2) % count, least)])
        });
        let rows = found.rounds(ROUNDS).map(|(n, (least, _))| (ROUNDS, n, least));
        job.add(rows.sink(csv_files(folder.join("rows")).no_header()));
    })
}

fn expected_delta(count: u64) -> Vec<String> {
    let mut all: Vec<u64> = (0..count).collect();
    for _ in 0..ROUNDS {
        let before = all.clone();
        for (n, least) in (0..count).zip(before) {
            for to in [(n + 1) % count, (n * 2) % count] {
                all[to as usize] = all[to as usize].min(least);
            }
        }
    }
    let mut rows: Vec<_> =
        (0..).zip(all).map(|(n, least): (u64, _)| format!("{ROUNDS},{n},{least}")).collect();
    rows.sort();
    rows
}

/// Runs the job, which has to end.
fn ends(job: Job, what: &str) -> Report {
    let (handle, begun) = (job.start().unwrap(), Instant::now());
    while !handle.is_finished() {
        assert!(begun.elapsed() < Duration::from_secs(240), "{what} hangs");
        std::thread::sleep(Duration::from_millis(2));
    }
    handle.join().unwrap()
}

#[test]
fn f_b3_worksets_larger_than_all_rings() {
    let count = if all() { 40_000 } else { 20_000 };
    assert!(count > 4 * IN_RINGS);
    let (bulk_rows, delta_rows) = (expected(count), expected_delta(count));
    let everywhere =
        [1, 2, 4].map(|p| [(p, HostKind::Threads), (p, HostKind::Workers(2))]).into_iter().flatten();
    for (p, host) in everywhere.filter(|(p, host)| all() || *p == 2 || *host == HostKind::Threads) {
        let both: [(fn(_, &_) -> _, _); 2] = [(bulk, &bulk_rows), (delta, &delta_rows)];
        for (build, expected) in both {
            let folder = tempfile::tempdir().unwrap();
            let checkpoints = Checkpoints::to(folder.path().join("state")).every(Millis(20));
            let job: Job = build(count, folder.path());
            // Of the worksets 1 MiB of each exit stays in memory.
            let job = job.checkpoints(checkpoints).batch_size(BATCH).ring_batches(RING).memory(0);
            let what = format!("{} rows at {p} on {host:?}", expected.len());
            let report = ends(job.parallelism(p).host(host), &what);
            let (spilled, completed) = (
                report.counter("iterated.spilled") + report.counter("solution.spilled"),
                report.counter("checkpoints.completed"),
            );
            println!("{what}: {spilled} records spilled, {completed} checkpoints");
            assert!(completed > 1 && report.counter("checkpoints.failed") == 0, "{what}: {report}");
            assert_eq!(report.rescues, 0, "{what}: {report}");
            assert!(spilled > 0, "{what}: {report}");
            let out = folder.path().join("rows");
            let names = names(&out).into_iter().filter(|name| !name.starts_with('.'));
            let texts: String = names.map(|name| std::fs::read_to_string(out.join(name)).unwrap()).collect();
            let mut rows: Vec<&str> = texts.lines().collect();
            rows.sort_unstable();
            assert!(rows == *expected, "{what}: {} rows", rows.len());
        }
    }
}
