//! Event time: windows have it, and it is set where records are still in order.

use super::{calls, values};
use crate::ast::Call;
use crate::diag::Diagnostics;
use crate::graph::{self, Domain, Graph, Node, NodeId, Op};
use crate::message;
use crate::ops::{self, EdgeKind, Operator, Shape, Time};
use syn::Expr;

/// `lines.window(tumbling(1h))` without `event_time` upstream: nothing says which hour a record belongs to.
/// Behind a sub-pipeline only the types know.
pub(super) fn windows_have_event_time(graph: &Graph, diagnostics: &mut Diagnostics) {
    let untimed =
        |(node, ..): &(&Node, _, _)| node.input.time == Domain::None && node.input.shape != Shape::Joined;
    for (node, call, _) in calls(graph).filter(untimed) {
        for expr in values(call) {
            let Some(name) = called(expr).filter(|_| !ops::is_clocked(expr)) else { continue };
            if call.name == "window" && ops::window(&name).is_some_and(|window| window.needs_event_time) {
                let message = match lost_at(graph, node) {
                    Some((call, row)) if graph::is_on_the_clock(row, call) => {
                        message::event_time_on_the_clock(&name, row)
                    }
                    Some((_, by)) => message::event_time_lost(&name, by),
                    None => message::no_event_time(&name),
                };
                diagnostics.error(&call.name, message);
            }
        }
    }
}

/// The operator upstream behind which there is no event time any more, if there was one.
fn lost_at<'a>(graph: &'a Graph, node: &Node) -> Option<(&'a Call, &'static Operator)> {
    let mut at = NodeId(graph.nodes.iter().position(|one| std::ptr::eq(one, node))?);
    loop {
        let before = graph.node(graph.edges.iter().find(|edge| edge.to == at)?.from);
        match &before.op {
            Op::Call { call, row }
                if matches!(before.input.time, Domain::Event { .. }) || graph::is_on_the_clock(row, call) =>
            {
                return Some((call, row));
            }
            _ => at = NodeId(graph.nodes.iter().position(|one| std::ptr::eq(one, before))?),
        }
    }
}

/// `rides.union(timed)` of a stream with event time and one without: which time would the records have?
pub(super) fn unions_agree_on_event_time(graph: &Graph, diagnostics: &mut Diagnostics) {
    let of_one_time = |row: &ops::Operator| row.output != ops::Output::Joined && row.time != ops::Time::Drops;
    let unions = calls(graph).filter(|(_, _, row)| row.fan_in && of_one_time(row));
    for (node, call, row) in unions {
        let inputs = || {
            let edges = graph.edges.iter().filter(|edge| std::ptr::eq(graph.node(edge.to), node));
            edges.map(|edge| graph.node(edge.from).output)
        };
        let timed = inputs().any(|flow| matches!(flow.time, Domain::Event { .. }));
        let untimed = inputs().any(|flow| flow.time == Domain::None);
        if timed && untimed && !inputs().any(|flow| flow.tainted) {
            diagnostics.error(&call.name, message::union_of_two_times(row.name));
        }
    }
}

/// The function that an expression calls: `tumbling` in `tumbling(1h)`.
pub(super) fn called(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// `.rebalance().event_time(…)`: behind an exchange records of several senders are mixed, and the bound on their
/// disorder that the user states is that of one partition.
pub(super) fn event_time_comes_before_exchanges(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (index, node) in graph.nodes.iter().enumerate() {
        let Op::Call { call, row } = &node.op else { continue };
        if row.time != Time::Sets || node.input.tainted {
            continue;
        }
        if let Some(exchange) = exchange_before(graph, NodeId(index)) {
            diagnostics.warning(&call.name, message::event_time_behind_exchange(&exchange));
        }
    }
}

fn exchange_before(graph: &Graph, mut at: NodeId) -> Option<String> {
    loop {
        let edge = graph.edges.iter().find(|edge| edge.to == at)?;
        match (edge.kind, &graph.node(edge.from).op) {
            (_, Op::Call { row, .. }) if row.is_exchange() => return Some(row.name.to_owned()),
            (EdgeKind::KeyBy, _) => return Some("key_by".to_owned()),
            _ => at = edge.from,
        }
    }
}
