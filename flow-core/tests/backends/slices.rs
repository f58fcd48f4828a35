//! Sliding windows that are composed of slices, with slices that are not in memory.

use super::harness::{
    COUNT, disordered, in_order, key, last_of_each, same_with_all, same_with_all_but, timed,
};
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
        let numbers = in_order!(COUNT / 2);
        let windows = numbers.window(sliding(Millis(900), Millis(100)));
        let bounds = windows.aggregate(|a| (a.min(|n| *n), a.max(|n| *n % 1_000)));
        job.add(bounds.map(|w| (w.key, w.start.millis(), w.value)).collect(out));
    });
}

/// All slices open at once.
#[test]
fn slices_out_of_order_are_the_same() {
    same_with_all(|job, out| {
        let numbers = disordered!(COUNT / 2, Millis(COUNT as i64));
        let windows = numbers.window(sliding(Millis(2_000), Millis(700)));
        job.add(windows.count().map(|w| (w.key, w.start.millis(), w.value)).collect(out));
    });
}

/// The last result of a window has everything.
#[test]
fn late_elements_of_slices_are_the_same() {
    same_with_all_but(
        |job, out| {
            let numbers = disordered!(COUNT / 4, Millis(3_000));
            let windows = numbers.window(sliding(Millis(2_000), Millis(500)));
            let sums = windows.lateness(Millis(2 * COUNT as i64)).aggregate(|a| (a.count(), a.sum(|n| *n)));
            job.add(sums.map(|w| (w.key, w.start.millis(), w.value)).collect(out));
        },
        last_of_each,
    );
    same_with_all_but(
        |job, out| {
            let numbers = disordered!(COUNT / 4, Millis(3_000));
            let windows = numbers.window(sliding(Millis(2_000), Millis(500)));
            let most = windows.lateness(Millis(2 * COUNT as i64)).aggregate(|a| (a.count(), a.max(|n| *n)));
            job.add(most.map(|w| (w.key, w.start.millis(), w.value)).collect(out));
        },
        last_of_each,
    );
}
