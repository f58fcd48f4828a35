//! The workloads on Renoir, as its users write them.
//!
//! W4 and W5 give other answers than everybody else: Renoir's event-time windows are aligned to the first element of each
//! key, and on-time records are dropped without a word.

mod run;
mod w1;
mod w2;
mod w3;
mod w8;
mod w9;
mod windows;

use std::process::ExitCode;

use peer_common::elements::{SLIDE_MS, SLIDING_MS, TUMBLING_MS};
use renoir::prelude::EventTimeWindow;

fn main() -> ExitCode {
    peer_common::frame::main("renoir", |run| match run.workload.as_str() {
        "w1" | "w1b" => Some(w1::run(run)),
        "w2" => Some(w2::run(run)),
        "w3" => Some(w3::run(run)),
        "w4" => Some(windows::run(run, EventTimeWindow::tumbling(TUMBLING_MS))),
        "w5" => Some(windows::run(run, EventTimeWindow::sliding(SLIDING_MS, SLIDE_MS))),
        "w8" => Some(w8::run(run)),
        "w9" => Some(w9::run(run)),
        _ => None,
    })
}
