//! W8: twenty rounds of PageRank over a random graph.

use std::process::ExitCode;

use flow_core::prelude::*;
use peer_common::graph::{FIRST_RANK, NODES, ROUNDS, damp, edge, rank_hash};
use peer_common::{Answer, Run};

fn main() -> ExitCode {
    peer_common::frame::only("flow", "w8", |args| Some(run(args)))
}

/// Where nobody's edge leads: by it each vertex gives nothing to itself, so that it stays.
const ITSELF: u32 = u32::MAX;

/// A vertex with the number of its edges, its rank, and what each edge has of that.
type Rank = (u32, u32, u64, u64);

fn ranked(vertex: u32, degree: u32, rank: u64) -> Rank {
    (vertex, degree, rank, rank / u64::from(degree.max(1)))
}

dataflow! {
    /// Sends the ranks' shares along the edges, round by round; then counts the vertices and sums the hashes of their ranks.
    #[batch]
    fn w8(n: u64, splits: usize, answer: Collected<(u64, u64)>) {
        let edges = source(generate(n, edge).splits(splits));
        let vertices = source(generate(NODES, |v| (v as u32, ITSELF)).splits(splits));
        let ways = edges.union(vertices);
        let degrees = ways.key_by(|way| way.0).fold(0u32, |degree, way| *degree += u32::from(way.1 != ITSELF));

        let ranks = degrees.map(|(v, degree)| ranked(v, degree, FIRST_RANK)).iterate(rounds = ROUNDS, |ranks| {
            let given = ranks.key_by(|r| r.0).join(ways.key_by(|way| way.0)).lookup();
            let given = given.map(|(v, (r, (_, to)))| if to == ITSELF { (v, 0, r.1) } else { (to, r.3, 0) });
            let sums = given.key_by(|g| g.0).fold((0u64, 0u32), |sum, g| {
                sum.0 += g.1;
                sum.1 += g.2;
            });
            sums.map(|(v, (sum, degree))| ranked(v, degree, damp(sum)))
        });

        let hashes = ranks.map(|r| rank_hash(u64::from(r.0), r.2));
        hashes.aggregate(|a| (a.count(), a.wrapping_sum(|x| *x))).collect(&answer);
    }
}

/// Shares are exchanged by vertex.
fn run(run: &Run) -> Answer {
    let answer = Collected::new();
    w8(run.n, run.threads, answer.clone()).parallelism(run.threads).run().expect("the job ends well");
    peer_flow::total(&answer)
}
