//! Windows and joins whose keys come and go.

use super::harness::{
    COUNT, disordered, in_order, key, last_of_each, same_with_all, same_with_all_but, steps, timed,
};
use flow_core::prelude::*;
use flow_core::testing::script;

/// Sessions that end while they are not in memory, some of which take others in.
#[test]
fn sessions_are_the_same() {
    same_with_all(|job, out| {
        let numbers = source(generate(COUNT, |n| n)).durable().event_time(|n| timed(*n)).monotonic();
        let windows = numbers.key_by(|n| format!("key {}", key(*n))).window(session(Millis(900)));
        let lists = windows.aggregate(|a| (a.count(), a.sum(|n| *n), a.collect()));
        job.add(lists.map(|w| (w.key, w.start.millis(), w.end.millis(), w.value)).collect(out));
    });
    same_with_all(|job, out| {
        let numbers = disordered!(COUNT, Millis(COUNT as i64));
        let windows = numbers.window(session_by(|n: &u64| Millis(100 + *n as i64 % 300)));
        job.add(
            windows.lateness(Millis(10_000)).count().map(|w| (w.key, w.start.millis(), w.value)).collect(out),
        );
    });
}

/// Those that have been shown are kept, come back with a late element, and go in the end.
#[test]
fn sessions_that_are_late_are_the_same() {
    same_with_all_but(
        |job, out| {
            let numbers = disordered!(COUNT, Millis(10));
            let windows = numbers.window(session(Millis(5)));
            let counts = windows.lateness(Millis(2 * COUNT as i64)).aggregate(|a| (a.count(), a.sum(|n| *n)));
            job.add(counts.map(|w| (w.key, w.start.millis(), w.value)).collect(out));
        },
        last_of_each,
    );
}

#[test]
fn windows_with_a_trigger_are_the_same() {
    same_with_all(|job, out| {
        let numbers = script(steps(COUNT)).durable();
        let windows = numbers.key_by(|n| key(*n)).window(tumbling(Millis(700)));
        let lists =
            windows.trigger(|t| t.early(Millis(150)).count(3)).aggregate(|a| (a.count(), a.collect()));
        job.add(lists.map(|w| (w.key, w.start.millis(), w.value)).collect(out));
    });
    same_with_all(|job, out| {
        let numbers = script(steps(COUNT)).durable();
        let windows = numbers.key_by(|n| key(*n)).window(session(Millis(60)));
        let lists =
            windows.trigger(|t| t.count(5).purging()).lateness(Millis(100)).aggregate(|a| a.collect());
        job.add(lists.map(|w| (w.key, w.start.millis(), w.value)).collect(out));
    });
}

/// Of each key some are left over at the end.
#[test]
fn count_windows_are_the_same() {
    same_with_all(|job, out| {
        let numbers = source(generate(COUNT, |n| n)).durable();
        let windows = numbers.key_by(|n| format!("key {}", key(*n))).window(count(3));
        job.add(windows.aggregate(|a| (a.count(), a.collect())).map(|w| (w.key, w.value)).collect(out));
    });
    same_with_all(|job, out| {
        let numbers = in_order!(COUNT);
        let windows = numbers.window(count(5).every(2));
        job.add(windows.sum(|n| *n).map(|w| (w.key, w.start.millis(), w.value)).collect(out));
    });
}

/// A key, or nothing: each of those is apart from all others.
fn key_or_nothing(n: u64) -> Option<u64> {
    (!n.is_multiple_of(4)).then(|| key(n))
}

#[test]
fn joins_in_sessions_are_the_same() {
    same_with_all(|job, out| {
        let left = source(generate(COUNT, |n| n)).durable().event_time(|n| timed(*n)).monotonic();
        let right = source(generate(COUNT / 5, |n| n * 5)).durable().event_time(|n| timed(*n)).monotonic();
        let left = left.key_by(|n| key_or_nothing(*n));
        let pairs = left.full_join(right.key_by(|n| key_or_nothing(*n))).window(session(Millis(40)));
        job.add(pairs.map(|w| (w.key, w.start.millis(), w.value)).collect(out));
    });
}

#[test]
fn joins_by_time_are_the_same() {
    same_with_all(|job, out| {
        let left = source(generate(COUNT, |n| n)).durable().event_time(|n| timed(*n)).monotonic();
        let right = source(generate(COUNT / 5, |n| n * 5)).durable().event_time(|n| timed(*n)).monotonic();
        let left = left.key_by(|n| key_or_nothing(*n));
        let pairs = left.full_join(right.key_by(|n| key_or_nothing(*n))).within(Millis(-500), Millis(300));
        job.add(pairs.collect(out));
    });
    same_with_all(|job, out| {
        let left = source(generate(COUNT, |n| n)).durable().event_time(|n| timed(*n)).monotonic();
        let right = source(generate(COUNT / 5, |n| n * 5)).durable().event_time(|n| timed(*n)).monotonic();
        let left = left.key_by(|n| key_or_nothing(*n));
        job.add(left.left_join(right.key_by(|n| key_or_nothing(*n))).as_of().collect(out));
    });
}

#[test]
fn joins_for_ever_are_the_same() {
    same_with_all(|job, out| {
        let left = source(generate(COUNT / 4, |n| n)).durable().key_by(|n| key(*n) + 10 * (*n % 3));
        let right = source(generate(COUNT / 4, |n| n * 5)).durable().key_by(|n| key(*n) + 10 * (*n % 3));
        job.add(left.join(right).forever().map(|(key, (left, right))| (key, left, right)).collect(out));
    });
}

#[test]
fn lookups_are_the_same() {
    same_with_all(|job, out| {
        let left = source(generate(COUNT, |n| n)).durable().key_by(|n| key(*n));
        let right = source(generate(COUNT / 4, |n| n * 5)).durable().key_by(|n| n % 3_000);
        job.add(left.left_join(right).lookup().collect(out));
    });
    // A key has more rows than leave at once, so that some are left for later, also where all leave the memory meanwhile.
    same_with_all(|job, out| {
        let left = source(generate(20, |n| n)).durable().key_by(|n| n % 6);
        let right = source(generate(8_000, |n| n)).durable().key_by(|n| n % 5);
        job.add(left.left_join(right).lookup().collect(out));
    });
}
