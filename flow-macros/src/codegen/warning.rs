//! A warning on stable Rust: a deprecated item that is used at the user's token.

use crate::diag::Report;
use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;

/// Input: the warning "events may come out of order here…" at `window`.
/// Output: `{ #[deprecated(note = "…")] const flow_warning: () = (); let () = flow_warning; }`, spanned at `window`.
pub(super) fn warning(report: &Report) -> TokenStream {
    let note = report.message.rendered();
    let name = Ident::new("flow_warning", report.start);
    quote_spanned! {report.start=>
        {
            #[deprecated(note = #note)]
            #[allow(non_upper_case_globals, reason = "the name is shown in the warning")]
            const #name: () = ();
            let () = #name;
        }
    }
}
