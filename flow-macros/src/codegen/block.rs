//! The block of a process, as calls of the builder.

use super::chain::in_parens;
use super::expr::{Mode, rewritten};
use crate::ast::{Block, Handler, State};
use crate::plan::Values;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::{Expr, Pat, parse_quote};

/// Input: `{ let mut last: Option<f64> = None; on_event(|e, ctx| …); }`, at `process`
/// Output: `.declare((Named("last", Plain(move || -> Option<f64> { None })), ())).on_event(move |(mut last, ()), e, ctx| …).done()`
pub(super) fn process(at: Span, block: &Block, values: &Values, kept: bool) -> TokenStream {
    let ours = |method: &str| Ident::new(method, at.resolved_at(Span::mixed_site()));
    let apart = !block.sides.is_empty();
    let declare = ours(if block.shared.is_some() { "declare_beside" } else { "declare" });
    let states = nested(block.states.iter().map(|one| state(one, values)));
    let shared = block.shared.as_ref().map(|State { ty, init, .. }| {
        let make = rewritten(&parse_quote!(|| -> #ty { #init }), Mode::Owned, values);
        quote!(, #make)
    });
    let clock = block.has("on_processing_timer").then(|| ours("on_the_clock")).map(|it| quote!(.#it()));
    let records = block.sides.iter().map(|side| &side.records);
    let sides = apart.then(|| ours("with_sides")).map(|it| quote!(.#it::<(#(#records,)*)>()));
    let mut handlers: Vec<&Handler> = block.handlers.iter().collect();
    // What is done with a record says what is emitted.
    let place = |one: &&Handler| RECORDS.iter().position(|name| one.name == name).unwrap_or(RECORDS.len());
    handlers.sort_by_key(place);
    let handlers = handlers.into_iter().map(|one| handler(at, one, block, values));
    let kept = kept && !apart && block.shared.is_none() && block.states.iter().all(is_said);
    let asked = block.states.iter().filter(|_| kept).map(|State { ty, .. }| {
        let at = ty.span().resolved_at(Span::mixed_site());
        quote_spanned!(at=> .kept::<#ty, _>())
    });
    // With the user's own span, not one of the macro's: this call is the place that errors of the run name.
    let done = if apart {
        "apart"
    } else if kept {
        "done_kept"
    } else {
        "done"
    };
    let done = Ident::new(done, at);
    let done = quote_spanned!(at=> #done());
    quote!(#(#asked)* .#declare(#states #shared) #clock #sides #(#handlers)* .#done)
}

/// Whether all of the type of a state is said: of one with a function rustc finds the rest.
fn is_said(state: &State) -> bool {
    fn infers(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Group(group) => infers(group.stream()),
            TokenTree::Ident(ident) => ident == "_" || ident == "impl",
            TokenTree::Punct(punct) => punct.as_char() == '_',
            TokenTree::Literal(_) => false,
        })
    }
    !state.is_functional() && !infers(state.ty.to_token_stream())
}

/// Of these the one that there is says what type the results have.
const FIRST: [&str; 2] = ["on_event", "on_left"];

/// What is done with records, in the order in which the builder takes it.
const RECORDS: [&str; 4] = ["on_event", "on_left", "on_right", "on_broadcast"];

/// Pairs in pairs, so that any number will do.
fn nested(all: impl DoubleEndedIterator<Item = TokenStream>) -> TokenStream {
    all.rev().fold(quote!(()), |rest, one| quote!((#one, #rest)))
}

/// Input: `#[ttl(1h, on = watermark)] let mut last: Option<f64> = None;`
/// Output: `Named("last", Timed::new(move || -> Option<f64> { None }, Ttl::new(Millis(3600000)).on_watermark()))`
fn state(state: &State, values: &Values) -> TokenStream {
    let declared = declared(state, values);
    let declared =
        if state.is_functional() { quote!(::flow_core::__rt::WithFunction(#declared)) } else { declared };
    let name = state.name.to_string();
    quote!(::flow_core::__rt::Named(#name, #declared))
}

fn declared(state: &State, values: &Values) -> TokenStream {
    let State { ty, init, ttl, .. } = state;
    let make: Expr = parse_quote!(|| -> #ty { #init });
    let make = rewritten(&make, Mode::Owned, values);
    let Some(ttl) = ttl else { return quote!(::flow_core::__rt::Plain(#make)) };
    let length = rewritten(&ttl.length, Mode::Owned, values);
    let on = ttl.on_watermark.then(|| quote!(.on_watermark()));
    let renew = ttl.renewed_by_reading.then(|| quote!(.renewed_by_reading()));
    let ttl = quote!(::flow_core::__rt::Ttl::new(#length) #on #renew);
    if state.is_of_entries() {
        quote!(::flow_core::__rt::TimedEntries::new(#make, #ttl))
    } else {
        quote!(::flow_core::__rt::Timed::new(#make, #ttl))
    }
}

/// Input: `on_timer(|t, ctx| …)`
/// Output: `.on_timer(move |(last, ()), t, ctx| { let _ = &last; … })`
///
/// A closure that leaves a state alone is no mistake, so each is looked at. What has a time to live is written through its name.
///
/// What every instance has is in a pair with the states of a key, which `on_broadcast` has not.
fn handler(at: Span, one: &Handler, block: &Block, values: &Values) -> TokenStream {
    let mut closure = one.closure.clone();
    let of_key = one.name != "on_broadcast";
    let states: &[State] = if of_key { &block.states } else { &[] };
    let names = nested(states.iter().map(|state| {
        let (name, held) = (&state.name, held(state));
        quote!(#held #name)
    }));
    let shared = block.shared.as_ref().map(|state| &state.name);
    let sees = match shared {
        Some(shared) if of_key => quote!((#names, #shared)),
        Some(shared) => quote!(#shared),
        None => names,
    };
    closure.inputs.insert(0, parse_pat(sees));
    let seen: Vec<&State> = states.iter().chain(&block.shared).collect();
    if !seen.is_empty() || !block.sides.is_empty() {
        let looks = seen.iter().map(|state| {
            let (name, held) = (&state.name, held(state));
            quote!(let _ = &#held #name;)
        });
        let sides = sides(block);
        let first = quote!(#(#looks)* #(#sides)*);
        *closure.body = behind(first, &closure.body);
    }
    let (name, closure) = (&one.name, rewritten(&Expr::Closure(closure), Mode::Owned, values));
    // Nothing else would say what type the results have.
    let nothing = (FIRST.iter().any(|first| name == first) && !block.emits())
        .then(|| quote_spanned!(name.span()=> ::<::flow_core::__rt::EmitsNothing, _, _>));
    // What is wrong with what is declared is told of all that is in front of the next call: so this one ends at the operator.
    let closure = in_parens(at, closure);
    quote!(.#name #nothing #closure)
}

/// Input: `let _ = &last;` and `{ ctx.emit(1) }`
/// Output: `{ let _ = &last; ctx.emit(1) }`: in the user's own braces, which would be one pair too many in others.
fn behind(first: TokenStream, body: &Expr) -> Expr {
    let mut behind: syn::ExprBlock = parse_quote!({ #first #body });
    if let Expr::Block(own) = body
        && own.label.is_none()
        && own.attrs.is_empty()
    {
        let looks = behind.block.stmts.len() - 1;
        let mut own = own.clone();
        own.block.stmts.splice(0..0, behind.block.stmts.drain(..looks));
        return Expr::Block(own);
    }
    Expr::Block(behind)
}

/// Input: `let small: Side<Small> = side();`
/// Output: `let small = Side::<Small, First>::new(); let _ = small;`
fn sides(block: &Block) -> impl Iterator<Item = TokenStream> {
    block.sides.iter().zip(["First", "Second", "Third"]).map(|(side, at)| {
        let (name, records, at) = (&side.name, &side.records, Ident::new(at, Span::mixed_site()));
        quote!(let #name = ::flow_core::__rt::Side::<#records, ::flow_core::__rt::#at>::new(); let _ = #name;)
    })
}

/// A pattern that is one: names, and pairs of them.
fn parse_pat(tokens: TokenStream) -> Pat {
    Pat::parse_single.parse2(tokens.clone()).unwrap_or(Pat::Verbatim(tokens))
}

/// `mut`, where the name stands for a value with a time to live.
fn held(state: &State) -> Option<TokenStream> {
    (state.ttl.is_some() && !state.is_of_entries()).then(|| quote!(mut))
}
