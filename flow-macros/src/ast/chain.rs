//! `source(x).map(…).filter(…)`: an expression → a chain of operator calls.

use super::classify::Scope;
use super::{Arg, Call, Chain, NamedArg, Start};
use crate::diag::Diagnostics;
use crate::message;
use crate::ops;
use proc_macro2::Ident;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprCall, ExprField, ExprMethodCall, Member, Token};

/// What an expression begins with, seen through its method calls.
pub(super) enum Root<'a> {
    /// A name, and the first and last method called on it.
    Name {
        name: &'a Ident,
        first: Option<&'a Ident>,
        last: Option<&'a Ident>,
    },
    Other,
}

pub(super) fn root(expr: &Expr) -> Root<'_> {
    let (mut at, mut first, mut last) = (expr, None, None);
    loop {
        let (method, receiver) = match at {
            Expr::MethodCall(call) => (Some(&call.method), &call.receiver),
            Expr::Field(ExprField { member: Member::Named(name), base, .. }) => (Some(name), base),
            Expr::Paren(paren) => (None, &paren.expr),
            Expr::Group(group) => (None, &group.expr),
            Expr::Try(attempt) => (None, &attempt.expr),
            Expr::Await(wait) => (None, &wait.base),
            _ => break,
        };
        first = method.or(first);
        last = last.or(method);
        at = receiver;
    }
    match at {
        Expr::Path(path) => {
            path.path.get_ident().map_or(Root::Other, |name| Root::Name { name, first, last })
        }
        _ => Root::Other,
    }
}

/// `source(…)`, also by its full path.
pub(super) fn is_source(call: &ExprCall) -> bool {
    matches!(&*call.func, Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "source"))
}

/// Input: `source(x).map(f).filter(g)`
/// Output: the start `source(x)` and the calls `map(f)`, `filter(g)`.
pub(super) fn chain(expr: Expr, scope: &Scope, diagnostics: &mut Diagnostics) -> Chain {
    let opaque = !scope.is_stream(&expr);
    let mut calls = Vec::new();
    let mut at = expr;
    let start = loop {
        at = match at {
            Expr::MethodCall(call) if scope.is_function(&call) => break Expr::MethodCall(call),
            // behind an annotation anything may stand: only its operators are ours
            Expr::MethodCall(call) if !opaque || ops::operator(&call.method.to_string()).is_some() => {
                let (receiver, call) = method_call(call, scope, diagnostics);
                calls.push(call);
                receiver
            }
            Expr::Field(field) if !opaque && matches!(field.member, Member::Named(_)) => {
                calls.extend(half_typed(field.member));
                *field.base
            }
            Expr::Paren(paren) if !opaque => *paren.expr,
            Expr::Group(group) => *group.expr,
            start => break start,
        };
    };
    calls.reverse();
    Chain { start: begin(start, opaque, scope, diagnostics), calls }
}

fn begin(expr: Expr, opaque: bool, scope: &Scope, diagnostics: &mut Diagnostics) -> Start {
    match expr {
        expr if opaque => Start::Opaque(Box::new(expr)),
        Expr::Call(call) if is_source(&call) => Start::Source(call),
        Expr::Call(call) => function(*call.func, call.args, scope, diagnostics),
        Expr::MethodCall(call) if scope.is_function(&call) => {
            let ExprMethodCall { receiver, dot_token, method, turbofish, args, .. } = call;
            function(
                Expr::Verbatim(quote!(#receiver #dot_token #method #turbofish)),
                args,
                scope,
                diagnostics,
            )
        }
        Expr::Path(path) if path.path.get_ident().is_some() => match path.path.segments.into_iter().next() {
            Some(segment) => Start::Stream(segment.ident),
            None => Start::Opaque(Box::new(Expr::Verbatim(Default::default()))),
        },
        // `a.map(…)?`, `a.0`, `a.await`
        other => {
            diagnostics.error(&other, message::not_a_chain());
            Start::Opaque(Box::new(other))
        }
    }
}

fn function(
    func: Expr,
    args: Punctuated<Expr, Token![,]>,
    scope: &Scope,
    diagnostics: &mut Diagnostics,
) -> Start {
    let args = args.into_iter().map(|arg| argument(arg, false, scope, diagnostics)).collect();
    Start::Function { func: Box::new(func), args }
}

fn method_call(call: ExprMethodCall, scope: &Scope, diagnostics: &mut Diagnostics) -> (Expr, Call) {
    let streams_only = ops::operator(&call.method.to_string()).is_some_and(|row| row.fan_in);
    let (mut args, mut named) = (Vec::new(), Vec::new());
    for arg in call.args {
        match given(arg) {
            Given::Named(one) => named.push(one),
            Given::Positional(arg) => args.push(argument(arg, streams_only, scope, diagnostics)),
        }
    }
    let new =
        Call { name: call.method, turbofish: call.turbofish, args, named, paren: Some(call.paren_token) };
    (*call.receiver, new)
}

/// `source(x).filt`: an operator whose parentheses are still missing.
fn half_typed(member: Member) -> Option<Call> {
    match member {
        Member::Named(name) => Some(Call { name, turbofish: None, args: vec![], named: vec![], paren: None }),
        Member::Unnamed(_) => None,
    }
}

/// A stream among the arguments is a chain of its own.
fn argument(expr: Expr, streams_only: bool, scope: &Scope, diagnostics: &mut Diagnostics) -> Arg {
    let is_name = matches!(&expr, Expr::Path(path) if path.path.get_ident().is_some());
    if let (true, true, Expr::Path(path)) = (streams_only, is_name, &expr) {
        let name = path.path.get_ident().cloned();
        return name.map_or(Arg::Value(expr), |name| {
            Arg::Stream(Chain { start: Start::Stream(name), calls: vec![] })
        });
    }
    if scope.is_known_stream(&expr) {
        return Arg::Stream(chain(expr, scope, diagnostics));
    }
    Arg::Value(expr)
}

/// An argument, named or not.
pub(crate) enum Given {
    Named(NamedArg),
    Positional(Expr),
}

/// Input: `late = side`
/// Output: the name `late` with the value `side`; anything else is positional.
pub(crate) fn given(expr: Expr) -> Given {
    let name = match &expr {
        Expr::Assign(assign) => match &*assign.left {
            Expr::Path(path) => path.path.get_ident().cloned(),
            _ => None,
        },
        _ => None,
    };
    match (name, expr) {
        (Some(name), Expr::Assign(assign)) => Given::Named(NamedArg { name, value: *assign.right }),
        (_, expr) => Given::Positional(expr),
    }
}
