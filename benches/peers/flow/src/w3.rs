//! W3: a running sum per key, every update emitted.

use std::process::ExitCode;

use flow_core::prelude::*;
use peer_common::elements::keyed;
use peer_common::{Answer, Run};

fn main() -> ExitCode {
    peer_common::frame::only("flow", "w3", |args| Some(run(args)))
}

dataflow! {
    /// Sums by key, then counts and sums the updates.
    fn w3(n: u64, splits: usize, answer: Collected<(u64, u64)>) {
        let sums = source(generate(n, keyed).splits(splits)).key_by(|x| x.0).wrapping_sum(|x| x.1);
        let total = sums.aggregate(|a| (a.count(), a.wrapping_sum(|(_, sum)| *sum)));
        total.collect(&answer);
    }
}

/// Records are exchanged by key.
fn run(run: &Run) -> Answer {
    let answer = Collected::new();
    w3(run.n, run.threads, answer.clone()).parallelism(run.threads).run().expect("the job ends well");
    peer_flow::total(&answer)
}
