//! Contexts: what the closures of a process and of whole windows ask of them by the names of elsewhere.

use super::{calls, values};
use crate::ast::{block, names};
use crate::diag::Diagnostics;
use crate::foreign;
use crate::graph::Graph;
use crate::message;
use crate::ops::{Closures, Input, Output};
use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{Expr, ExprClosure, ExprMethodCall};

/// `ctx.register_event_time_timer(t)` in a process, `w.collect(x)` in a window.
pub(super) fn are_asked_for_what_they_have(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (_, call, row) in calls(graph) {
        for expr in values(call) {
            match (row.closures, expr) {
                (Closures::Block, expr) => {
                    let handlers = block(expr).map(|block| block.handlers).unwrap_or_default();
                    // what `on_broadcast` is given has next to nothing
                    for handler in handlers.iter().filter(|one| one.name != "on_broadcast") {
                        asked(&handler.closure, handler.closure.inputs.last(), &|_| true, diagnostics);
                    }
                }
                (_, Expr::Closure(closure)) if row.input == Input::Window && row.output == Output::Plain => {
                    let context = closure.inputs.first().filter(|_| closure.inputs.len() == 2);
                    let has = |call: &str| call.starts_with("emit") || call.starts_with("key");
                    asked(closure, context, &has, diagnostics);
                }
                _ => {}
            }
        }
    }
}

fn asked(
    closure: &ExprClosure,
    context: Option<&syn::Pat>,
    has: &dyn Fn(&str) -> bool,
    diagnostics: &mut Diagnostics,
) {
    if let Some(context) = context.and_then(|pat| names(pat).into_iter().next()) {
        Asked { context, has, diagnostics }.visit_expr(&closure.body);
    }
}

struct Asked<'d> {
    context: Ident,
    /// Whether a context of this kind has what would be written instead.
    has: &'d dyn Fn(&str) -> bool,
    diagnostics: &'d mut Diagnostics,
}

impl Visit<'_> for Asked<'_> {
    fn visit_expr_method_call(&mut self, call: &ExprMethodCall) {
        if matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident(&self.context)) {
            let name = call.method.to_string();
            if let Some(instead) = foreign::of_contexts(&name).filter(|instead| (self.has)(instead)) {
                let message = message::foreign_in_context(&self.context, &name, instead);
                self.diagnostics.error(&call.method, message);
            }
        }
        visit::visit_expr_method_call(self, call);
    }
}
