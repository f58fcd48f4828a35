//! The bodies of loops, as far as they are no text of the macro's: see [`InABody`].

use crate::ops;
use proc_macro2::Ident;
use syn::visit::Visit;
use syn::{Expr, ExprClosure, ExprMethodCall};

/// What has no place in the body of a loop, which is written with the methods of the builder.
#[derive(Default)]
pub(super) struct InABody {
    /// The operators that end a stream, and those that part one.
    pub ends: Vec<Ident>,
    pub parts: Vec<Ident>,
    /// The arguments with names, whose they are, and whether the builder has them without it.
    pub named: Vec<(Ident, Ident, bool)>,
}

impl InABody {
    pub fn of(body: &Expr) -> Self {
        let mut found = Self::default();
        if let Expr::Closure(closure) = body {
            Visit::visit_expr(&mut found, &closure.body);
        }
        found
    }

    /// Operators that are loops have bodies too.
    fn look_into(&mut self, call: &ExprMethodCall) {
        for arg in &call.args {
            match arg {
                Expr::Assign(named) => {
                    if let Expr::Path(path) = &*named.left
                        && let Some(name) = path.path.get_ident()
                    {
                        let row = ops::operator(&call.method.to_string());
                        let known = row.and_then(|row| row.named.iter().find(|one| *name == one.name));
                        let alone = known.is_some_and(|known| known.positional);
                        self.named.push((call.method.clone(), name.clone(), alone));
                    }
                }
                Expr::Closure(closure) if call.method.to_string().starts_with("iterate") => {
                    Visit::visit_expr(self, &closure.body);
                }
                _ => {}
            }
        }
    }
}

impl<'a> Visit<'a> for InABody {
    fn visit_expr_method_call(&mut self, call: &'a ExprMethodCall) {
        // Iterators have a `collect` and a `for_each` too: those are in the closures of operators.
        if let Some(row) = ops::operator(&call.method.to_string()) {
            if row.output == ops::Output::Terminal {
                self.ends.push(call.method.clone());
            }
            if matches!(row.output, ops::Output::Sides { .. }) {
                self.parts.push(call.method.clone());
            }
            self.look_into(call);
        }
        self.visit_expr(&call.receiver);
    }
    fn visit_expr_closure(&mut self, _: &'a ExprClosure) {}
}
