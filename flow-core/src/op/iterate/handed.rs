//! What the exits of a loop hand to its entries, in one run of a job.

use super::turns::Turns;
use super::workset::Workset;
use crate::external::Spill;
use crate::stage::BuildCx;
use crate::time::Timestamp;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// See the module. The one in the pipeline stands for that of each run.
pub(super) struct Handed<T> {
    first: u64,
    rounds: u64,
    entries: usize,
    /// Whether it is in the body of another loop, and which superstep of that is over, by its time.
    nested: bool,
    outer: AtomicI64,
    pub turns: Turns,
    /// By exit.
    worksets: Mutex<Vec<Workset<T>>>,
}

impl<T: Spill> Handed<T> {
    /// Of a loop whose input is in superstep `first`; `nested` in the body of another.
    pub fn new(first: u64, rounds: u64, nested: bool) -> Self {
        Self::of(first, rounds, nested, 0)
    }

    fn of(first: u64, rounds: u64, nested: bool, entries: usize) -> Self {
        let turns = Turns::new(first, rounds, nested, entries);
        let (outer, worksets) = (AtomicI64::new(i64::MIN), Mutex::default());
        Handed { first, rounds, entries, nested, outer, turns, worksets }
    }

    /// Whether it is in the body of another loop.
    pub fn is_nested(&self) -> bool {
        self.nested
    }

    /// The superstep of the outer loop that has this time is over, but for this loop; all entries say so.
    pub fn outer_is(&self, w: Timestamp) {
        self.outer.store(w.0, Ordering::Release);
    }

    /// The time to pass on when the loop is over.
    pub fn outer(&self) -> Timestamp {
        Timestamp(self.outer.load(Ordering::Acquire))
    }

    /// How many supersteps there may be.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// The superstep in which the input is.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// That of the run. The exit, which is built first, says how many supersteps there may be: its stream may be a clone.
    pub fn begin_run(self: &Arc<Self>, cx: &mut BuildCx, rounds: u64) -> Arc<Self> {
        let entries = cx.parallelism();
        cx.of_run().of(self, || Handed::of(self.first, rounds, self.nested, entries))
    }

    /// That of the run, for the entry.
    pub fn of_run(self: &Arc<Self>, cx: &mut BuildCx) -> Arc<Self> {
        self.begin_run(cx, self.rounds)
    }

    fn worksets(&self) -> MutexGuard<'_, Vec<Workset<T>>> {
        self.worksets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What an exit has handed over, until the superstep is over.
    pub fn of_exit<R>(&self, exit: usize, f: impl FnOnce(&mut Workset<T>) -> R) -> R {
        let mut worksets = self.worksets();
        if worksets.len() <= exit {
            worksets.resize_with(exit + 1, Workset::default);
        }
        f(&mut worksets[exit])
    }

    /// For an entry: what its exits have handed over.
    pub fn take(&self, entry: usize) -> Vec<Workset<T>> {
        let mut worksets = self.worksets();
        worksets.iter_mut().skip(entry).step_by(self.entries.max(1)).map(std::mem::take).collect()
    }
}
