//! W8: twenty rounds of PageRank over a random graph, on one thread.

use std::process::ExitCode;

use peer_common::graph::{Adjacency, FIRST_RANK, NODES, ROUNDS, damp, edge, rank_hash};
use peer_common::{Answer, Run};

fn main() -> ExitCode {
    peer_common::frame::only("hand", "w8", |args| Some(run(args)))
}

/// The ranks' shares are sent along the edges, round by round.
fn run(run: &Run) -> Answer {
    let nodes = NODES as usize;
    let edges = || (0..run.n).map(edge).map(|(from, to)| (from as usize, to));
    let adjacency = Adjacency::new(nodes, edges);
    let mut ranks = vec![FIRST_RANK; nodes];
    let mut sums = vec![0u64; nodes];
    for _ in 0..ROUNDS {
        sums.fill(0);
        for (v, rank) in ranks.iter().enumerate() {
            let targets = adjacency.of(v);
            if targets.is_empty() {
                continue;
            }
            let share = rank / targets.len() as u64;
            for to in targets {
                sums[*to as usize] += share;
            }
        }
        for (rank, sum) in ranks.iter_mut().zip(&sums) {
            *rank = damp(*sum);
        }
    }
    let mut answer = Answer::default();
    for (v, rank) in ranks.iter().enumerate() {
        answer.add(rank_hash(v as u64, *rank));
    }
    answer
}
