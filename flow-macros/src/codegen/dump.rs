//! `FLOW_MACROS_DUMP=name` prints the function of a pipeline to standard error, `FLOW_MACROS_DUMP=*` that of all; an
//! expression is called `dataflow`. With the feature `dump` it is pretty.

use proc_macro2::TokenStream;

/// The only thing the macro does beside turning tokens into tokens.
pub(super) fn dump(name: &str, tokens: &TokenStream) {
    if let Ok(wanted) = std::env::var("FLOW_MACROS_DUMP")
        && (wanted == "*" || wanted == name)
    {
        eprintln!("// dataflow! {name}\n{}", printed(tokens));
    }
}

#[cfg(feature = "dump")]
fn printed(tokens: &TokenStream) -> String {
    let file =
        syn::parse2(tokens.clone()).or_else(|_| syn::parse2(quote::quote!(fn expression() { #tokens })));
    file.map_or_else(|_| tokens.to_string(), |file| prettyplease::unparse(&file))
}

#[cfg(not(feature = "dump"))]
fn printed(tokens: &TokenStream) -> String {
    tokens.to_string()
}
