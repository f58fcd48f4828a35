//! What every program of this workspace shares: the elements of each workload, the answer a run gives, and the frame that
//! times a run and prints it.
//!
//! Start with [`frame::main`]: a peer is a `match` over [`Run::workload`](frame::Run::workload) given to it.

pub mod answer;
pub mod columns;
pub mod elements;
pub mod frame;
pub mod graph;
#[cfg(feature = "serde")]
mod travel;
pub mod words;

pub use answer::Answer;
pub use frame::Run;
