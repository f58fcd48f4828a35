//! Real processes that are killed, and jobs whose sinks, disks and closures fail while they take checkpoints: in the end every result stands
//! there once.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

mod closures;
mod disks;
mod kills;
mod points;
mod processes;
mod runner;
mod sinks;
