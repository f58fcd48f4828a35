//! The rows of the right side in a pipeline that writes nothing down: when all have come they are put beside each other, key by key as the keys lie
//! in their table (compressed sparse rows). So a row takes no more room than it is large, and who looks up keys in the order of their table reads memory in its order.

use crate::exchange::hash_key;
use crate::op::Key;
use crate::state::{Pane, prefetch};

/// Where the rows of a key are, once all have come; before, its number and how many there are.
#[derive(Clone, Copy)]
struct Run {
    start: u32,
    len: u32,
}

/// See the module.
pub(super) struct Packed<Q, R> {
    keys: Pane<Q, Run>,
    /// Those that have come, each with the number of its key.
    come: Vec<(u32, R)>,
    rows: Vec<R>,
}

impl<Q, R> Default for Packed<Q, R> {
    fn default() -> Self {
        Packed { keys: Pane::default(), come: Vec::new(), rows: Vec::new() }
    }
}

impl<Q: Key, R: Clone> Packed<Q, R> {
    /// # Panics
    /// When there are more than four thousand million rows.
    #[inline]
    pub fn add(&mut self, hash: u64, key: Q, right: R) {
        assert!(self.come.len() < u32::MAX as usize, "2^32 rows in one table: raise the parallelism");
        let number = self.keys.len() as u32;
        let is = |k: &Q| *k == key;
        let (_, run) = self.keys.entry(hash, is, || (key.clone(), Run { start: number, len: 0 }), &hash_key);
        run.len += 1;
        self.come.push((run.start, right));
    }

    /// All have come.
    pub fn settle(&mut self) {
        let come = std::mem::take(&mut self.come);
        let Some((_, any)) = come.first() else { return };
        // By number: where the next row of a key goes.
        let (mut next, mut end) = (vec![0; self.keys.len()], 0);
        self.keys.each_mut(|(_, run)| {
            let number = std::mem::replace(&mut run.start, end);
            next[number as usize] = end;
            end += run.len;
        });
        self.rows = vec![any.clone(); come.len()];
        for (number, right) in come {
            let at = &mut next[number as usize];
            self.rows[*at as usize] = right;
            *at += 1;
        }
    }

    #[inline]
    pub fn find(&self, hash: u64, key: &Q) -> Option<&[R]> {
        let (_, run) = self.keys.find(hash, |k| k == key)?;
        self.rows.get(run.start as usize..)?.get(..run.len as usize)
    }

    #[inline(always)]
    pub fn prefetch(&mut self, hash: u64) {
        self.keys.prefetch(hash);
    }

    #[inline(always)]
    pub fn prefetch_rows(&self, hash: u64) {
        let rows = self
            .keys
            .likely(hash)
            .and_then(|run| self.rows.get(run.start as usize..)?.get(..run.len as usize));
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
