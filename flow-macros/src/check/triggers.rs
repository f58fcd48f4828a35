//! Triggers: something fires them, in windows that take one, and what they are told makes sense.

use super::evict::is_evictor;
use super::{calls, values};
use crate::ast::Call;
use crate::diag::Diagnostics;
use crate::duration::{self, Argument};
use crate::graph::{Domain, Graph, Node, Op};
use crate::message;
use crate::ops::{self, Closures, Input, Operator, Output};
use crate::suggest::closest;
use syn::{Expr, ExprMethodCall};

/// The conditions of a trigger, by what they take.
const TIMES: &[&str] = &["early", "early_by_clock"];
const COUNT: &str = "count";
const WHEN: &str = "when";
/// All that a trigger can be told.
const KNOWN: &[&str] = &["early", "early_by_clock", COUNT, WHEN, "purging"];
/// The one that goes by event time.
const EARLY: &str = "early";

fn is_trigger(row: &Operator) -> bool {
    row.input == Input::Window && row.output == Output::Same && row.closures == Closures::Builder
}

/// `.trigger(|t| t)` fires nothing, `.trigger(|t| t.early(0s))` would for ever, `count(100)` fires by itself.
pub(super) fn they_fire(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (node, call, _) in calls(graph).filter(|(_, _, row)| is_trigger(row)) {
        let evictor = before(graph, node, is_evictor);
        if let Some((evictor, _)) = evictor {
            diagnostics.error(&call.name, message::trigger_behind(&evictor.name.to_string()));
        }
        if let Some((window, _)) = before(graph, node, |row| row.output == Output::Window) {
            takes_one(window, call, diagnostics);
        }
        for expr in values(call) {
            if let Expr::Closure(closure) = expr {
                conditions(&closure.body, node, diagnostics);
            }
        }
    }
}

/// The nearest operator before a node, of those of its window, that is `wanted`.
fn before<'g, 'a>(
    graph: &'g Graph<'a>,
    of: &Node<'a>,
    wanted: impl Fn(&Operator) -> bool,
) -> Option<(&'a Call, &'g Node<'a>)> {
    let mut at = graph.nodes.iter().position(|node| std::ptr::eq(node, of))?;
    loop {
        let from = graph.edges.iter().find(|edge| edge.to.0 == at)?.from;
        let node = graph.node(from);
        let Op::Call { call, row } = &node.op else { return None };
        if wanted(row) {
            return Some((*call, node));
        }
        if row.input != Input::Window {
            return None;
        }
        at = from.0;
    }
}

fn takes_one(window: &Call, trigger: &Call, diagnostics: &mut Diagnostics) {
    for expr in values(window) {
        let Some(kind) = ops::described(expr) else { continue };
        if kind.takes == ops::Takes::Elements || ops::is_clocked(expr) {
            let window = crate::text::text(quote::quote!(#expr));
            diagnostics
                .error(&trigger.name, message::takes_no_trigger(&window, kind.takes == ops::Takes::Elements));
        }
    }
}

/// `t.early(1min).count(100).purging()`, from its end.
fn conditions(body: &Expr, node: &Node, diagnostics: &mut Diagnostics) {
    let (mut at, mut seen, mut misspelt) = (body, Vec::new(), false);
    while let Expr::MethodCall(call) = at {
        let name = call.method.to_string();
        if TIMES.contains(&name.as_str()) {
            time(call, node.input.time == Domain::None && name == EARLY, diagnostics);
        } else if name == COUNT {
            count(call, diagnostics);
        } else if !KNOWN.contains(&name.as_str())
            && let Some(meant) = closest(&name, KNOWN.iter().copied())
        {
            misspelt = true;
            diagnostics.error(&call.method, message::no_condition(&name, meant));
        }
        if name != WHEN && seen.contains(&name) {
            diagnostics.error(&call.method, message::condition_twice(&name));
        }
        seen.push(name);
        at = &call.receiver;
    }
    let is_condition = |name: &String| TIMES.contains(&name.as_str()) || name == COUNT || name == WHEN;
    // Of anything but calls on the handle only the run knows.
    if !misspelt
        && matches!(at, Expr::Path(path) if path.path.get_ident().is_some())
        && !seen.iter().any(is_condition)
    {
        diagnostics.error(body, message::fires_nothing());
    }
}

fn time(call: &ExprMethodCall, timeless: bool, diagnostics: &mut Diagnostics) {
    let Some(every) = call.args.first() else { return };
    let text = crate::text::text(quote::quote!(#every));
    match duration::argument(every) {
        Argument::Bare(digits) => diagnostics.error(every, message::duration_without_unit(digits)),
        Argument::Millis(millis) if millis <= 0 => {
            diagnostics.error(every, message::not_positive(&format!("the time of `{}`", call.method), &text));
        }
        _ if timeless => diagnostics.error(&call.method, message::early_without_event_time(&text)),
        _ => {}
    }
}

fn count(call: &ExprMethodCall, diagnostics: &mut Diagnostics) {
    let Some(elements) = call.args.first() else { return };
    match duration::argument(elements) {
        Argument::Bare(digits) if digits.parse() == Ok(0) => {
            diagnostics.error(elements, message::no_elements("the count of a trigger", digits));
        }
        Argument::Millis(_) => {
            let text = crate::text::text(quote::quote!(#elements));
            diagnostics.error(elements, message::time_for_a_count(&text));
        }
        _ => {}
    }
}
