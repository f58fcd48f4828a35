//! The user's expressions: durations become `Millis`, closures own what they mention, names can be used again.

use super::children::children;
use crate::ast::{Given, given};
use crate::duration::{self, Number};
use crate::free;
use crate::ops;
use crate::plan::Values;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, ExprCall, ExprClosure, Lit, Token, spanned::Spanned};

/// Where an expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Its closures run on the records.
    Owned,
    /// If it is a closure, it builds the pipeline; the closures inside it run on the records.
    Builder,
    /// It describes a window: its calls have named arguments.
    Window,
    /// The same, and its closures are over the records of the stream.
    Records,
}

/// Input: `|f| names.contains(&f.name)`
/// Output: `{ let names = capture(&names); move |f| names.contains(&f.name) }`
pub(super) fn rewritten(expr: &Expr, mode: Mode, values: &Values) -> TokenStream {
    let mut expr = expr.clone();
    // a closure inside `MyOperator::new(|x| …)` runs on the records
    let mode = if mode == Mode::Builder && !matches!(expr, Expr::Closure(_)) { Mode::Owned } else { mode };
    Rewrite { values, mode, hidden: Vec::new() }.rewrite(&mut expr);
    let tokens = durations(expr.into_token_stream());
    let records = records();
    if mode == Mode::Records { quote!(|#records| #tokens) } else { tokens }
}

/// What knows the type of the records.
fn records() -> Ident {
    Ident::new("records", Span::mixed_site())
}

struct Rewrite<'v> {
    values: &'v Values,
    mode: Mode,
    /// Names that a builder closure binds: they hide the outer ones.
    hidden: Vec<String>,
}

impl Rewrite<'_> {
    fn rewrite(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Closure(closure) if self.mode == Mode::Builder => self.builder(closure),
            Expr::Closure(closure) if self.mode == Mode::Records => {
                let (records, closure) = (records(), self.owned(closure));
                *expr = Expr::Verbatim(quote!(#records.each(#closure)));
            }
            Expr::Closure(closure) => *expr = Expr::Verbatim(self.owned(closure)),
            Expr::Path(path) => {
                if let Some(name) = path.path.get_ident()
                    && self.is_used_again(name)
                {
                    *expr = Expr::Verbatim(clone_of(name));
                }
            }
            Expr::Call(call) => self.call(call),
            // what is only looked at need not be cloned
            Expr::Reference(reference) => self.place(&mut reference.expr),
            Expr::Field(field) => self.place(&mut field.base),
            Expr::MethodCall(call) => {
                self.place(&mut call.receiver);
                call.args.iter_mut().for_each(|arg| self.rewrite(arg));
            }
            Expr::Index(index) => {
                self.place(&mut index.expr);
                self.rewrite(&mut index.index);
            }
            _ => children(expr, &mut |inside| self.rewrite(inside)),
        }
        if let (Mode::Window | Mode::Records, Expr::Call(call)) = (self.mode, &*expr) {
            *expr = Expr::Verbatim(with_setters(call));
        }
    }

    /// A name that is borrowed, or whose field or method is asked for, stays as it is.
    fn place(&mut self, expr: &mut Expr) {
        if !matches!(expr, Expr::Path(_)) {
            self.rewrite(expr);
        }
    }

    fn call(&mut self, call: &mut ExprCall) {
        self.place(&mut call.func);
        for arg in &mut call.args {
            match arg {
                Expr::Assign(assign) => self.rewrite(&mut assign.right),
                arg => self.rewrite(arg),
            }
        }
    }

    /// `|a| (a.count(), a.mean(|f| …))` runs while the pipeline is built: only the closures inside it are owned.
    fn builder(&mut self, closure: &mut ExprClosure) {
        let bound = closure.inputs.iter().flat_map(crate::ast::names);
        let before = self.hidden.len();
        self.hidden.extend(bound.map(|name| name.to_string()));
        self.mode = Mode::Owned;
        self.rewrite(&mut closure.body);
        self.mode = Mode::Builder;
        self.hidden.truncate(before);
    }

    fn owned(&self, closure: &mut ExprClosure) -> TokenStream {
        let captured: Vec<Ident> = free::names(closure, &self.values.known)
            .into_iter()
            .filter(|name| self.is_captured(name))
            .collect();
        let at = closure.inputs_begin.span;
        // Where nothing can be captured, rustc may say `.clone()` of a field that is moved out: not behind a `move`.
        if !free::takes_apart(closure) {
            closure.capture = closure.capture.or(Some(Token![move](at)));
        }
        if captured.is_empty() {
            return closure.to_token_stream();
        }
        let clones = captured.iter().map(|name| {
            let clone = clone_of(name);
            quote_spanned!(name.span()=> let #name = #clone;)
        });
        // the braces carry the closure's span: an error about the whole is shown there
        quote_spanned!(at=> { #(#clones)* #closure })
    }

    fn is_captured(&self, name: &Ident) -> bool {
        let text = name.to_string();
        let may_be_value =
            !self.values.closed || self.hidden.contains(&text) || self.values.known.contains(&text);
        may_be_value && !self.values.streams.contains(&text)
    }

    fn is_used_again(&self, name: &Ident) -> bool {
        let text = name.to_string();
        self.values.known.contains(&text)
            && !self.hidden.contains(&text)
            && self.values.mentions.get(&text).is_some_and(|count| *count > 1)
    }
}

/// Input: `names`
/// Output: `capture(&names)`: what is not `Clone` or not `Send` is one error, at the name.
fn clone_of(name: &Ident) -> TokenStream {
    quote_spanned!(name.span()=> ::flow_core::__rt::capture(&#name))
}

/// Input: `tumbling(Millis(3600000), offset = Millis(0))`
/// Output: `tumbling(Millis(3600000)).offset(Millis(0))`
fn with_setters(call: &ExprCall) -> TokenStream {
    let func = &call.func;
    let (mut args, mut setters, mut clock) = (Vec::new(), TokenStream::new(), None);
    for arg in &call.args {
        match given(arg.clone()) {
            Given::Named(one) => {
                let (name, value) = (one.name, one.value);
                match &value {
                    Expr::Path(path) if path.path.is_ident(ops::PROCESSING) => {
                        clock = Some(quote_spanned!(value.span()=> .#name(::flow_core::__rt::#value)));
                    }
                    _ => setters.extend(quote!(.#name(#value))),
                }
            }
            Given::Positional(arg) => args.push(arg),
        }
    }
    let args = super::chain::in_parens(call.paren_token.span.join(), quote!(#(#args),*));
    // It changes the type, so it comes last.
    quote!(#func #args #setters #clock)
}

/// Input: `1h`
/// Output: `::flow_core::__rt::Millis(3600000)`
fn millis(token: &TokenTree) -> Option<TokenStream> {
    let TokenTree::Literal(literal) = token else { return None };
    let Lit::Int(int) = Lit::new(literal.clone()) else { return None };
    let Number::Duration(millis) = duration::number(&int) else { return None };
    let mut millis = proc_macro2::Literal::i64_unsuffixed(millis);
    millis.set_span(int.span());
    Some(quote_spanned!(int.span().resolved_at(Span::mixed_site())=> ::flow_core::__rt::Millis(#millis)))
}

/// Replaces the durations among tokens, in closures and macros too; a group without one keeps its spans.
fn durations(tokens: TokenStream) -> TokenStream {
    if !has_duration(&tokens) {
        return tokens;
    }
    let replaced = tokens.into_iter().flat_map(|token| match token {
        TokenTree::Group(group) if has_duration(&group.stream()) => {
            let mut new = proc_macro2::Group::new(group.delimiter(), durations(group.stream()));
            new.set_span(group.span());
            TokenTree::Group(new).into()
        }
        token => millis(&token).unwrap_or_else(|| token.into()),
    });
    replaced.collect()
}

fn has_duration(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => has_duration(&group.stream()),
        token => millis(&token).is_some(),
    })
}
