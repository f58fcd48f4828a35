//! A sink much slower than its source: the source waits, and no more records live than the rings may hold.

use super::HOSTS;
use flow_core::prelude::*;
use flow_tests::census::{Census, Citizen};
use flow_tests::process::alone;
use std::time::Duration;

const RECORDS: u64 = 6000;
const SENDERS: usize = 2;
const RECEIVERS: usize = 2;

/// What may live at once: between each sender and receiver the batches of a ring, the one being filled and the one
/// being worked on; and for each sender what one step adds beyond that, at most a batch.
fn bound(batch: usize, ring: usize) -> usize {
    SENDERS * RECEIVERS * (ring + 2) * batch + SENDERS * batch
}

fn run(host: HostKind, batch: usize, ring: usize) {
    let census = Census::default();
    let made = census.clone();
    let job = Job::build("slow", |job| {
        let citizens = source(generate(RECORDS, |i| i).splits(SENDERS)).map(move |n| made.citizen(n));
        let slow = |citizen: Citizen| {
            assert!(citizen.number < RECORDS);
            // A hundred times what the source needs for a record, and more.
            std::thread::sleep(Duration::from_micros(20));
        };
        job.add(citizens.rebalance().for_each(slow));
    });
    let report = job.parallelism(RECEIVERS).batch_size(batch).ring_batches(ring).host(host).run().unwrap();
    let (most, bound) = (census.most(), bound(batch, ring));
    let case = format!("{host:?}, batches of {batch}, rings of {ring}: {most} lived, {bound} may");
    assert!(most <= bound, "{case}");
    assert_eq!(census.live(), 0, "{case}");
    assert_eq!(report.rescues, 0, "{case}");
    let source = &report.stages[0];
    // With fewer threads the sink has its turn before the rings are full.
    if host == HostKind::Threads {
        assert!(most >= SENDERS * ring * batch, "the rings were full: {case}");
        assert!(source.blocked > source.busy, "the source waits for the sink: {case}\n{report}");
    }
}

#[test]
fn a_slow_sink_keeps_memory_within_the_rings() {
    let _alone = alone();
    for host in HOSTS {
        for (batch, ring) in [(1, 1), (7, 3), (64, 8)] {
            run(host, batch, ring);
        }
    }
}

/// It makes room long before it has made enough to wake its sender for: that is no wake-up that was lost.
#[test]
fn a_very_slow_sink_rescues_nobody() {
    let _alone = alone();
    let job = Job::build("very slow", |job| {
        let numbers = source(from_iter(0..24)).boundary();
        job.add(numbers.for_each(|_| std::thread::sleep(Duration::from_millis(60))));
    });
    let report = job.batch_size(1).host(HostKind::Threads).run().unwrap();
    assert_eq!(report.rescues, 0);
}
