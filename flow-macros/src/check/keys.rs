//! Keys: who needs one has one, and a key that is set is used.

use crate::diag::Diagnostics;
use crate::graph::{Graph, NodeId, Op};
use crate::message;
use crate::ops::{Input, Shape};

/// `words.scan(…)` without `key_by`: rolling operators and `map_values` work for each key.
pub(super) fn keyed_operators_have_a_key(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (index, node) in graph.nodes.iter().enumerate() {
        let Op::Call { call, row } = &node.op else { continue };
        if node.input.tainted || node.input.shape != Shape::Plain || row.input != Input::Keyed {
            continue;
        }
        let message = match dropped_by(graph, NodeId(index)) {
            Some(by) => message::key_lost(row, &by),
            None => message::needs_key(row),
        };
        diagnostics.error(&call.name, message);
    }
}

/// The operator upstream that dropped the key, if there was one.
fn dropped_by(graph: &Graph, mut at: NodeId) -> Option<String> {
    loop {
        let from = graph.edges.iter().find(|edge| edge.to == at)?.from;
        let node = graph.node(from);
        if node.input.shape == Shape::Keyed && node.output.shape == Shape::Plain {
            return Some(node.op.name());
        }
        at = from;
    }
}

/// `.key_by(a).key_by(b)`: nothing is done by the first key.
pub(super) fn keys_are_used(graph: &Graph, diagnostics: &mut Diagnostics) {
    for edge in &graph.edges {
        let (from, to) = (graph.node(edge.from), graph.node(edge.to));
        let sets_key = |op: &Op| matches!(op, Op::Call { row, .. } if row.sets_key);
        if let Op::Call { call, .. } = &from.op
            && sets_key(&from.op)
            && sets_key(&to.op)
            && !from.input.tainted
        {
            diagnostics.warning(&call.name, message::key_by_twice());
        }
    }
}
