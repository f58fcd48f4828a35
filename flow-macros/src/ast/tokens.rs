//! The tokens of a chain, for what looks at tokens: literals, and how often a value is mentioned. Names of streams
//! and of arguments are left out: a value may have the same name, as in `let lines = source(from_vec(lines));`.

use super::{Arg, Call, Chain, Start};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

impl Chain {
    pub fn tokens(&self) -> TokenStream {
        let start = match &self.start {
            Start::Source(call) => call.to_token_stream(),
            Start::Stream(_) => TokenStream::new(),
            Start::Function { func, args } => {
                let args = args.iter().map(Arg::tokens);
                quote!(#func(#(#args),*))
            }
            Start::Opaque(expr) => expr.to_token_stream(),
        };
        let calls = self.calls.iter().map(Call::tokens);
        quote!(#start #(#calls)*)
    }
}

impl Call {
    fn tokens(&self) -> TokenStream {
        let Call { name, turbofish, args, named, paren } = self;
        if paren.is_none() {
            return quote!(.#name);
        }
        let named = named.iter().map(|one| one.value.to_token_stream());
        let args = args.iter().map(Arg::tokens).chain(named);
        quote!(.#name #turbofish (#(#args),*))
    }
}

impl Arg {
    fn tokens(&self) -> TokenStream {
        match self {
            Arg::Value(expr) => expr.to_token_stream(),
            Arg::Stream(chain) => chain.tokens(),
        }
    }
}
