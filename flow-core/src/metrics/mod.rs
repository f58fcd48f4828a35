//! Counters, and the report at the end of a run.

mod counter;
mod report;
mod stage;

pub use counter::{Counter, Gauge};
pub use report::{Report, StageReport};
pub use stage::StageMetrics;
