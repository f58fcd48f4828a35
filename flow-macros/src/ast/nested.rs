//! Streams inside statements that are plain Rust, such as an `if`: what is made of them there belongs to no pipeline.

use super::classify::Scope;
use super::statement::Raw;
use crate::diag::Diagnostics;
use crate::message;
use std::collections::HashSet;
use syn::visit::{self, Visit};
use syn::{Expr, Item, PatIdent};

/// Reports every outermost stream inside a plain statement. What the statement binds itself is not the stream of that name.
pub(super) fn streams(raw: &Raw, scope: &Scope, diagnostics: &mut Diagnostics) {
    let mut bound = Bound::default();
    walk(raw, &mut bound);
    let inner = scope.without(&bound.0);
    let mut nested = Nested { scope: &inner, found: Vec::new() };
    walk(raw, &mut nested);
    for expr in nested.found {
        diagnostics.error(expr, message::stream_in_plain_rust());
    }
}

fn walk<'a>(raw: &'a Raw, visitor: &mut impl Visit<'a>) {
    match raw {
        Raw::Let(local) => {
            if let Some(init) = &local.init {
                visitor.visit_local_init(init);
            }
        }
        Raw::Expr(expr) => visitor.visit_expr(expr),
        Raw::Other(statement) => visitor.visit_stmt(statement),
        Raw::Broken { .. } => {}
    }
}

#[derive(Default)]
struct Bound(HashSet<String>);

impl<'a> Visit<'a> for Bound {
    fn visit_pat_ident(&mut self, pat: &'a PatIdent) {
        self.0.insert(pat.ident.to_string());
        visit::visit_pat_ident(self, pat);
    }
}

struct Nested<'a, 's> {
    scope: &'s Scope,
    found: Vec<&'a Expr>,
}

impl<'a> Visit<'a> for Nested<'a, '_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if self.scope.is_known_stream(expr) {
            self.found.push(expr);
        } else {
            visit::visit_expr(self, expr);
        }
    }
    /// An item sees nothing of what is around it.
    fn visit_item(&mut self, _: &'a Item) {}
}
