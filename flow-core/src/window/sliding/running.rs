//! What the slices of the current window come to, kept up to date: what [`Invert`](super::invert::Invert) and
//! [`Stacks`](super::stacks::Stacks) have in common.

use crate::aggregate::{Aggregate, Algebra, Overflow};
use crate::op::{KeyFn, KeyTypes};
use crate::state::{Mode, Pane};
use crate::window::base::{Accu, PanesOf};
use crate::window::spans::Open;
use std::borrow::Cow;

/// The table of a slice of a window over `X`.
pub type Slice<X, F, A, M> = Pane<<F as KeyTypes<X>>::Key, Accu<X, F, A>, M>;

/// Slices that have entered and not left: those that begin from `low` on and before `high`.
pub struct Inside<'a, X, F: KeyFn<X>, A: Aggregate<F::Value>, M: Mode> {
    pub key: &'a F,
    pub aggregate: &'a A,
    pub panes: &'a PanesOf<X, F, A, M>,
    pub low: i128,
    pub high: i128,
}

impl<X, F: KeyFn<X>, A: Aggregate<F::Value>, M: Mode> Inside<'_, X, F, A, M> {
    /// The slices, the oldest first.
    pub fn slices(&self) -> impl DoubleEndedIterator<Item = (&Open, &Slice<X, F, A, M>)> {
        self.panes.within(self.low, self.high)
    }

    /// What a slice has of a key.
    pub fn part<'s>(&self, slice: &'s Slice<X, F, A, M>, hash: u64, k: &F::Key) -> Option<Cow<'s, A::Acc>> {
        slice.look(hash, |other| self.key.same(other, k))
    }

    /// What all slices have of a key, from the oldest to the newest.
    pub fn total(&self, k: &F::Key) -> Result<Option<A::Acc>, Overflow> {
        let hash = self.key.hash(k);
        let mut total = None;
        for part in self.slices().filter_map(|(_, slice)| self.part(slice, hash, k)) {
            total = Some(self.joined(total, &part)?);
        }
        Ok(total)
    }

    /// The accumulator of what is in `older`, followed by what is in `newer`, if there is something.
    pub fn before(&self, older: &A::Acc, newer: Option<&A::Acc>) -> Result<A::Acc, Overflow> {
        newer.map_or_else(|| Ok(older.clone()), |newer| self.joined(Some(older.clone()), newer))
    }

    /// The accumulator of what is in `older`, if there is something, followed by what is in `newer`.
    pub fn joined(&self, older: Option<A::Acc>, newer: &A::Acc) -> Result<A::Acc, Overflow> {
        let Some(mut acc) = older else { return Ok(newer.clone()) };
        A::Algebra::merge(self.aggregate, &mut acc, newer.clone())?;
        Ok(acc)
    }
}

/// A record that joined a slice which had entered already.
pub struct Joined<'a, K, I> {
    /// The beginning of the slice.
    pub slice: i128,
    pub hash: u64,
    pub key: &'a K,
    /// Whether the slice did not have its key before.
    pub new: bool,
    pub lifted: I,
}

/// An entry as a window shows it; none where a key has left.
pub type Shown<'a, K, V> = Option<(&'a K, Option<V>)>;

/// What the slices of a window come to. All methods report when an integer leaves its range.
pub trait Running<X, F: KeyFn<X>, A: Aggregate<F::Value>, M: Mode>: Default + Send + 'static {
    /// A slice enters, which is newer than all others.
    fn enter(&mut self, slice: &Slice<X, F, A, M>, key: &F, aggregate: &A) -> Result<(), Overflow>;
    /// The oldest slice leaves; it is still inside.
    fn leave(&mut self, slice: &Slice<X, F, A, M>, inside: &Inside<'_, X, F, A, M>) -> Result<(), Overflow>;
    /// All slices leave.
    fn clear(&mut self);
    /// A record has joined a slice that is inside.
    fn join(
        &mut self,
        joined: Joined<'_, F::Key, A::In>,
        inside: &Inside<'_, X, F, A, M>,
    ) -> Result<(), Overflow>;
    /// The entry at a place: the order is a function of what happened before. None behind the last.
    fn shown(
        &self,
        place: usize,
        inside: &Inside<'_, X, F, A, M>,
    ) -> Option<Result<Shown<'_, F::Key, A::Out>, Overflow>>;
}
