//! Aggregates: what `|a| (a.count(), a.mean(|r| …))` asks of its handle is there.

use super::{calls, values};
use crate::diag::Diagnostics;
use crate::foreign;
use crate::graph::Graph;
use crate::message;
use crate::suggest::closest;
use syn::visit::{self, Visit};
use syn::{Expr, ExprMethodCall, Pat};

/// What the handle gives: name, number of arguments, how it looks. `docs/operators.md` has the same table for users.
const KNOWN: &[(&str, usize, &str)] = &[
    ("count", 0, "a.count()"),
    ("sum", 1, "a.sum(|record| …)"),
    ("wrapping_sum", 1, "a.wrapping_sum(|record| …)"),
    ("min", 1, "a.min(|record| …)"),
    ("max", 1, "a.max(|record| …)"),
    ("mean", 1, "a.mean(|record| …)"),
    ("variance", 1, "a.variance(|record| …)"),
    ("first", 0, "a.first()"),
    ("last", 0, "a.last()"),
    ("collect", 0, "a.collect()"),
    ("top_k", 2, "a.top_k(10, |record| …)"),
    ("count_distinct", 1, "a.count_distinct(|record| …)"),
    ("fold", 2, "a.fold(init, |acc, record| …)"),
    ("reduce", 1, "a.reduce(|acc, record| …)"),
    ("by", 1, "a.by(aggregate)"),
];

/// `|a| a.avg(|r| r.fare)` and `|a| a.count(|r| r.id)`.
pub(super) fn are_known(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (_, call, _) in calls(graph).filter(|(_, _, row)| row.usage.contains("(|a| ")) {
        let Some(Expr::Closure(closure)) = values(call).next() else { continue };
        if let Some(Pat::Ident(handle)) = closure.inputs.first() {
            Asked { handle, diagnostics }.visit_expr(&closure.body);
        }
    }
}

struct Asked<'d> {
    handle: &'d syn::PatIdent,
    diagnostics: &'d mut Diagnostics,
}

impl Visit<'_> for Asked<'_> {
    fn visit_expr_method_call(&mut self, call: &ExprMethodCall) {
        if matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident(&self.handle.ident)) {
            asked(call, self.diagnostics);
        }
        visit::visit_expr_method_call(self, call);
    }
}

fn asked(call: &ExprMethodCall, diagnostics: &mut Diagnostics) {
    let name = call.method.to_string();
    let Some((_, args, usage)) = KNOWN.iter().find(|(known, _, _)| *known == name) else {
        let meant = foreign::aggregate_called(&name)
            .or_else(|| closest(&name, KNOWN.iter().map(|(known, _, _)| *known)));
        let usage = KNOWN.iter().find(|(known, _, _)| Some(*known) == meant);
        if let Some((_, _, usage)) = usage {
            diagnostics.error(&call.method, message::unknown_aggregate(&name, usage));
        }
        return;
    };
    if call.args.len() < *args {
        diagnostics.error(&call.method, message::few_arguments(&name, *args, usage));
    } else if call.args.len() > *args {
        diagnostics.error(&call.method, message::many_arguments(&name, *args, usage));
    }
}
