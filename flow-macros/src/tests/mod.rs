//! The phases on tokens, without rustc: expansions as a person reads them, and every message with its trigger.

mod dead;
mod errors;
mod examples;
mod expansions;
mod labels;
mod pictures;
mod processes;
mod warnings;

use crate::diag::{Diagnostics, Report};
use proc_macro2::{TokenStream, TokenTree};

/// Which part of an expansion.
#[derive(Clone, Copy)]
enum Part {
    /// What rustc sees of a text without mistakes, without the picture and the constant graph.
    Pipeline,
    /// What it sees of one with mistakes.
    Stub,
}

/// What the macro makes of a text, pretty-printed.
fn expanded(text: &str, part: Part) -> String {
    expanded_tokens(text.parse().expect("tokens"), part)
}

fn expanded_tokens(tokens: TokenStream, part: Part) -> String {
    let shown = groups(crate::expand(tokens), part);
    let file = syn::parse2(shown.clone()).or_else(|_| syn::parse2(quote::quote!(fn expression() { #shown })));
    let mut file: syn::File = file.unwrap_or_else(|error| panic!("{error} in {shown}"));
    file.items.retain(|item| !matches!(item, syn::Item::Mod(_)));
    prettyplease::unparse(&file).replace("::flow_core::__rt::", "").replace("::core::clone::", "")
}

/// The groups of each `__emit! { item ok { … } { … } { … } { … } }` and `__emit! { expr ok { … } { … } }`.
fn groups(tokens: TokenStream, part: Part) -> TokenStream {
    let mut shown = TokenStream::new();
    for token in tokens {
        let TokenTree::Group(group) = token else { continue };
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        let streams: Vec<TokenStream> = inner.iter().filter_map(stream).collect();
        match (streams.as_slice(), part) {
            ([attrs, function, _, _], Part::Pipeline) => shown.extend([attrs.clone(), function.clone()]),
            ([_, _, beside, _], Part::Stub) => shown.extend([beside.clone()]),
            ([statements, _], Part::Pipeline) => shown.extend([statements.clone()]),
            ([_, stub], Part::Stub) => shown.extend([stub.clone()]),
            _ => shown.extend([groups(group.stream(), part)]),
        }
    }
    shown
}

fn stream(token: &TokenTree) -> Option<TokenStream> {
    match token {
        TokenTree::Group(group) => Some(group.stream()),
        _ => None,
    }
}

/// What is reported about a text: "error at `tokens`: message", and the help on a line of its own.
fn reported(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    for source in crate::ast::sources(text.parse().expect("tokens")) {
        let mut diagnostics = Diagnostics::new();
        if let Some(ast) = crate::ast::parse(source, &mut diagnostics) {
            let graph = crate::graph::build(&ast, &mut diagnostics);
            crate::check::check(&ast, &graph, &mut diagnostics);
            // planning cannot fail, whatever was reported
            let _ = crate::plan::plan(&ast, &graph);
        }
        let reports = diagnostics.finish();
        errors.extend(reports.errors.iter().map(|report| shown("error", report)));
        warnings.extend(reports.warnings.iter().map(|report| shown("warning", report)));
    }
    let _ = crate::expand(text.parse().expect("tokens"));
    (errors, warnings)
}

fn shown(kind: &str, report: &Report) -> String {
    let at = report.start.join(report.end).and_then(|span| span.source_text()).unwrap_or_default();
    format!("{kind} at `{at}`: {}", report.message.rendered().replace("\nhelp: ", "\n  help: "))
}
