//! A sink that is much slower than its source, under checkpoints: what lives is what the rings hold, and barriers get through.

use super::runner::{all, names};
use flow_core::prelude::*;
use flow_tests::census::Census;
use std::time::Duration;

const SENDERS: usize = 2;
const RECEIVERS: usize = 2;
const BATCH: usize = 16;
const RING: usize = 4;

/// What may live at once: between each sender and receiver the batches of a ring, the one that is filled and the one that is worked on, and
/// what a step of a sender adds beyond that.
const BOUND: usize = SENDERS * RECEIVERS * (RING + 2) * BATCH + SENDERS * BATCH;

#[test]
fn f_b1_sink_a_hundred_times_slower() {
    let count = if all() { 60_000 } else { 6_000 };
    for host in [HostKind::Threads, HostKind::Workers(2)] {
        let (folder, census) = (tempfile::tempdir().unwrap(), Census::default());
        let (made, out) = (census.clone(), folder.path().join("out"));
        let job = Job::build("slow", |job| {
            let numbers = source(generate(count, |i| i).splits(SENDERS)).durable();
            let citizens = numbers.map(move |n| made.citizen(n)).rebalance();
            let slow = citizens.map(|citizen| {
                std::thread::sleep(Duration::from_micros(100));
                (citizen.number,)
            });
            job.add(slow.sink(csv_files(&out).no_header()));
        });
        let checkpoints = Checkpoints::to(folder.path().join("state")).every(Millis(20));
        let job = job.checkpoints(checkpoints).parallelism(RECEIVERS).batch_size(BATCH).ring_batches(RING);
        let report = job.host(host).run().unwrap();
        let (most, live) = (census.most(), census.live());
        let completed = report.counter("checkpoints.completed");
        println!("{host:?}: {most} records lived, {BOUND} may; {completed} checkpoints");
        assert!(most <= BOUND && live == 0, "{host:?}: {most} lived, {live} do yet, {BOUND} may");
        assert!(completed > 3 && report.counter("checkpoints.failed") == 0, "{report}");
        assert_eq!(report.rescues, 0, "{report}");
        let names = names(&out).into_iter().filter(|name| !name.starts_with('.'));
        let texts: String = names.map(|name| std::fs::read_to_string(out.join(name)).unwrap()).collect();
        let mut rows: Vec<u64> = texts.lines().map(|line| line.parse().unwrap()).collect();
        rows.sort_unstable();
        assert!(rows.into_iter().eq(0..count), "{host:?}");
    }
}
