//! Aggregates: what a window, or the end of the input, makes of its records.
//!
//! An [`Aggregate`] lifts each record to what it needs of it ([`Aggregate::lift`], at the sender, so that no more than
//! that crosses an exchange), adds it to an accumulator, and reads the result off. What else it can do is its
//! [`Algebra`], and the runtime picks its algorithms by that: accumulators that merge and commute are built before
//! the exchange already.
//!
//! Aggregates are made through a typed handle: `.aggregate(|a| (a.count(), a.mean(|f| f.delay)))`; a tuple of aggregates is
//! one. Your own is `a.by(MyAggregate)` or simply `|_| MyAggregate`.

mod algebra;
mod basic;
mod found;
mod handle;
mod keeping;
mod numeric;
mod tuples;

#[cfg(test)]
mod tests;

pub use algebra::{Algebra, Commutative, Commutes, Invertible, Inverts, Joins, Mergeable, Merges, Plain};
pub use basic::{Best, Count, FirstLast, FoldWith, ReduceWith};
pub use found::Found;
pub use handle::Agg;
pub use keeping::{Collect, CountDistinct, TopK};
pub use numeric::{Mean, Sum, Variance, WrappingSum};
pub use tuples::Each;

use crate::error::Result as Checked;
use crate::stage::{Meta, OpenCx};
use crate::time::Timestamp;
use std::fmt;

/// An integer left the range of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overflow;

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the sum left the range of its integer type; widen it, or use `wrapping_sum`")
    }
}

impl std::error::Error for Overflow {}

/// What is made of many records of type `T`.
///
/// ```
/// use flow_core::aggregate::{Aggregate, Overflow, Plain};
/// use flow_core::prelude::*;
///
/// /// The longest word.
/// #[derive(Clone)]
/// struct Longest;
/// impl Aggregate<&'static str> for Longest {
///     type In = &'static str;
///     type Acc = &'static str;
///     type Out = &'static str;
///     type Algebra = Plain;
///     fn name(&self) -> String {
///         "longest".into()
///     }
///     fn start(&self) -> &'static str {
///         ""
///     }
///     fn lift(&self, word: &&'static str) -> &'static str {
///         word
///     }
///     fn add(&self, acc: &mut &'static str, word: &'static str) -> Result<(), Overflow> {
///         if word.len() > acc.len() {
///             *acc = word;
///         }
///         Ok(())
///     }
///     fn result(&self, acc: &&'static str) -> Option<&'static str> {
///         (!acc.is_empty()).then_some(acc)
///     }
/// }
///
/// let out = Collected::new();
/// let job = Job::build("longest", |job| {
///     let words = source(from_vec(vec!["a", "stream", "of", "words"]));
///     job.add(words.aggregate(|_| Longest).collect(&out));
/// });
/// job.run().unwrap();
/// assert_eq!(out.take(), ["stream"]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an aggregate of `{T}`",
    label = "cannot aggregate records of type `{T}`",
    note = "build it from the handle, `.aggregate(|a| a.sum(|x| x.amount))`, or implement `flow_core::aggregate::Aggregate<{T}>`",
    note = "several are a tuple, `|a| (a.count(), a.sum(…))`; `first`, `last`, `collect`, `top_k` and `reduce` keep records, which have to be `Clone`"
)]
pub trait Aggregate<T>: Clone + Send + 'static {
    /// What it needs of a record. `Clone`, since a record may be in several windows.
    type In: Clone + Send + 'static;
    /// What it keeps. `Clone`, since windows that overlap share what they have in common.
    type Acc: Clone + Send + 'static;
    /// What it makes.
    type Out: 'static;
    /// What can be done with accumulators: [`Plain`], or more if it implements [`Mergeable`] and its like.
    type Algebra: Algebra<T, Self>;
    /// Its name in `explain`.
    fn name(&self) -> String;
    /// The accumulator of no records.
    fn start(&self) -> Self::Acc;
    /// Whether it can work as it is described; asked before the job starts.
    ///
    /// # Errors
    /// When it cannot, with what to write instead.
    fn check(&self) -> Checked<()> {
        Ok(())
    }
    /// An instance of its operator begins: the place to ask for counters.
    fn open(&mut self, cx: &OpenCx, meta: &Meta) {
        let _ = (cx, meta);
    }
    /// What it needs of this record.
    fn lift(&self, record: &T) -> Self::In;
    /// The same, where it matters when the record happened.
    #[inline(always)]
    fn lift_at(&self, record: &T, time: Timestamp) -> Self::In {
        let _ = time;
        self.lift(record)
    }
    /// Takes a record.
    ///
    /// # Errors
    /// When an integer leaves its range: the job ends.
    fn add(&self, acc: &mut Self::Acc, x: Self::In) -> Result<(), Overflow>;
    /// The result; `None` where there is none, as of the mean of nothing.
    fn result(&self, acc: &Self::Acc) -> Option<Self::Out>;
    /// The result of an accumulator that is not needed any more.
    fn take_result(&self, acc: Self::Acc) -> Option<Self::Out> {
        self.result(&acc)
    }
}
