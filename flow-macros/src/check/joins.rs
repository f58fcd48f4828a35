//! Joins: both sides have a key, and what follows says which elements belong together.

use super::time::called;
use super::{calls, values};
use crate::ast::{Arg, Call};
use crate::diag::{Diagnostics, Message};
use crate::duration::{self, Argument};
use crate::graph::{Domain, Ending, Graph, Node, Op};
use crate::message;
use crate::ops::{self, Closures, Input, Operator, Output, Shape, Takes, Value};
use proc_macro2::Ident;

/// `rides.key_by(|r| r.city).join(fares)`: the right side has no key. `events.key_by(k).connect_broadcast(rules.key_by(k))`: it has one.
/// (A left side without one is as any operator's.)
pub(super) fn have_two_keys(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (node, call, row) in calls(graph).filter(|(_, _, row)| row.pairs()) {
        let mut inputs = graph.edges.iter().filter(|edge| std::ptr::eq(graph.node(edge.to), node));
        let Some(right) = inputs.nth(1).map(|edge| graph.node(edge.from).output) else { continue };
        if let (Some(Arg::Stream(chain)), false) = (call.args.first(), right.tainted) {
            let at = chain.first_token();
            match (row.output == Output::Beside, right.shape) {
                (false, Shape::Plain) => diagnostics.error_at(at, at, message::right_side_without_key(row)),
                (true, Shape::Keyed) => diagnostics.error_at(at, at, message::all_with_a_key(row)),
                _ => {}
            }
        }
    }
}

/// `a.join(b).window(tumbling(1h))` where one of both has no event time.
pub(super) fn have_event_time(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (node, call) in closing(graph).filter(|(_, call)| needs_event_time(call)) {
        match (node.input.time == Domain::None, node.input.right == Domain::None) {
            (false, false) => {}
            (left, right) => {
                diagnostics
                    .error(&call.name, message::join_without_time(&call.name.to_string(), left, right));
            }
        }
    }
}

/// The calls that say of a join what belongs together.
fn closing<'g, 'a>(graph: &'g Graph<'a>) -> impl Iterator<Item = (&'g Node<'a>, &'a Call)> {
    let closing =
        calls(graph).filter(|(node, _, row)| node.input.shape == Shape::Joined && row.closes_join());
    closing.map(|(node, call, _)| (node, call))
}

/// `a.full_join(b).as_of()`: not every join has rows that each operator behind it could make.
pub(super) fn have_a_form(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (node, call, row) in calls(graph).filter(|(_, _, row)| !row.behind.is_empty()) {
        let before = graph.edges.iter().find(|edge| std::ptr::eq(graph.node(edge.to), node));
        let Some(Op::Call { row: join, .. }) = before.map(|edge| &graph.node(edge.from).op) else { continue };
        if join.output == Output::Joined && !row.behind.contains(&join.name) {
            diagnostics.error(&call.name, message::not_behind_this_join(row, join.name));
        }
    }
}

/// `a.join(b).window(count(10))`: elements of both sides are not counted together, nor have they one gap for each.
pub(super) fn windows_are_of_time(graph: &Graph, diagnostics: &mut Diagnostics) {
    for description in closing(graph).flat_map(|(_, call)| values(call)) {
        if let Some(window) = ops::described(description)
            && matches!(window.takes, Takes::Elements | Takes::GapOf)
        {
            diagnostics.error(description, message::no_window_of_a_join(window.name));
        }
    }
}

/// A window needs it if its description does.
fn needs_event_time(call: &Call) -> bool {
    if call.name != "window" {
        return ops::operator(&call.name.to_string())
            .is_some_and(|row| row.named.iter().any(|one| one.value == Value::Late));
    }
    let mut windows = values(call).filter_map(called).filter_map(|name| ops::window(&name));
    windows.any(|window| window.needs_event_time)
}

/// `.within(5s, 1s)` holds nothing; `.within(0, 5)` has no unit.
pub(super) fn bounds(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (_, call) in closing(graph).filter(|(_, call)| call.name == "within") {
        let mut bounds = Vec::new();
        for bound in values(call) {
            match duration::argument(bound) {
                Argument::Bare(digits) => {
                    diagnostics.error(bound, message::duration_without_unit(digits));
                }
                Argument::Millis(millis) => bounds.push((millis, crate::text::text(quote::quote!(#bound)))),
                Argument::Expression => {}
            }
        }
        let exclusive =
            |name| call.named(name).is_some_and(|value| crate::text::text(quote::quote!(#value)) == "true");
        let left_out =
            ["lower_bound_exclusive", "upper_bound_exclusive"].into_iter().filter(|name| exclusive(name));
        if let [(lower, lower_text), (upper, upper_text)] = &bounds[..]
            && i128::from(*lower) + left_out.count() as i128 > i128::from(*upper)
        {
            diagnostics.error(&call.name, message::nothing_within(lower_text, upper_text, lower > upper));
        }
    }
}

/// `late = drop` of an interval join or a temporal one; that of a window is checked with it.
pub(super) fn late_elements_have_a_policy(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (node, call) in closing(graph).filter(|(_, call)| call.name != "window" && needs_event_time(call)) {
        let disordered = [node.input.time, node.input.right].contains(&Domain::Event { disordered: true });
        match call.named("late") {
            Some(value) => super::windows::policy(value, diagnostics),
            None if disordered => diagnostics.warning(&call.name, message::late_policy_missing()),
            None => {}
        }
    }
}

/// Two streams that are not one yet: what says what becomes of them, and what to tell where nothing does.
struct Unclosed {
    shape: Shape,
    closes: fn(&Operator) -> bool,
    not_closed: fn(&str) -> Message,
    never_closed: fn(&str) -> Message,
    used_twice: fn(&Ident) -> Message,
}

const UNCLOSED: [Unclosed; 3] = [
    Unclosed {
        shape: Shape::Joined,
        closes: Operator::closes_join,
        not_closed: message::join_not_closed,
        never_closed: message::join_never_closed,
        used_twice: message::join_used_twice,
    },
    Unclosed {
        shape: Shape::Connected,
        closes: |row| row.closures == Closures::Block,
        not_closed: message::connect_not_closed,
        never_closed: message::connect_never_closed,
        used_twice: message::connect_used_twice,
    },
    Unclosed {
        shape: Shape::Beside,
        closes: |row| row.closures == Closures::Block,
        not_closed: message::beside_not_closed,
        never_closed: message::beside_never_closed,
        used_twice: message::connect_used_twice,
    },
];

/// `.join(b).map(…)`: between the two something has to say which elements belong together. `.connect(b).map(…)` is the same
/// mistake.
pub(super) fn are_closed(graph: &Graph, diagnostics: &mut Diagnostics) {
    for unclosed in &UNCLOSED {
        one_is_closed(unclosed, graph, diagnostics);
    }
}

fn one_is_closed(unclosed: &Unclosed, graph: &Graph, diagnostics: &mut Diagnostics) {
    for (node, call, row) in calls(graph) {
        let known = node.input.shape != Shape::Unknown;
        if unclosed.shape == Shape::Joined
            && row.input == Input::Joined
            && node.input.shape != Shape::Joined
            && known
        {
            diagnostics.error(&call.name, message::no_join_before(row));
        }
        if node.input.shape == unclosed.shape && !(unclosed.closes)(row) && row.output != Output::Same {
            diagnostics.error(&call.name, (unclosed.not_closed)(row.name));
        }
    }
    for segment in graph
        .segments
        .iter()
        .filter(|segment| !matches!(segment.end, Ending::Stream(_) | Ending::FanIn { .. }))
    {
        let (last, tainted) = match (graph.last(segment), segment.inputs().first()) {
            (Some(node), _) => (Some(node), node.output.tainted),
            (None, Some(first)) => {
                let stream = graph.stream(first.stream);
                (stream.node.map(|node| graph.node(node)), stream.flow.tainted)
            }
            (None, None) => (None, false),
        };
        if let Some(Node { op: Op::Call { call, row }, output, .. }) = last
            && output.shape == unclosed.shape
            && !tainted
        {
            diagnostics.error(&call.name, (unclosed.never_closed)(row.name));
        }
    }
    for stream in graph.streams.iter().filter(|stream| stream.flow.shape == unclosed.shape) {
        if stream.uses.len() > 1 && !stream.flow.tainted {
            diagnostics.error(&stream.name, (unclosed.used_twice)(&stream.name));
        }
    }
}
