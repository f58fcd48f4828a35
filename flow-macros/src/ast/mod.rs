//! The syntax tree: what the user wrote, with its tokens. No logic and no names resolved.
//!
//! `sources` cuts the macro's input into pipelines; `parse` reads one of them. Parsing never fails: it reports,
//! keeps the tokens of what it could not read, and goes on at the next statement.

mod block;
mod chain;
mod classify;
mod head;
pub(crate) mod holes;
mod nested;
mod side;
mod source;
mod sourceless;
mod split;
mod statement;
mod tokens;

pub(crate) use self::block::{Block, Handler, State, block};
pub(crate) use self::chain::{Given, given};
pub(crate) use self::head::names;
pub(crate) use self::source::{Source, sources};

use self::head::parse_head;
use crate::diag::Diagnostics;
use crate::message;
use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, Expr, ExprCall, FnArg, Generics, Token, Type, Visibility, punctuated::Punctuated};

/// One pipeline.
pub(crate) struct Pipeline {
    /// None: the expression form.
    pub head: Option<Head>,
    pub wishes: Wishes,
    pub statements: Vec<Statement>,
}

/// What the macro's own attributes ask for.
#[derive(Default)]
pub(crate) struct Wishes {
    pub budget: Option<Budget>,
    pub checkpointed: Option<Checkpointed>,
    /// `#[batch]`, but not `#[batch(exported)]`
    pub batch: bool,
}

/// `#[checkpointed]`, or what else writes state down.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checkpointed {
    ExactlyOnce,
    AtLeastOnce,
    /// `#[batch(exported)]`
    Exported,
}

/// `#[max_shuffles(1)]`
pub(crate) struct Budget {
    pub most: usize,
    pub at: Attribute,
}

/// `/// docs #[attrs] pub fn name<generics>(inputs) where …`
pub(crate) struct Head {
    pub attrs: Vec<Attribute>,
    pub vis: Visibility,
    pub name: Ident,
    pub generics: Generics,
    pub inputs: Punctuated<FnArg, Token![,]>,
    /// The names its parameters bind.
    pub params: Vec<Ident>,
}

/// One statement of a body.
pub(crate) enum Statement {
    Stream(Box<Line>),
    Plain(Plain),
    Broken(Broken),
}

/// A statement that makes, passes on or ends a stream.
pub(crate) struct Line {
    pub binding: Binding,
    /// `: Stream<Flight>`
    pub annotation: Option<Type>,
    /// `#[was(old)]`
    pub was: Option<Ident>,
    pub chain: Chain,
}

/// What a stream statement's result is called.
pub(crate) enum Binding {
    /// An expression statement.
    Nothing,
    Name(Ident),
    /// `(hourly, late)`; `_` has no name.
    Names(Vec<Side>),
}

/// One name of a tuple `let`.
pub(crate) struct Side {
    pub name: Option<Ident>,
    /// The name or the `_`.
    pub span: Span,
}

/// Any other Rust.
pub(crate) struct Plain {
    pub tokens: TokenStream,
    pub binds: Vec<Ident>,
    /// A macro call: it only may bind these names.
    pub may_bind: bool,
}

/// A statement that could not be read. Its tokens go on to rust-analyzer, its names cause no further errors.
pub(crate) struct Broken {
    pub tokens: TokenStream,
    pub binds: Vec<Ident>,
}

/// `start.call(…).call(…)`
pub(crate) struct Chain {
    pub start: Start,
    pub calls: Vec<Call>,
}

/// Where a chain begins.
pub(crate) enum Start {
    /// `source(…)`
    Source(ExprCall),
    /// The name of a stream.
    Stream(Ident),
    /// `f(stream, …)`
    Function { func: Box<Expr>, args: Vec<Arg> },
    /// Anything else, where an annotation says that it is a stream.
    Opaque(Box<Expr>),
}

/// An argument of an operator or of a function of streams.
pub(crate) enum Arg {
    Value(Expr),
    Stream(Chain),
}

/// `.name::<turbofish>(args, named = value)`; half-typed text has no parentheses yet.
pub(crate) struct Call {
    pub name: Ident,
    pub turbofish: Option<syn::AngleBracketedGenericArguments>,
    pub args: Vec<Arg>,
    pub named: Vec<NamedArg>,
    pub paren: Option<syn::token::Paren>,
}

/// `late = side`
pub(crate) struct NamedArg {
    pub name: Ident,
    pub value: Expr,
}

impl Pipeline {
    /// What the job is called.
    pub fn name(&self) -> String {
        self.head.as_ref().map_or_else(|| "dataflow".to_owned(), |head| head.name.to_string())
    }
}

impl Chain {
    /// The token a message about the start points at.
    pub fn first_token(&self) -> Span {
        use syn::spanned::Spanned;
        match &self.start {
            Start::Source(call) => call.func.span(),
            Start::Stream(name) => name.span(),
            Start::Function { func, .. } => func.span(),
            Start::Opaque(expr) => expr.span(),
        }
    }
}

/// Phase 1: the text of one pipeline → its syntax tree. None when not even its signature can be read.
pub(crate) fn parse(source: Source, diagnostics: &mut Diagnostics) -> Option<Pipeline> {
    let mut wishes = Wishes::default();
    let head = match source.head {
        Some(tokens) => Some(parse_head(tokens, &mut wishes, diagnostics)?),
        None => None,
    };
    let body = head::inner_attributes(source.body, &mut wishes, diagnostics);
    let raw = statement::parse_all(body, source.end, diagnostics);
    let params: Vec<Ident> = head.as_ref().map(|head| head.params.clone()).unwrap_or_default();
    let closed = head.is_some();
    let sourceless = sourceless::root(&raw).cloned();
    let statements = classify::classify(raw, &params, closed, diagnostics);
    if statements.iter().all(|statement| matches!(statement, Statement::Plain(_))) {
        match sourceless {
            Some(root) => {
                let text = crate::text::text(quote::quote!(#root));
                diagnostics.error(&root, message::without_source(&text, matches!(root, Expr::Call(_))));
            }
            None => diagnostics.error_at(source.end, source.end, message::empty_pipeline()),
        }
    }
    Some(Pipeline { head, wishes, statements })
}
