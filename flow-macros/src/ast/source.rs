//! Cuts the macro's input into pipelines: the item form or the expression form, with or without the braces that
//! let rustfmt in (`dataflow!({ … })`).

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// The text of one pipeline.
pub(crate) struct Source {
    /// `pub fn name(params)`; None in the expression form.
    pub head: Option<TokenStream>,
    pub body: TokenStream,
    /// Where the body ends.
    pub end: Span,
}

/// Input: `#[doc = …] pub fn a(…) { … } fn b(…) { … }`, or a body alone.
/// Output: one `Source` a pipeline.
pub(crate) fn sources(input: TokenStream) -> Vec<Source> {
    let input = without_braces(input);
    if is_item_form(&input) {
        return items(input);
    }
    let end = input.clone().into_iter().last().map_or_else(Span::call_site, |token| token.span());
    vec![Source { head: None, body: input, end }]
}

/// `dataflow!({ … })` is `dataflow! { … }`.
fn without_braces(input: TokenStream) -> TokenStream {
    let mut tokens = input.clone().into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Brace => group.stream(),
        _ => input,
    }
}

/// The item form begins with a function, whatever attributes stand before it.
fn is_item_form(input: &TokenStream) -> bool {
    let mut tokens = input.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(hash) if hash.as_char() == '#' => drop(tokens.next()),
            TokenTree::Ident(word) => {
                return word == "pub"
                    || word == "fn"
                    || (word == "async" && tokens.peek().is_some_and(is_fn));
            }
            _ => return false,
        }
    }
    false
}

fn is_fn(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Ident(word) if word == "fn")
}

/// Everything up to a brace group is a head, the group its body. Text behind the last body is a head without one.
fn items(input: TokenStream) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut head: Vec<TokenTree> = Vec::new();
    for token in input {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let head = std::mem::take(&mut head).into_iter().collect();
                sources.push(Source { head: Some(head), body: group.stream(), end: group.span_close() });
            }
            token => head.push(token),
        }
    }
    if let Some(last) = head.last() {
        let end = last.span();
        sources.push(Source { head: Some(head.into_iter().collect()), body: TokenStream::new(), end });
    }
    sources
}
