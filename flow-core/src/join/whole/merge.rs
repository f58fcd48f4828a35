//! How rows are found by sorting both sides.

use crate::error::Result;
use crate::external::{Memory, Merge, Order, Reading, Share, Side, Sorter, Spill};
use crate::join::form::Whole;
use crate::join::nothing::is_nothing;
use std::cmp::Ordering;

/// Left elements that meet right ones together, where these are in a file.
const TOGETHER: usize = 256;

/// By key.
#[derive(Clone)]
pub(super) struct ByKey;
impl<Q: Ord, T> Order<(Q, T)> for ByKey {
    #[inline]
    fn order(&self, a: &(Q, T), b: &(Q, T)) -> Ordering {
        a.0.cmp(&b.0)
    }
}

/// A sorted side, of which the first can be looked at.
struct Sorted<Q, T> {
    first: Option<(Q, T)>,
    rest: Merge<(Q, T), ByKey>,
}

impl<Q: Ord + Spill, T: Spill> Sorted<Q, T> {
    fn new(sorter: Sorter<(Q, T), ByKey>) -> Result<Self> {
        let mut rest = sorter.finish()?;
        Ok(Sorted { first: rest.next()?, rest })
    }

    fn next(&mut self) -> Result<Option<(Q, T)>> {
        let next = self.rest.next()?;
        Ok(std::mem::replace(&mut self.first, next))
    }

    /// The next one, if it is of this key.
    fn of(&mut self, key: &Q) -> Result<Option<T>> {
        if self.first.as_ref().is_some_and(|first| first.0 == *key) {
            Ok(self.next()?.map(|(_, value)| value))
        } else {
            Ok(None)
        }
    }
}

/// Elements of one key that meet each other.
struct Group<Q, L, R> {
    key: Q,
    /// Some left ones, and which of them is next to meet the right one.
    lefts: Vec<L>,
    left: usize,
    rights: Vec<R>,
    /// Those that there was no memory for, and the one that meets now: it is the last.
    more: Option<Reading<R>>,
    right: usize,
    one: Option<R>,
}

/// A sort-merge join at work.
pub struct Merging<Q, L, R> {
    memory: Memory,
    sorting: Option<(Sorter<(Q, L), ByKey>, Sorter<(Q, R), ByKey>)>,
    sorted: Option<(Sorted<Q, L>, Sorted<Q, R>)>,
    group: Option<Group<Q, L, R>>,
    spilled: u64,
}

impl<Q, L, R> Merging<Q, L, R>
where
    Q: Ord + Clone + Spill,
    L: Spill,
    R: Spill,
{
    pub fn new(memory: &Memory) -> Self {
        let sorting = Some((Sorter::new(memory, ByKey), Sorter::new(memory, ByKey)));
        Merging { memory: memory.clone(), sorting, sorted: None, group: None, spilled: 0 }
    }

    pub fn left(&mut self, key: Q, left: L) -> Result<()> {
        self.sorting.as_mut().map_or(Ok(()), |(lefts, _)| lefts.push((key, left)))
    }

    pub fn right(&mut self, key: Q, right: R) -> Result<()> {
        self.sorting.as_mut().map_or(Ok(()), |(_, rights)| rights.push((key, right)))
    }

    /// How many elements have gone to the disk since it was asked.
    pub fn spilled(&mut self) -> u64 {
        std::mem::take(&mut self.spilled)
    }

    /// The next row; no element comes any more.
    pub fn next<F: Whole<L, R>>(&mut self) -> Result<Option<(Q, F::Out)>> {
        if let Some((lefts, rights)) = self.sorting.take() {
            self.spilled += lefts.spilled() + rights.spilled();
            self.sorted = Some((Sorted::new(lefts)?, Sorted::new(rights)?));
        }
        let Some((lefts, rights)) = &mut self.sorted else { return Ok(None) };
        loop {
            if let Some(group) = &mut self.group {
                if let Some(row) = group.next::<F>(lefts)? {
                    return Ok(Some(row));
                }
                self.group = None;
            }
            let order = match (&lefts.first, &rights.first) {
                (None, None) => return Ok(None),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((key, _)), Some(_)) if is_nothing(key) => Ordering::Less,
                (Some(_), Some((key, _))) if is_nothing(key) => Ordering::Greater,
                (Some(left), Some(right)) => left.0.cmp(&right.0),
            };
            let row = match order {
                Ordering::Less => {
                    let alone = lefts.next()?.filter(|_| F::LEFT == Some(false));
                    alone.and_then(|(key, left)| F::left(left).map(|row| (key, row)))
                }
                Ordering::Greater => {
                    let alone = rights.next()?.filter(|_| F::RIGHT);
                    alone.and_then(|(key, right)| F::right(&right).map(|row| (key, row)))
                }
                Ordering::Equal if F::PAIRS => {
                    let Some((key, right)) = rights.next()? else { continue };
                    let mut share = self.memory.share();
                    let (group, spilled) = Group::new(key, right, rights, &mut share)?;
                    self.spilled += spilled;
                    self.group = Some(group);
                    None
                }
                // The right ones of its key stay until all left ones have seen them; then they are before the next key.
                Ordering::Equal => {
                    let met = lefts.next()?.filter(|_| F::LEFT == Some(true));
                    met.and_then(|(key, left)| F::left(left).map(|row| (key, row)))
                }
            };
            if row.is_some() {
                return Ok(row);
            }
        }
    }
}

impl<Q: Ord + Clone + Spill, L: Spill, R: Spill> Group<Q, L, R> {
    /// All right elements of a key, and how many of them have gone to the disk.
    fn new(key: Q, first: R, rights: &mut Sorted<Q, R>, share: &mut Share) -> Result<(Self, u64)> {
        let (mut side, mut next, mut spilled) = (Side::default(), Some(first), 0);
        while let Some(right) = next {
            let (more, meanwhile) = side.more(&right)?;
            if spilled == 0 && share.reaches(side.bytes() + more + meanwhile) {
                side.keep(right, more);
            } else {
                spilled += 1;
                side.put(&right, share.memory())?;
            }
            next = rights.of(&key)?;
        }
        let (more, rights) = side.finish()?;
        let group = Group { key, lefts: Vec::new(), left: 0, rights, more, right: 0, one: None };
        Ok((group, spilled))
    }

    fn next<F: Whole<L, R>>(&mut self, lefts: &mut Sorted<Q, L>) -> Result<Option<(Q, F::Out)>> {
        loop {
            let right =
                if self.right < self.rights.len() { self.rights.get(self.right) } else { self.one.as_ref() };
            if let (Some(right), Some(left)) = (right, self.lefts.get(self.left)) {
                self.left += 1;
                if let Some(row) = F::pair(left, right) {
                    return Ok(Some((self.key.clone(), row)));
                }
                continue;
            }
            if right.is_some() && !self.lefts.is_empty() {
                // All of them have met it.
                self.left = 0;
                self.right += 1;
                if self.right >= self.rights.len() {
                    self.one = self.more.as_mut().map_or(Ok(None), Reading::next)?;
                }
                continue;
            }
            // Those have met all: the next ones.
            let together = if self.more.is_some() { TOGETHER } else { 1 };
            self.lefts.clear();
            while self.lefts.len() < together {
                let Some(left) = lefts.of(&self.key)? else { break };
                self.lefts.push(left);
            }
            if self.lefts.is_empty() {
                return Ok(None);
            }
            (self.left, self.right) = (0, 0);
            if let Some(more) = &mut self.more {
                more.rewind()?;
                self.one = if self.rights.is_empty() { more.next()? } else { None };
            }
        }
    }
}
