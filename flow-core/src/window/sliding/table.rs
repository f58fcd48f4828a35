//! A table from which keys leave: their entries stay as empty ones, until most are empty.
//!
//! A pane forgets no single key. Sweeping when more than half of the entries are empty costs each of them a constant share.

use crate::state::Pane;

/// Empty entries that are never swept.
const EMPTY_MIN: usize = 64;

/// From key to value; a value may be empty.
pub struct Table<K, V> {
    pub entries: Pane<K, V>,
    /// How many are empty.
    pub empty: usize,
    spare: Pane<K, V>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Table { entries: Pane::default(), empty: 0, spare: Pane::default() }
    }
}

impl<K, V> Table<K, V> {
    /// Forgets the empty entries, if they are many. The others keep their order.
    pub fn sweep(&mut self, is_empty: impl Fn(&V) -> bool, hash_of: impl Fn(&K) -> u64) {
        if self.empty <= EMPTY_MIN.max(self.entries.len() / 2) {
            return;
        }
        while let Some((key, value)) = self.entries.pop() {
            if !is_empty(&value) {
                self.spare.push(hash_of(&key), key, value, &hash_of);
            }
        }
        std::mem::swap(&mut self.entries, &mut self.spare);
        self.spare.clear();
        self.empty = 0;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.empty = 0;
    }
}
