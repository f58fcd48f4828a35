//! Phase 3: what needs more than one node, or an operator's row, to be seen wrong.
//!
//! A check reads the graph and reports; it changes nothing and returns nothing. What depends on a mistake that has
//! been reported is tainted, and no check speaks about it.

mod aggregates;
mod args;
mod chains;
mod closures;
mod contexts;
mod durations;
mod elements;
mod evict;
mod holding;
mod identities;
mod joins;
mod keys;
mod names;
mod process;
mod returns;
mod shuffles;
mod sides;
mod time;
mod triggers;
mod unbounded;
mod windows;

pub(crate) use self::identities::renamed;

use crate::ast::{Arg, Call, Pipeline};
use crate::diag::Diagnostics;
use crate::graph::{Graph, Node, Op};
use crate::ops::Operator;
use syn::Expr;

/// All checks, in the order in which a reader of the messages would want them.
pub(crate) fn check(ast: &Pipeline, graph: &Graph, diagnostics: &mut Diagnostics) {
    names::every_stream_is_consumed(graph, diagnostics);
    names::ids_are_unique(graph, diagnostics);
    identities::states_have_names_of_their_own(ast, graph, diagnostics);
    identities::renamed_once(ast, diagnostics);
    names::closures_hold_no_streams(graph, diagnostics);
    closures::change_nothing_outside(graph, diagnostics);
    closures::borrow_no_parameters(ast, graph, diagnostics);
    returns::closures_return_what_is_meant(graph, diagnostics);
    aggregates::are_known(graph, diagnostics);
    chains::statements_end_in_a_sink(graph, diagnostics);
    chains::sinks_have_no_name(graph, diagnostics);
    chains::nothing_follows_a_sink(graph, diagnostics);
    args::positional(graph, diagnostics);
    args::sources(graph, diagnostics);
    args::named(graph, diagnostics);
    args::named_in_functions(graph, diagnostics);
    args::streams(graph, diagnostics);
    keys::keyed_operators_have_a_key(graph, diagnostics);
    keys::keys_are_used(graph, diagnostics);
    shuffles::are_within_the_budget(ast, graph, diagnostics);
    time::windows_have_event_time(graph, diagnostics);
    time::unions_agree_on_event_time(graph, diagnostics);
    time::event_time_comes_before_exchanges(graph, diagnostics);
    windows::descriptions(graph, diagnostics);
    windows::gaps(graph, diagnostics);
    windows::are_closed(graph, diagnostics);
    windows::late_elements_have_a_policy(graph, diagnostics);
    joins::have_two_keys(graph, diagnostics);
    joins::have_a_form(graph, diagnostics);
    joins::have_event_time(graph, diagnostics);
    joins::windows_are_of_time(graph, diagnostics);
    joins::bounds(graph, diagnostics);
    joins::late_elements_have_a_policy(graph, diagnostics);
    joins::are_closed(graph, diagnostics);
    process::blocks(graph, diagnostics);
    contexts::are_asked_for_what_they_have(graph, diagnostics);
    unbounded::states_go(ast, graph, diagnostics);
    holding::no_input_holds_back_windows(ast, graph, diagnostics);
    evict::something_is_kept(graph, diagnostics);
    triggers::they_fire(graph, diagnostics);
    sides::names_match_streams(graph, diagnostics);
    durations::named_arguments(graph, diagnostics);
    durations::sizes(graph, diagnostics);
    elements::counts(graph, diagnostics);
    elements::arguments(graph, diagnostics);
    elements::numbers(graph, diagnostics);
    durations::literals(ast, diagnostics);
}

/// The operator calls that depend on no reported mistake, each once: a `union` of three streams is two nodes.
fn calls<'g, 'a>(graph: &'g Graph<'a>) -> impl Iterator<Item = (&'g Node<'a>, &'a Call, &'static Operator)> {
    let mut last: Option<&Call> = None;
    graph.nodes.iter().filter_map(move |node| match &node.op {
        Op::Call { call, row }
            if !node.input.tainted && !last.is_some_and(|last| std::ptr::eq(last, *call)) =>
        {
            last = Some(call);
            Some((node, *call, *row))
        }
        _ => None,
    })
}

/// The positional arguments that are no streams.
fn values(call: &Call) -> impl Iterator<Item = &Expr> {
    call.args.iter().filter_map(|arg| match arg {
        Arg::Value(expr) => Some(expr),
        Arg::Stream(_) => None,
    })
}
