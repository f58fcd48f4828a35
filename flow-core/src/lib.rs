//! flow: dataflow pipelines as statically typed, monomorphized operator threads.

extern crate self as flow_core;

#[doc(hidden)]
pub mod __rt;
pub mod aggregate;
pub mod batch;
pub mod channel;
pub mod error;
pub mod exchange;
pub mod graph;
pub mod host;
pub mod job;
pub mod metrics;
pub mod op;
pub mod prelude;
pub mod sink;
pub mod source;
pub mod stage;
pub mod state;
pub mod time;
pub mod window;

pub use error::{Error, ErrorKind, Result};
pub use flow_macros::dataflow;
pub use job::Job;
