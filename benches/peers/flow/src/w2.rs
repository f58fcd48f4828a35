//! W2: map, filter, map, count and sum.

use std::process::ExitCode;

use flow_core::prelude::*;
use peer_common::elements::{m1, m2, mix, p1};
use peer_common::{Answer, Run};

fn main() -> ExitCode {
    peer_common::frame::only("flow", "w2", |args| Some(run(args)))
}

dataflow! {
    /// Counts and sums.
    fn w2(n: u64, splits: usize, answer: Collected<(u64, u64)>) {
        let hashes = source(generate(n, mix).splits(splits)).map(m1).filter(p1).map(m2);
        let total = hashes.aggregate(|a| (a.count(), a.wrapping_sum(|x| *x)));
        total.collect(&answer);
    }
}

/// Each instance does its part of the numbers.
fn run(run: &Run) -> Answer {
    let answer = Collected::new();
    w2(run.n, run.threads, answer.clone()).parallelism(run.threads).run().expect("the job ends well");
    peer_flow::total(&answer)
}
