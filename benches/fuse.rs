//! Fusion: a chain of operators in one stage beside the same loop written by hand, and with an erased boundary within.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use flow_benches::answer::Answer;
use flow_benches::elements::{m1, m2, mix, p1};
use flow_core::prelude::*;

const N: u64 = 1_000_000;

dataflow! {
    fn fused(n: u64, answer: Collected<(u64, u64)>) {
        let hashes = source(generate(n, mix)).map(m1).filter(p1).map(m2);
        hashes.aggregate(|a| (a.count(), a.wrapping_sum(|x| *x))).collect(&answer);
    }

    fn boxed(n: u64, answer: Collected<(u64, u64)>) {
        let hashes = source(generate(n, mix)).map(m1).filter(p1).boxed().map(m2);
        hashes.aggregate(|a| (a.count(), a.wrapping_sum(|x| *x))).collect(&answer);
    }
}

fn by_hand(n: u64) -> (u64, u64) {
    let mut answer = Answer::default();
    (0..n).map(mix).map(m1).filter(p1).map(m2).for_each(|x| answer.add(x));
    (answer.count, answer.checksum)
}

fn run(job: fn(u64, Collected<(u64, u64)>) -> Job, n: u64) -> (u64, u64) {
    let answer = Collected::new();
    job(n, answer.clone()).run().expect("the job ends well");
    answer.take()[0]
}

fn fuse(c: &mut Criterion) {
    assert_eq!(run(fused, N), by_hand(N), "flow and the loop agree");
    assert_eq!(run(boxed, N), by_hand(N), "flow, boxed, and the loop agree");
    let mut group = c.benchmark_group("fuse");
    group.bench_function("hand", |b| b.iter(|| by_hand(black_box(N))));
    group.bench_function("flow", |b| b.iter(|| run(fused, black_box(N))));
    group.bench_function("flow, boxed", |b| b.iter(|| run(boxed, black_box(N))));
    group.finish();
}

criterion_group!(benches, fuse);
criterion_main!(benches);
