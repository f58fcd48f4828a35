//! What closures give back, where rustc knows less of what was meant: a key that is borrowed from its record, a fold that
//! makes a value instead of changing one, `?` where nothing may fail.

use super::calls;
use crate::ast::{Arg, names};
use crate::diag::Diagnostics;
use crate::free;
use crate::graph::Graph;
use crate::message;
use crate::ops::{Operator, Returns};
use crate::text::text;
use proc_macro2::Ident;
use quote::{ToTokens, quote};
use syn::{BinOp, Expr, ExprClosure, Pat, ReturnType, Stmt, UnOp};

/// Looks at the closures that stand in the pipeline itself.
pub(super) fn closures_return_what_is_meant(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (_, call, row) in calls(graph) {
        let closure = row.closure_at().and_then(|at| call.args.get(at));
        let Some(Arg::Value(Expr::Closure(closure))) = closure else { continue };
        match row.returns {
            Returns::Owned => own_key(closure, diagnostics),
            Returns::Nothing => change_in_place(closure, row.name, diagnostics),
            Returns::Record => not_fail(closure, row, diagnostics),
            Returns::Anything => {}
        }
    }
}

/// `key_by(|r| &r.city)`: a key outlives the record that it was taken from.
fn own_key(closure: &ExprClosure, diagnostics: &mut Diagnostics) {
    let params: Vec<Ident> = closure.inputs.iter().filter(|pat| !by_value(pat)).flat_map(names).collect();
    let body = tail(&closure.body);
    let Some(place) = borrowed(body, &params) else { return };
    let (inputs, parts) = (&closure.inputs, matches!(body, Expr::Tuple(_)));
    let clone = text(quote!(#place.clone()));
    let help = if parts {
        format!("clone what is borrowed: `{clone}`")
    } else {
        let by_ref = text(quote!(|#inputs| #body));
        let owned = text(quote!(|#inputs| #place.clone()));
        format!("write `.key_by_ref({by_ref})`, which clones it once a key, or `.key_by({owned})`")
    };
    diagnostics.error(body, message::borrowed_key(&help));
}

/// `|&x|`: what it binds is a copy.
fn by_value(pat: &Pat) -> bool {
    match pat {
        Pat::Reference(_) => true,
        Pat::Paren(paren) => by_value(&paren.pat),
        Pat::Type(typed) => by_value(&typed.pat),
        _ => false,
    }
}

/// The place in a parameter of which an expression is a reference.
fn borrowed<'e>(expr: &'e Expr, params: &[Ident]) -> Option<&'e Expr> {
    match expr {
        Expr::Path(_) if free::is_part(expr, params) => Some(expr),
        Expr::Reference(reference) if free::is_part(&reference.expr, params) => Some(&reference.expr),
        Expr::MethodCall(call) if call.method == "as_str" && free::is_part(&call.receiver, params) => {
            Some(&call.receiver)
        }
        Expr::Tuple(tuple) => tuple.elems.iter().find_map(|part| borrowed(part, params)),
        Expr::Paren(paren) => borrowed(&paren.expr, params),
        _ => None,
    }
}

/// `fold(0, |sum, r| *sum + r.fare)`: the accumulator is changed where it is.
fn change_in_place(closure: &ExprClosure, operator: &str, diagnostics: &mut Diagnostics) {
    let Some(Pat::Ident(acc)) = closure.inputs.first() else { return };
    let body = tail(&closure.body);
    let is_acc = |expr: &Expr| free::is_part(expr, std::slice::from_ref(&acc.ident));
    let help = match body {
        Expr::Binary(binary) => {
            let left = match &*binary.left {
                Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => &*unary.expr,
                other => other,
            };
            let (inputs, name, right) = (&closure.inputs, &acc.ident, &binary.right);
            match assigning(&binary.op) {
                None => return,
                Some("") => None,
                Some(op) => {
                    let op: proc_macro2::TokenStream = op.parse().unwrap_or_default();
                    is_acc(left).then(|| text(quote!(|#inputs| *#name #op #right)))
                }
            }
        }
        Expr::Lit(_) => None,
        expr if is_acc(expr) => None,
        _ => return,
    };
    let help = help.unwrap_or_else(|| {
        let inputs = &closure.inputs;
        format!("{} *{} = …", text(quote!(|#inputs|)), acc.ident)
    });
    diagnostics.error(body, message::value_of_a_fold(operator, &help));
}

/// `+=` for `+`, nothing for what has no such form, `None` for what assigns already.
fn assigning(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Add(_) => "+=",
        BinOp::Sub(_) => "-=",
        BinOp::Mul(_) => "*=",
        BinOp::Div(_) => "/=",
        BinOp::Rem(_) => "%=",
        BinOp::BitXor(_) => "^=",
        BinOp::BitAnd(_) => "&=",
        BinOp::BitOr(_) => "|=",
        BinOp::Shl(_) => "<<=",
        BinOp::Shr(_) => ">>=",
        BinOp::And(_) | BinOp::Or(_) | BinOp::Eq(_) | BinOp::Ne(_) => "",
        BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => "",
        _ => return None,
    })
}

/// `map(|r| r.parse::<u64>()?)`: what it returns at an error is no record.
fn not_fail(closure: &ExprClosure, row: &Operator, diagnostics: &mut Diagnostics) {
    if let (Expr::Try(attempt), ReturnType::Default) = (tail(&closure.body), &closure.output) {
        let tried = text(attempt.expr.to_token_stream());
        diagnostics.error(&attempt, message::nothing_may_fail(row, &tried));
    }
}

/// What a closure's body gives.
fn tail(body: &Expr) -> &Expr {
    match body {
        Expr::Paren(paren) => tail(&paren.expr),
        Expr::Group(group) => tail(&group.expr),
        Expr::Block(block) if block.label.is_none() => match block.block.stmts.last() {
            Some(Stmt::Expr(expr, None)) => tail(expr),
            _ => body,
        },
        _ => body,
    }
}
