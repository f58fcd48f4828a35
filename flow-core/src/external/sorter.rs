//! Sorts more records than the memory holds: sorted runs in files, which are merged at the end.

use super::file::{Reading, Writing};
use super::memory::Share;
use super::merge::Merge;
use super::size::Size;
use super::{Memory, Order, Spill};
use crate::error::Result;

/// Runs that are merged at once: each needs a block in memory, and a file that is open; a process may often have 1,024 of these, and each instance of each operator
/// sorts for itself. So many of one size become one.
const RUNS_MAX: usize = if cfg!(test) { 4 } else { 16 };

/// Takes records, and gives them in order; equal ones in that in which they came.
pub(crate) struct Sorter<T, O> {
    order: O,
    share: Share,
    /// What has come since the last run.
    here: Vec<T>,
    size: Size,
    /// By how often they have been merged: those of the first kind are the newest.
    runs: Vec<Vec<Reading<T>>>,
    spilled: u64,
}

impl<T: Spill, O: Order<T>> Sorter<T, O> {
    /// Of records in this order.
    pub fn new(memory: &Memory, order: O) -> Self {
        let (here, size) = (Vec::new(), Size::default());
        Sorter { order, share: memory.share(), here, size, runs: Vec::new(), spilled: 0 }
    }

    /// How many records are in files.
    pub fn spilled(&self) -> u64 {
        self.spilled
    }

    /// Takes a record.
    ///
    /// # Errors
    /// When it does not fit into memory, and cannot be written.
    pub fn push(&mut self, record: T) -> Result<()> {
        self.size.look(&record)?;
        if self.here.len() == self.here.capacity() || std::mem::needs_drop::<T>() {
            self.make_room()?;
        }
        self.here.push(record);
        Ok(())
    }

    fn make_room(&mut self) -> Result<()> {
        let grows = self.here.len() == self.here.capacity();
        let places = if grows { (self.here.capacity() * 2).max(64) } else { self.here.capacity() };
        // To sort them takes half as much again.
        let bytes = places * size_of::<T>() * 3 / 2 + (self.here.len() + 1) * self.size.each();
        if !self.share.reaches(bytes) && !self.here.is_empty() {
            return self.spill();
        }
        if grows {
            self.here.reserve_exact(places - self.here.len());
        }
        Ok(())
    }

    /// Makes a run of what is here.
    #[cold]
    #[inline(never)]
    fn spill(&mut self) -> Result<()> {
        let order = &self.order;
        self.here.sort_by(|a, b| order.order(a, b));
        let mut run = Writing::begin(self.share.memory().folder())?;
        self.spilled += self.here.len() as u64;
        for record in self.here.drain(..) {
            run.push(&record)?;
        }
        self.add(run.finish()?, 0)
    }

    /// Adds a run to those that have been merged so often; where there are enough of them they are merged once more.
    fn add(&mut self, run: Reading<T>, merged: usize) -> Result<()> {
        if self.runs.len() == merged {
            self.runs.push(Vec::new());
        }
        self.runs[merged].push(run);
        if self.runs[merged].len() < RUNS_MAX {
            return Ok(());
        }
        let runs = std::mem::take(&mut self.runs[merged]);
        let mut all = Merge::new(runs, Vec::new(), self.order.clone())?;
        let mut run = Writing::begin(self.share.memory().folder())?;
        while let Some(record) = all.next()? {
            run.push(&record)?;
        }
        self.add(run.finish()?, merged + 1)
    }

    /// All of them in order.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn finish(mut self) -> Result<Merge<T, O>> {
        let order = &self.order;
        self.here.sort_by(|a, b| order.order(a, b));
        // The oldest first: of equal records the earlier one comes first.
        let runs = self.runs.into_iter().rev().flatten().collect();
        Ok(Merge::new(runs, self.here, self.order)?.holding(self.share))
    }
}
