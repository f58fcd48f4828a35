//! JSON without the feature `json`: the name is there to say what is missing.

use crate::sink::ChannelSink;
use crate::source::text::WithJson;

/// Needs the feature `json`.
///
/// ```compile_fail,E0277
/// # use flow_core::prelude::*;
/// let job = Job::build("doc", |job| job.add(source(from_iter(0..5)).sink(json_file("numbers.jsonl"))));
/// ```
pub fn json_file<T>(path: impl WithJson) -> ChannelSink<T> {
    path.never()
}
