//! The same small job again and again.

use super::runs;
use flow_core::prelude::*;
use flow_tests::process::{alone, memory, open_files, stage_threads, timed};
use std::time::Duration;

/// Runs after which a process has all the memory it needs.
const WARM: usize = 100;

/// By which its memory may grow after that: the allocator does not give everything back at once.
const GROWTH_MAX: usize = 8 << 20;

/// Two instances, an exchange by key, two instances.
fn small(out: &Collected<(u64, u64)>) -> Job {
    let job = Job::build("small", |job| {
        job.add(source(generate(200, |i| i).splits(2)).key_by(|n| n % 5).count().collect(out));
    });
    job.parallelism(2).batch_size(16).host(HostKind::Threads)
}

fn run_once() {
    let out = Collected::new();
    let report = small(&out).run().unwrap();
    assert_eq!(report.rescues, 0);
    let mut counts = out.take();
    counts.sort_unstable();
    let wanted = (0..5).flat_map(|key| (1..=40).map(move |n| (key, n)));
    assert!(counts.into_iter().eq(wanted));
}

#[test]
fn many_runs_neither_hang_nor_leak() {
    let _alone = alone();
    let runs = runs();
    let limit = Duration::from_secs(30) + Duration::from_millis(50) * u32::try_from(runs).unwrap();
    let (before, after) = timed("one of many runs", limit, move || {
        (0..WARM).for_each(|_| run_once());
        let before = (open_files(), memory());
        (0..runs).for_each(|_| run_once());
        (before, (open_files(), memory()))
    })
    .0;
    assert_eq!(stage_threads(), Vec::<String>::new());
    assert!(after.0 <= before.0, "files: {} before, {} after", before.0, after.0);
    assert!(after.1 < before.1 + GROWTH_MAX, "memory: {} before, {} after", before.1, after.1);
}
