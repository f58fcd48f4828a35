//! Windows: tumbling event-time windows of 1 s, count and sum per key, beside the same loop over a table a window; sliding
//! windows, whose cost should not depend on how many of them a record is in; sessions and count windows of the same elements,
//! without such a loop.

use std::collections::BTreeMap;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flow_benches::answer::Answer;
use flow_benches::elements::{DISORDER_MS, TUMBLING_MS, event, window_hash};
use flow_core::prelude::*;
use hashbrown::HashMap;

const N: u64 = 1_000_000;

dataflow! {
    fn counts(n: u64, answer: Collected<(u64, u64)>) {
        let events = source(generate(n, event)).event_time(|e| Timestamp(e.ts), disorder = 100ms);
        let sums = events.key_by(|e| e.key).window(tumbling(1s), late = drop).aggregate(|a| (a.count(), a.wrapping_sum(|e| e.val)));
        let hashes = sums.map(|w| window_hash(w.key, w.start.0, w.value.0, w.value.1));
        hashes.aggregate(|a| (a.count(), a.wrapping_sum(|x| *x))).collect(&answer);
    }
}

dataflow! {
    fn sessions(n: u64, answer: Collected<(u64, u64)>) {
        let events = source(generate(n, event)).event_time(|e| Timestamp(e.ts), disorder = 100ms);
        let sums = events.key_by(|e| e.key).window(session(1s), late = drop).aggregate(|a| (a.count(), a.wrapping_sum(|e| e.val)));
        let hashes = sums.map(|w| window_hash(w.key, w.start.0, w.value.0, w.value.1));
        hashes.aggregate(|a| (a.count(), a.wrapping_sum(|x| *x))).collect(&answer);
    }

    fn hundreds(n: u64, answer: Collected<(u64, u64)>) {
        let events = source(generate(n, event)).key_by(|e| e.key).window(count(100));
        let sums = events.aggregate(|a| (a.count(), a.wrapping_sum(|e| e.val)));
        sums.aggregate(|a| (a.sum(|w| w.value.0), a.wrapping_sum(|w| w.value.1))).collect(&answer);
    }
}

fn run(pipeline: impl FnOnce(u64, Collected<(u64, u64)>) -> Job, n: u64) -> (u64, u64) {
    let answer = Collected::new();
    pipeline(n, answer.clone()).run().expect("the job ends well");
    answer.take()[0]
}

type Table = HashMap<u64, (u64, u64), foldhash::fast::FixedState>;

fn by_hand(n: u64) -> (u64, u64) {
    let mut windows: BTreeMap<i64, Table> = BTreeMap::new();
    let (mut answer, mut max) = (Answer::default(), i64::MIN);
    for e in (0..n).map(event) {
        let start = e.ts - e.ts.rem_euclid(TUMBLING_MS);
        let sums = windows.entry(start).or_default().entry(e.key).or_insert((0, 0));
        sums.0 += 1;
        sums.1 += e.val;
        if e.ts > max {
            max = e.ts;
            close(&mut windows, max - DISORDER_MS, &mut answer);
        }
    }
    close(&mut windows, i64::MAX, &mut answer);
    (answer.count, answer.checksum)
}

fn close(windows: &mut BTreeMap<i64, Table>, watermark: i64, answer: &mut Answer) {
    while let Some(first) = windows.first_entry()
        && *first.key() <= watermark - TUMBLING_MS
    {
        let (start, table) = first.remove_entry();
        for (key, (count, sum)) in table {
            answer.add(window_hash(key, start, count, sum));
        }
    }
}

fn window(c: &mut Criterion) {
    assert_eq!(run(counts, N), by_hand(N), "flow and the loop agree");
    assert_eq!(run(hundreds, N).0, N, "every element is in a window");
    let mut group = c.benchmark_group("window");
    group.sample_size(20);
    group.bench_function("hand", |b| b.iter(|| by_hand(black_box(N))));
    group.bench_function("flow", |b| b.iter(|| run(counts, black_box(N))));
    group.bench_function("sessions", |b| b.iter(|| run(sessions, black_box(N))));
    group.bench_function("count", |b| b.iter(|| run(hundreds, black_box(N))));
    group.finish();
}

/// Results of a sliding window for each key.
const WINDOWS: u64 = 2000;
const SLIDE_MS: u64 = 1000;
const KEYS: u64 = 100;

dataflow! {
    fn sliding_sum(overlap: u64, answer: Collected<(u64, u64)>) {
        let size = Millis((overlap * SLIDE_MS) as i64);
        let slide = Millis(SLIDE_MS as i64);
        let events = source(generate(N, |i| spread(i, overlap))).event_time(|e| Timestamp(e.0), disorder = 0ms);
        let sums = events.key_by(|e| e.1).window(sliding(size, slide)).sum(|e| e.2);
        let hashes = sums.map(|w| window_hash(w.key, w.start.0, 0, w.value));
        hashes.aggregate(|a| (a.count(), a.wrapping_sum(|x| *x))).collect(&answer);
    }

    fn sliding_mean(overlap: u64, answer: Collected<(u64, u64)>) {
        let size = Millis((overlap * SLIDE_MS) as i64);
        let slide = Millis(SLIDE_MS as i64);
        let events = source(generate(N, |i| spread(i, overlap))).event_time(|e| Timestamp(e.0), disorder = 0ms);
        let means = events.key_by(|e| e.1).window(sliding(size, slide)).aggregate(|a| a.mean(|e| e.2));
        let hashes = means.map(|w| window_hash(w.key, w.start.0, 0, w.value.to_bits()));
        hashes.aggregate(|a| (a.count(), a.wrapping_sum(|x| *x))).collect(&answer);
    }

    fn sliding_max(overlap: u64, answer: Collected<(u64, u64)>) {
        let size = Millis((overlap * SLIDE_MS) as i64);
        let slide = Millis(SLIDE_MS as i64);
        let events = source(generate(N, |i| spread(i, overlap))).event_time(|e| Timestamp(e.0), disorder = 0ms);
        let best = events.key_by(|e| e.1).window(sliding(size, slide)).max(|e| e.2);
        let hashes = best.map(|w| window_hash(w.key, w.start.0, 0, w.value));
        hashes.aggregate(|a| (a.count(), a.wrapping_sum(|x| *x))).collect(&answer);
    }
}

/// Time, key and value of element `i`: every key is in every slide, and there are so many slides that the windows are [`WINDOWS`],
/// with those that are cut off at both ends.
fn spread(i: u64, overlap: u64) -> (i64, u64, u64) {
    let slides = WINDOWS + 1 - overlap;
    ((i * slides * SLIDE_MS / N) as i64, i % KEYS, i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48)
}

fn answer_of(job: impl FnOnce(Collected<(u64, u64)>) -> Job) -> (u64, u64) {
    let answer = Collected::new();
    job(answer.clone()).run().expect("the job ends well");
    answer.take()[0]
}

fn sliding_windows(c: &mut Criterion) {
    let mut group = c.benchmark_group("sliding");
    group.sample_size(10).throughput(Throughput::Elements(N));
    for overlap in [1, 10, 100, 1000] {
        let sum = || answer_of(|answer| sliding_sum(black_box(overlap), answer));
        let mean = || answer_of(|answer| sliding_mean(black_box(overlap), answer));
        let max = || answer_of(|answer| sliding_max(black_box(overlap), answer));
        assert_eq!(
            [sum().0, mean().0, max().0],
            [WINDOWS * KEYS; 3],
            "as many results, whatever the overlap"
        );
        group.bench_function(format!("sum/{overlap}"), |b| b.iter(sum));
        group.bench_function(format!("mean/{overlap}"), |b| b.iter(mean));
        group.bench_function(format!("max/{overlap}"), |b| b.iter(max));
    }
    group.finish();
}

criterion_group!(benches, window, sliding_windows);
criterion_main!(benches);
