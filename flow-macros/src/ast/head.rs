//! `/// docs #[attrs] pub fn name<generics>(params) where …`: the signature of a pipeline.

use super::{Budget, Checkpointed, Head, Wishes};
use crate::diag::Diagnostics;
use crate::message;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, FnArg, ItemFn, LitInt, Meta, Pat, ReturnType};

/// None when the tokens are no function signature; that has been reported.
pub(super) fn parse_head(
    tokens: TokenStream,
    wishes: &mut Wishes,
    diagnostics: &mut Diagnostics,
) -> Option<Head> {
    let function: ItemFn = match syn::parse2(quote!(#tokens {})) {
        Ok(function) => function,
        Err(_) => {
            diagnostics.error(&tokens, message::not_a_pipeline());
            return None;
        }
    };
    let signature = function.sig;
    if let Some(word) = &signature.asyncness {
        diagnostics.error(word, message::qualified_pipeline("async"));
    }
    if let syn::Safety::Unsafe(word) = &signature.safety {
        diagnostics.error(word, message::qualified_pipeline("unsafe"));
    }
    if let ReturnType::Type(arrow, ty) = &signature.output {
        diagnostics.error(&quote!(#arrow #ty), message::pipeline_returns(&signature.ident));
    }
    let mut params = Vec::new();
    for input in &signature.inputs {
        match input {
            FnArg::Typed(input) => collect(&input.pat, &mut params),
            FnArg::Receiver(receiver) => diagnostics.error(receiver, message::pipeline_self()),
        }
    }
    Some(Head {
        attrs: own_attributes(function.attrs, wishes, diagnostics),
        vis: function.vis,
        name: signature.ident,
        generics: signature.generics,
        inputs: signature.inputs,
        params,
    })
}

/// Takes the macro's own attributes out and obeys them; the others belong to the function.
fn own_attributes(
    attrs: Vec<Attribute>,
    wishes: &mut Wishes,
    diagnostics: &mut Diagnostics,
) -> Vec<Attribute> {
    let mut kept = Vec::new();
    for attr in attrs {
        if attr.path().is_ident("strict") {
            diagnostics.make_strict();
        } else if attr.path().is_ident("max_shuffles") {
            match attr.parse_args::<LitInt>().and_then(|most| most.base10_parse()) {
                Ok(most) => wishes.budget = Some(Budget { most, at: attr }),
                Err(_) => diagnostics.error(&attr, message::shuffles_not_a_number()),
            }
        } else if attr.path().is_ident("checkpointed") {
            let guarantee = checkpointed(&attr, diagnostics);
            keeps(&attr, guarantee, wishes, diagnostics);
        } else if attr.path().is_ident("batch") {
            batch(&attr, wishes, diagnostics);
        } else {
            kept.push(attr);
        }
    }
    kept
}

/// A pipeline's state is written down in one way.
fn keeps(attr: &Attribute, how: Checkpointed, wishes: &mut Wishes, diagnostics: &mut Diagnostics) {
    let before = wishes.checkpointed.replace(how);
    if before.is_some_and(|before| (before == Checkpointed::Exported) != (how == Checkpointed::Exported)) {
        diagnostics.error(attr, message::exported_and_checkpointed());
    }
}

/// `#[batch]`, `#[batch(exported)]`
fn batch(attr: &Attribute, wishes: &mut Wishes, diagnostics: &mut Diagnostics) {
    match &attr.meta {
        Meta::Path(_) => wishes.batch = true,
        Meta::List(list)
            if syn::parse2::<Ident>(list.tokens.clone()).is_ok_and(|word| word == "exported") =>
        {
            keeps(attr, Checkpointed::Exported, wishes, diagnostics);
        }
        _ => {
            wishes.batch = true;
            diagnostics.error(attr, message::batch_says_no_more());
        }
    }
}

/// `#[checkpointed]`, `#[checkpointed(at_least_once)]`
fn checkpointed(attr: &Attribute, diagnostics: &mut Diagnostics) -> Checkpointed {
    let word = match &attr.meta {
        Meta::Path(_) => return Checkpointed::ExactlyOnce,
        Meta::List(list) => list.tokens.clone(),
        Meta::NameValue(pair) => pair.value.to_token_stream(),
    };
    if !matches!(attr.meta, Meta::NameValue(_))
        && syn::parse2::<Ident>(word.clone()).is_ok_and(|word| word == "at_least_once")
    {
        return Checkpointed::AtLeastOnce;
    }
    let at: &dyn ToTokens = if word.is_empty() { attr } else { &word };
    diagnostics.error(at, message::not_a_guarantee(&crate::text::text(word.clone())));
    Checkpointed::AtLeastOnce
}

/// `#![strict]` and `#![max_shuffles(1)]` at the beginning of a body, the only place for it in the expression form.
pub(super) fn inner_attributes(
    body: TokenStream,
    wishes: &mut Wishes,
    diagnostics: &mut Diagnostics,
) -> TokenStream {
    let parser = |input: ParseStream| Ok((Attribute::parse_inner(input)?, input.parse::<TokenStream>()?));
    let Ok((attrs, rest)) = parser.parse2(body.clone()) else { return body };
    for attr in own_attributes(attrs, wishes, diagnostics) {
        diagnostics.error(&attr, message::unknown_attribute());
    }
    rest
}

/// The names a pattern binds.
pub(crate) fn names(pat: &Pat) -> Vec<Ident> {
    let mut found = Vec::new();
    collect(pat, &mut found);
    found
}

fn collect(pat: &Pat, found: &mut Vec<Ident>) {
    match pat {
        Pat::Ident(pat) => {
            found.push(pat.ident.clone());
            if let Some((_, inner)) = &pat.subpat {
                collect(inner, found);
            }
        }
        Pat::Or(pat) => pat.cases.iter().for_each(|pat| collect(pat, found)),
        Pat::Paren(pat) => collect(&pat.pat, found),
        Pat::Reference(pat) => collect(&pat.pat, found),
        Pat::Slice(pat) => pat.elems.iter().for_each(|pat| collect(pat, found)),
        Pat::Struct(pat) => pat.fields.iter().for_each(|field| collect(&field.pat, found)),
        Pat::Tuple(pat) => pat.elems.iter().for_each(|pat| collect(pat, found)),
        Pat::TupleStruct(pat) => pat.elems.iter().for_each(|pat| collect(pat, found)),
        Pat::Type(pat) => collect(&pat.pat, found),
        // constants, literals, ranges, `_`, `..`
        _ => {}
    }
}
