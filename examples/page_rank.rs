//! The rank of each vertex of a graph: a bulk loop. Ranks are whole numbers, so the result does not depend on the order of additions.

use flow_core::prelude::*;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

const HELP: &str = "
page_rank [INPUT] [-o FILE] [--rounds N] [-p N]

The PageRank of each vertex, `vertex,rank`, by rank descending, then by vertex; ranks sum to 1.

  INPUT       edges as CSV with the header from,to, `-` for standard input; a sample unless given
  -o FILE     where the result goes, instead of standard output
  --rounds N  how often all ranks are passed on; 20 unless given
  -p N        instances behind an exchange; 1 unless given

The damping is 0.85. Parallel edges count each; a vertex without a way out gives to all. Vertices are text. The report of the job goes
to standard error.
";

#[derive(Clone, Debug, Deserialize)]
struct Edge {
    from: ShortString,
    to: ShortString,
}

#[derive(Serialize)]
struct Rank {
    vertex: ShortString,
    rank: String,
}

/// The rank of all together.
const ALL: u64 = 1 << 62;

/// To whom a share goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum To {
    Vertex(ShortString),
    /// To all alike.
    All,
}

dataflow! {
    /// Ranks the vertices of `edges` into `report`.
    #[batch]
    pub fn page_rank(edges: PathBuf, rounds: u64, report: PathBuf) {
        let edges = source(csv::<Edge>(edges));
        let ways = edges.flat_map(|e| [(e.from, Some(e.to.clone())), (e.to, None)]);
        // Each vertex with those that it leads to.
        let vertices = ways.key_by(|w| w.0.clone()).fold(Vec::new(), |out, (_, to)| out.extend(to));
        let vertices = vertices.map(|(vertex, out)| (vertex, in_order(out)));
        let all = vertices.fold(Vec::new(), |all, (vertex, _)| all.push(vertex)).map(in_order);

        let ranks = all.flat_map(|all| shares(ALL, all)).iterate(rounds = rounds, |ranks| {
            let given = ranks.key_by(|r| r.0.clone()).join(vertices.key_by(|v| v.0.clone())).lookup();
            let given = given.flat_map(|(_, ((_, rank), (_, out)))| give(rank, out));
            let given = given.key_by(|g| g.0.clone()).wrapping_sum(|g| g.1);
            let spread = given.key_by(|g| g.0.clone()).left_join(all.key_by(|_| To::All)).lookup();
            let spread = spread.flat_map(|(to, ((_, rank), all))| take(to, rank, all));
            spread.key_by(|r| r.0.clone()).wrapping_sum(|r| r.1)
        });

        let rows = ranks.map(|(vertex, rank)| (vertex, nanos(rank)));
        let rows = rows.sort_by_key(|(vertex, rank)| (Reverse(*rank), vertex.clone()));
        rows.map(|(vertex, rank)| Rank { vertex, rank: decimal(rank) }).sink(csv_file(report).header(&["vertex", "rank"]));
    }
}

/// The same however they came: so the same ones get what is left over of a rank.
fn in_order(mut vertices: Vec<ShortString>) -> Arc<Vec<ShortString>> {
    vertices.sort_unstable();
    Arc::new(vertices)
}

/// A rank in equal parts: what is left over goes to the first ones.
fn shares(rank: u64, to: Arc<Vec<ShortString>>) -> impl Iterator<Item = (ShortString, u64)> {
    let n = to.len() as u64;
    (0..n).map(move |i| (to[i as usize].clone(), rank / n + u64::from(i < rank % n)))
}

/// What a vertex gives of its rank: 0.85 to those it leads to, if any, and the rest to all.
fn give(rank: u64, out: Arc<Vec<ShortString>>) -> impl Iterator<Item = (To, u64)> {
    let damped = if out.is_empty() { 0 } else { (u128::from(rank) * 85 / 100) as u64 };
    let to_all = std::iter::once((To::All, rank - damped));
    shares(damped, out).map(|(to, share)| (To::Vertex(to), share)).chain(to_all)
}

/// What arrives: at a vertex, or at each of `all`.
fn take(to: To, rank: u64, all: Option<Arc<Vec<ShortString>>>) -> impl Iterator<Item = (ShortString, u64)> {
    let one = match to {
        To::Vertex(vertex) => Some((vertex, rank)),
        To::All => None,
    };
    let each = all.map(|all| shares(rank, all));
    one.into_iter().chain(each.into_iter().flatten())
}

/// A rank in billionths, rounded.
fn nanos(rank: u64) -> u64 {
    ((u128::from(rank) * 1_000_000_000 + u128::from(ALL / 2)) / u128::from(ALL)) as u64
}

fn decimal(nanos: u64) -> String {
    format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
}

fn main() -> ExitCode {
    flow_examples::main(HELP, |mut args| {
        let parallelism = args.parallelism()?;
        let report = args.output("-o", "-")?;
        let rounds = args.value::<u64>("--rounds")?.unwrap_or(20);
        let edges = args.input("links.csv")?;

        let job = page_rank(edges, rounds, report);
        flow_examples::tell(&job.parallelism(parallelism).run()?);
        Ok(())
    })
}
