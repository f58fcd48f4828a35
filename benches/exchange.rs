//! The exchange: records from two sources to two instances, by a partitioner, beside two threads that do it by hand over channels of
//! batches.

use std::hint::black_box;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use criterion::{Criterion, criterion_group, criterion_main};
use flow_benches::answer::Answer;
use flow_benches::elements::{mix, strided};
use flow_core::prelude::*;

const N: u64 = 1_000_000;
const INSTANCES: usize = 2;
const BATCH: usize = 1024;
const BATCHES_IN_FLIGHT: usize = 16;

dataflow! {
    fn exchanged(n: u64, answer: Collected<(u64, u64)>) {
        let mixed = source(generate(n, mix).splits(INSTANCES)).partition_by(instance_of).map(|x| x ^ 1);
        mixed.aggregate(|a| (a.count(), a.wrapping_sum(|x| *x))).collect(&answer);
    }
}

fn instance_of(x: &u64, instances: usize) -> usize {
    (mix(*x) >> 32) as usize % instances
}

fn flow(n: u64) -> (u64, u64) {
    let answer = Collected::new();
    exchanged(n, answer.clone()).parallelism(INSTANCES).run().expect("the job ends well");
    answer.take()[0]
}

/// Each instance has a thread that generates and a thread that receives.
fn by_hand(n: u64) -> (u64, u64) {
    let (senders, receivers): (Vec<_>, Vec<_>) =
        (0..INSTANCES).map(|_| sync_channel(BATCHES_IN_FLIGHT)).unzip();
    let answer = thread::scope(|scope| {
        for me in 0..INSTANCES {
            let senders = senders.clone();
            scope.spawn(move || send(me, n, &senders));
        }
        drop(senders);
        let receivers: Vec<_> =
            receivers.into_iter().map(|from| scope.spawn(move || receive(&from))).collect();
        Answer::total(receivers.into_iter().map(|r| r.join().expect("a receiver does not panic")))
    });
    (answer.count, answer.checksum)
}

fn send(me: usize, n: u64, to: &[SyncSender<Vec<u64>>]) {
    let mut batches: Vec<Vec<u64>> = to.iter().map(|_| Vec::with_capacity(BATCH)).collect();
    for x in strided(me as u64, INSTANCES as u64, n).map(mix) {
        let instance = instance_of(&x, to.len());
        batches[instance].push(x);
        if batches[instance].len() == BATCH {
            let full = std::mem::replace(&mut batches[instance], Vec::with_capacity(BATCH));
            to[instance].send(full).expect("the receiver waits for the end");
        }
    }
    for (batch, to) in batches.into_iter().zip(to) {
        to.send(batch).expect("the receiver waits for the end");
    }
}

fn receive(from: &Receiver<Vec<u64>>) -> Answer {
    let mut answer = Answer::default();
    from.iter().flatten().for_each(|x| answer.add(x ^ 1));
    answer
}

fn exchange(c: &mut Criterion) {
    assert_eq!(flow(N), by_hand(N), "flow and the threads agree");
    let mut group = c.benchmark_group("exchange");
    group.sample_size(20);
    group.bench_function("hand", |b| b.iter(|| by_hand(black_box(N))));
    group.bench_function("flow", |b| b.iter(|| flow(black_box(N))));
    group.finish();
}

criterion_group!(benches, exchange);
criterion_main!(benches);
