//! Records that are too many for the memory: files beside it, and sorting with them.
//!
//! | to see | look at |
//! |---|---|
//! | how much memory the operators of a job may have that need all their input | `memory.rs` |
//! | a file of records that goes with the process | `file.rs` |
//! | records that leave the memory when there are too many | `side.rs`; `size.rs` has how much they take |
//! | sorting with them | `sorter.rs`, `merge.rs` |

mod file;
mod memory;
mod merge;
mod side;
mod size;
mod sorter;
#[cfg(test)]
mod tests;

pub(crate) use file::{Reading, Writing};
pub use memory::Memory;
pub(crate) use memory::{MemoryLimit, Share};
pub(crate) use merge::Merge;
pub(crate) use side::Side;
pub(crate) use size::Size;
pub(crate) use sorter::Sorter;

use serde_core::Serialize;
use serde_core::de::DeserializeOwned;
use std::cmp::Ordering;

/// How records are ordered.
pub trait Order<T>: Clone + Send + 'static {
    /// How two compare.
    fn order(&self, a: &T, b: &T) -> Ordering;
}

/// A record that may leave the memory.
///
/// ```
/// fn leaves<T: flow_core::external::Spill>() {}
/// leaves::<(String, u64)>();
/// ```
pub trait Spill: Serialize + DeserializeOwned + Send + 'static {}
#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> Spill for T {}
