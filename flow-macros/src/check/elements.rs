//! Numbers of elements: how many are in a count window, how many from one beginning to the next, how many a second.

use super::{calls, values};
use crate::ast::{Given, given};
use crate::diag::Diagnostics;
use crate::duration::{self, Argument};
use crate::graph::Graph;
use crate::message;
use crate::ops::{self, OVERLAPPING_MAX, Output, Takes, Value};
use syn::Expr;

/// `count(0)` holds nothing; `count(100ms)` is a time; `count(3, every = 5)` leaves gaps.
pub(super) fn counts(graph: &Graph, diagnostics: &mut Diagnostics) {
    let windows = calls(graph).filter(|(_, _, row)| row.output == Output::Window);
    for description in windows.flat_map(|(_, call, _)| values(call)) {
        let counted = ops::described(description).is_some_and(|window| window.takes == Takes::Elements);
        let Expr::Call(call) = description else { continue };
        let (mut size, mut gaps) = (None, false);
        for arg in call.args.iter().filter(|_| counted) {
            match given(arg.clone()) {
                Given::Positional(arg) => size = elements(&arg, "the size of a count window", diagnostics),
                Given::Named(given) if given.name == "gaps" => gaps = true,
                Given::Named(_) => {}
            }
        }
        for arg in call.args.iter().filter(|_| counted) {
            if let Given::Named(given) = given(arg.clone())
                && given.name == "every"
            {
                let every = elements(&given.value, "`every`", diagnostics);
                together(size, every, gaps, &given.value, diagnostics);
            }
        }
    }
}

/// `rate_limit(0)` lets nothing pass, and `rate_limit(1s)` is a time.
pub(super) fn arguments(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (_, call, row) in calls(graph) {
        for (what, arg) in row.counts.iter().flat_map(|what| values(call).take(1).map(move |arg| (what, arg)))
        {
            match duration::argument(arg) {
                Argument::Millis(_) => {
                    let time = crate::text::text(quote::quote!(#arg));
                    diagnostics.error(arg, message::time_for_number(row, &time));
                }
                Argument::Bare(digits) if is_negative(arg) || digits.parse() == Ok(0) => {
                    let found = crate::text::text(quote::quote!(#arg));
                    diagnostics.error(arg, message::number_too_small(what, &found));
                }
                _ => {}
            }
        }
    }
}

/// `rebalance(parallelism = 0)`, `async_map(…, capacity = 5s)`.
pub(super) fn numbers(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (_, call, row) in calls(graph) {
        for given in &call.named {
            let known = row.named.iter().find(|known| given.name == known.name);
            let most = match known.map(|known| known.value) {
                Some(Value::Instances) => ops::INSTANCES_MAX,
                Some(Value::Requests) => ops::REQUESTS_MAX,
                Some(Value::Tries) => ops::TRIES_MAX,
                _ => continue,
            };
            let found = match duration::argument(&given.value) {
                Argument::Bare(digits)
                    if !is_negative(&given.value)
                        && digits.parse().is_ok_and(|n| (1..=most).contains(&n)) =>
                {
                    continue;
                }
                Argument::Expression => continue,
                _ => {
                    let value = &given.value;
                    crate::text::text(quote::quote!(#value))
                }
            };
            diagnostics.error(&given.value, message::not_a_number(&given.name, &found, most));
        }
    }
}

/// `-5`, of which [`Argument::Bare`] has the digits only.
fn is_negative(number: &Expr) -> bool {
    matches!(number, Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)))
}

/// A literal number of elements, where it is one that can be.
fn elements(arg: &Expr, what: &str, diagnostics: &mut Diagnostics) -> Option<u64> {
    match duration::argument(arg) {
        Argument::Millis(_) => {
            let time = crate::text::text(quote::quote!(#arg));
            diagnostics.error(arg, message::time_for_elements(&time));
            None
        }
        Argument::Bare(digits) => {
            let count = digits.parse().ok().filter(|count| *count > 0 && !is_negative(arg));
            if count.is_none() && digits.parse::<u64>().is_ok() {
                let found = crate::text::text(quote::quote!(#arg));
                diagnostics.error(arg, message::no_elements(what, &found));
            }
            count
        }
        Argument::Expression => None,
    }
}

fn together(size: Option<u64>, every: Option<u64>, gaps: bool, at: &Expr, diagnostics: &mut Diagnostics) {
    let (Some(size), Some(every)) = (size, every) else { return };
    if every > size && !gaps {
        diagnostics.error(at, message::gaps_between_windows(size, every));
    } else if size.div_ceil(every) > OVERLAPPING_MAX {
        diagnostics.error(at, message::too_many_overlap(size, every));
    }
}
