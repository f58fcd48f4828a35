//! How rows are found in a table of the right side.
//!
//! Both sides are divided into parts by their hashes. A part that does not fit into memory goes to the disk; it is divided once more when its turn
//! comes, by other bits, until its right side fits. What cannot be divided, because it has one hash, is taken block by block.
//! (Kitsuregawa, Tanaka, Moto-oka: Application of hash to data base machine and its architecture, 1983; DeWitt et al., 1984.)

use super::Row;
use super::parts::{Files, Parts, Task};
use super::probe::{Lefts, Probe};
use crate::error::Result;
use crate::external::{Memory, Share, Spill};
use crate::join::form::Whole;

/// A hash join at work.
pub struct Hashing<Q, L, R> {
    share: Share,
    /// As long as elements come.
    parts: Option<Parts<Q, L, R>>,
    /// Those that are to be done, the last first.
    tasks: Vec<Task<Q, L, R>>,
    now: Option<Probe<Q, L, R>>,
    spilled: u64,
}

impl<Q, L, R> Hashing<Q, L, R>
where
    Q: Eq + Clone + Spill,
    L: Spill,
    R: Spill,
{
    pub fn new(memory: &Memory) -> Self {
        Hashing {
            share: memory.share(),
            parts: Some(Parts::new(0)),
            tasks: Vec::new(),
            now: None,
            spilled: 0,
        }
    }

    pub fn left(&mut self, row: Row<Q, L>) -> Result<()> {
        self.parts.as_mut().map_or(Ok(()), |parts| parts.left(row, &mut self.share))
    }

    pub fn right(&mut self, row: Row<Q, R>) -> Result<()> {
        self.parts.as_mut().map_or(Ok(()), |parts| parts.right(row, &mut self.share))
    }

    /// The next row; no element comes any more.
    pub fn next<F: Whole<L, R>>(&mut self) -> Result<Option<(Q, F::Out)>> {
        if let Some(parts) = self.parts.take() {
            self.divided(parts)?;
        }
        loop {
            if let Some(now) = &mut self.now {
                if let Some(row) = now.next::<F>(&mut self.share)? {
                    return Ok(Some(row));
                }
                self.now = None;
            }
            match self.tasks.pop() {
                None => return Ok(None),
                Some(Task::Here(lefts, rights)) => {
                    self.now = Some(Probe::new(Lefts::Here(lefts.into_iter()), rights, F::RIGHT));
                }
                Some(Task::Files(files)) => self.files(files, F::RIGHT)?,
            }
        }
    }

    /// How many elements have gone to the disk since it was asked.
    pub fn spilled(&mut self) -> u64 {
        std::mem::take(&mut self.spilled)
    }

    fn divided(&mut self, parts: Parts<Q, L, R>) -> Result<()> {
        self.spilled += parts.spilled();
        self.tasks.append(&mut parts.finish()?);
        Ok(())
    }

    /// Begins with a part that is on the disk: whatever was in memory is done.
    fn files(&mut self, files: Files<Q, L, R>, asks: bool) -> Result<()> {
        let Files { mut left, mut right, bytes, level } = files;
        if self.share.reaches(bytes) {
            let mut rights = Vec::with_capacity(right.len());
            while let Some(row) = right.next()? {
                rights.push(row);
            }
            self.now = Some(Probe::new(Lefts::File(left), rights, asks));
        } else if level == u32::MAX {
            self.now = Some(Probe::in_blocks(left, right, asks, &mut self.share)?);
        } else {
            let mut parts = Parts::new(level);
            while let Some(row) = right.next()? {
                parts.right(row, &mut self.share)?;
            }
            while let Some(row) = left.next()? {
                parts.left(row, &mut self.share)?;
            }
            self.divided(parts)?;
        }
        Ok(())
    }
}
