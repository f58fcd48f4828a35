//! What the benches share: the elements of the workloads, the same as those run beside the peers in `peers`.

#[path = "peers/common/src/answer.rs"]
pub mod answer;
#[path = "peers/common/src/elements.rs"]
pub mod elements;
