//! Every chain ends once, in a sink.

use crate::diag::Diagnostics;
use crate::graph::{Ending, Graph, Node, Op, Segment, Start};
use crate::message;
use crate::ops::{Output, Shape};

/// `lines.map(…);` goes nowhere: a statement ends in a sink, or in a sub-pipeline that does.
pub(super) fn statements_end_in_a_sink(graph: &Graph, diagnostics: &mut Diagnostics) {
    for segment in graph.segments.iter().filter(|segment| matches!(segment.end, Ending::Terminal)) {
        let last = graph.last(segment);
        if ends_by_itself(graph, segment, last) {
            continue;
        }
        let Some(last) = last else {
            diagnostics.error_at(segment.at, segment.at, message::goes_nowhere(None));
            continue;
        };
        if let Op::Call { call, row } = &last.op
            && !matches!(
                last.output.shape,
                Shape::Windowed | Shape::Joined | Shape::Connected | Shape::Beside
            )
        {
            diagnostics.error(&call.name, message::goes_nowhere(Some(row.name)));
        }
    }
}

/// A sink, a sub-pipeline that may hold one, several streams (a message of their own), or a reported mistake.
fn ends_by_itself(graph: &Graph, segment: &Segment, last: Option<&Node>) -> bool {
    let Some(last) = last else {
        return match &segment.start {
            Start::Function { .. } | Start::Opaque(_) => true,
            Start::Stream(one) => {
                let flow = graph.stream(one.stream).flow;
                flow.tainted || matches!(flow.shape, Shape::Joined | Shape::Connected | Shape::Beside)
            }
            Start::Source(_) => false,
        };
    };
    match &last.op {
        Op::Call { row, .. } => {
            segment.nodes.iter().any(|id| graph.node(*id).is_terminal())
                || last.output.tainted
                || matches!(row.output, Output::Terminal | Output::Unknown | Output::Sides { .. })
                || crate::graph::sides(last).is_some()
        }
        _ => true,
    }
}

/// `let done = lines.for_each(…);` gives a name to nothing.
pub(super) fn sinks_have_no_name(graph: &Graph, diagnostics: &mut Diagnostics) {
    for segment in graph.segments.iter().filter(|segment| !matches!(segment.end, Ending::Terminal)) {
        if let Some(Node { op: Op::Call { call, row }, output, .. }) = graph.last(segment)
            && row.output == Output::Terminal
            && !output.tainted
        {
            diagnostics.error(&call.name, message::let_of_terminal(row.name));
        }
    }
}

/// `lines.for_each(…).map(…)`: behind a sink there is no stream.
pub(super) fn nothing_follows_a_sink(graph: &Graph, diagnostics: &mut Diagnostics) {
    for edge in &graph.edges {
        let (from, to) = (graph.node(edge.from), graph.node(edge.to));
        if let (Op::Call { row: sink, .. }, Op::Call { call, row }) = (&from.op, &to.op)
            && from.is_terminal()
            && is_in_one_segment(graph, edge.from, edge.to)
            && !to.input.tainted
        {
            diagnostics.error(&call.name, message::after_terminal(row.name, sink.name));
        }
    }
}

/// A stream made by a sink was reported at its `let`.
fn is_in_one_segment(graph: &Graph, from: crate::graph::NodeId, to: crate::graph::NodeId) -> bool {
    graph.segments.iter().any(|segment| segment.nodes.contains(&from) && segment.nodes.contains(&to))
}
