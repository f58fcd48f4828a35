//! The rows of the right side in a pipeline that writes nothing down: when all have come they are put beside each other, key by key as the keys lie
//! in their table (compressed sparse rows). So a row takes no more room than it is large, and who looks up keys in the order of their table reads memory in its order. Where the
//! keys are numbers of which few are left out, that table is dense: they lie in their order.

use super::grouped::grouped;
use crate::exchange::hash_key;
use crate::op::Key;
use crate::state::{Pane, is_dense, is_place, key_at, place_of, prefetch};
use std::ops::Range;

/// Where the rows of a key are, once all have come; before, its number. In words of four bytes, so that an entry of a small key takes sixteen.
#[derive(Clone, Copy)]
struct Run {
    start: [u32; 2],
    len: u32,
}

impl Run {
    fn of(range: Range<usize>) -> Self {
        let start = range.start as u64;
        Run { start: [start as u32, (start >> 32) as u32], len: range.len() as u32 }
    }

    fn range(self) -> Range<usize> {
        let start = u64::from(self.start[0]) | u64::from(self.start[1]) << 32;
        start as usize..start as usize + self.len as usize
    }
}

/// See the module.
pub(super) struct Packed<Q, R> {
    /// Where keys are places, it is not used: these are their own numbers.
    keys: Pane<Q, Run>,
    are_places: bool,
    highest: usize,
    /// Until all have come, the number of each row's key.
    of: Vec<u32>,
    rows: Vec<R>,
    /// Once all have come, for each place where its rows begin; and where the last ones end.
    starts: Vec<usize>,
}

impl<Q: 'static, R> Default for Packed<Q, R> {
    fn default() -> Self {
        let (keys, of, rows, starts) = (Pane::default(), Vec::new(), Vec::new(), Vec::new());
        Packed { keys, are_places: is_place::<Q>(), highest: 0, of, rows, starts }
    }
}

/// A key that is a place, and can be a number.
#[inline(always)]
fn number_of<Q: Key>(key: &Q) -> Option<u32> {
    u32::try_from(place_of(key)?).ok()
}

impl<Q: Key, R> Packed<Q, R> {
    #[inline]
    pub fn add(&mut self, hash: u64, key: Q, right: R) {
        self.rows.push(right);
        if self.are_places {
            if let Some(number) = number_of(&key) {
                self.highest = self.highest.max(number as usize);
                return self.of.push(number);
            }
            self.give_numbers();
        }
        let number = self.number(hash, key);
        self.of.push(number);
    }

    /// The number of a key, in order of appearance.
    #[inline]
    fn number(&mut self, hash: u64, key: Q) -> u32 {
        // A table holds fewer keys than that.
        let new = Run { start: [self.keys.len() as u32, 0], len: 0 };
        let is = |k: &Q| *k == key;
        self.keys.entry(hash, is, || (key.clone(), new), &hash_key).1.start[0]
    }

    /// The keys are not their numbers any more.
    #[cold]
    fn give_numbers(&mut self) {
        self.are_places = false;
        let mut of = std::mem::take(&mut self.of);
        for number in &mut of {
            if let Some(key) = key_at::<Q>(*number as usize) {
                *number = self.number(hash_key(&key), key);
            }
        }
        self.of = of;
    }

    /// All have come: each goes to its place, those of a key in the order in which they came.
    ///
    /// # Panics
    /// When one key has more than four thousand million rows.
    pub fn settle(&mut self) {
        if self.are_places && !is_dense(self.highest, self.rows.len()) {
            self.give_numbers();
        }
        if self.are_places {
            let places = self.highest + 1;
            return self.group(places, |number| number);
        }
        let mut orders = vec![0; self.keys.len()];
        let mut order = 0..;
        self.keys.each_mut(|(_, run)| orders[run.start[0] as usize] = order.next().unwrap_or_default());
        self.group(orders.len(), |number| orders[number as usize]);
        let mut ends = self.starts.windows(2);
        self.keys.each_mut(|(_, run)| {
            if let Some([start, end]) = ends.next() {
                *run = Run::of(*start..*end);
            }
        });
        self.starts = Vec::new();
    }

    fn group(&mut self, groups: usize, group: impl Fn(u32) -> u32) {
        let groups_of = std::mem::take(&mut self.of).into_iter().map(group);
        (self.rows, self.starts) = grouped(groups_of.zip(std::mem::take(&mut self.rows)), groups);
    }

    #[inline]
    pub fn find(&self, hash: u64, key: &Q) -> Option<&[R]> {
        if self.are_places {
            return self.rows_at(key);
        }
        let (_, run) = self.keys.find(hash, |k| k == key)?;
        self.rows.get(run.range())
    }

    /// The rows of a key that is a place.
    #[inline(always)]
    fn rows_at(&self, key: &Q) -> Option<&[R]> {
        let ends = self.starts.get(place_of(key)?..)?;
        let (start, end) = (ends.first()?, ends.get(1)?);
        self.rows.get(*start..*end).filter(|rows| !rows.is_empty())
    }

    #[inline(always)]
    pub fn prefetch(&mut self, hash: u64, key: &Q) {
        if self.are_places {
            prefetch(self.starts.as_ptr().wrapping_add(place_of(key).unwrap_or(0)));
        } else {
            self.keys.prefetch(hash);
        }
    }

    #[inline(always)]
    pub fn prefetch_rows(&self, hash: u64, key: &Q) {
        let rows = if self.are_places {
            self.rows_at(key)
        } else {
            self.keys.likely(hash).and_then(|run| self.rows.get(run.range()))
        };
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

    /// Keys that are places, that are too sparse, and of which one is none, from the first row on or from the last.
    #[test]
    fn keys_that_are_numbers() {
        let check = |keys: &[i64], are_places| {
            let mut packed = Packed::default();
            // One to three rows, and not one after the other.
            let all = || {
                (0..3)
                    .flat_map(|round| keys.iter().filter(move |k| **k % 3 >= round).map(move |k| (*k, round)))
            };
            for (key, round) in all() {
                packed.add(hash_key(&key), key, round);
            }
            packed.settle();
            assert_eq!(packed.are_places, are_places);
            for key in keys.iter().flat_map(|key| [key - 1, *key, key + 1, -key]).chain([i64::MAX, i64::MIN])
            {
                packed.prefetch(hash_key(&key), &key);
                packed.prefetch_rows(hash_key(&key), &key);
                let expected: Vec<i64> = all().filter(|of| of.0 == key).map(|of| of.1).collect();
                assert_eq!(packed.find(hash_key(&key), &key).unwrap_or_default(), expected, "{key}");
            }
        };
        check(&[0], true);
        check(&[7, 2, 5, 3, 0], true);
        check(&[7, 2, 500, 3], false);
        check(&[7, 2, 5, 1 << 40], false);
        check(&[1 << 40, 7, 2], false);
        check(&(0..900).rev().map(|k| 3 * k + 2).collect::<Vec<_>>(), true);
    }

    #[test]
    fn without_rows_there_is_nothing_to_settle() {
        let mut packed = Packed::<u64, u64>::default();
        packed.settle();
        assert_eq!(packed.find(hash_key(&1u64), &1), None);
    }
}
