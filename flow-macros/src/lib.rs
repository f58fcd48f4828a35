//! The `dataflow!` macro of `flow-core`. Use it through that crate: the code it writes names `::flow_core`.
//!
//! The text of a pipeline goes through five phases, each one function that reads what the former made:
//!
//! 1. `ast`: tokens → statements and chains; recovers at the next statement;
//! 2. `graph`: names resolved, operators as nodes, what the macro can know of each edge;
//! 3. `check`: every rule that takes more than one token to see broken;
//! 4. `plan`: what is emitted and in which order; where each end hangs;
//! 5. `codegen`: tokens, calls of `::flow_core::__rt` and the user's own expressions.
//!
//! All of them report into one `diag::Diagnostics` with the sentences of `message`, and know operators by their
//! rows in `ops`. Nothing below this file knows `proc_macro`, so all of it runs in unit tests.

mod ast;
mod check;
mod codegen;
mod diag;
mod duration;
mod foreign;
mod free;
mod graph;
mod message;
mod op_kinds;
mod ops;
mod plan;
mod render;
mod suggest;
#[cfg(test)]
mod tests;
mod text;
mod window_kinds;

use crate::diag::{Diagnostics, Report};
use proc_macro2::TokenStream;

/// Declares pipelines.
///
/// The item form declares functions; each returns a `Job`, and beside it a module of its name holds `GRAPH`:
///
/// ```text
/// dataflow! {
///     /// Mean departure delay per airport and hour.
///     pub fn delays_by_hour(flights: PathBuf, report: PathBuf) {
///         let departures = source(csv::<Flight>(flights)).event_time(|f| f.scheduled(), disorder = 15min);
///         let hourly = departures
///             .key_by_ref(|f| &f.origin)
///             .window(tumbling(1h), lateness = 10min, late = drop)
///             .aggregate(|a| (a.count(), a.mean(|f| f.dep_delay)));
///         hourly.sink(csv_file(report));
///     }
/// }
/// ```
///
/// The expression form, `let job = dataflow! { let lines = source(…); … };`, captures its surroundings. Either may
/// stand in `dataflow!({ … })`, which rustfmt formats.
///
/// Durations are written `500ms`, `5s`, `15min`, `1h`, `1d`. A window with `late = side` gives a pair: `let (hourly, late) = …`. A
/// stream may be used more than once. The operators and their named arguments are in `docs/operators.md`.
///
/// `#[strict]` on a function (`#![strict]` at the beginning of an expression's body) makes warnings errors; with `#[max_shuffles(1)]` records go to other
/// instances once at most.
///
/// A stream is a `let` whose right side starts with `source(…)` or a stream's name, or is a call with a stream among
/// its arguments; `let x: Stream<_> = …` forces it. Any other statement is plain Rust.
#[proc_macro]
pub fn dataflow(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand(input.into()).into()
}

/// The macro, as a table of contents.
fn expand(input: TokenStream) -> TokenStream {
    ast::sources(input).into_iter().map(expand_one).collect()
}

/// One pipeline. Every phase runs whatever the former reported, so all mistakes are told at once; what depends on a
/// reported one is tainted and told no more.
fn expand_one(source: ast::Source) -> TokenStream {
    let mut diagnostics = Diagnostics::new();
    let Some(ast) = ast::parse(source, &mut diagnostics) else {
        return diagnostics.finish().errors.iter().map(Report::to_error).collect();
    };
    let graph = graph::build(&ast, &mut diagnostics);
    check::check(&ast, &graph, &mut diagnostics);
    let plan = plan::plan(&ast, &graph);
    codegen::generate(&ast, &plan, &diagnostics.finish())
}
