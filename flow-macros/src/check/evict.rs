//! Evictors: something of a window is kept, and there is what it goes by.

use super::time::called;
use super::{calls, values};
use crate::diag::Diagnostics;
use crate::duration::{self, Argument};
use crate::graph::{Domain, Graph};
use crate::message;
use crate::ops::{Closures, Input, Operator, Output};
use syn::Expr;

/// The evictor that keeps the last records.
const LAST: &str = "last";

/// `.evict(2)` does not say which two; `last(0)` keeps none; `last(10s)` needs to know when a record happened.
pub(super) fn something_is_kept(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (node, call, _) in calls(graph).filter(|(_, _, row)| is_evictor(row)) {
        for expr in values(call) {
            match expr {
                Expr::Lit(_) | Expr::Unary(_) => {
                    let kept = crate::text::text(quote::quote!(#expr));
                    diagnostics.error(expr, message::evict_of_a_value(&kept));
                }
                Expr::Call(kept) if called(expr).as_deref() == Some(LAST) => {
                    let timeless = node.input.time == Domain::None;
                    kept.args.iter().for_each(|length| last(length, timeless, diagnostics));
                }
                _ => {}
            }
        }
    }
}

/// Behind a window, which stays one, without a closure that builds: that is a trigger.
pub(super) fn is_evictor(row: &Operator) -> bool {
    row.input == Input::Window && row.output == Output::Same && row.closures == Closures::Owned
}

fn last(length: &Expr, timeless: bool, diagnostics: &mut Diagnostics) {
    let text = crate::text::text(quote::quote!(#length));
    match duration::argument(length) {
        Argument::Bare(digits) if digits.parse() == Ok(0) => {
            diagnostics.error(length, message::keeps_nothing(&text));
        }
        Argument::Millis(millis) if millis <= 0 => diagnostics.error(length, message::keeps_nothing(&text)),
        Argument::Millis(_) if timeless => {
            diagnostics.error(length, message::last_without_event_time(&text));
        }
        _ => {}
    }
}
