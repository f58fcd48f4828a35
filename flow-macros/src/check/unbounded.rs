//! State that grows as long as the input does.

use super::holding::{endless_names, is_endless};
use super::values;
use crate::ast::{Call, Pipeline, block};
use crate::diag::Diagnostics;
use crate::graph::{Graph, NodeId, Op};
use crate::message;
use crate::ops::Closures;

/// `source(clicks).key_by(k).process({ let mut last: …; … })`, `clicks` being a channel: new keys come as long as it lives. A time to
/// live, or `ctx.clear()` in a closure, takes state out; `#[ttl(never)]` says that it is meant to stay.
///
/// Rolling operators are left alone: what they keep of a key is one value without a time to live, so nothing could be written.
pub(super) fn states_go(ast: &Pipeline, graph: &Graph, diagnostics: &mut Diagnostics) {
    let endless = endless_names(ast);
    for (index, node) in graph.nodes.iter().enumerate() {
        let Op::Call { call, row } = &node.op else { continue };
        if row.closures != Closures::Block || node.input.tainted {
            continue;
        }
        let mut inputs = graph.edges.iter().filter(|edge| edge.to == NodeId(index));
        if inputs.any(|edge| is_endless(graph, edge.from, &endless)) {
            stay(call, diagnostics);
        }
    }
}

/// The states of a process that nothing takes out.
fn stay(call: &Call, diagnostics: &mut Diagnostics) {
    let blocks = values(call).filter_map(block);
    for block in blocks.filter(|block| block.mistakes.is_empty() && !block.mentions("clear")) {
        for state in block.states.iter().filter(|state| state.ttl.is_none() && !state.lives_forever) {
            diagnostics.warning(&state.name, message::unbounded_state(&state.name));
        }
    }
}
