//! Sliding windows that are composed of slices, with slices that are not in memory.

use super::harness::{COUNT, key, same_with_all, same_with_all_but, timed};
use flow_core::prelude::*;

/// From which records can be taken out, and where that is not so.
#[test]
fn sliding_windows_of_slices_are_the_same() {
    same_with_all(|job, out| {
        let numbers = source(generate(COUNT / 2, |n| n)).durable().event_time(|n| timed(*n)).monotonic();
        let windows =
            numbers.key_by(|n| format!("key {}", key(*n))).window(sliding(Millis(700), Millis(150)));
        let sums = windows.aggregate(|a| (a.count(), a.sum(|n| *n)));
        job.add(sums.map(|w| (w.key, w.start.millis(), w.value)).collect(out));
    });
    same_with_all(|job, out| {
        let numbers = source(generate(COUNT / 2, |n| n)).durable().event_time(|n| timed(*n)).monotonic();
        let windows = numbers.key_by(|n| key(*n)).window(sliding(Millis(900), Millis(100)));
        let bounds = windows.aggregate(|a| (a.min(|n| *n), a.max(|n| *n % 1_000)));
        job.add(bounds.map(|w| (w.key, w.start.millis(), w.value)).collect(out));
    });
}

/// All slices open at once.
#[test]
fn slices_out_of_order_are_the_same() {
    same_with_all(|job, out| {
        let numbers = source(generate(COUNT / 2, |n| n)).durable();
        let numbers = numbers.event_time(|n| timed((*n * 7919) % COUNT)).disorder(Millis(COUNT as i64));
        let windows = numbers.key_by(|n| key(*n)).window(sliding(Millis(2_000), Millis(700)));
        job.add(windows.count().map(|w| (w.key, w.start.millis(), w.value)).collect(out));
    });
}

/// The last result of a window has everything.
#[test]
fn late_elements_of_slices_are_the_same() {
    let last = |rows: &mut Vec<(u64, i64, (u64, u64))>| {
        rows.reverse();
        rows.dedup_by_key(|row| (row.0, row.1));
    };
    same_with_all_but(
        |job, out| {
            let numbers = source(generate(COUNT / 4, |n| n)).durable();
            let numbers = numbers.event_time(|n| timed((*n * 7919) % COUNT)).disorder(Millis(3_000));
            let windows = numbers.key_by(|n| key(*n)).window(sliding(Millis(2_000), Millis(500)));
            let sums = windows.lateness(Millis(2 * COUNT as i64)).aggregate(|a| (a.count(), a.sum(|n| *n)));
            job.add(sums.map(|w| (w.key, w.start.millis(), w.value)).collect(out));
        },
        last,
    );
    same_with_all_but(
        |job, out| {
            let numbers = source(generate(COUNT / 4, |n| n)).durable();
            let numbers = numbers.event_time(|n| timed((*n * 7919) % COUNT)).disorder(Millis(3_000));
            let windows = numbers.key_by(|n| key(*n)).window(sliding(Millis(2_000), Millis(500)));
            let most = windows.lateness(Millis(2 * COUNT as i64)).aggregate(|a| (a.count(), a.max(|n| *n)));
            job.add(most.map(|w| (w.key, w.start.millis(), w.value)).collect(out));
        },
        last,
    );
}
