//! `#[max_shuffles(1)]`: how often records go to other instances.

use crate::ast::Pipeline;
use crate::diag::Diagnostics;
use crate::graph::{Edge, Graph, Op};
use crate::message;
use crate::ops::EdgeKind;

/// Exchanges that are written, and those before an operator that keeps state by key or runs on one instance. What happens inside
/// of a sub-pipeline or a sink is not seen.
pub(super) fn are_within_the_budget(ast: &Pipeline, graph: &Graph, diagnostics: &mut Diagnostics) {
    let Some(budget) = &ast.wishes.budget else { return };
    if graph.nodes.iter().any(|node| node.output.tainted) {
        return;
    }
    let mut found = Vec::new();
    for edge in &graph.edges {
        // A written exchange whose stream is used twice is one.
        if let Some(place) = place(graph, edge)
            && !found.contains(&place)
        {
            found.push(place);
        }
    }
    if found.len() > budget.most {
        diagnostics.error(&budget.at, message::too_many_shuffles(budget.most, &found));
    }
}

/// The operator that an exchange is of, as a reader of the message finds it.
fn place(graph: &Graph, edge: &Edge) -> Option<String> {
    let (from, to) = (graph.node(edge.from), graph.node(edge.to));
    match edge.kind {
        EdgeKind::Fused | EdgeKind::Merge | EdgeKind::Boundary => None,
        _ if matches!(&from.op, Op::Call { row, .. } if row.is_exchange()) => Some(format!("`{}`", from.id)),
        EdgeKind::Broadcast => Some(format!("`{}` (in every instance)", to.id)),
        EdgeKind::KeyBy => Some(format!("`{}` (by key)", to.id)),
        _ => Some(format!("`{}` (on one instance)", to.id)),
    }
}
