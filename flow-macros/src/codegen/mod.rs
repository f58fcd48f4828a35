//! Phase 5: the plan → tokens. It cannot fail.
//!
//! The item form becomes a function and a module of the same name; in the function, in this order:
//!
//! ```text
//! let mut __job = begin("delays_by_hour");
//! scope("departures");                                   // a user's statement begins
//! let departures = source(csv::<Flight>(flights)).filter(…);
//! scope("hourly");
//! let __hourly_and_sides = departures.key_by(…).window(…).late(side).aggregate(…);
//! let (hourly, late) = __hourly_and_sides.roots();
//! …
//! let __end_3 = __hourly_and_sides.fork((__end_1, __end_2));   // the ends put together
//! __job.add(__end_3);
//! __job
//! ```
//!
//! Only calls are generated, no algorithm, and only names of `::flow_core::__rt`. Each user token is emitted once.

mod block;
mod chain;
mod children;
mod closing;
mod dump;
mod expr;
mod graph;
mod warning;

use crate::ast::{Head, Pipeline, holes};
use crate::diag::{Report, Reports};
use crate::plan::{Plan, Step};
use crate::render;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

/// What rustc sees is chosen by `__emit!`: a pipeline without mistakes, or the errors and a stub. rust-analyzer
/// sees the pipeline in either case, so it goes on completing in half-typed text.
pub(crate) fn generate(ast: &Pipeline, plan: &Plan, reports: &Reports) -> TokenStream {
    let body = holes::strip(body(plan, reports));
    let errors: TokenStream = reports.errors.iter().map(Report::to_error).collect();
    match &ast.head {
        Some(head) => item(head, plan, body, errors),
        None => expression(plan, body, errors),
    }
}

/// Output: `let mut __job = begin("name"); …; __job`
///
/// Nothing in front of a user's token may depend on the text behind it: rust-analyzer finds its place by offset. So
/// warnings come last.
fn body(plan: &Plan, reports: &Reports) -> TokenStream {
    let name = &plan.name;
    let job = glue("__job");
    let warnings = reports.warnings.iter().map(warning::warning);
    let steps = plan.steps.iter().map(|step| match step {
        Step::Plain(tokens) => (*tokens).clone(),
        Step::Chain(chain) => chain::statement(chain, plan),
    });
    let closing = plan.closing.iter().map(closing::closing);
    let renamed = plan.renamed.iter().map(|(now, before)| {
        let (now, before) = (now.to_string(), before.to_string());
        quote!(#job.was(#now, #before);)
    });
    let adds = plan.adds.iter().map(|end| quote_spanned!(end.span()=> #job.add(#end);));
    quote! {
        let mut #job = ::flow_core::__rt::begin(#name);
        #(#steps)*
        #(#closing)*
        #(#warnings)*
        #(#renamed)*
        #(#adds)*
        #job
    }
}

/// Output: `pub fn name(…) -> Job { … }` beside `pub mod name { pub const GRAPH … }`
fn item(head: &Head, plan: &Plan, body: TokenStream, errors: TokenStream) -> TokenStream {
    let Head { attrs, vis, name, generics, inputs, .. } = head;
    let where_clause = &generics.where_clause;
    let signature = quote!(#vis fn #name #generics (#inputs) -> ::flow_core::Job #where_clause);
    dump::dump(&plan.name, &quote!(#(#attrs)* #signature { #body }));
    let (graph, svg) = (graph::module(head, plan), render::svg(&plan.picture));
    let picture = quote!(#[doc = ""] #[doc = #svg]);
    let (kind, beside) = if errors.is_empty() {
        (quote!(ok), graph)
    } else {
        let stub = quote! {
            #errors
            #(#attrs)*
            #[allow(unused, reason = "a stub for a pipeline with mistakes")]
            #signature { ::flow_core::__rt::stub() }
            #graph
        };
        (quote!(no), stub)
    };
    quote! {
        ::flow_core::__rt::__emit! { item #kind { #(#attrs)* } { #signature { #body } } { #beside } { #picture } }
    }
}

/// Output: `{ …; __job }`
fn expression(plan: &Plan, body: TokenStream, errors: TokenStream) -> TokenStream {
    dump::dump(&plan.name, &body);
    if errors.is_empty() {
        return quote!({
            ::flow_core::__rt::__emit! { expr ok { #body } {} }
        });
    }
    quote!({
        ::flow_core::__rt::__emit! { expr no { #body; } { #errors ::flow_core::__rt::stub() } }
    })
}

/// A name of the generated code, which no text of the user's can see.
fn glue(name: &str) -> proc_macro2::Ident {
    proc_macro2::Ident::new(name, Span::mixed_site())
}

/// The semicolon of a generated statement, at the user's statement: what is wrong with the whole is shown there.
fn semicolon(at: Span) -> TokenStream {
    quote_spanned!(at.resolved_at(Span::mixed_site())=> ;)
}
