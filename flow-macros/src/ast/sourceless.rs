//! A pipeline without a stream: most likely a `source(…)` is missing around what is read.

use super::statement::Raw;
use crate::ops;
use syn::Expr;

/// What an operator is called on, first of all.
pub(super) fn root(raw: &[Raw]) -> Option<&Expr> {
    raw.iter().find_map(|one| match one {
        Raw::Expr(expr) => below_operators(expr),
        Raw::Let(local) => local.init.as_ref().and_then(|init| below_operators(&init.expr)),
        Raw::Other(_) | Raw::Broken { .. } => None,
    })
}

/// `lines(path)` of `lines(path).map(f).for_each(g)`.
fn below_operators(expr: &Expr) -> Option<&Expr> {
    let Expr::MethodCall(call) = expr else { return None };
    let below = below_operators(&call.receiver);
    below.or_else(|| ops::operator(&call.method.to_string()).map(|_| &*call.receiver))
}
