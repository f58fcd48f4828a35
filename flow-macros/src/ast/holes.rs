//! A dangling `.` gets a name, so that half-typed text can be parsed; the name is taken out again before the
//! tokens are emitted.
//!
//! rust-analyzer compares the expansion of the text as it is with that of the text plus a dummy name at the cursor,
//! by offset. So the broken text has to be rewritten exactly as the good text would be, and that needs a parse.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

const HOLE: &str = "__hole";

/// Input: `a.key_by(|e| e.)`
/// Output: `a.key_by(|e| e.__hole)`, and the spans of the dots.
pub(crate) fn fill(tokens: TokenStream) -> (TokenStream, Vec<Span>) {
    let mut dots = Vec::new();
    let filled = fill_into(tokens, &mut dots);
    (filled, dots)
}

fn fill_into(tokens: TokenStream, dots: &mut Vec<Span>) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut out = Vec::with_capacity(tokens.len());
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                let before = dots.len();
                let inner = fill_into(group.stream(), dots);
                // a group that did not change keeps its own spans: a rebuilt one loses its closing span
                let changed = dots.len() > before;
                out.push(if changed { regroup(group, inner) } else { token.clone() });
            }
            token => out.push(token.clone()),
        }
        if dangles(&tokens, index) {
            dots.push(token.span());
            out.push(TokenTree::Ident(Ident::new(HOLE, token.span())));
        }
    }
    out.into_iter().collect()
}

/// A `.` that belongs to no `..` and has neither name nor number behind it.
fn dangles(tokens: &[TokenTree], index: usize) -> bool {
    let is_dot =
        |at: Option<&TokenTree>| matches!(at, Some(TokenTree::Punct(punct)) if punct.as_char() == '.');
    if !is_dot(tokens.get(index)) || (index > 0 && is_dot(tokens.get(index - 1))) {
        return false;
    }
    match tokens.get(index + 1) {
        Some(TokenTree::Ident(word)) => word == "let",
        Some(TokenTree::Literal(_)) => false,
        Some(TokenTree::Punct(punct)) => punct.as_char() != '.',
        Some(TokenTree::Group(group)) => group.delimiter() != Delimiter::None,
        None => true,
    }
}

/// Input: `a.key_by(|e| e.__hole)`
/// Output: `a.key_by(|e| e.)`
pub(crate) fn strip(tokens: TokenStream) -> TokenStream {
    if !has_hole(&tokens) {
        return tokens;
    }
    let keep = |token| match token {
        TokenTree::Ident(word) if word == HOLE => None,
        TokenTree::Group(group) if has_hole(&group.stream()) => Some(regroup(&group, strip(group.stream()))),
        token => Some(token),
    };
    tokens.into_iter().filter_map(keep).collect()
}

pub(crate) fn is_hole(word: &Ident) -> bool {
    word == HOLE
}

fn has_hole(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(word) => is_hole(&word),
        TokenTree::Group(group) => has_hole(&group.stream()),
        _ => false,
    })
}

fn regroup(group: &Group, inner: TokenStream) -> TokenTree {
    let mut new = Group::new(group.delimiter(), inner);
    new.set_span(group.span());
    TokenTree::Group(new)
}
