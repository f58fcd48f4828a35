//! Elements of both sides by parts of their hashes: what does not fit into memory lies in files, part by part (a grace hash join).

use super::Row;
use crate::error::Result;
use crate::external::{Memory, Reading, Share, Side, Spill};
use crate::stage::split_mix;

/// Parts at once. Each that is on the disk has two files, with a block of each in memory.
const PARTS: usize = 8;
/// So often a part is divided once more, by other bits of the hashes.
const LEVELS: u32 = 7;
/// What a table takes for each right element, beside it.
pub(super) const IN_TABLE: usize = 16;

/// Elements with keys of one part of the hashes.
struct Part<Q, L, R> {
    left: Side<Row<Q, L>>,
    right: Side<Row<Q, R>>,
    /// Whether it is on the disk.
    out: bool,
    /// What its right side would take in memory.
    bytes: usize,
    /// The hash of all right elements, as long as there is one.
    one: Option<u64>,
    many: bool,
}

impl<Q, L, R> Default for Part<Q, L, R> {
    fn default() -> Self {
        Part { left: Side::default(), right: Side::default(), out: false, bytes: 0, one: None, many: false }
    }
}

/// The elements of both sides, or those of a part that was too large.
pub(super) struct Parts<Q, L, R> {
    parts: Vec<Part<Q, L, R>>,
    level: u32,
    bytes: usize,
    spilled: u64,
}

/// A part of which all elements are there.
pub(super) enum Task<Q, L, R> {
    Here(Vec<Row<Q, L>>, Vec<Row<Q, R>>),
    Files(Files<Q, L, R>),
}

/// One on the disk.
pub(super) struct Files<Q, L, R> {
    pub left: Reading<Row<Q, L>>,
    pub right: Reading<Row<Q, R>>,
    /// What its right side takes in memory.
    pub bytes: usize,
    /// How often it may be divided.
    pub level: u32,
}

impl<Q: Spill, L: Spill, R: Spill> Parts<Q, L, R> {
    pub fn new(level: u32) -> Self {
        let parts = std::iter::repeat_with(Part::default).take(PARTS).collect();
        Parts { parts, level, bytes: 0, spilled: 0 }
    }

    /// How many elements have gone to the disk.
    pub fn spilled(&self) -> u64 {
        self.spilled
    }

    fn place(&self, hash: u64) -> usize {
        // Of the hashes of one instance, and of one part, some bits are alike: others are made of all of them.
        let mut mixed = hash ^ u64::from(self.level);
        (split_mix(&mut mixed) % PARTS as u64) as usize
    }

    pub fn left(&mut self, row: Row<Q, L>, share: &mut Share) -> Result<()> {
        let at = self.place(row.0);
        if !self.parts[at].out {
            let (more, meanwhile) = self.parts[at].left.more(&row)?;
            self.make_room(more, meanwhile, share)?;
            if !self.parts[at].out {
                self.bytes += more;
                self.parts[at].left.keep(row, more);
                return Ok(());
            }
        }
        self.spilled += 1;
        self.parts[at].left.put(&row, share.memory())
    }

    pub fn right(&mut self, row: Row<Q, R>, share: &mut Share) -> Result<()> {
        let at = self.place(row.0);
        let part = &mut self.parts[at];
        part.many |= part.one.is_some_and(|one| one != row.0);
        part.one = Some(row.0);
        let (more, meanwhile) = part.right.more(&row)?;
        // In a file it takes no memory, but will.
        part.bytes += IN_TABLE + size_of::<Row<Q, R>>() + part.right.each();
        if !part.out {
            let more = more + IN_TABLE;
            self.make_room(more, meanwhile, share)?;
            if !self.parts[at].out {
                self.bytes += more;
                self.parts[at].right.keep(row, more);
                return Ok(());
            }
        }
        self.spilled += 1;
        self.parts[at].right.put(&row, share.memory())
    }

    /// Makes room for so many bytes, if need be by putting the largest parts on the disk.
    fn make_room(&mut self, more: usize, meanwhile: usize, share: &mut Share) -> Result<()> {
        while !share.reaches(self.bytes + more + meanwhile) {
            let here = self.parts.iter_mut().filter(|part| !part.out);
            let Some(largest) = here.max_by_key(|part| part.left.bytes() + part.right.bytes()) else { break };
            self.bytes -= largest.left.bytes() + largest.right.bytes();
            largest.out = true;
            self.spilled += largest.spill(share.memory())?;
        }
        Ok(())
    }

    /// All parts: those in memory are the last.
    pub fn finish(self) -> Result<Vec<Task<Q, L, R>>> {
        let (mut tasks, mut here) = (Vec::new(), Vec::new());
        for part in self.parts {
            let level = if part.many && self.level < LEVELS { self.level + 1 } else { u32::MAX };
            let (bytes, out) = (part.bytes, part.out);
            let ((left, lefts), (right, rights)) = (part.left.finish()?, part.right.finish()?);
            match (left, right) {
                (Some(left), Some(right)) if out => {
                    tasks.push(Task::Files(Files { left, right, bytes, level }))
                }
                _ => here.push(Task::Here(lefts, rights)),
            }
        }
        tasks.append(&mut here);
        Ok(tasks)
    }
}

impl<Q: Spill, L: Spill, R: Spill> Part<Q, L, R> {
    /// Puts it on the disk: it has both files then.
    #[cold]
    #[inline(never)]
    fn spill(&mut self, memory: &Memory) -> Result<u64> {
        self.left.begin(memory)?;
        self.right.begin(memory)?;
        Ok(self.left.spill(memory)? + self.right.spill(memory)?)
    }
}
