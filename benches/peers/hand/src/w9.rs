//! W9: the components of a random graph, on one thread: labels spread from the vertices whose label has changed.

use std::process::ExitCode;

use peer_common::graph::{Adjacency, NODES, both_ways, label_hash};
use peer_common::{Answer, Run};

fn main() -> ExitCode {
    peer_common::frame::only("hand", "w9", |args| Some(run(args)))
}

/// Every vertex begins with itself as its label; a vertex whose label has changed gives it to its neighbours in the next
/// round, until there is none.
fn run(run: &Run) -> Answer {
    let nodes = NODES as usize;
    let edges = || (0..run.n).flat_map(both_ways).map(|(from, to)| (from as usize, to));
    let adjacency = Adjacency::new(nodes, edges);
    let mut labels: Vec<u32> = (0..nodes as u32).collect();
    let mut changed = labels.clone();
    let mut is_changed = vec![true; nodes];
    let mut next = Vec::new();
    while !changed.is_empty() {
        for v in changed.drain(..).map(|v| v as usize) {
            is_changed[v] = false;
            let label = labels[v];
            for to in adjacency.of(v).iter().map(|to| *to as usize) {
                if label < labels[to] {
                    labels[to] = label;
                    if !std::mem::replace(&mut is_changed[to], true) {
                        next.push(to as u32);
                    }
                }
            }
        }
        std::mem::swap(&mut changed, &mut next);
    }
    let mut answer = Answer::default();
    for (v, label) in labels.iter().enumerate() {
        answer.add(label_hash(v as u32, *label));
    }
    answer
}
