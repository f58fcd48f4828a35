//! One part of a hash join: a table of right elements, and left ones that look into it.

use super::Row;
use crate::error::Result;
use crate::external::{Reading, Share, Side, Spill};
use crate::join::form::Whole;
use crate::join::nothing::is_nothing;
use std::vec::IntoIter;

/// The end of a chain.
const END: u32 = u32::MAX;

/// Right elements by their hashes: those of a bucket are a chain, the earlier before the later.
struct Table<Q, R> {
    rows: Vec<Row<Q, R>>,
    heads: Vec<u32>,
    next: Vec<u32>,
    /// Those that have met a left element, where that is asked.
    met: Vec<bool>,
}

impl<Q: Eq, R> Table<Q, R> {
    fn new(rows: Vec<Row<Q, R>>, asks: bool) -> Self {
        let buckets = rows.len().next_power_of_two();
        let (mut heads, mut next) = (vec![END; buckets], vec![END; rows.len()]);
        for (at, row) in rows.iter().enumerate().rev() {
            let head = &mut heads[bucket(row.0, buckets)];
            next[at] = std::mem::replace(head, at as u32);
        }
        let met = if asks { vec![false; rows.len()] } else { Vec::new() };
        Table { rows, heads, next, met }
    }

    fn first(&self, hash: u64) -> u32 {
        self.heads[bucket(hash, self.heads.len())]
    }
}

/// The low bits are alike on one instance.
fn bucket(hash: u64, buckets: usize) -> usize {
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (buckets - 1)
}

/// Left elements.
pub(super) enum Lefts<Q, L> {
    Here(IntoIter<Row<Q, L>>),
    File(Reading<Row<Q, L>>),
}

impl<Q: Spill, L: Spill> Lefts<Q, L> {
    fn next(&mut self) -> Result<Option<Row<Q, L>>> {
        match self {
            Lefts::Here(rows) => Ok(rows.next()),
            Lefts::File(file) => file.next(),
        }
    }

    fn rewind(&mut self) -> Result<()> {
        if let Lefts::File(file) = self { file.rewind() } else { Ok(()) }
    }
}

/// More right elements of one hash than the memory holds: they are taken block by block, and all left ones look into each.
struct Blocks<Q, R> {
    rest: Reading<Row<Q, R>>,
    /// Left elements that have met one, by number: a bit each.
    met: Vec<u64>,
}

impl<Q, R> Blocks<Q, R> {
    fn has_met(&self, number: usize) -> bool {
        self.met.get(number / 64).is_some_and(|bits| bits >> (number % 64) & 1 == 1)
    }

    fn meets(&mut self, number: usize) {
        if self.met.len() <= number / 64 {
            self.met.resize(number / 64 + 1, 0);
        }
        self.met[number / 64] |= 1 << (number % 64);
    }
}

/// A left element that looks, and how far it is.
struct Looking<Q, L> {
    row: Row<Q, L>,
    at: u32,
    met: bool,
}

enum Phase {
    /// Left elements look.
    Lefts,
    /// Right ones that have met none leave, from this one on.
    Rights(usize),
    /// Left ones that have met none in any block do.
    Alone,
}

/// A part at work.
pub(super) struct Probe<Q, L, R> {
    table: Table<Q, R>,
    lefts: Lefts<Q, L>,
    looking: Option<Looking<Q, L>>,
    /// How many left elements have been taken.
    taken: usize,
    phase: Phase,
    blocks: Option<Blocks<Q, R>>,
}

impl<Q, L, R> Probe<Q, L, R>
where
    Q: Eq + Clone + Spill,
    L: Spill,
    R: Spill,
{
    /// A part whose right side is in memory.
    pub fn new(lefts: Lefts<Q, L>, rights: Vec<Row<Q, R>>, asks: bool) -> Self {
        let table = Table::new(rights, asks);
        Probe { table, lefts, looking: None, taken: 0, phase: Phase::Lefts, blocks: None }
    }

    /// One whose right side is too large for that.
    pub fn in_blocks(
        left: Reading<Row<Q, L>>,
        mut right: Reading<Row<Q, R>>,
        asks: bool,
        share: &mut Share,
    ) -> Result<Self> {
        let first = block(&mut right, share)?;
        let blocks = Some(Blocks { rest: right, met: Vec::new() });
        Ok(Probe { blocks, ..Probe::new(Lefts::File(left), first, asks) })
    }

    /// The next row.
    pub fn next<F: Whole<L, R>>(&mut self, share: &mut Share) -> Result<Option<(Q, F::Out)>> {
        loop {
            match self.phase {
                Phase::Lefts => match self.look::<F>()? {
                    Some(row) => return Ok(Some(row)),
                    None => self.phase = Phase::Rights(0),
                },
                Phase::Rights(at) if F::RIGHT && at < self.table.rows.len() => {
                    self.phase = Phase::Rights(at + 1);
                    let (_, key, right) = &self.table.rows[at];
                    if let Some(row) = F::right(right).filter(|_| !self.table.met[at]) {
                        return Ok(Some((key.clone(), row)));
                    }
                }
                Phase::Rights(_) => {
                    let Some(blocks) = &mut self.blocks else { return Ok(None) };
                    // What the last block had is given back before the next one comes.
                    self.table = Table::new(Vec::new(), F::RIGHT);
                    let rows = block(&mut blocks.rest, share)?;
                    self.lefts.rewind()?;
                    (self.taken, self.phase) = (0, if rows.is_empty() { Phase::Alone } else { Phase::Lefts });
                    self.table = Table::new(rows, F::RIGHT);
                }
                Phase::Alone => {
                    let left = if F::LEFT == Some(false) { self.lefts.next()? } else { None };
                    let Some((_, key, left)) = left else { return Ok(None) };
                    let met = self.blocks.as_ref().is_some_and(|blocks| blocks.has_met(self.taken));
                    self.taken += 1;
                    if let Some(row) = F::left(left).filter(|_| !met) {
                        return Ok(Some((key, row)));
                    }
                }
            }
        }
    }

    /// The next row of a left element that looks, until all have.
    fn look<F: Whole<L, R>>(&mut self) -> Result<Option<(Q, F::Out)>> {
        loop {
            if self.looking.is_none() {
                let Some(row) = self.lefts.next()? else { return Ok(None) };
                let at = if is_nothing(&row.1) { END } else { self.table.first(row.0) };
                let met = self.blocks.as_ref().is_some_and(|blocks| blocks.has_met(self.taken));
                // It has left already, or has not to.
                let at = if met && !F::PAIRS { END } else { at };
                self.taken += 1;
                self.looking = Some(Looking { row, at, met });
            }
            if let Some(row) = self.pair::<F>() {
                return Ok(Some(row));
            }
            let Some(Looking { row: (_, key, left), met, .. }) = self.looking.take() else { continue };
            if met || self.blocks.is_some() {
                continue;
            }
            if let Some(row) = F::left(left).filter(|_| F::LEFT == Some(false)) {
                return Ok(Some((key, row)));
            }
        }
    }

    /// The next row of the one that looks, if it has one more; of a semi join that is its only one.
    fn pair<F: Whole<L, R>>(&mut self) -> Option<(Q, F::Out)> {
        let looking = self.looking.as_mut()?;
        while looking.at != END {
            let at = looking.at as usize;
            looking.at = self.table.next[at];
            let (hash, key, right) = &self.table.rows[at];
            if *hash != looking.row.0 || *key != looking.row.1 {
                continue;
            }
            looking.met = true;
            if let Some(blocks) = &mut self.blocks {
                blocks.meets(self.taken - 1);
            }
            if F::PAIRS {
                if F::RIGHT {
                    self.table.met[at] = true;
                }
                return F::pair(&looking.row.2, right).map(|row| (key.clone(), row));
            }
            if F::LEFT == Some(true) {
                let (_, key, left) = self.looking.take()?.row;
                return F::left(left).map(|row| (key, row));
            }
            looking.at = END;
        }
        None
    }
}

/// As many as the memory holds, and one at least.
fn block<Q: Spill, R: Spill>(from: &mut Reading<Row<Q, R>>, share: &mut Share) -> Result<Vec<Row<Q, R>>> {
    let (mut side, mut bytes) = (Side::default(), 0);
    // One that does not fit is there already: there is room for it, as there is for one in any case.
    while let Some(row) = from.next()? {
        let (more, meanwhile) = side.more(&row)?;
        bytes += more + super::parts::IN_TABLE;
        side.keep(row, more);
        if !share.reaches(bytes + meanwhile) {
            break;
        }
    }
    Ok(side.finish()?.1)
}
