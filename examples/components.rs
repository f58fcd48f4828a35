//! Which vertices of a graph hang together: a delta loop, in which only labels that change travel.

use flow_core::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "
components [INPUT] [-o FILE] [-p N]

The smallest vertex that each vertex is connected with, `vertex,component`, in the order of the vertices.

  INPUT    edges as CSV with the header from,to, integers, `-` for standard input; a sample unless given
  -o FILE  where the result goes, instead of standard output
  -p N     instances behind an exchange; 1 unless given

Edges have no direction. The report of the job goes to standard error.
";

#[derive(Clone, Debug, Deserialize)]
struct Edge {
    from: i64,
    to: i64,
}

#[derive(Serialize)]
struct Component {
    vertex: i64,
    component: i64,
}

dataflow! {
    /// The component of each vertex of `edges` goes to `report`.
    #[batch]
    pub fn components(edges: PathBuf, report: PathBuf) {
        let edges = source(csv::<Edge>(edges)).flat_map(|e| [(e.from, e.to), (e.to, e.from)]);
        let vertices = edges.map(|e| e.0).distinct().map(|vertex| (vertex, vertex));

        let labels = vertices.iterate_delta(
            |label: &mut i64, came| {
                let smaller = came < *label;
                *label = came.min(*label);
                smaller
            },
            |changed| {
                let there = changed.key_by(|c| c.0).join(edges.key_by(|e| e.0)).lookup();
                there.map(|(_, ((_, label), (_, neighbour)))| (neighbour, label))
            },
        );

        let rows = labels.sort_by_key(|l| l.0).map(|(vertex, component)| Component { vertex, component });
        rows.sink(csv_file(report).header(&["vertex", "component"]));
    }
}

fn main() -> ExitCode {
    flow_examples::main(HELP, |mut args| {
        let parallelism = args.parallelism()?;
        let report = args.output("-o", "-")?;
        let edges = args.input("links.csv")?;

        let job = components(edges, report);
        flow_examples::tell(&job.parallelism(parallelism).run()?);
        Ok(())
    })
}
