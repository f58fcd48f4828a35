//! What the example programs share: arguments, exit codes, the sample data. The pipelines are in the examples themselves.

#[path = "support/args.rs"]
mod args;

pub use args::{Args, Stop, main, sample};
