//! W9: the components of a random graph, by a delta loop.

use std::process::ExitCode;

use flow_core::prelude::*;
use peer_common::graph::{NODES, both_ways, label_hash};
use peer_common::{Answer, Run};

fn main() -> ExitCode {
    peer_common::frame::only("flow", "w9", |args| Some(run(args)))
}

dataflow! {
    /// Spreads the smallest vertex over each component; then counts the vertices and sums the hashes of their labels.
    #[batch]
    fn w9(n: u64, splits: usize, answer: Collected<(u64, u64)>) {
        let edges = source(generate(n, both_ways).splits(splits)).flat_map(|ways| ways);
        let vertices = source(generate(NODES, |v| (v as u32, v as u32)).splits(splits));

        let labels = vertices.iterate_delta(
            |label: &mut u32, came| {
                let smaller = came < *label;
                *label = came.min(*label);
                smaller
            },
            |changed| {
                let there = changed.key_by(|c| c.0).join(edges.key_by(|e| e.0)).lookup();
                there.map(|(_, ((_, label), (_, to)))| (to, label))
            },
        );

        let hashes = labels.map(|(v, label)| label_hash(v, label));
        hashes.aggregate(|a| (a.count(), a.wrapping_sum(|x| *x))).collect(&answer);
    }
}

/// Labels are exchanged by vertex.
fn run(run: &Run) -> Answer {
    let answer = Collected::new();
    w9(run.n, run.threads, answer.clone()).parallelism(run.threads).run().expect("the job ends well");
    peer_flow::total(&answer)
}
