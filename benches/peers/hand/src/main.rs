//! The workloads as loops written by hand: what an expert would write without a library.
//!
//! On one thread each is the plain loop. On several, W1 and W2 cut the input; W3 to W5 exchange by key between two
//! threads (`exchange.rs`), and W8 stays on one.

mod exchange;
mod w1;
mod w2;
mod w3;
mod w4;
mod w5;
mod w8;

use std::process::ExitCode;

/// The hash table of every workload: the fastest general one known, with a fast hash.
type Table<K, V> = hashbrown::HashMap<K, V, foldhash::fast::FixedState>;

fn main() -> ExitCode {
    peer_common::frame::main("hand", |run| match run.workload.as_str() {
        "w1" => Some(w1::run(run)),
        "w2" => Some(w2::run(run)),
        "w3" if run.threads <= exchange::THREADS => Some(w3::run(run)),
        "w4" if run.threads <= exchange::THREADS => Some(w4::run(run)),
        "w5" if run.threads <= exchange::THREADS => Some(w5::run(run)),
        "w8" => Some(w8::run(run)),
        _ => None,
    })
}
