//! Keys: who needs one has one, and a key that is set is used.

use crate::ast::Call;
use crate::diag::Diagnostics;
use crate::graph::{Graph, Node, NodeId, Op, key_text};
use crate::message;
use crate::ops::{EdgeKind, Input, Output, Shape};

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

/// `.key_by(a).key_by(b)`: nothing is done by the first key, whatever keeps a key stands between; and nothing by the second if
/// it is the same.
pub(super) fn keys_are_used(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (index, node) in graph.nodes.iter().enumerate() {
        let Some(again) = sets_key(node).filter(|_| !node.input.tainted) else { continue };
        let Some(before) = key_before(graph, NodeId(index)) else { continue };
        let Some(first) = sets_key(before) else { continue };
        if key_text(node) == key_text(before) && again.name == first.name {
            diagnostics.warning(&again.name, message::same_key_again(&again.name));
        } else {
            diagnostics.warning(&first.name, message::key_by_twice());
        }
    }
}

fn sets_key<'a>(node: &Node<'a>) -> Option<&'a Call> {
    match &node.op {
        Op::Call { call, row } if row.sets_key => Some(call),
        _ => None,
    }
}

/// The operator that set the key which reaches `at` on a way on which nothing but it is used.
fn key_before<'g, 'a>(graph: &'g Graph<'a>, mut at: NodeId) -> Option<&'g Node<'a>> {
    loop {
        let mut into = graph.edges.iter().filter(|edge| edge.to == at);
        let (from, more) = (into.next()?.from, into.next());
        let alone = graph.edges.iter().filter(|edge| edge.from == from).count() == 1;
        let node = graph.node(from);
        match &node.op {
            Op::Call { row, .. } if row.sets_key && alone && more.is_none() => return Some(node),
            Op::Call { row, .. } if row.output == Output::Same && row.edge == EdgeKind::Fused && alone => {
                at = from
            }
            _ => return None,
        }
    }
}
