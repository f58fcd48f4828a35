//! The `dataflow!` macro.

use proc_macro::TokenStream;

/// Declares pipelines.
#[proc_macro]
pub fn dataflow(input: TokenStream) -> TokenStream {
    input
}
