//! The rows of the right side in a pipeline that writes nothing down: when all have come they are put beside each other, key by key as the keys lie
//! in their table (compressed sparse rows). So a row takes no more room than it is large, and who looks up keys in the order of their table reads memory in its order.

use crate::exchange::hash_key;
use crate::op::Key;
use crate::state::{Pane, prefetch};
use std::ops::Range;

/// Where the rows of a key are, once all have come; before, its number and how many there are. In words of four bytes, so that an entry of a small
/// key takes sixteen.
#[derive(Clone, Copy)]
struct Run {
    start: [u32; 2],
    len: u32,
}

impl Run {
    fn range(self) -> Range<usize> {
        let start = u64::from(self.start[0]) | u64::from(self.start[1]) << 32;
        start as usize..start as usize + self.len as usize
    }

    fn begin_at(&mut self, start: usize) {
        self.start = [start as u32, (start as u64 >> 32) as u32];
    }
}

/// See the module.
pub(super) struct Packed<Q, R> {
    keys: Pane<Q, Run>,
    /// Until all have come, the number of each row's key.
    of: Vec<u32>,
    rows: Vec<R>,
}

impl<Q, R> Default for Packed<Q, R> {
    fn default() -> Self {
        Packed { keys: Pane::default(), of: Vec::new(), rows: Vec::new() }
    }
}

impl<Q: Key, R> Packed<Q, R> {
    /// # Panics
    /// When one key has more than four thousand million rows.
    #[inline]
    pub fn add(&mut self, hash: u64, key: Q, right: R) {
        // A table holds fewer keys than that.
        let number = self.keys.len() as u32;
        let is = |k: &Q| *k == key;
        let new = || (key.clone(), Run { start: [number, 0], len: 0 });
        let (_, run) = self.keys.entry(hash, is, new, &hash_key);
        run.len = run.len.checked_add(1).expect("fewer rows of one key than 2^32 fit into memory");
        self.of.push(run.start[0]);
        self.rows.push(right);
    }

    /// All have come: each goes to its place, those of a key in the order in which they came.
    pub fn settle(&mut self) {
        let Packed { keys, of, rows } = self;
        // By number: where the next row of a key goes.
        let (mut next, mut end) = (vec![0; keys.len()], 0);
        keys.each_mut(|(_, run)| {
            next[run.start[0] as usize] = end;
            run.begin_at(end);
            end += run.len as usize;
        });
        let place = |number: u32| {
            let at = &mut next[number as usize];
            *at += 1;
            *at - 1
        };
        let mut to: Vec<usize> = std::mem::take(of).into_iter().map(place).collect();
        // Each exchange brings one to its place, cycle by cycle.
        for at in 0..rows.len() {
            while to[at] != at {
                let place = to[at];
                rows.swap(at, place);
                to.swap(at, place);
            }
        }
    }

    #[inline]
    pub fn find(&self, hash: u64, key: &Q) -> Option<&[R]> {
        let (_, run) = self.keys.find(hash, |k| k == key)?;
        self.rows.get(run.range())
    }

    #[inline(always)]
    pub fn prefetch(&mut self, hash: u64) {
        self.keys.prefetch(hash);
    }

    #[inline(always)]
    pub fn prefetch_rows(&self, hash: u64) {
        let rows = self.keys.likely(hash).and_then(|run| self.rows.get(run.range()));
        rows.into_iter().for_each(prefetch_all);
    }
}

/// Asks for the memory of as many rows as some keys have.
#[inline(always)]
pub(super) fn prefetch_all<R>(rows: &[R]) {
    let bytes = size_of_val(rows).clamp(1, 256);
    let first = rows.as_ptr().cast::<u8>();
    (0..bytes.div_ceil(64) + 1).for_each(|line| prefetch(first.wrapping_add(64 * line)));
}

#[cfg(test)]
mod tests {
    use super::Packed;
    use crate::exchange::hash_key;

    /// Rows are neither copied nor put out of the order in which those of a key came.
    #[test]
    fn the_rows_of_each_key_in_their_order() {
        /// Nobody can clone it.
        #[derive(Debug, PartialEq)]
        struct Row(u64);
        let mut packed = Packed::default();
        let key = |n: u64| n * n % 23;
        for n in 0..1_000 {
            packed.add(hash_key(&key(n)), key(n), Row(n));
        }
        packed.settle();
        for k in 0..23 {
            let expected: Vec<Row> = (0..1_000).filter(|n| key(*n) == k).map(Row).collect();
            assert_eq!(packed.find(hash_key(&k), &k).unwrap_or_default(), expected);
        }
        assert_eq!(Packed::<u64, Row>::default().find(hash_key(&1u64), &1), None);
    }

    #[test]
    fn without_rows_there_is_nothing_to_settle() {
        let mut packed = Packed::<u64, u64>::default();
        packed.settle();
        assert_eq!(packed.find(hash_key(&1u64), &1), None);
    }
}
