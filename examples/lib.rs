//! What the example programs share: arguments, exit codes, the sample data, times. The pipelines are in the examples themselves.

#[path = "support/args.rs"]
mod args;
#[path = "support/time.rs"]
mod time;

pub use args::{Args, Stop, main, sample, tell};
pub use time::utc_ms;
