//! The workloads on flow, as its users write them.

mod w1;
mod w2;
mod w3;
mod w4;
mod w5;

use std::process::ExitCode;

use flow_core::prelude::Collected;
use peer_common::Answer;

fn main() -> ExitCode {
    peer_common::frame::main("flow", |run| match run.workload.as_str() {
        "w1" => Some(w1::run(run)),
        "w2" => Some(w2::run(run)),
        "w3" => Some(w3::run(run)),
        "w4" => Some(w4::run(run)),
        "w5" => Some(w5::run(run)),
        _ => None,
    })
}

/// The answer of a pipeline that collects one count and checksum.
fn total(collected: &Collected<(u64, u64)>) -> Answer {
    let totals = collected.take();
    Answer::total(totals.into_iter().map(|(count, checksum)| Answer { count, checksum }))
}
