//! What closures may do with the names around them: each parallel instance owns a clone of all of them.

use super::{calls, values};
use crate::ast::{Pipeline, Statement};
use crate::diag::Diagnostics;
use crate::free::{self, Outside};
use crate::graph::Graph;
use crate::message;
use crate::ops::{Closures, Operator, Output};
use proc_macro2::Ident;
use quote::quote;
use std::collections::HashSet;
use syn::{ExprClosure, FnArg, Type};

/// `.map(|r| { seen += 1; … })`: every instance would count for itself, and nobody could read it.
pub(super) fn change_nothing_outside(graph: &Graph, diagnostics: &mut Diagnostics) {
    let known = HashSet::new();
    // In a block, what is assigned to is a state, which rustc knows better.
    let asks = |row: &Operator| row.output != Output::Terminal && row.closures != Closures::Block;
    for (row, closure) in on_records(graph).filter(|(row, _)| asks(row)) {
        for name in free::changed(closure, &known) {
            diagnostics.error(&name, message::closure_changes(&name, row.name));
        }
    }
}

/// `fn p(limit: &u64) { …filter(|r| r.id > *limit)… }`: the job goes on when the function has returned.
pub(super) fn borrow_no_parameters(ast: &Pipeline, graph: &Graph, diagnostics: &mut Diagnostics) {
    let borrowed = borrowed_parameters(ast);
    if borrowed.is_empty() {
        return;
    }
    let known = borrowed.iter().map(|(name, _)| name.to_string()).collect();
    for (row, closure) in on_records(graph) {
        for name in free::names(closure, &known) {
            if let Some((_, owned)) = borrowed.iter().find(|(one, _)| *one == &name) {
                diagnostics.error(&name, message::closure_borrows(&name, row.name, owned));
            }
        }
    }
}

/// The closures that run on records, with the operators they are for.
fn on_records<'a>(graph: &Graph<'a>) -> impl Iterator<Item = (&'static Operator, &'a ExprClosure)> {
    calls(graph).flat_map(|(_, call, row)| {
        let builds = row.closures.builds(usize::MAX);
        let named = call.named.iter().map(|given| &given.value).filter(move |_| !builds);
        let run =
            values(call).enumerate().filter(move |(at, _)| !row.closures.builds(*at)).map(|(_, expr)| expr);
        run.chain(named)
            .flat_map(move |expr| Outside::of(expr).closures.into_iter().map(move |one| (row, one)))
    })
}

/// Parameters of a type `&T` without `'static` that no `let` replaces, with the type to use instead.
fn borrowed_parameters(ast: &Pipeline) -> Vec<(&Ident, String)> {
    let replaced: HashSet<&Ident> = ast
        .statements
        .iter()
        .filter_map(|statement| match statement {
            Statement::Plain(plain) => Some(&plain.binds),
            _ => None,
        })
        .flatten()
        .collect();
    let inputs = ast.head.iter().flat_map(|head| &head.inputs);
    let borrowed = inputs.filter_map(|input| {
        let FnArg::Typed(typed) = input else { return None };
        let (syn::Pat::Ident(pat), Type::Reference(reference)) = (&*typed.pat, &*typed.ty) else {
            return None;
        };
        let is_static = reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static");
        (!is_static && !replaced.contains(&pat.ident)).then(|| (&pat.ident, owned(&reference.elem)))
    });
    borrowed.collect()
}

/// `str` → `String`, `[T]` → `Vec<T>`
fn owned(borrowed: &Type) -> String {
    match borrowed {
        Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
        Type::Path(path) if path.path.is_ident("Path") => "PathBuf".to_owned(),
        Type::Slice(slice) => {
            let elem = &slice.elem;
            format!("Vec<{}>", crate::text::text(quote!(#elem)))
        }
        other => crate::text::text(quote!(#other)),
    }
}
