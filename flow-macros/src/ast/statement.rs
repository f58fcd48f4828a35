//! The pieces of a body → Rust statements, each read on its own.

use super::holes;
use super::split::{Piece, split};
use crate::diag::Diagnostics;
use crate::message;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Block, Expr, Local, Stmt, parse::Parser};

/// A statement before anything is known about streams.
pub(super) enum Raw {
    Let(Local),
    Expr(Expr),
    /// An item, a macro call, a block.
    Other(Stmt),
    Broken {
        tokens: TokenStream,
        binds: Vec<Ident>,
    },
}

/// `end` is where the body ends: an error "the text ends too early" has no token of its own.
pub(super) fn parse_all(body: TokenStream, end: Span, diagnostics: &mut Diagnostics) -> Vec<Raw> {
    split(body).into_iter().flat_map(|piece| parse_piece(piece, end, diagnostics)).collect()
}

fn parse_piece(piece: Piece, end: Span, diagnostics: &mut Diagnostics) -> Vec<Raw> {
    let last = piece.tokens.clone().into_iter().last();
    let last = last.map_or(end, |token| end_of(&token));
    let (tokens, holes) = holes::fill(piece.tokens);
    for dot in &holes {
        diagnostics.error_at(*dot, *dot, message::dangling_dot());
    }
    if piece.cut_short && holes.is_empty() && !ends_with_block(&tokens) {
        diagnostics.error_at(last, last, message::missing_semicolon());
    }
    let is_let =
        tokens.clone().into_iter().any(|token| matches!(token, TokenTree::Ident(word) if word == "let"));
    let end = match piece.end {
        Some(semicolon) => Some(semicolon),
        // a `let` needs its `;` to be parsed at all
        None if is_let => Some(TokenTree::Punct(proc_macro2::Punct::new(';', proc_macro2::Spacing::Alone))),
        None => None,
    };
    match Block::parse_within.parse2(quote!(#tokens #end)) {
        Ok(statements) => statements.into_iter().filter_map(raw).collect(),
        Err(error) => {
            if holes.is_empty() {
                report(&error, last, diagnostics);
            }
            vec![Raw::Broken { binds: names_behind_lets(&tokens), tokens: quote!(#tokens;) }]
        }
    }
}

fn raw(statement: Stmt) -> Option<Raw> {
    match statement {
        Stmt::Local(local) => Some(Raw::Let(local)),
        Stmt::Expr(Expr::Verbatim(tokens), _) if tokens.is_empty() => None,
        Stmt::Expr(expr, _) if is_chain_like(&expr) => Some(Raw::Expr(expr)),
        other => Some(Raw::Other(other)),
    }
}

/// What can be a stream statement; blocks, loops and assignments cannot.
fn is_chain_like(expr: &Expr) -> bool {
    matches!(expr, Expr::MethodCall(_) | Expr::Call(_) | Expr::Path(_) | Expr::Try(_) | Expr::Field(_))
}

/// Syn's errors at the end of the text carry the macro's own call site: point at the last token instead.
fn report(error: &syn::Error, last: Span, diagnostics: &mut Diagnostics) {
    for one in error {
        let text = one.to_string();
        if text.starts_with("unexpected end of input") {
            diagnostics.error_at(last, last, message::ends_too_early(&text));
        } else {
            let at = one.span().source_text();
            diagnostics.error_at(one.span(), one.span(), message::not_rust(&text, at.as_deref()));
        }
    }
}

/// The names that a broken `let` would have bound, so that their uses cause no further errors.
fn names_behind_lets(tokens: &TokenStream) -> Vec<Ident> {
    let mut binds = Vec::new();
    let mut in_pattern = false;
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(word) if word == "let" => in_pattern = true,
            TokenTree::Punct(punct) if punct.as_char() == '=' => in_pattern = false,
            TokenTree::Ident(word) if in_pattern && word != "mut" => binds.push(word),
            TokenTree::Group(group) if in_pattern => {
                binds.extend(group.stream().into_iter().filter_map(ident))
            }
            _ => {}
        }
    }
    binds
}

fn ident(token: TokenTree) -> Option<Ident> {
    match token {
        TokenTree::Ident(word) => Some(word),
        _ => None,
    }
}

fn ends_with_block(tokens: &TokenStream) -> bool {
    matches!(tokens.clone().into_iter().last(), Some(TokenTree::Group(group))
        if group.delimiter() == proc_macro2::Delimiter::Brace)
}

fn end_of(token: &TokenTree) -> Span {
    match token {
        TokenTree::Group(group) => group.span_close(),
        token => token.span(),
    }
}

impl Raw {
    /// Its tokens as they go to rustc, when it is plain Rust.
    pub fn into_tokens(self) -> TokenStream {
        match self {
            Raw::Let(local) => local.to_token_stream(),
            Raw::Expr(expr) => quote!(#expr;),
            Raw::Other(statement) => statement.to_token_stream(),
            Raw::Broken { tokens, .. } => tokens,
        }
    }
}
