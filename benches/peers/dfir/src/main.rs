//! The workloads on dfir (Hydro's `dfir_syntax!`), as its users write them. A dfir graph runs on one thread, so it does at
//! every parallelism. It has no windows: W4 brings its own closure, W5 and W8 are left out.

mod w1;
mod w2;
mod w3;
mod w4;

use std::process::ExitCode;

/// The hash table of W3 and W4, the same as that of the loops written by hand.
type Table<K, V> = hashbrown::HashMap<K, V, foldhash::fast::FixedState>;

fn main() -> ExitCode {
    peer_common::frame::main("dfir", |run| match run.workload.as_str() {
        "w1" => Some(w1::run(run)),
        "w2" => Some(w2::run(run)),
        "w3" => Some(w3::run(run)),
        "w4" => Some(w4::run(run)),
        _ => None,
    })
}
