//! One statement that builds a part of the pipeline.

use super::expr::{Mode, rewritten};
use super::semicolon;
use crate::ast::{Arg, Call, Checkpointed, NamedArg};
use crate::ops::{self, Closures, Named, Operator, Output, Takes, Value};
use crate::plan::{BodyName, CallPlan, ChainPlan, EndPlan, FnArgPlan, Plan, StartPlan, StreamRef};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, GenericArgument, PathArguments, Type, spanned::Spanned};

/// Input: `let (hourly, late) = departures.window(tumbling(1h), late = side).aggregate(…);`
/// Output: `scope("hourly"); let __hourly_and_sides = departures.window(…).late(side).aggregate(…);
/// let (hourly, late) = __hourly_and_sides.roots();`
pub(super) fn statement(chain: &ChainPlan, plan: &Plan) -> TokenStream {
    let scope = chain.scope.as_ref().map(|scope| quote!(::flow_core::__rt::scope(#scope);));
    let mut expr = start(&chain.start, plan);
    let mut before = None;
    for one in &chain.calls {
        // A key that cannot be kept is told where it is made, if that is in the same statement.
        let key = before.filter(|_| one.kept).unwrap_or(&one.call.name).span();
        expr = call(expr, one, key, plan);
        before = (one.call.name == "key_by").then_some(&one.call.name);
    }
    let end = end(chain, expr);
    quote!(#scope #end)
}

fn end(chain: &ChainPlan, expr: TokenStream) -> TokenStream {
    let semi = semicolon(chain.at);
    match &chain.end {
        EndPlan::Let { name, annotation } => {
            let annotation = annotation.map(padded).map(|ty| quote!(: #ty));
            quote!(let #name #annotation = #expr #semi)
        }
        EndPlan::Sides { whole, names } => quote! {
            let #whole = #expr #semi
            let (#(#names),*) = #whole.roots() #semi
        },
        EndPlan::FanIn { row, other, left, right, name, at } => {
            let ours = |method: &str| Ident::new(method, at.resolved_at(Span::mixed_site()));
            let other = in_parens(*at, stream(other));
            let ends = if row.pairs() {
                let (join, apart) = (ours(row.name), ours("apart"));
                quote!(#join #other.#apart())
            } else {
                let ends = ours(&format!("{}_ends", row.name));
                quote!(#ends #other)
            };
            quote!(let (#left, #right, #name) = #expr.#ends #semi)
        }
        EndPlan::Cut { end, name } => {
            let cut = Ident::new("cut", chain.at.resolved_at(Span::mixed_site()));
            quote!(let (#end, #name) = #expr.#cut() #semi)
        }
        EndPlan::Terminal(name) => quote!(let #name = #expr #semi),
    }
}

fn start(start: &StartPlan, plan: &Plan) -> TokenStream {
    match start {
        StartPlan::Source(call, wishes) => {
            let lasting = wishes.checkpointed.map(|guarantee| lasting(call, guarantee));
            let batch = wishes.batch.then(|| at_source(call, "batch"));
            let func = &call.func;
            let args = call.args.iter().map(|arg| rewritten(arg, Mode::Owned, &plan.values));
            let args = in_parens(call.paren_token.span.join(), quote!(#(#args),*));
            quote!(#func #args #lasting #batch)
        }
        StartPlan::Stream(one) => stream(one),
        StartPlan::Function { func, args } => {
            let args = args.iter().map(|arg| match arg {
                FnArgPlan::Value(expr) => rewritten(expr, Mode::Owned, &plan.values),
                FnArgPlan::Stream(one) => stream(one),
            });
            quote!(#func(#(#args),*))
        }
        StartPlan::Opaque(expr) => quote!(#expr),
    }
}

/// Output: `.durable()`, or `.exported()`, at the source's name: what cannot be read again is told there.
fn lasting(call: &syn::ExprCall, guarantee: Checkpointed) -> TokenStream {
    let method = match guarantee {
        Checkpointed::ExactlyOnce => "durable",
        Checkpointed::AtLeastOnce => "at_least_once",
        Checkpointed::Exported => "exported",
    };
    at_source(call, method)
}

/// Output: `.batch()`, at the source's name: what never ends is told there.
fn at_source(call: &syn::ExprCall, method: &str) -> TokenStream {
    let source = call.args.first().map_or_else(|| call.func.span(), Spanned::span);
    let method = Ident::new(method, source.resolved_at(Span::mixed_site()));
    quote!(.#method())
}

/// A stream that is used once is moved; otherwise each use is a root.
fn stream(one: &StreamRef) -> TokenStream {
    let name = &one.name;
    if one.root { quote_spanned!(name.span()=> #name.root()) } else { quote!(#name) }
}

/// Input: `.window(tumbling(1h), late = side)` behind `expr`
/// Output: `expr.window(tumbling(Millis(3600000))).late(side)`
///
/// Input: `.window(session_by(|e| e.gap))`
/// Output: `expr.window_of(|records| session_by(records.each(move |e| e.gap)))`
fn call(expr: TokenStream, one: &CallPlan, key: Span, plan: &Plan) -> TokenStream {
    let Call { name, turbofish, args, named, paren } = one.call;
    let kept = one.kept.then(|| Ident::new("kept_key", key.resolved_at(Span::mixed_site())));
    let kept = kept.map(|kept| quote!(.#kept()));
    if let Some(block) = block_of(one) {
        let process = super::block::process(name.span(), &block, &plan.values, one.kept);
        let boxed = one.boxed.then(|| Ident::new("boxed", name.span().resolved_at(Span::mixed_site())));
        let boxed = boxed.map(|boxed| quote!(.#boxed()));
        return quote!(#expr #kept #process #boxed);
    }
    let mode = match one.row {
        Some(row) if row.output == Output::Window && args.iter().any(has_closure) => Mode::Records,
        Some(row) if row.output == Output::Window => Mode::Window,
        _ => Mode::Owned,
    };
    let of_closure = one.row.and_then(|row| row.of_closure);
    let name = match (mode, args.first(), of_closure) {
        (Mode::Records, _, _) => &Ident::new("window_of", name.span()),
        (_, Some(Arg::Value(Expr::Closure(_))), Some(method)) => &Ident::new(method, name.span()),
        _ => name,
    };
    let builds = |at| one.row.is_some_and(|row| row.closures.builds(at));
    let args = args.iter().enumerate().map(|(at, arg)| match arg {
        Arg::Value(expr) => {
            let mode = if builds(at) { Mode::Builder } else { mode };
            let tokens = rewritten(expr, mode, &plan.values);
            let is_body = one.row.is_some_and(|row| row.closures.is_body(at));
            if is_body { with_streams(expr, tokens, plan) } else { tokens }
        }
        // reported: a stream where none belongs
        Arg::Stream(_) => TokenStream::new(),
    });
    let (positional, setters): (Vec<_>, Vec<_>) = in_order(named, one.row)
        .into_iter()
        .partition(|given| known(given, one.row).is_some_and(|known| known.positional));
    let positional = positional.into_iter().map(|given| value(given, one.row, plan));
    // A body is the last.
    let args: Vec<_> = match one.row.map(|row| row.closures) {
        Some(Closures::BodyAt(_)) => positional.chain(args).collect(),
        _ => args.chain(positional).collect(),
    };
    let args = paren.map(|paren| in_parens(paren.span.join(), quote!(#(#args),*)));
    let setters = setters.into_iter().filter(|given| !is_never(given, one.row)).map(|given| {
        let (name, value) = (&given.name, value(given, one.row, plan));
        quote!(.#name(#value))
    });
    let ours = |method: &str| {
        let method = Ident::new(method, name.span().resolved_at(Span::mixed_site()));
        quote!(.#method())
    };
    let unkeyed = one.unkeyed.then(|| ours("unkeyed"));
    let boxed = one.boxed.then(|| ours("boxed"));
    quote!(#expr #unkeyed #kept.#name #turbofish #args #(#setters)* #boxed)
}

/// Input: `|ranks| ranks.key_by(f).join(edges.key_by(g)).lookup()`
/// Output: `{ let edges = __s3; |ranks| ranks.key_by(f).join(edges.key_by(g)).lookup() }`
fn with_streams(body: &Expr, tokens: TokenStream, plan: &Plan) -> TokenStream {
    let renamed = plan.bodies.iter().filter(|one| std::ptr::eq(one.body, body) && one.name != one.emitted);
    let lets: Vec<_> = renamed
        .map(|BodyName { name, emitted, .. }| quote_spanned!(name.span()=> let #name = #emitted;))
        .collect();
    if lets.is_empty() { tokens } else { quote!({ #(#lets)* #tokens }) }
}

/// The block of a process that is written in the pipeline.
fn block_of(one: &CallPlan) -> Option<crate::ast::Block> {
    let is_block = one.row.is_some_and(|row| row.closures == Closures::Block);
    match one.call.args.first() {
        Some(Arg::Value(expr)) if is_block => crate::ast::block(expr),
        _ => None,
    }
}

/// Is it a window's description that takes a closure over the records, and has one?
fn has_closure(arg: &Arg) -> bool {
    let Arg::Value(expr) = arg else { return false };
    let takes = ops::described(expr).is_some_and(|window| window.takes == Takes::GapOf);
    takes && matches!(expr, Expr::Call(call) if call.args.iter().any(|arg| matches!(arg, Expr::Closure(_))))
}

/// The parentheses of the user: an error about the arguments is shown there.
pub(super) fn in_parens(at: Span, args: TokenStream) -> TokenStream {
    let mut group = proc_macro2::Group::new(proc_macro2::Delimiter::Parenthesis, args);
    group.set_span(at);
    proc_macro2::TokenTree::Group(group).into()
}

/// Setters follow the table: `late` changes the type, so it comes last.
fn in_order<'a>(named: &'a [NamedArg], row: Option<&'static Operator>) -> Vec<&'a NamedArg> {
    let place =
        |one: &NamedArg| row.and_then(|row| row.named.iter().position(|known| one.name == known.name));
    let mut ordered: Vec<&NamedArg> = named.iter().collect();
    ordered.sort_by_key(|one| place(one).unwrap_or(usize::MAX));
    ordered
}

fn known(given: &NamedArg, row: Option<&'static Operator>) -> Option<&'static Named> {
    row?.named.iter().find(|known| given.name == known.name)
}

/// `idle = never` says for a reader what is so without it.
fn is_never(given: &NamedArg, row: Option<&'static Operator>) -> bool {
    let idle = known(given, row).is_some_and(|known| known.value == Value::PositiveDuration);
    idle && matches!(&given.value, Expr::Path(path) if path.path.is_ident(ops::NEVER))
}

/// Input: the value of `late = drop`
/// Output: `::flow_core::__rt::drop_late`
fn value(given: &NamedArg, row: Option<&'static Operator>, plan: &Plan) -> TokenStream {
    match known(given, row).map(|known| known.value) {
        Some(Value::Late) => policy(&given.value),
        Some(Value::Flag) => TokenStream::new(),
        _ => rewritten(&given.value, Mode::Owned, &plan.values),
    }
}

fn policy(value: &Expr) -> TokenStream {
    let span = value.span();
    let name = match value {
        Expr::Path(path) if path.path.is_ident("drop") => "drop_late".to_owned(),
        Expr::Path(path) => path.path.get_ident().map(Ident::to_string).unwrap_or_default(),
        _ => return quote!(#value),
    };
    let name = Ident::new(&name, span);
    quote_spanned!(span=> ::flow_core::__rt::#name)
}

/// Input: `Stream<Flight>`
/// Output: `Stream<Flight, _, _>`: the user says the record, rustc finds the rest.
fn padded(ty: &Type) -> Type {
    let mut ty = ty.clone();
    if let Type::Path(path) = &mut ty
        && let Some(last) = path.path.segments.last_mut()
        && last.ident == "Stream"
        && let PathArguments::AngleBracketed(args) = &mut last.arguments
    {
        while args.args.len() < 3 {
            args.args.push(GenericArgument::Type(Type::Infer(syn::TypeInfer {
                attrs: Vec::new(),
                underscore_token: syn::Token![_](args.gt_token.span()),
            })));
        }
    }
    ty
}
