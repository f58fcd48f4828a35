//! Where a chain is boxed: every fused operator nests the type once more, and rustc gives up at a depth of 128.

use crate::graph::{Ending, Graph, NodeId, Op, Origin, Segment, Start, StreamId};
use crate::ops::{EdgeKind, Output, Shape};
use std::collections::{HashMap, HashSet};

/// Fused operators in a row before a boundary: 3 % of the time of a chain of maps.
const FUSED_MAX: usize = 24;

/// The operators behind which `.boxed()` is put. The count goes on through names and branches, and begins anew
/// behind a source, an exchange, a fan-in and a `.boxed()`.
pub(super) fn boxed(graph: &Graph) -> HashSet<NodeId> {
    let mut boxed = HashSet::new();
    let mut depth_of: HashMap<StreamId, usize> = HashMap::new();
    for segment in &graph.segments {
        let mut depth = begin(graph, segment, &depth_of);
        for id in &segment.nodes {
            depth = behind(graph, *id, depth);
            let is_last_of_sides =
                matches!(segment.end, Ending::Sides(_)) && segment.nodes.last() == Some(id);
            if depth >= FUSED_MAX && can_be_boxed(graph, *id) && !is_last_of_sides {
                boxed.insert(*id);
                depth = 0;
            }
        }
        match &segment.end {
            Ending::Stream(stream) => drop(depth_of.insert(*stream, depth)),
            Ending::Sides(sides) => depth_of.extend(sides.iter().map(|side| (*side, depth))),
            Ending::FanIn { .. } | Ending::Cut(_) | Ending::Terminal => {}
        }
    }
    boxed
}

fn begin(graph: &Graph, segment: &Segment, depth_of: &HashMap<StreamId, usize>) -> usize {
    let of = |stream: &StreamId| depth_of.get(stream).copied().unwrap_or(0);
    match (&segment.start, segment.inputs().as_slice()) {
        (Start::Function { .. }, [one]) => of(&one.stream) + 1,
        (Start::Stream(one), _) if !matches!(graph.stream(one.stream).made_by, Origin::Root(_)) => {
            of(&one.stream)
        }
        _ => 0,
    }
}

fn behind(graph: &Graph, id: NodeId, depth: usize) -> usize {
    let comes_by_exchange = graph.edges.iter().any(|edge| edge.to == id && edge.kind != EdgeKind::Fused);
    match &graph.node(id).op {
        Op::Call { row, .. } if row.is_exchange() || row.name == "boxed" => 0,
        Op::Call { row, .. } if row.name == "named" => depth,
        _ if comes_by_exchange => 1,
        _ => depth + 1,
    }
}

/// Behind what is known to be a plain stream.
fn can_be_boxed(graph: &Graph, id: NodeId) -> bool {
    let node = graph.node(id);
    matches!(&node.op, Op::Call { row, .. } if matches!(row.output, Output::Plain | Output::Same))
        && node.output.shape == Shape::Plain
        && crate::graph::sides(node).is_none()
}
