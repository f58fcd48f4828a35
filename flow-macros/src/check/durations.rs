//! Durations: each literal has a unit, and sizes, bounds and offsets are within their limits.

use super::{calls, values};
use crate::ast::{Given, Pipeline, Statement, given};
use crate::diag::Diagnostics;
use crate::duration::{self, Argument, Number};
use crate::graph::Graph;
use crate::message;
use crate::ops::{self, Takes, Value};
use proc_macro2::{TokenStream, TokenTree};
use syn::{Expr, Lit};

/// `disorder = 5` has no unit, `idle = 0s` would never wait, `lateness = -1s` means nothing.
pub(super) fn named_arguments(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (_, call, row) in calls(graph) {
        for given in &call.named {
            if let Some(known) = row.named.iter().find(|known| given.name == known.name) {
                value(&given.name.to_string(), known.value, &given.value, diagnostics);
            }
        }
    }
}

fn value(name: &str, wanted: Value, given: &Expr, diagnostics: &mut Diagnostics) {
    let allows = |millis: i64| match wanted {
        Value::Duration => millis >= 0,
        Value::PositiveDuration => millis > 0,
        Value::SignedDuration | Value::Late | Value::Elements | Value::Expression => true,
    };
    let is_duration = !matches!(wanted, Value::Late | Value::Elements | Value::Expression);
    let text = crate::text::text(quote::quote!(#given));
    match duration::argument(given) {
        Argument::Bare(digits) if is_duration => {
            diagnostics.error(given, message::duration_without_unit(digits));
        }
        Argument::Millis(millis) if !allows(millis) && wanted == Value::PositiveDuration => {
            diagnostics.error(given, message::not_positive(&format!("`{name}`"), &text));
        }
        Argument::Millis(millis) if !allows(millis) => {
            diagnostics.error(given, message::negative(&format!("`{name}`"), &text));
        }
        _ => {}
    }
}

/// `tumbling(0s)` holds nothing; `tumbling(1h, offset = 2h)` is shifted by more than itself.
pub(super) fn sizes(graph: &Graph, diagnostics: &mut Diagnostics) {
    let windows = calls(graph).filter(|(_, _, row)| row.output == ops::Output::Window);
    for description in windows.flat_map(|(_, call, _)| values(call)) {
        let Some(window) = ops::described(description) else { continue };
        let what = match window.takes {
            Takes::Size => "the size of a window",
            Takes::Gap => "the gap of a session",
            Takes::Nothing | Takes::GapOf | Takes::Elements => continue,
        };
        let Expr::Call(call) = description else { continue };
        let mut size = None;
        for arg in &call.args {
            match given(arg.clone()) {
                Given::Positional(arg) => size = size_of(&arg, what, diagnostics),
                Given::Named(given) => {
                    if let Some(known) = window.named.iter().find(|known| given.name == known.name) {
                        value(known.name, known.value, &given.value, diagnostics);
                        offset(&given.value, size.as_ref(), diagnostics);
                    }
                }
            }
        }
    }
}

/// The literal size of a window and its text, where it is one that can be.
fn size_of(arg: &Expr, what: &str, diagnostics: &mut Diagnostics) -> Option<(i64, String)> {
    let text = crate::text::text(quote::quote!(#arg));
    match duration::argument(arg) {
        Argument::Bare(digits) => {
            diagnostics.error(arg, message::duration_without_unit(digits));
            None
        }
        Argument::Millis(millis) if millis <= 0 => {
            diagnostics.error(arg, message::not_positive(what, &text));
            None
        }
        Argument::Millis(millis) => Some((millis, text)),
        Argument::Expression => None,
    }
}

fn offset(given: &Expr, size: Option<&(i64, String)>, diagnostics: &mut Diagnostics) {
    if let (Argument::Millis(offset), Some((size, text))) = (duration::argument(given), size)
        && offset.unsigned_abs() >= size.unsigned_abs()
    {
        diagnostics.error(given, message::offset_too_large(&crate::text::text(quote::quote!(#given)), text));
    }
}

/// `5m` and `1.5h`, anywhere in the body; and durations in plain Rust, which does not know them.
pub(super) fn literals(ast: &Pipeline, diagnostics: &mut Diagnostics) {
    for statement in &ast.statements {
        match statement {
            Statement::Stream(line) => {
                each_literal(line.chain.tokens(), &mut |literal| units(literal, diagnostics))
            }
            Statement::Plain(plain) => each_literal(plain.tokens.clone(), &mut |literal| {
                if let Lit::Int(int) = literal
                    && matches!(duration::number(int), Number::Duration(_))
                {
                    diagnostics.error(int, message::duration_in_plain_rust(&int.to_string()));
                }
            }),
            Statement::Broken(_) => {}
        }
    }
}

fn units(literal: &Lit, diagnostics: &mut Diagnostics) {
    match literal {
        Lit::Int(int) => match duration::number(int) {
            Number::UnknownUnit => {
                diagnostics.error(int, message::unknown_unit(int.suffix(), int.base10_digits()));
            }
            Number::TooLong => diagnostics.error(int, message::duration_too_long()),
            Number::Duration(_) | Number::Bare | Number::Rust => {}
        },
        Lit::Float(float) if duration::is_fractional(float) => {
            diagnostics.error(float, message::fractional_duration());
        }
        _ => {}
    }
}

fn each_literal(tokens: TokenStream, look: &mut dyn FnMut(&Lit)) {
    for token in tokens {
        match token {
            TokenTree::Literal(literal) => look(&Lit::new(literal)),
            TokenTree::Group(group) => each_literal(group.stream(), look),
            _ => {}
        }
    }
}
