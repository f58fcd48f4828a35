//! Which statements are streams; every other one is plain Rust and passes through.
//!
//! A stream is a `let` whose right side starts with `source(…)` or with a stream's name, or is a call with a
//! stream among its arguments; `let x: Stream<_> = …` forces it. An expression statement that starts so ends a
//! stream. A name means what the nearest statement above it says.

use super::chain::{Root, chain, is_source, root};
use super::head::names;
use super::nested;
use super::statement::Raw;
use super::{Binding, Broken, Line, Plain, Side, Statement};
use crate::diag::Diagnostics;
use crate::message;
use crate::ops;
use crate::suggest::closest;
use proc_macro2::{Ident, TokenStream, TokenTree};
use std::collections::{HashMap, HashSet};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprMethodCall, Local, Pat, Stmt, Token, Type, spanned::Spanned};

/// What the names of a body mean at the statement that is looked at.
pub(super) struct Scope {
    /// Name → is it a stream.
    names: HashMap<String, bool>,
    /// Names that `let`s further down bind.
    later: Vec<String>,
    /// The item form: every name comes from the text we see.
    closed: bool,
}

pub(super) fn classify(
    raw: Vec<Raw>,
    params: &[Ident],
    closed: bool,
    diagnostics: &mut Diagnostics,
) -> Vec<Statement> {
    let names = params.iter().map(|param| (param.to_string(), false)).collect();
    let later = raw.iter().flat_map(binds).map(|name| name.to_string()).collect();
    let mut scope = Scope { names, later, closed };
    let mut statements = Vec::with_capacity(raw.len());
    for raw in raw {
        let statement = statement(raw, &scope, diagnostics);
        let (binds, is_stream) = bound(&statement);
        let is_macro = matches!(&statement, Statement::Plain(plain) if plain.may_bind);
        for name in binds {
            if !(is_macro && scope.names.contains_key(&name)) {
                scope.names.insert(name, is_stream);
            }
        }
        statements.push(statement);
    }
    statements
}

fn statement(raw: Raw, scope: &Scope, diagnostics: &mut Diagnostics) -> Statement {
    match raw {
        Raw::Let(local) => match right_side(&local) {
            Some(expr) if is_forced(&local) || scope.is_stream(expr) => stream_let(local, scope, diagnostics),
            _ => {
                let raw = Raw::Let(local);
                nested::streams(&raw, scope, diagnostics);
                plain(raw)
            }
        },
        Raw::Expr(expr) if scope.is_stream(&expr) => {
            for attr in statement_attributes(&expr) {
                if attr.path().is_ident("was") {
                    diagnostics.error(attr, message::was_without_name());
                } else {
                    foreign(attr, diagnostics);
                }
            }
            let chain = chain(expr, scope, diagnostics);
            let line = Line { binding: Binding::Nothing, annotation: None, was: None, chain };
            Statement::Stream(Box::new(line))
        }
        Raw::Broken { tokens, binds } => Statement::Broken(Broken { tokens, binds }),
        other => {
            nested::streams(&other, scope, diagnostics);
            plain(other)
        }
    }
}

fn plain(raw: Raw) -> Statement {
    let (binds, may_bind) = (binds(&raw), matches!(raw, Raw::Other(Stmt::Macro(_))));
    Statement::Plain(Plain { tokens: raw.into_tokens(), binds, may_bind })
}

fn stream_let(local: Local, scope: &Scope, diagnostics: &mut Diagnostics) -> Statement {
    let (names, others): (Vec<_>, Vec<_>) = local.attrs.iter().partition(|attr| attr.path().is_ident("was"));
    others.into_iter().for_each(|attr| foreign(attr, diagnostics));
    for again in names.iter().skip(1) {
        diagnostics.error(again, message::was_again());
    }
    let was = names.first().and_then(|attr| was(attr, diagnostics));
    let (pat, annotation) = match local.pat {
        Pat::Type(typed) => (*typed.pat, Some(*typed.ty)),
        pat => (pat, None),
    };
    let binding = binding(&pat, diagnostics);
    let init = local.init.map(|init| {
        if let Some((word, block)) = &init.diverge {
            diagnostics.error(&quote::quote!(#word #block), message::let_else());
        }
        *init.expr
    });
    // `right_side` found it before
    let expr = init.unwrap_or_else(|| Expr::Verbatim(Default::default()));
    Statement::Stream(Box::new(Line { binding, annotation, was, chain: chain(expr, scope, diagnostics) }))
}

/// An attribute of a stream that no one would obey: a stream is no statement of its own in what rustc sees.
fn foreign(attr: &Attribute, diagnostics: &mut Diagnostics) {
    if !attr.path().is_ident("doc") {
        diagnostics.error(attr, message::stream_attribute(attr));
    }
}

/// The attributes before an expression statement, which syn hangs to one of the calls of its chain.
fn statement_attributes(expr: &Expr) -> Vec<&Attribute> {
    let (attrs, inner) = match expr {
        Expr::MethodCall(call) => (&call.attrs, Some(&*call.receiver)),
        Expr::Call(call) => (&call.attrs, Some(&*call.func)),
        Expr::Try(attempt) => (&attempt.attrs, Some(&*attempt.expr)),
        Expr::Field(field) => (&field.attrs, Some(&*field.base)),
        Expr::Path(path) => (&path.attrs, None),
        _ => return Vec::new(),
    };
    attrs.iter().chain(inner.into_iter().flat_map(statement_attributes)).collect()
}

/// `#[was(old)]`
fn was(attr: &Attribute, diagnostics: &mut Diagnostics) -> Option<Ident> {
    let name = attr.parse_args::<Ident>().ok();
    if name.is_none() {
        diagnostics.error(attr, message::was_no_name());
    }
    name
}

/// A name, or a tuple of names and `_`.
fn binding(pat: &Pat, diagnostics: &mut Diagnostics) -> Binding {
    let side = |pat: &Pat| match pat {
        Pat::Ident(pat) if pat.subpat.is_none() && pat.by_ref.is_none() => {
            Some(Side { name: Some(pat.ident.clone()), span: pat.ident.span() })
        }
        Pat::Wild(wild) => Some(Side { name: None, span: wild.span() }),
        _ => None,
    };
    let sides = match pat {
        Pat::Wild(_) => return Binding::Nothing,
        Pat::Tuple(tuple) => tuple.elems.iter().map(side).collect::<Option<Vec<_>>>(),
        pat => match side(pat).and_then(|side| side.name) {
            Some(name) => return Binding::Name(name),
            None => None,
        },
    };
    sides.map_or_else(
        || {
            diagnostics.error(pat, message::stream_pattern());
            Binding::Names(
                names(pat).into_iter().map(|name| Side { span: name.span(), name: Some(name) }).collect(),
            )
        },
        Binding::Names,
    )
}

fn right_side(local: &Local) -> Option<&Expr> {
    local.init.as_ref().map(|init| &*init.expr)
}

/// `let x: Stream<_> = …`
fn is_forced(local: &Local) -> bool {
    let Pat::Type(typed) = &local.pat else { return false };
    let Type::Path(path) = &*typed.ty else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "Stream")
}

fn binds(raw: &Raw) -> Vec<Ident> {
    match raw {
        Raw::Let(local) => names(&local.pat),
        Raw::Other(Stmt::Local(local)) => names(&local.pat),
        Raw::Other(Stmt::Macro(call)) => idents(call.mac.tokens.clone()),
        Raw::Broken { binds, .. } => binds.clone(),
        Raw::Expr(_) | Raw::Other(_) => Vec::new(),
    }
}

/// What a macro may bind: any name that is given to it.
fn idents(tokens: TokenStream) -> Vec<Ident> {
    tokens
        .into_iter()
        .filter_map(|token| if let TokenTree::Ident(name) = token { Some(name) } else { None })
        .collect()
}

/// The names a statement binds, and whether they are streams. What a broken statement binds may be one.
fn bound(statement: &Statement) -> (Vec<String>, bool) {
    let text = |names: &[Ident]| names.iter().map(Ident::to_string).collect();
    match statement {
        Statement::Stream(line) => (line.binding.names().map(Ident::to_string).collect(), true),
        Statement::Plain(plain) => (text(&plain.binds), false),
        Statement::Broken(broken) => (text(&broken.binds), true),
    }
}

impl Binding {
    pub fn names(&self) -> impl Iterator<Item = &Ident> {
        let (one, many): (Option<&Ident>, &[Side]) = match self {
            Binding::Nothing => (None, &[]),
            Binding::Name(name) => (Some(name), &[]),
            Binding::Names(sides) => (None, sides),
        };
        one.into_iter().chain(many.iter().filter_map(|side| side.name.as_ref()))
    }
}

impl Scope {
    /// The same scope where these names mean something else.
    pub fn without(&self, names: &HashSet<String>) -> Scope {
        let kept = self.names.iter().filter(|(name, _)| !names.contains(*name));
        let names = kept.map(|(name, is_stream)| (name.clone(), *is_stream)).collect();
        Scope { names, later: self.later.clone(), closed: self.closed }
    }

    /// Does the expression start at a stream?
    pub fn is_stream(&self, expr: &Expr) -> bool {
        match root(expr) {
            Root::Name { name, first, last } if self.names_stream(name, first, last) => true,
            _ => self.is_known_stream(expr),
        }
    }

    /// As `is_stream`, without guessing what a misspelt name was meant to be.
    pub fn is_known_stream(&self, expr: &Expr) -> bool {
        match expr {
            Expr::MethodCall(call) => self.is_known_stream(&call.receiver) || self.takes_streams(&call.args),
            Expr::Call(call) => is_source(call) || self.takes_streams(&call.args),
            Expr::Path(path) => {
                path.path.get_ident().is_some_and(|name| self.names.get(&name.to_string()) == Some(&true))
            }
            Expr::Paren(paren) => self.is_known_stream(&paren.expr),
            Expr::Group(group) => self.is_known_stream(&group.expr),
            Expr::Try(attempt) => self.is_known_stream(&attempt.expr),
            Expr::Await(wait) => self.is_known_stream(&wait.base),
            Expr::Field(field) => self.is_known_stream(&field.base),
            _ => false,
        }
    }

    fn takes_streams(&self, args: &Punctuated<Expr, Token![,]>) -> bool {
        args.iter().any(|arg| self.is_known_stream(arg))
    }

    /// `merger.merge(a, b)`: a function of streams that is a method of something else.
    pub fn is_function(&self, call: &ExprMethodCall) -> bool {
        !self.is_stream(&call.receiver) && self.takes_streams(&call.args)
    }

    /// A name nobody bound is a stream too where it must have been meant so: the graph phase says what is wrong.
    fn names_stream(&self, name: &Ident, first: Option<&Ident>, last: Option<&Ident>) -> bool {
        let text = name.to_string();
        if let Some(is_stream) = self.names.get(&text) {
            return *is_stream;
        }
        let is_operator = |call: &Ident| ops::operator(&call.to_string()).is_some();
        if !first.is_some_and(is_operator) || !text.starts_with(|c: char| c.is_lowercase() || c == '_') {
            return false;
        }
        if self.closed {
            return true;
        }
        let ends = last.is_some_and(|call| {
            ops::operator(&call.to_string()).is_some_and(|row| row.output == ops::Output::Terminal)
        });
        let streams = self.names.iter().filter(|(_, is_stream)| **is_stream).map(|(name, _)| name.as_str());
        ends && !self.later.contains(&text) && closest(&text, streams).is_some()
    }
}
