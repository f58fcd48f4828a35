//! Cuts a body into the pieces that are parsed one by one, so that a broken statement leaves the others alone.
//!
//! A piece ends at a top-level `;` and before a top-level `let` that no `if`, `while`, `&&` or `else` introduces:
//! where a `;` is missing, the next statement would otherwise be swallowed.

use proc_macro2::{TokenStream, TokenTree};

/// Some tokens and whether a `;` ended them.
pub(super) struct Piece {
    pub tokens: TokenStream,
    /// The `;`.
    pub end: Option<TokenTree>,
    /// A `let` follows although no `;` stands before it.
    pub cut_short: bool,
}

pub(super) fn split(body: TokenStream) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut current: Vec<TokenTree> = Vec::new();
    for token in body {
        if is_semicolon(&token) {
            pieces.push(piece(&mut current, Some(token), false));
        } else if begins_a_statement(&token, current.last()) {
            pieces.push(piece(&mut current, None, true));
            current.push(token);
        } else {
            current.push(token);
        }
    }
    pieces.push(piece(&mut current, None, false));
    pieces.retain(|piece| !piece.tokens.is_empty());
    pieces
}

fn piece(current: &mut Vec<TokenTree>, end: Option<TokenTree>, cut_short: bool) -> Piece {
    Piece { tokens: std::mem::take(current).into_iter().collect(), end, cut_short }
}

fn is_semicolon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';')
}

fn begins_a_statement(token: &TokenTree, before: Option<&TokenTree>) -> bool {
    if !matches!(token, TokenTree::Ident(word) if word == "let") {
        return false;
    }
    match before {
        None => false,
        Some(TokenTree::Ident(word)) => !["if", "while", "else"].contains(&word.to_string().as_str()),
        // `&& let …`; and an attribute's `#[…]` belongs to the `let` behind it
        Some(TokenTree::Punct(punct)) => punct.as_char() != '&',
        Some(TokenTree::Group(group)) => group.delimiter() != proc_macro2::Delimiter::Bracket,
        Some(TokenTree::Literal(_)) => true,
    }
}
