//! The smallest rings and batches: each record is a refusal, a sleep and a wake-up.

use super::{HOSTS, runs};
use flow_core::prelude::*;
use flow_tests::process::{alone, timed};
use std::collections::BTreeMap;
use std::time::Duration;

/// Runs of the stress for each run of the small job.
const SHARE: usize = 10;

/// Two sources that meet, are shuffled, and are counted by key; nothing is larger than it has to be.
fn tiny(seed: u64, records: u64, host: HostKind) -> (BTreeMap<u64, u64>, u64) {
    let out = Collected::new();
    let job = Job::build("tiny", |job| {
        let one = source(generate(records, |i| i).splits(2)).shuffle(seed);
        let two = source(generate(records, |i| i)).rebalance();
        job.add(one.union(two).key_by(move |n| (n ^ seed) % 11).count().collect(&out));
    });
    let report = job.parallelism(2).batch_size(1).ring_batches(1).host(host).run().unwrap();
    let mut most = BTreeMap::new();
    for (key, count) in out.take() {
        let highest = most.entry(key).or_insert(0);
        *highest = count.max(*highest);
    }
    (most, report.rescues)
}

#[test]
fn tiny_rings_lose_no_wake_up() {
    let _alone = alone();
    for seed in 0..(runs() / SHARE).max(1) as u64 {
        for host in HOSTS {
            let records = 100 + seed % 100;
            let run = move || tiny(seed, records, host);
            let (counts, rescues) = timed("a job with tiny rings", Duration::from_secs(60), run).0;
            let mut wanted = BTreeMap::new();
            (0..records).for_each(|n| *wanted.entry((n ^ seed) % 11).or_insert(0) += 2);
            assert_eq!(counts, wanted, "seed {seed} on {host:?}");
            assert_eq!(rescues, 0, "seed {seed} on {host:?}");
        }
    }
}
