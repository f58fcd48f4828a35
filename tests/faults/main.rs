//! What happens when something goes wrong: `run` returns within a second with one error that says who, where and why;
//! nothing is committed; nothing hangs.
//!
//! * [`harness`]: the hosts, a run that may not hang, a sink that keeps a ledger of what it committed;
//! * [`panics`]: in each kind of closure, in sources and sinks, in a record's destructor;
//! * [`errors`]: what closures, sources and sinks report;
//! * [`commits`]: all sinks or none;
//! * [`hangs`]: stages that are blocked, stuck or idle when the job fails, ends or is dropped.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

mod commits;
mod errors;
mod hangs;
mod harness;
mod panics;
