//! The last lines of a body: the ends of branches put together.

use crate::plan::{Closing, SideEnd};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

pub(super) fn closing(closing: &Closing) -> TokenStream {
    match closing {
        Closing::Tee { name, stream, terminals } => tee(name, stream, terminals),
        Closing::Fork { name, whole, sides } => fork(name, whole, sides),
    }
}

/// Input: the stream `a` with the ends `t1`, `t2`, `t3`
/// Output: `let a_and_uses = a.tee(|o| o.both(t1, o.both(t2, t3)));`
fn tee(name: &Ident, stream: &Ident, terminals: &[Ident]) -> TokenStream {
    let o = Ident::new("__o", Span::mixed_site());
    let mut rest = terminals.iter().rev();
    let last = rest.next().map(|last| quote!(#last)).unwrap_or_default();
    let all = rest.fold(last, |all, one| quote!(#o.both(#one, #all)));
    quote!(let #name = #stream.tee(|#o| #all);)
}

/// Input: the operator `whole` with the ends `t1` and none
/// Output: `let end = whole.fork((t1, ignore(&late)));`
fn fork(name: &Ident, whole: &Ident, sides: &[SideEnd]) -> TokenStream {
    let sides = sides.iter().map(|side| match side {
        SideEnd::Terminal(terminal) => quote!(#terminal),
        SideEnd::Ignored(stream) => quote!(::flow_core::__rt::ignore(&#stream)),
    });
    quote!(let #name = #whole.fork((#(#sides),*));)
}
