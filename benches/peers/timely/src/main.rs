//! The workloads on timely dataflow, as its users write them. It has no windows, so W4 and W5 bring their own operator.

mod run;
mod w1;
mod w2;
mod w3;
mod w4;
mod w5;
mod w8;
mod w9;

use std::process::ExitCode;

/// The hash table of every workload, the same as that of the loops written by hand.
type Table<K, V> = hashbrown::HashMap<K, V, foldhash::fast::FixedState>;

fn main() -> ExitCode {
    peer_common::frame::main("timely", |run| match run.workload.as_str() {
        "w1" | "w1b" => Some(w1::run(run)),
        "w2" => Some(w2::run(run)),
        "w3" => Some(w3::run(run)),
        "w4" => Some(w4::run(run)),
        "w5" => Some(w5::run(run)),
        "w8" => Some(w8::run(run)),
        "w9" => Some(w9::run(run)),
        _ => None,
    })
}
