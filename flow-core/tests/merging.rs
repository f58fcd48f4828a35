//! What a window's sender merges, beyond the size that small inputs have: more entries than it keeps, and streams that merging
//! does not make shorter.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::prelude::*;
use std::collections::BTreeMap;

const KEYS: u64 = 150_000;

/// Counts and sums by window and key, in a loop.
fn by_hand(records: u64, key: fn(u64) -> u64, size: i64) -> BTreeMap<(i64, u64), (u64, u64)> {
    let mut all = BTreeMap::new();
    for i in 0..records {
        let start = if size == 0 { i64::MIN } else { time(i) - time(i).rem_euclid(size) };
        let (count, sum) = all.entry((start, key(i))).or_insert((0, 0));
        (*count, *sum) = (*count + 1, *sum + i);
    }
    all
}

/// Out of order by up to 99.
fn time(i: u64) -> i64 {
    (i / 10) as i64 + (i * 7919 % 100) as i64
}

fn compare(records: u64, key: fn(u64) -> u64, size: i64) {
    let expected = by_hand(records, key, size);
    for parallelism in [1, 2, 3] {
        for host in [HostKind::Threads, HostKind::Workers(2)] {
            let out = Collected::new();
            let job = Job::build("merging", |job| {
                let events = source(generate(records, |i| i).splits(parallelism));
                let timed = events.event_time(|i| time(*i)).disorder(Millis(100)).key_by(move |i| key(*i));
                if size == 0 {
                    let windows = timed.window(global()).aggregate(|a| (a.count(), a.sum(|i| *i)));
                    job.add(windows.collect(&out));
                } else {
                    let windows =
                        timed.window(tumbling(Millis(size))).aggregate(|a| (a.count(), a.sum(|i| *i)));
                    job.add(windows.collect(&out));
                }
            });
            job.parallelism(parallelism).host(host).run().unwrap();
            let rows = out.take();
            assert_eq!(rows.len(), expected.len(), "{parallelism} {host:?}");
            let rows: BTreeMap<_, _> = rows.into_iter().map(|w| ((w.start.0, w.key), w.value)).collect();
            assert!(rows == expected, "{parallelism} {host:?}");
        }
    }
}

#[test]
fn more_keys_than_a_sender_keeps() {
    compare(3 * KEYS, |i| i % KEYS, 0);
}

#[test]
fn keys_that_never_come_again() {
    compare(KEYS, |i| i, 0);
    compare(KEYS, |i| i, 1000);
}

#[test]
fn windows_with_hardly_an_element() {
    compare(KEYS, |i| i % 2, 1);
}

/// A window's pane is found among many, and takes the memory of the keys it has: this took seconds, and hundreds of MiB.
#[test]
fn tens_of_thousands_of_open_panes() {
    const PANES: i64 = 40_000;
    for (disorder, lateness) in [(PANES, 0), (0, PANES)] {
        let out = Collected::new();
        let job = Job::build("panes", |job| {
            let timed = source(generate(10 * PANES as u64, |i| i as i64 / 10)).event_time(|t| *t);
            let keyed = timed.disorder(Millis(disorder)).key_by(|_| 0u8);
            let windows = keyed.window(tumbling(Millis(1))).lateness(Millis(lateness)).count();
            job.add(windows.map(|w| (w.start.0, w.value)).collect(&out));
        });
        job.run().unwrap();
        assert!(out.take().into_iter().eq((0..PANES).map(|t| (t, 10))));
    }
}

/// Nothing is before the first element, not even the lowest watermark.
#[test]
fn the_first_instant_of_all_is_on_time() {
    let out = Collected::new();
    let job = Job::build("first", |job| {
        let timed = source(from_vec(vec![i64::MIN, i64::MIN, 0])).event_time(|t| *t).disorder(Millis(1000));
        job.add(timed.key_by(|_| 0u8).window(tumbling(Millis(1))).count().map(|w| w.value).collect(&out));
    });
    job.run().unwrap();
    assert_eq!(out.take(), [2, 1]);
}
