//! The operator: it takes both sides, and gives rows when both have ended.

use super::Row;
use super::hash::Hashing;
use super::merge::Merging;
use crate::error::{Error, Result};
use crate::external::{Memory, Spill};
use crate::join::form::Whole;
use crate::join::rows::ROWS_AT_ONCE;
use crate::join::side::Crossing;
use crate::metrics::Counter;
use crate::op::{Either, Key};
use crate::stage::{Faults, Fire, Head, Meta, OpenCx, Push, Tail};
use crate::time::Timestamp;
use crate::window::base::Item;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::vec::IntoIter;

/// In a table of the right side.
#[derive(Debug, Clone, Copy)]
pub struct Hash;
/// By sorting both sides.
#[derive(Debug, Clone, Copy)]
pub struct SortMerge;

/// How rows are found.
pub trait Finding<Q, L, R>: Copy + Send + 'static {
    /// What it has of both sides.
    type Work: Send + 'static;
    /// What `explain` says of it.
    const EXPLAIN: &'static str;
    /// Nothing has come yet.
    fn begin(memory: &Memory) -> Self::Work;
    /// Takes a left element.
    fn left(work: &mut Self::Work, row: Row<Q, L>) -> Result<()>;
    /// Takes a right one.
    fn right(work: &mut Self::Work, row: Row<Q, R>) -> Result<()>;
    /// The next row; no element comes any more.
    fn next<F: Whole<L, R>>(work: &mut Self::Work) -> Result<Option<(Q, F::Out)>>;
    /// How many elements have gone to the disk since it was asked.
    fn spilled(work: &mut Self::Work) -> u64;
}

impl<Q: Key + Spill, L: Spill, R: Spill> Finding<Q, L, R> for Hash {
    type Work = Hashing<Q, L, R>;
    const EXPLAIN: &'static str = "in a table of the right side";
    fn begin(memory: &Memory) -> Self::Work {
        Hashing::new(memory)
    }
    fn left(work: &mut Self::Work, row: Row<Q, L>) -> Result<()> {
        work.left(row)
    }
    fn right(work: &mut Self::Work, row: Row<Q, R>) -> Result<()> {
        work.right(row)
    }
    fn next<F: Whole<L, R>>(work: &mut Self::Work) -> Result<Option<(Q, F::Out)>> {
        work.next::<F>()
    }
    fn spilled(work: &mut Self::Work) -> u64 {
        work.spilled()
    }
}

impl<Q: Key + Ord + Spill, L: Spill, R: Spill> Finding<Q, L, R> for SortMerge {
    type Work = Merging<Q, L, R>;
    const EXPLAIN: &'static str = "by sorting both sides, in order of the keys";
    fn begin(memory: &Memory) -> Self::Work {
        Merging::new(memory)
    }
    fn left(work: &mut Self::Work, (_, key, left): Row<Q, L>) -> Result<()> {
        work.left(key, left)
    }
    fn right(work: &mut Self::Work, (_, key, right): Row<Q, R>) -> Result<()> {
        work.right(key, right)
    }
    fn next<F: Whole<L, R>>(work: &mut Self::Work) -> Result<Option<(Q, F::Out)>> {
        work.next::<F>()
    }
    fn spilled(work: &mut Self::Work) -> u64 {
        work.spilled()
    }
}

/// The head of the stage.
pub struct WholeHead<Q, L, R, F, A: Finding<Q, L, R>, N> {
    /// Nothing, where it has failed or is done.
    work: Option<A::Work>,
    ended: bool,
    spilled: Counter,
    meta: Meta,
    faults: Faults,
    next: N,
    types: PhantomData<fn() -> (Q, L, R, F)>,
}

impl<Q, L, R, F, A, N> WholeHead<Q, L, R, F, A, N>
where
    Q: 'static,
    F: Whole<L, R>,
    A: Finding<Q, L, R>,
    N: Push<(Q, F::Out), ()>,
{
    pub fn new(next: N, meta: Meta) -> Self {
        let (spilled, faults) = (Counter::default(), Faults::default());
        WholeHead { work: None, ended: false, spilled, meta, faults, next, types: PhantomData }
    }

    #[cold]
    #[inline(never)]
    fn fail(&mut self, error: Error) {
        self.work = None;
        self.faults.raise(error.in_stage(self.meta.id()).at(self.meta.at()));
    }

    /// Emits as much as there is room for.
    fn emit(&mut self) -> Result<Fire> {
        while let Some(work) = &mut self.work {
            if !self.next.room() {
                return Ok(Fire::Paused);
            }
            for _ in 0..ROWS_AT_ONCE {
                let row = A::next::<F>(work)?;
                self.spilled.add(A::spilled(work));
                let Some(row) = row else {
                    self.work = None;
                    break;
                };
                self.next.push(row, ());
            }
        }
        Ok(Fire::Done)
    }
}

impl<Q, L, R, F, A, N> Head<Crossing<Q, L, R>> for WholeHead<Q, L, R, F, A, N>
where
    Q: Send + 'static,
    L: Send + 'static,
    R: Send + 'static,
    F: Whole<L, R>,
    A: Finding<Q, L, R>,
    N: Push<(Q, F::Out), ()>,
{
    type Part = Infallible;

    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.next
    }

    fn tail_ref(&self) -> &dyn Tail {
        &self.next
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.faults = cx.faults().clone();
        self.spilled = cx.metrics().counter(&format!("{}.spilled", self.meta.id()));
        self.work = Some(A::begin(cx.memory()));
        Ok(())
    }

    fn items(&mut self, _: usize, items: &mut IntoIter<Crossing<Q, L, R>>, n: usize) {
        let Some(work) = &mut self.work else { return };
        let taken = items.by_ref().take(n).try_for_each(|Item { hash, route: key, load, .. }| match load {
            Either::A(left) => A::left(work, (hash, key, left)),
            Either::B(right) => A::right(work, (hash, key, right)),
        });
        if let Err(error) = taken {
            self.fail(error);
        }
    }

    fn end(&mut self) {
        self.ended = true;
    }

    fn watermark(&mut self, w: Timestamp) {
        self.ended |= w == Timestamp::MAX;
    }

    fn ends_at_a_cut(&self) -> bool {
        true
    }

    fn fire(&mut self) -> Fire {
        if !self.ended {
            return Fire::Done;
        }
        self.emit().unwrap_or_else(|error| {
            self.fail(error);
            Fire::Done
        })
    }

    fn passes(&self, _: Timestamp) -> Timestamp {
        Timestamp::MIN
    }
}
