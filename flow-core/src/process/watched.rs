//! When something of the keys of an instance expires: what is to be looked at, and when.
//!
//! Nothing is taken out when a key or a state goes before its time: what is left behind of it goes when there is twice as much as
//! there need be, by asking every state again. So what is kept is in proportion to the keys, however often one is written and cleared.

use super::states::{Moment, On};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// So many are kept without asking whether they are needed.
const KEPT: usize = 1024;

/// Instants, and the hashes of the keys of which something expires then.
#[derive(Default)]
pub struct Watched {
    /// On the clock, and on the watermark.
    first: [BinaryHeap<Reverse<(i64, u64)>>; 2],
    /// How many a key needs, as it was found: one at least, and one a state at most.
    of_key: usize,
}

impl Watched {
    /// Something of a key with this hash expires at `at`.
    pub fn add(&mut self, on: On, at: i64, hash: u64) {
        self.first[on as usize].push(Reverse((at, hash)));
    }

    /// The hash of a key of which something has expired.
    pub fn next(&mut self, now: Moment) -> Option<u64> {
        [(On::Clock, now.clock), (On::Watermark, now.watermark)].into_iter().find_map(|(on, now)| {
            let heap = &mut self.first[on as usize];
            heap.peek().is_some_and(|first| first.0.0 <= now.0).then(|| heap.pop())?.map(|first| first.0.1)
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.first.iter().map(BinaryHeap::len).sum()
    }

    /// Whether at least half of them are of what is no longer there, where there are so many `keys`.
    pub fn is_crowded(&self, keys: usize) -> bool {
        self.len() > 2 * keys * self.of_key.max(1) + KEPT
    }

    /// Forgets all. Whose they were, each key once.
    #[cold]
    pub fn take(&mut self) -> Vec<u64> {
        let all = self.first.iter_mut().flat_map(BinaryHeap::drain);
        let mut hashes: Vec<u64> = all.map(|one| one.0.1).collect();
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }

    /// All states of so many `keys` have been asked again, so all that are there are needed.
    pub fn asked(&mut self, keys: usize) {
        self.of_key = self.of_key.max(self.len().div_ceil(keys.max(1)));
    }
}
