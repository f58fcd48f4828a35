//! Windows: how they are described, that they are closed, where late elements go.

use super::args::known;
use super::time::called;
use super::{calls, values};
use crate::ast::{Given, given};
use crate::diag::Diagnostics;
use crate::graph::{Domain, Ending, Graph, Op};
use crate::message;
use crate::ops::{self, Input, Output, Shape, Takes, Value, WindowKind};
use crate::suggest::closest;
use quote::ToTokens;
use syn::{Expr, ExprCall};

/// `.window(…)` takes a description: `tumbling(size)`, `session(gap)` and their like, a name or call of the user's own,
/// but no bare value.
pub(super) fn descriptions(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (_, call, _) in calls(graph).filter(|(_, _, row)| row.output == Output::Window) {
        // one more than one is reported by itself
        for expr in values(call).take(1) {
            match expr {
                Expr::Lit(_) | Expr::Unary(_) => {
                    let usage = format!("tumbling({})", crate::text::text(quote::quote!(#expr)));
                    diagnostics.error(expr, message::not_a_window(&usage));
                }
                Expr::Call(description) => describe(description, diagnostics),
                _ => {}
            }
            for one in &call.named {
                let name = one.name.to_string();
                match ops::described(expr) {
                    Some(_) if ops::is_clocked(expr) => {
                        diagnostics.error(&one.name, message::late_by_the_clock(&name));
                    }
                    Some(window) if !window.needs_event_time => {
                        diagnostics.error(&one.name, message::late_without_time(&name, window));
                    }
                    _ => {}
                }
            }
        }
    }
}

fn describe(call: &ExprCall, diagnostics: &mut Diagnostics) {
    let Some(name) = called(&Expr::Call(call.clone())) else { return };
    let window = match ops::window(&name) {
        Some(window) => window,
        None if let Some((name, instead)) = foreign(&call.func) => {
            diagnostics.error(&call.func, message::foreign_window(&name, instead));
            return;
        }
        None => {
            let meant = closest(&name, ops::WINDOWS.iter().map(|window| window.name)).and_then(ops::window);
            if let Some(meant) = meant {
                diagnostics.error(&call.func, message::unknown_window(&name, meant));
            }
            return;
        }
    };
    arguments(window, call, diagnostics);
}

/// `hopping` and `TumblingEventTimeWindows::of`. A function of the user's own is `self::hopping`.
fn foreign(func: &Expr) -> Option<(String, &'static str)> {
    let Expr::Path(path) = func else { return None };
    let name = path.path.segments.first()?.ident.to_string();
    crate::foreign::window(&name).map(|instead| (name, instead))
}

fn arguments(window: &WindowKind, call: &ExprCall, diagnostics: &mut Diagnostics) {
    let (mut named, mut positional) = (Vec::new(), 0);
    for arg in &call.args {
        match given(arg.clone()) {
            Given::Named(one) => named.push(one),
            Given::Positional(_) => positional += 1,
        }
    }
    let wanted = window.lengths.len();
    if positional < wanted {
        diagnostics.error(&call.func, message::few_arguments(window.name, wanted, window.usage));
    } else if positional > wanted {
        diagnostics.error(&call.func, message::many_arguments(window.name, wanted, window.usage));
    }
    known(window.name, &named, window.named, diagnostics);
    for one in &named {
        let is_clock = window.named.iter().any(|has| one.name == has.name && has.value == Value::Clock);
        let value = crate::text::text(one.value.to_token_stream());
        if is_clock && value != ops::PROCESSING {
            diagnostics.error(&one.value, message::unknown_time(&value));
        }
    }
}

/// `session_by(30min)` has no closure, `session(|record| …)` has one.
pub(super) fn gaps(graph: &Graph, diagnostics: &mut Diagnostics) {
    for description in calls(graph).flat_map(|(_, call, _)| values(call)) {
        let Some(window) = ops::described(description) else { continue };
        let Expr::Call(call) = description else { continue };
        match call.args.first() {
            Some(gap @ Expr::Lit(_)) if window.takes == Takes::GapOf => {
                let usage = format!("session({})", crate::text::text(quote::quote!(#gap)));
                diagnostics.error(gap, message::gap_without_closure(&usage));
            }
            Some(gap @ Expr::Closure(_)) if window.takes == Takes::Gap => {
                diagnostics.error(gap, message::gap_with_closure());
            }
            _ => {}
        }
    }
}

/// `.window(…).map(…)`: between the two something has to say what becomes of a window.
pub(super) fn are_closed(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (node, call, row) in calls(graph) {
        let closes = matches!(row.input, Input::Any | Input::Window);
        match node.input.shape {
            Shape::Windowed if !closes => diagnostics.error(&call.name, message::window_not_closed(row.name)),
            Shape::Plain | Shape::Keyed if row.input == Input::Window => {
                diagnostics.error(&call.name, message::not_behind_a_window(row));
            }
            _ => {}
        }
    }
    for segment in graph.segments.iter().filter(|segment| !matches!(segment.end, Ending::Stream(_))) {
        if let Some(node) = graph.last(segment)
            && let Op::Call { call, .. } = &node.op
            && node.output.shape == Shape::Windowed
            && !node.output.tainted
        {
            diagnostics.error(&call.name, message::window_never_closed());
        }
    }
    for stream in graph.streams.iter().filter(|stream| stream.flow.shape == Shape::Windowed) {
        if stream.uses.len() > 1 && !stream.flow.tainted {
            diagnostics.error(&stream.name, message::window_used_twice(&stream.name));
        }
    }
}

/// A window behind `disorder = 5s` will meet late elements: the text should say what becomes of them.
pub(super) fn late_elements_have_a_policy(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (node, call, _) in calls(graph).filter(|(_, _, row)| row.output == Output::Window) {
        let event_time = values(call).all(|expr| {
            let window = called(expr).and_then(|name| ops::window(&name));
            window.is_none_or(|window| window.needs_event_time) && !ops::is_clocked(expr)
        });
        match call.named("late") {
            None if event_time && node.input.time == (Domain::Event { disordered: true }) => {
                diagnostics.warning(&call.name, message::late_policy_missing());
            }
            Some(value) => policy(value, diagnostics),
            None => {}
        }
    }
}

/// `late = side`, `late = drop`, `late = fail`.
pub(super) fn policy(value: &Expr, diagnostics: &mut Diagnostics) {
    let found = crate::text::text(quote::quote!(#value));
    if !ops::LATE.contains(&found.as_str()) {
        diagnostics.error(value, message::unknown_late(&found, closest(&found, ops::LATE.iter().copied())));
    }
}
