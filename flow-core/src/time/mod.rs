//! Event time, durations and clocks.

mod clock;
mod grid;
mod millis;
mod timestamp;

pub(crate) use clock::Steady;
pub use clock::{Clock, SystemClock, VirtualClock};
pub use grid::Grid;
pub use millis::{IntoMillis, Millis};
pub use timestamp::{IntoTimestamp, IntoWatermark, Timestamp};
