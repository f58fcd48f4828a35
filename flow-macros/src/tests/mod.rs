//! The phases on tokens, without rustc: expansions as a person reads them, and every message with its trigger.

mod errors;
mod expansions;
mod pictures;

use crate::diag::{Diagnostics, Report};
use proc_macro2::{TokenStream, TokenTree};

/// What the macro makes of a text, pretty-printed, without the picture and the constant graph: the first group of
/// `__emit!` (the pipeline), or the second (errors and stub).
fn expanded(text: &str, group: usize) -> String {
    let tokens = crate::expand(text.parse().expect("tokens"));
    let groups = emitted(tokens);
    let shown = groups.into_iter().skip(group).step_by(2).collect::<TokenStream>();
    let file = syn::parse2(shown.clone()).or_else(|_| syn::parse2(quote::quote!(fn expression() { #shown })));
    let mut file: syn::File = file.unwrap_or_else(|error| panic!("{error} in {shown}"));
    file.items.retain(|item| !matches!(item, syn::Item::Mod(_)));
    for item in &mut file.items {
        if let syn::Item::Fn(function) = item {
            function.attrs.retain(|attr| !quote::quote!(#attr).to_string().contains("<svg"));
        }
    }
    prettyplease::unparse(&file).replace("::flow_core::__rt::", "").replace("::core::clone::", "")
}

/// The two groups of each `__emit! { ok { … } { … } }`.
fn emitted(tokens: TokenStream) -> Vec<TokenStream> {
    let mut groups = Vec::new();
    for token in tokens {
        let TokenTree::Group(group) = token else { continue };
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        match inner.as_slice() {
            [TokenTree::Ident(_), TokenTree::Group(first), TokenTree::Group(second)] => {
                groups.extend([first.stream(), second.stream()]);
            }
            _ => groups.extend(emitted(group.stream())),
        }
    }
    groups
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
