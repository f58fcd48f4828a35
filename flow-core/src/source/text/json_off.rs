//! JSON without the feature `json`: the names are there to say what is missing.

use crate::op::proved::Impossible;
use crate::source::FromIter;

/// Nothing: the feature `json` is off.
#[diagnostic::on_unimplemented(
    message = "JSON needs the feature `json` of flow-core, which is off",
    label = "there is no JSON without the feature",
    note = "write `features = [\"json\"]` at `flow-core` in Cargo.toml, or run `cargo add flow-core --features json`"
)]
pub trait WithJson: Impossible {}

/// Needs the feature `json`.
///
/// ```compile_fail,E0277
/// # use flow_core::prelude::*;
/// let _ = source(json_lines::<u64>("numbers.jsonl"));
/// ```
pub fn json_lines<T: 'static>(inputs: impl WithJson) -> FromIter<std::iter::Empty<T>> {
    inputs.never()
}
