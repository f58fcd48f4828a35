//! What a program with pipelines imports: `use flow_core::prelude::*;`.

pub use crate::checkpoint::Checkpoints;
pub use crate::dataflow;
pub use crate::error::{Error, ErrorKind, Result};
pub use crate::host::HostKind;
pub use crate::job::{Job, JobHandle};
pub use crate::metrics::Report;
pub use crate::op::{Dead, Either, Either3, Either4, FloatKey, Flow, Kind, Stream};
pub use crate::process::{
    AggregatingState, BroadcastContext, BroadcastProcess, ListState, MapState, ReducingState,
};
pub use crate::process::{Context as ProcessContext, EventTimers, Process, ProcessingTimers};
pub use crate::short_string::ShortString;
#[cfg(feature = "json")]
pub use crate::sink::json_files;
#[cfg(feature = "sqlite")]
pub use crate::sink::sqlite;
pub use crate::sink::{Collected, csv_file, csv_files, json_file, stdout, text_file, text_files, to_channel};
#[cfg(feature = "state-processor")]
pub use crate::source::savepoint;
pub use crate::source::text::Broken;
pub use crate::source::{
    ChannelSender, channel, csv, from_iter, from_vec, generate, json_lines, lines, source, stdin_lines,
    tcp_lines,
};
#[cfg(feature = "fjall")]
pub use crate::state::Fjall;
pub use crate::time::{Millis, Timestamp};
pub use crate::window::{Late, Windowed, global, sliding, tumbling};
pub use crate::window::{count, days, last, processing, session, session_by};
