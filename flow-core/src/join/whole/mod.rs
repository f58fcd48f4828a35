//! `join(…).hash()` and `join(…).sort_merge()`: all elements of a key on both sides, which end. Beyond the job's memory both sides lie on the disk.
//!
//! * `chain`: how they are put behind two streams; `head`: the operator, which does not know how rows are found;
//! * `hash`: how they are found in a table of the right side, part by part (`parts`), each of which is in memory or in files; `probe`: one part;
//! * `merge`: how they are found by sorting both sides;
//! * `cross`: all pairs, of streams without a key.

mod chain;
mod cross;
mod hash;
mod head;
mod merge;
mod parts;
mod probe;
#[cfg(test)]
mod tests;

pub use chain::{WholeJoin, WholeOp};
pub use cross::{CrossEnds, CrossLeft, CrossRight, Crossed};
pub use head::{Hash, SortMerge};

/// An element with its key and the key's hash.
type Row<Q, T> = (u64, Q, T);
