//! An input that may fall silent for ever holds back every window behind the operator that brings it together with others.

use crate::ast::{Call, Pipeline, Statement};
use crate::diag::Diagnostics;
use crate::graph::{Graph, Node, NodeId, Op};
use crate::message;
use crate::ops::{Output, Time};
use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{Expr, FnArg, Pat, Type};

/// Sources that do not end by themselves and may be silent for as long as they like, what makes one of any other, and the type of one that
/// is given.
const ENDLESS: &[&str] = &["tcp_lines", "channel"];
const ENDLESS_CALL: &str = "watch";
const ENDLESS_TYPE: &str = "ChannelSource";

/// `clicks.union(rides).window(…)`, `clicks` being a channel without `idle`: while it says nothing no window fires. `idle = 10s` lets the
/// others go on, `idle = never` says that this is meant.
pub(super) fn no_input_holds_back_windows(ast: &Pipeline, graph: &Graph, diagnostics: &mut Diagnostics) {
    let endless = endless_names(ast);
    let mut told: Vec<*const Call> = Vec::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        let Op::Call { call, row } = &node.op else { continue };
        let inputs = || graph.edges.iter().filter(|edge| edge.to.0 == index);
        if !row.fan_in || node.input.tainted || inputs().count() < 2 || !has_window(graph, NodeId(index)) {
            continue;
        }
        for edge in inputs() {
            let silent = silent(graph, edge.from, &endless);
            for event_time in
                silent.into_iter().filter(|one| !told.contains(&std::ptr::from_ref(*one))).collect::<Vec<_>>()
            {
                told.push(event_time);
                diagnostics.warning(&event_time.name, message::holds_back_windows(&call.name.to_string()));
            }
        }
    }
}

/// Whether something behind a node waits for the watermark: a window, or a join.
fn has_window(graph: &Graph, at: NodeId) -> bool {
    let waits = |node: &Node| match &node.op {
        Op::Call { row, .. } => matches!(row.output, Output::Window | Output::Joined),
        _ => false,
    };
    let mut behind = vec![at];
    while let Some(one) = behind.pop() {
        if waits(graph.node(one)) {
            return true;
        }
        behind.extend(graph.edges.iter().filter(|edge| edge.from == one).map(|edge| edge.to));
    }
    false
}

/// The calls of `event_time` before a node that say nothing of silence, of sources that have no end.
fn silent<'a>(graph: &Graph<'a>, from: NodeId, endless: &[&Ident]) -> Vec<&'a Call> {
    let (mut before, mut found) = (vec![from], Vec::new());
    while let Some(at) = before.pop() {
        let inputs = || graph.edges.iter().filter(|edge| edge.to == at).map(|edge| edge.from);
        match &graph.node(at).op {
            Op::Call { call, row } if row.time == Time::Sets => {
                if call.named("idle").is_none() && inputs().any(|input| is_endless(graph, input, endless)) {
                    found.push(*call);
                }
            }
            _ => before.extend(inputs()),
        }
    }
    found
}

/// Whether what comes from a node has no end: nothing between it and its source takes some only.
pub(super) fn is_endless(graph: &Graph, at: NodeId, endless: &[&Ident]) -> bool {
    match &graph.node(at).op {
        Op::Call { call, .. } if call.name == "take" => false,
        Op::Call { .. } => {
            let mut inputs = graph.edges.iter().filter(|edge| edge.to == at);
            inputs.any(|edge| is_endless(graph, edge.from, endless))
        }
        Op::Source(call) => call.args.first().is_some_and(|source| has_no_end(source, endless)),
        _ => false,
    }
}

/// Whether a source has no end: it is one of those, whatever is said of it by methods, or is watched.
fn has_no_end(source: &Expr, endless: &[&Ident]) -> bool {
    match source {
        Expr::Path(path) => path.path.get_ident().is_some_and(|name| endless.contains(&name)),
        Expr::MethodCall(call) => call.method == ENDLESS_CALL || has_no_end(&call.receiver, endless),
        made => super::time::called(made).is_some_and(|name| ENDLESS.contains(&name.as_str())),
    }
}

/// The names of sources without an end: parameters of that type, and what `let (sender, source) = channel(…)` binds.
pub(super) fn endless_names(ast: &Pipeline) -> Vec<&Ident> {
    let inputs = ast.head.iter().flat_map(|head| &head.inputs);
    let parameters = inputs.filter_map(|input| {
        let FnArg::Typed(typed) = input else { return None };
        let (Pat::Ident(pat), Type::Path(ty)) = (&*typed.pat, &*typed.ty) else { return None };
        (ty.path.segments.last()?.ident == ENDLESS_TYPE).then_some(&pat.ident)
    });
    let bound = ast.statements.iter().filter_map(|statement| match statement {
        Statement::Plain(plain) if mentions(&plain.tokens) => Some(&plain.binds),
        _ => None,
    });
    parameters.chain(bound.flatten()).collect()
}

fn mentions(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| matches!(token, TokenTree::Ident(name) if name == ENDLESS[1]))
}
