//! Keyed state: a running sum per key, every update emitted, beside the same loop over a hash table.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use flow_benches::answer::Answer;
use flow_benches::elements::keyed as element;
use flow_core::prelude::*;
use hashbrown::HashMap;

const N: u64 = 1_000_000;

dataflow! {
    fn sums(n: u64, answer: Collected<(u64, u64)>) {
        let sums = source(generate(n, element)).key_by(|x| x.0).wrapping_sum(|x| x.1);
        sums.aggregate(|a| (a.count(), a.wrapping_sum(|x| x.1))).collect(&answer);
    }
}

fn flow(n: u64) -> (u64, u64) {
    let answer = Collected::new();
    sums(n, answer.clone()).run().expect("the job ends well");
    answer.take()[0]
}

fn by_hand(n: u64) -> (u64, u64) {
    let mut sums: HashMap<u64, u64, foldhash::fast::FixedState> = HashMap::default();
    let mut answer = Answer::default();
    for (key, value) in (0..n).map(element) {
        let sum = sums.entry(key).or_insert(0);
        *sum += value;
        answer.add(*sum);
    }
    (answer.count, answer.checksum)
}

fn keyed(c: &mut Criterion) {
    assert_eq!(flow(N), by_hand(N), "flow and the loop agree");
    let mut group = c.benchmark_group("keyed");
    group.sample_size(20);
    group.bench_function("hand", |b| b.iter(|| by_hand(black_box(N))));
    group.bench_function("flow", |b| b.iter(|| flow(black_box(N))));
    group.finish();
}

criterion_group!(benches, keyed);
criterion_main!(benches);
