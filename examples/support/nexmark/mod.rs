//! Nexmark: queries on an auction house that many stream processors are measured by.
//!
//! * `records`: persons, auctions, bids; `generator`: makes them, of `random` numbers, by `rules`, with `strings`;
//!   `source`: gives them to a pipeline;
//! * the queries: `stateless`, over `windows`, for `totals`, for the `latest` and highest, with `joins`, and about what won
//!   `auctions`, which are kept until their `closing`; `columns`: how their results are written.

mod auctions;
mod closing;
mod columns;
mod generator;
mod joins;
mod latest;
mod random;
mod records;
mod rules;
mod source;
mod stateless;
mod strings;
mod totals;
mod windows;

pub use generator::Generator;
pub use source::Events;

use flow_core::graph::Graph;
use flow_core::prelude::*;
use std::path::PathBuf;

/// A query: its name, its pipeline, and the graph of that.
pub struct Query {
    pub name: &'static str,
    pub job: fn(Events, PathBuf) -> Job,
    pub graph: Graph,
}

macro_rules! queries {
    ($($room:ident::$name:ident),+ $(,)?) => {
        &[$(Query { name: stringify!($name), job: $room::$name, graph: $room::$name::GRAPH }),+]
    };
}

/// All of them. (q10 writes files by day and minute.)
pub const QUERIES: &[Query] = queries![
    stateless::q0,
    stateless::q1,
    stateless::q2,
    joins::q3,
    auctions::q4,
    windows::q5,
    auctions::q6,
    windows::q7,
    joins::q8,
    auctions::q9,
    windows::q11,
    windows::q12,
    joins::q13,
    stateless::q14,
    totals::q15,
    totals::q16,
    totals::q17,
    latest::q18,
    latest::q19,
    joins::q20,
    stateless::q21,
    stateless::q22,
];
