//! A process with five declared states, beside the loop that an expert would write: a struct of five fields in a hash table.
//! The states are one entry of a table, found once for each record.

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use flow_benches::answer::Answer;
use flow_benches::elements::keyed as element;
use flow_core::prelude::*;
use hashbrown::HashMap;

const N: u64 = 4_000_000;

dataflow! {
    fn five(n: u64, answer: Collected<(u64, u64)>) {
        let changes = source(generate(n, element)).key_by(|x| x.0).process({
            let mut count: u64 = 0;
            let mut sum: u64 = 0;
            let mut least: u64 = u64::MAX;
            let mut most: u64 = 0;
            let mut last: u64 = 0;
            on_event(|x, ctx| {
                let value = x.1 ^ *count;
                *count += 1;
                *sum = sum.wrapping_add(value);
                *least = value.min(*least);
                *most = value.max(*most);
                let change = value.wrapping_sub(*last);
                *last = value;
                ctx.emit(*sum ^ (*most - *least) ^ change);
            });
        });
        changes.aggregate(|a| (a.count(), a.wrapping_sum(|x| *x))).collect(&answer);
    }
}

fn flow(n: u64) -> (u64, u64) {
    let answer = Collected::new();
    five(n, answer.clone()).run().expect("the job ends well");
    answer.take()[0]
}

struct Five {
    count: u64,
    sum: u64,
    least: u64,
    most: u64,
    last: u64,
}

fn by_hand(n: u64) -> (u64, u64) {
    let mut states: HashMap<u64, Five, foldhash::fast::FixedState> = HashMap::default();
    let mut answer = Answer::default();
    for (key, value) in (0..n).map(element) {
        let new = || Five { count: 0, sum: 0, least: u64::MAX, most: 0, last: 0 };
        let five = states.entry(key).or_insert_with(new);
        let value = value ^ five.count;
        five.count += 1;
        five.sum = five.sum.wrapping_add(value);
        five.least = value.min(five.least);
        five.most = value.max(five.most);
        let change = value.wrapping_sub(five.last);
        five.last = value;
        answer.add(five.sum ^ (five.most - five.least) ^ change);
    }
    (answer.count, answer.checksum)
}

/// Alternating runs, so that a noisy neighbour meets both: the median of the ratios.
fn ratio() -> f64 {
    let seconds = |run: fn(u64) -> (u64, u64)| {
        let start = Instant::now();
        black_box(run(black_box(N)));
        start.elapsed().as_secs_f64()
    };
    let mut ratios: Vec<f64> = (0..9).map(|_| seconds(by_hand) / seconds(flow)).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

fn process(c: &mut Criterion) {
    assert_eq!(flow(N), by_hand(N), "flow and the loop agree");
    println!("throughput of process with five states to that of the loop, median of 9 pairs: {:.2}", ratio());
    let mut group = c.benchmark_group("process");
    group.sample_size(10);
    group.bench_function("hand", |b| b.iter(|| by_hand(black_box(N))));
    group.bench_function("flow", |b| b.iter(|| flow(black_box(N))));
    group.finish();
}

criterion_group!(benches, process);
criterion_main!(benches);
