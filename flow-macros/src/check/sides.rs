//! Operators with several streams have a name for each.

use crate::ast::Call;
use crate::diag::Diagnostics;
use crate::graph::{Ending, Graph, Node, Op, Segment, is_mistaken, side_names, sides};
use crate::message;
use crate::ops::{Closures, Operator, Output, Shape};

/// `let (hourly, late) = …` where `late = side`; `partition` and `split_result` give two streams, `split` two to
/// four. Where nothing is known (a sub-pipeline) the types judge.
pub(super) fn names_match_streams(graph: &Graph, diagnostics: &mut Diagnostics) {
    for segment in &graph.segments {
        if let Some(node) = graph.last(segment) {
            end(segment, node, diagnostics);
        } else if let (Ending::Sides(names), Some(first)) = (&segment.end, segment.inputs().first())
            && matches!(segment.start, crate::graph::Start::Stream(_))
            && !graph.stream(first.stream).flow.tainted
            && names.len() > 1
        {
            diagnostics.error_at(segment.at, segment.at, message::one_stream_only(&first.token.to_string()));
        }
        // several streams in the middle of a chain
        for id in segment.nodes.iter().rev().skip(1) {
            let node = graph.node(*id);
            if let (Some((min, max)), Op::Call { call, row }) = (sides(node), &node.op)
                && !node.output.tainted
                && !is_mistaken(row, call)
            {
                diagnostics.error(&call.name, needs_names(node, call, row, (min, max)));
            }
        }
    }
}

fn end(segment: &Segment, node: &Node, diagnostics: &mut Diagnostics) {
    let Op::Call { call, row } = &node.op else { return };
    if node.output.tainted || node.input.tainted || is_mistaken(row, call) {
        return;
    }
    match (&segment.end, sides(node)) {
        (Ending::Sides(names), Some((min, max))) if !(min..=max).contains(&names.len()) => {
            diagnostics.error(&call.name, message::wrong_number_of_names(row.name, names.len(), min, max));
        }
        (Ending::Sides(_), Some(_)) => {}
        (Ending::Sides(_), None) if !matches!(row.output, Output::Unknown | Output::Terminal) => {
            diagnostics.error(&call.name, message::one_stream_only(row.name));
        }
        (Ending::Sides(_), None) => {}
        (_, Some((min, max))) => diagnostics.error(&call.name, needs_names(node, call, row, (min, max))),
        (_, None) => {}
    }
}

fn needs_names(node: &Node, call: &Call, row: &Operator, (min, max): (usize, usize)) -> crate::diag::Message {
    let name = row.name;
    if row.closures == Closures::Block {
        message::process_sides_need_names(&side_names(row, call))
    } else if node.input.late_side || node.input.shape == Shape::Joined {
        message::late_side_needs_names(name)
    } else {
        message::sides_need_names(name, min, max)
    }
}
