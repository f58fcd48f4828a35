//! The last lines of a body: the ends of branches put together.

use crate::plan::{Closing, SideEnd};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

pub(super) fn closing(closing: &Closing) -> TokenStream {
    match closing {
        Closing::Tee { name, stream, terminals } => tee(name, stream, terminals),
        Closing::Fork { name, whole, sides } => fork(name, whole, sides),
    }
}

/// Input: the stream `a` with the ends `t1`, `t2`, `t3`
/// Output: `let a_and_uses = a.tee(|o| o.both(t1, o.both(t2, t3)));`
fn tee(name: &Ident, stream: &Ident, terminals: &[Ident]) -> TokenStream {
    // an error about the whole, such as a record that cannot be cloned, is shown at the stream's name
    let at = stream.span().resolved_at(Span::mixed_site());
    let o = Ident::new("__o", at);
    let mut rest = terminals.iter().rev();
    let last = rest.next().map(|last| quote!(#last)).unwrap_or_default();
    let all = rest.fold(last, |all, one| quote_spanned!(at=> #o.both(#one, #all)));
    quote_spanned!(at=> let #name = #stream.tee(|#o| #all);)
}

/// Input: the operator `whole` with the ends `t1` and none
/// Output: `let end = whole.fork((t1, ignore(&late)));`
fn fork(name: &Ident, whole: &Ident, sides: &[SideEnd]) -> TokenStream {
    let sides = sides.iter().map(|side| match side {
        SideEnd::Terminal(terminal) => quote!(#terminal),
        SideEnd::Ignored(stream) => quote_spanned!(whole.span()=> ::flow_core::__rt::ignore(&#stream)),
    });
    quote_spanned!(whole.span()=> let #name = #whole.fork((#(#sides),*));)
}
