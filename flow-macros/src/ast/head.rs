//! `/// docs #[attrs] pub fn name<generics>(params) where …`: the signature of a pipeline.

use super::Head;
use crate::diag::Diagnostics;
use crate::message;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, FnArg, ItemFn, Pat, ReturnType, visit::Visit};

/// None when the tokens are no function signature; that has been reported.
pub(super) fn parse_head(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Option<Head> {
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
    let mut params = Names::default();
    for input in &signature.inputs {
        match input {
            FnArg::Typed(input) => params.visit_pat(&input.pat),
            FnArg::Receiver(receiver) => diagnostics.error(receiver, message::pipeline_self()),
        }
    }
    Some(Head {
        attrs: own_attributes(function.attrs, diagnostics),
        vis: function.vis,
        name: signature.ident,
        generics: signature.generics,
        inputs: signature.inputs,
        params: params.0,
    })
}

/// Takes the macro's own attributes out and obeys them; the others belong to the function.
fn own_attributes(attrs: Vec<Attribute>, diagnostics: &mut Diagnostics) -> Vec<Attribute> {
    let mut kept = Vec::new();
    for attr in attrs {
        if attr.path().is_ident("strict") {
            diagnostics.make_strict();
        } else if attr.path().is_ident("checkpointed") {
            diagnostics.error(&attr, message::no_checkpoints());
        } else if attr.path().is_ident("batch") {
            diagnostics.error(&attr, message::no_batch());
        } else {
            kept.push(attr);
        }
    }
    kept
}

/// `#![strict]` at the beginning of a body, the only place for it in the expression form.
pub(super) fn inner_attributes(body: TokenStream, diagnostics: &mut Diagnostics) -> TokenStream {
    let parser = |input: ParseStream| Ok((Attribute::parse_inner(input)?, input.parse::<TokenStream>()?));
    let Ok((attrs, rest)) = parser.parse2(body.clone()) else { return body };
    for attr in own_attributes(attrs, diagnostics) {
        diagnostics.error(&attr, message::unknown_attribute());
    }
    rest
}

/// The names a pattern binds.
#[derive(Default)]
pub(crate) struct Names(pub Vec<Ident>);

impl Names {
    pub fn of(pat: &Pat) -> Vec<Ident> {
        let mut names = Names::default();
        names.visit_pat(pat);
        names.0
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        self.0.push(pat.ident.clone());
        syn::visit::visit_pat_ident(self, pat);
    }
}
