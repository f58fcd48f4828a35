//! The rows of the right side in a pipeline that writes nothing down: when all have come they are put beside each other, key by key as the keys lie
//! in their table (compressed sparse rows). So a row takes no more room than it is large, and who looks up keys in the order of their table reads memory in its order. Where the
//! keys are numbers of which few are left out, that table is dense: they lie in their order.

use crate::exchange::hash_key;
use crate::op::Key;
use crate::state::{Pane, Spread, place_of, prefetch};
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
    /// Instead of that, once all have come: by key, where the keys are places. Of one that there is not `len` is 0.
    dense: Vec<Run>,
    /// Until all have come, the number of each row's key.
    of: Vec<u32>,
    rows: Vec<R>,
}

impl<Q, R> Default for Packed<Q, R> {
    fn default() -> Self {
        Packed { keys: Pane::default(), dense: Vec::new(), of: Vec::new(), rows: Vec::new() }
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
        let Packed { keys, dense, of, rows } = self;
        // By number: where the next row of a key goes.
        let (mut next, mut end) = (vec![0; keys.len()], 0);
        let mut begin = |run: &mut Run| {
            next[run.start[0] as usize] = end;
            run.begin_at(end);
            end += run.len as usize;
        };
        *dense = by_place(keys);
        if dense.is_empty() {
            keys.each_mut(|(_, run)| begin(run));
        } else {
            *keys = Pane::default();
            dense.iter_mut().filter(|run| run.len > 0).for_each(begin);
        }
        let place = |number: u32| {
            let at = &mut next[number as usize];
            *at += 1;
            *at - 1
        };
        let places = std::mem::take(of).into_iter().map(place);
        *rows = placed(places.zip(std::mem::take(rows)), end);
    }

    #[inline]
    pub fn find(&self, hash: u64, key: &Q) -> Option<&[R]> {
        if !self.dense.is_empty() {
            return self.rows_at(key);
        }
        let (_, run) = self.keys.find(hash, |k| k == key)?;
        self.rows.get(run.range())
    }

    /// The rows of a key that is a place.
    #[inline(always)]
    fn rows_at(&self, key: &Q) -> Option<&[R]> {
        let run = self.dense.get(place_of(key)?)?;
        self.rows.get(run.range()).filter(|rows| !rows.is_empty())
    }

    #[inline(always)]
    pub fn prefetch(&mut self, hash: u64, key: &Q) {
        match self.dense.get(place_of(key).unwrap_or(0)) {
            Some(run) => prefetch(run),
            None => self.keys.prefetch(hash),
        }
    }

    #[inline(always)]
    pub fn prefetch_rows(&self, hash: u64, key: &Q) {
        let rows = if self.dense.is_empty() {
            self.keys.likely(hash).and_then(|run| self.rows.get(run.range()))
        } else {
            self.rows_at(key)
        };
        rows.into_iter().for_each(prefetch_all);
    }
}

/// The runs of keys that are places; nothing where these would be too many.
fn by_place<Q: Key>(keys: &Pane<Q, Run>) -> Vec<Run> {
    let mut spread = Spread::default();
    keys.unordered().for_each(|(key, _)| spread.add(key));
    let mut runs = vec![Run { start: [0; 2], len: 0 }; spread.places().unwrap_or(0)];
    for (key, run) in keys.unordered() {
        if let Some(at) = place_of(key).and_then(|place| runs.get_mut(place)) {
            *at = *run;
        }
    }
    runs
}

/// Rows that are brought to their places together: as many as the nearer caches hold.
const TOGETHER_BYTES: usize = 1 << 18;

/// `n` rows in the order of their places, which are the numbers below `n`. Each is first put with those that go near it, so that memory that is far
/// is written from front to back (a radix sort's first pass); then each of those that are together is fetched for its place.
fn placed<R>(rows: impl Iterator<Item = (usize, R)>, n: usize) -> Vec<R> {
    let together = (TOGETHER_BYTES / size_of::<(u32, Option<R>)>()).clamp(1, n.max(1)).next_power_of_two();
    let (shift, mask) = (together.trailing_zeros(), together - 1);
    let mut near: Vec<Vec<(u32, Option<R>)>> = Vec::new();
    near.resize_with(n.div_ceil(together), || Vec::with_capacity(together.min(n)));
    for (place, row) in rows {
        near[place >> shift].push(((place & mask) as u32, Some(row)));
    }
    let mut all = Vec::with_capacity(n);
    let mut from = vec![0; together];
    for mut some in near {
        for (at, (place, _)) in some.iter().enumerate() {
            from[*place as usize] = at;
        }
        all.extend(from[..some.len()].iter().filter_map(|at| some[*at].1.take()));
    }
    all
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
    use super::{Packed, TOGETHER_BYTES, placed};
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

    /// The same where the keys are places, and where they are many and are none.
    #[test]
    fn the_rows_of_many_keys() {
        for (step, dense) in [(2u64, 3_999), (1 << 40, 0)] {
            let mut packed = Packed::default();
            // Each key has one to three rows, and not one after the other.
            let rows = || {
                (0..3).flat_map(|round| (0..2_000).filter(move |k| k % 3 >= round).map(move |k| (k, round)))
            };
            for (k, round) in rows() {
                packed.add(hash_key(&(k * step)), k * step, (k, round));
            }
            packed.settle();
            assert_eq!(packed.dense.len(), dense);
            for k in 0..2_000 {
                let expected: Vec<_> = (0..=k % 3).map(|round| (k, round)).collect();
                let key = k * step;
                packed.prefetch(hash_key(&key), &key);
                packed.prefetch_rows(hash_key(&key), &key);
                assert_eq!(packed.find(hash_key(&key), &key), Some(&expected[..]));
                for none in [key + 1, u64::MAX - key] {
                    assert_eq!(packed.find(hash_key(&none), &none), None);
                }
            }
        }
    }

    /// Also those that are too many to be together.
    #[test]
    fn each_row_comes_to_its_place() {
        for n in [0, 1, 2, 3, 1_000, TOGETHER_BYTES / 8, TOGETHER_BYTES / 4 + 7] {
            // A step that has no divisor with `n` in common goes through all places.
            let step = (0..).map(|i| 7_919 + i).find(|step| gcd(*step, n.max(1)) == 1).unwrap_or(1);
            let places = (0..n).map(|i| (i * step + 3) % n.max(1));
            let rows = placed(places.map(|place| (place, place as u32)), n);
            assert!(rows.len() == n && rows.iter().enumerate().all(|(i, row)| i == *row as usize), "{n}");
        }
    }

    fn gcd(a: usize, b: usize) -> usize {
        if b == 0 { a } else { gcd(b, a % b) }
    }

    #[test]
    fn without_rows_there_is_nothing_to_settle() {
        let mut packed = Packed::<u64, u64>::default();
        packed.settle();
        assert_eq!(packed.find(hash_key(&1u64), &1), None);
    }
}
