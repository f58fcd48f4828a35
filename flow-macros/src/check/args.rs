//! What stands in the parentheses of an operator: how many arguments, which named ones, no stray streams.

use super::calls;
use crate::ast::{Arg, Call, NamedArg, Start};
use crate::diag::Diagnostics;
use crate::duration;
use crate::free::Outside;
use crate::graph::{Graph, Op};
use crate::message;
use crate::ops::{Closures, Named, Operator, Output, Shape, Value};
use crate::suggest::closest;
use proc_macro2::Ident;
use quote::ToTokens;
use syn::Expr;

/// `.map()` and `.map(f, g)`: the table says how many an operator takes.
pub(super) fn positional(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (node, call, row) in calls(graph) {
        if call.args.len() < row.min_args {
            diagnostics.error(&call.name, message::few_arguments(row.name, row.min_args, row.usage));
        } else if let (Closures::Block, Some(Arg::Value(expr @ (Expr::Closure(_) | Expr::Call(_))))) =
            (row.closures, call.args.first())
            && node.input.shape != Shape::Windowed
            && !is_made(expr)
        {
            diagnostics.error(expr, message::not_a_block(row));
        } else if let Some((extra, names)) = nameless(row, call) {
            let text = crate::text::text(extra.to_token_stream());
            diagnostics.error(extra, message::nameless(row.name, &text, &names));
        } else if call.args.len() > row.max_args {
            diagnostics.error(&call.name, message::many_arguments(row.name, row.max_args, row.usage));
        }
        let closure = row.closure_at().and_then(|at| call.args.get(at));
        if let Some(Arg::Value(literal @ Expr::Lit(_))) = closure
            && call.args.len() == row.max_args
        {
            let text = crate::text::text(literal.to_token_stream());
            diagnostics.error(literal, message::not_a_closure(row, &text));
        }
    }
}

/// `Tariff::new(5)` and `tariff()` may make a process; `on_event(|e, ctx| …)` does not.
fn is_made(expr: &Expr) -> bool {
    let Expr::Call(call) = expr else { return false };
    matches!(&*call.func, Expr::Path(path) if !path.path.get_ident().is_some_and(|name| name.to_string().starts_with("on_")))
}

/// `dedup_first(1h)`: what is beside the arguments of an operator has a name. The names that fit.
fn nameless<'c>(row: &Operator, call: &'c Call) -> Option<(&'c Expr, Vec<&'static str>)> {
    let Arg::Value(extra) = call.args.get(row.max_args)? else { return None };
    let is_time = matches!(duration::argument(extra), duration::Argument::Millis(_));
    let fits = |one: &&Named| match extra {
        Expr::Closure(_) => one.value == Value::Expression && one.required.is_none(),
        _ => !is_time || one.value.is_duration(),
    };
    let names: Vec<&str> = row.named.iter().filter(fits).map(|one| one.name).collect();
    (!names.is_empty()).then_some((extra, names))
}

/// `source(x)` takes one source.
pub(super) fn sources(graph: &Graph, diagnostics: &mut Diagnostics) {
    for node in &graph.nodes {
        let Op::Source(call) = &node.op else { continue };
        let usage = "source(lines(path))";
        let names: Vec<&Ident> = call.args.iter().filter_map(named_in).collect();
        match call.args.len() - names.len() {
            0 => diagnostics.error(&call.func, message::few_arguments("source", 1, usage)),
            1 => {}
            _ => diagnostics.error(&call.func, message::many_arguments("source", 1, usage)),
        }
        for name in names {
            diagnostics.error(name, message::unknown_named("source", name, &[], None));
        }
    }
}

fn named_in(expr: &syn::Expr) -> Option<&Ident> {
    match expr {
        syn::Expr::Assign(assign) => match &*assign.left {
            syn::Expr::Path(path) => path.path.get_ident(),
            _ => None,
        },
        _ => None,
    }
}

/// Named arguments exist, stand once, and the required ones are there.
pub(super) fn named(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (_, call, row) in calls(graph) {
        known(row.name, &call.named, row.named, diagnostics);
        required(row, call, diagnostics);
        flags(row, &call.named, diagnostics);
        one_of(row, &call.named, diagnostics);
    }
}

/// Shared with the window descriptions.
pub(super) fn known(operator: &str, given: &[NamedArg], has: &[Named], diagnostics: &mut Diagnostics) {
    let names: Vec<&str> = has.iter().map(|one| one.name).collect();
    for (index, one) in given.iter().enumerate() {
        let text = one.name.to_string();
        if text == "parallelism" && !names.contains(&"parallelism") {
            diagnostics.error(&one.name, message::parallelism_of(operator));
        } else if !names.contains(&text.as_str()) {
            let meant = closest(&text, names.iter().copied());
            diagnostics.error(&one.name, message::unknown_named(operator, &one.name, &names, meant));
        } else if given[..index].iter().any(|before| before.name == one.name) {
            diagnostics.error(&one.name, message::duplicate_named(operator, &one.name));
        }
    }
}

fn required(row: &Operator, call: &Call, diagnostics: &mut Diagnostics) {
    let (args, given) = (call.args.len(), &call.named);
    // a misspelt name, or an argument without one, is most likely the missing one
    let misspelt =
        args > row.max_args || given.iter().any(|one| row.named.iter().all(|known| one.name != known.name));
    for (name, question) in row.named.iter().filter_map(|one| Some((one.name, one.required?))) {
        let instead = |one: &NamedArg| row.one_of.contains(&name) && row.one_of.iter().any(|o| one.name == o);
        if !misspelt && !given.iter().any(|one| one.name == name || instead(one)) {
            diagnostics.error(&call.name, message::missing_named(row, name, question));
        }
    }
}

/// `monotonic = false` says nothing.
fn flags(row: &Operator, given: &[NamedArg], diagnostics: &mut Diagnostics) {
    for one in given {
        let flag = row.named.iter().any(|known| one.name == known.name && known.value == Value::Flag);
        if flag && crate::text::text(one.value.to_token_stream()) != "true" {
            diagnostics.error(&one.value, message::not_true(&one.name));
        }
    }
}

/// `disorder = 5s, monotonic = true` says twice how the watermark rises; `punctuated = …, max_ahead = 1h` guards a highest
/// timestamp that nobody asks for.
fn one_of(row: &Operator, given: &[NamedArg], diagnostics: &mut Diagnostics) {
    let mut chosen = given.iter().filter(|one| row.one_of.iter().any(|name| one.name == name));
    let Some(first) = chosen.next() else { return };
    for second in chosen.filter(|one| one.name != first.name) {
        diagnostics.error(&second.name, message::one_too_many(row.name, &first.name, &second.name));
    }
    let Some(guard) = given.iter().find(|one| one.name == "max_ahead") else { return };
    if first.name == "punctuated" || first.name == "watermarks" {
        diagnostics.error(&guard.name, message::nothing_to_guard(&first.name));
    }
}

/// Only a fan-in takes streams, and it takes nothing else.
pub(super) fn streams(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (_, call, row) in calls(graph) {
        for arg in &call.args {
            match arg {
                // one too many is reported by itself
                Arg::Value(expr) if row.fan_in && call.args.len() <= row.max_args => {
                    diagnostics.error(expr, message::fan_in_of_values(row))
                }
                Arg::Stream(chain) if !row.fan_in => {
                    let name = match &chain.start {
                        Start::Stream(name) => name.to_string(),
                        _ => "this".to_owned(),
                    };
                    let at = chain.first_token();
                    diagnostics.error_at(at, at, message::stream_argument(row.name, &name));
                }
                _ => {}
            }
        }
    }
}

/// `source(csv(path, lossy = true))`: only operators and window descriptions have named arguments. What stands in
/// closures is the user's own.
pub(super) fn named_in_functions(graph: &Graph, diagnostics: &mut Diagnostics) {
    // a window's own ones are checked by its row
    let given = calls(graph)
        .filter(|(_, _, row)| row.output != Output::Window)
        .flat_map(|(_, call, _)| super::values(call));
    let sources = graph.nodes.iter().filter_map(|node| match &node.op {
        Op::Source(call) => Some(call.args.iter()),
        _ => None,
    });
    for call in given.chain(sources.flatten()).flat_map(|expr| Outside::of(expr).calls) {
        for name in call.args.iter().filter_map(named_in) {
            let function = crate::text::text(call.func.to_token_stream());
            diagnostics.error(name, message::named_in_function(&function, name));
        }
    }
}
