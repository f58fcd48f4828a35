//! Many runs, long waits, slow sinks: no leak, no lost wake-up, no work while there is nothing to do, bounded memory.
//!
//! `FLOW_ENDURANCE_RUNS=10000 cargo test --release -p flow-tests --test endurance` is the full length; without it a few
//! hundred runs are done.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

mod idle;
mod memory;
mod ping;
mod runs;
mod stress;

use flow_core::prelude::*;

/// The hosts with threads, as many as there are instances, fewer than cores, as many, and more.
const HOSTS: [HostKind; 4] =
    [HostKind::Threads, HostKind::Workers(1), HostKind::Workers(2), HostKind::Workers(3)];

/// How many runs the long tests do.
fn runs() -> usize {
    std::env::var("FLOW_ENDURANCE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(300)
}
