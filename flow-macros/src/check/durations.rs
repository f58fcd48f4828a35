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
        _ => true,
    };
    let text = crate::text::text(quote::quote!(#given));
    match duration::argument(given) {
        Argument::Expression if wanted.is_duration() => quoted(given, diagnostics),
        // `0` of what is longer than 0 has no unit that would help
        Argument::Bare("0") if wanted == Value::PositiveDuration => {
            diagnostics.error(given, message::not_positive(&format!("`{name}`"), &text));
        }
        Argument::Bare(digits) if wanted.is_duration() => {
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

/// `tumbling(0s)` holds nothing; `tumbling(1h, offset = 2h)` is shifted by more than itself; `sliding(1s, 1min)` leaves
/// something out.
pub(super) fn sizes(graph: &Graph, diagnostics: &mut Diagnostics) {
    let windows = calls(graph).filter(|(_, _, row)| row.output == ops::Output::Window);
    for description in windows.flat_map(|(_, call, _)| values(call)) {
        let Some(window) = ops::described(description) else { continue };
        let of = match window.takes {
            Takes::Lengths => "a window",
            Takes::Gap => "a session",
            Takes::UtcOffset => {
                utc_offset(description, diagnostics);
                continue;
            }
            Takes::Nothing | Takes::GapOf | Takes::Elements => continue,
        };
        let Expr::Call(call) = description else { continue };
        let (mut lengths, mut gaps) = (Vec::new(), None);
        for arg in &call.args {
            match given(arg.clone()) {
                Given::Positional(arg) => {
                    if let Some(name) = window.lengths.get(lengths.len()) {
                        lengths.push(Length::of(name, of, arg, diagnostics));
                    }
                }
                Given::Named(given) => {
                    if let Some(known) = window.named.iter().find(|known| given.name == known.name) {
                        value(known.name, known.value, &given.value, diagnostics);
                        offset(known, &given.value, lengths.last(), diagnostics);
                    }
                    gaps = if given.name == ops::GAPS { Some(given.value) } else { gaps };
                }
            }
        }
        if let [size, slide] = &lengths[..] {
            overlap(size, slide, gaps.as_ref(), diagnostics);
        }
    }
}

/// `days(30h)`: a day begins less than a day before or after that of UTC.
fn utc_offset(description: &Expr, diagnostics: &mut Diagnostics) {
    let Expr::Call(call) = description else { return };
    let Some(offset) = call.args.first() else { return };
    match duration::argument(offset) {
        Argument::Bare(digits) => {
            let sign = if matches!(offset, Expr::Unary(_)) { "-" } else { "" };
            diagnostics.error(offset, message::offset_without_unit(&format!("{sign}{digits}")));
        }
        Argument::Millis(millis) if millis.unsigned_abs() >= DAY_MS => {
            let text = crate::text::text(quote::quote!(#offset));
            diagnostics.error(offset, message::not_an_offset_from_utc(&text));
        }
        Argument::Millis(_) | Argument::Expression => {}
    }
}

const DAY_MS: u64 = 86_400_000;

/// `"5s"` where a duration belongs.
fn quoted(given: &Expr, diagnostics: &mut Diagnostics) {
    if let Expr::Lit(lit) = given
        && let Lit::Str(text) = &lit.lit
        && syn::parse_str(&text.value())
            .is_ok_and(|int| matches!(duration::number(&int), Number::Duration(_)))
    {
        diagnostics.error(given, message::quoted_duration(&text.value()));
    }
}

/// A length in a window's description.
struct Length {
    /// `size` or `slide`.
    name: &'static str,
    at: Expr,
    text: String,
    /// Of a literal that can be one.
    millis: Option<i64>,
}

impl Length {
    fn of(name: &'static str, of: &str, at: Expr, diagnostics: &mut Diagnostics) -> Length {
        let text = crate::text::text(quote::quote!(#at));
        let millis = match duration::argument(&at) {
            Argument::Bare(digits) => {
                diagnostics.error(&at, message::duration_without_unit(digits));
                None
            }
            Argument::Millis(millis) if millis <= 0 => {
                diagnostics.error(&at, message::not_positive(&format!("the {name} of {of}"), &text));
                None
            }
            Argument::Millis(millis) => Some(millis),
            Argument::Expression => {
                quoted(&at, diagnostics);
                None
            }
        };
        Length { name, at, text, millis }
    }
}

/// `period` is the distance from one window to the next.
fn offset(known: &ops::Named, given: &Expr, period: Option<&Length>, diagnostics: &mut Diagnostics) {
    if known.value == Value::SignedDuration
        && let (Argument::Millis(offset), Some(period)) = (duration::argument(given), period)
        && period.millis.is_some_and(|millis| offset.unsigned_abs() >= millis.unsigned_abs())
    {
        let text = crate::text::text(quote::quote!(#given));
        diagnostics.error(given, message::offset_too_large(&text, period.name, &period.text));
    }
}

/// `sliding(1s, 1min)` without `gaps = true`; `sliding(1d, 1ms)`, which puts each record into 86,400,000 windows.
fn overlap(size: &Length, slide: &Length, gaps: Option<&Expr>, diagnostics: &mut Diagnostics) {
    let (Some(size_ms), Some(slide_ms)) = (size.millis, slide.millis) else { return };
    // Of an expression only the run knows the value.
    let refused = gaps.is_none_or(|gaps| crate::text::text(quote::quote!(#gaps)) == "false");
    if slide_ms > size_ms && refused {
        diagnostics.error(&slide.at, message::gaps(&size.text, &slide.text));
    }
    let windows = (i128::from(size_ms) + i128::from(slide_ms) - 1) / i128::from(slide_ms);
    if windows > ops::OVERLAPPING_MAX.into() {
        diagnostics.error(&slide.at, message::too_many_windows(windows, ops::OVERLAPPING_MAX));
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
                    && let Number::Duration(millis) = duration::number(int)
                {
                    diagnostics.error(int, message::duration_in_plain_rust(&int.to_string(), millis));
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
                diagnostics.error(
                    int,
                    message::unknown_unit(int.suffix(), int.base10_digits(), duration::parts(int)),
                );
            }
            Number::TooLong => diagnostics.error(int, message::duration_too_long()),
            Number::Duration(_) | Number::Bare | Number::Rust => {}
        },
        Lit::Float(float) if duration::is_fractional(float) => {
            diagnostics.error(float, message::fractional_duration(duration::whole(float)));
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
