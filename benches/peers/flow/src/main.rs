//! The workloads on flow, as its users write them.

use std::process::ExitCode;

fn main() -> ExitCode {
    peer_common::frame::main("flow", |_| None)
}
