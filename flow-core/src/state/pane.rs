//! The table of a window's pane: keys come out in the order in which they first appeared, which is part of the answer.

use super::table::spread;
use hashbrown::HashTable;

/// From key to accumulator, in order of first appearance.
///
/// The entries lie one after the other; a hash table holds their places. A firing reads them in one sweep.
pub struct Pane<K, V> {
    places: HashTable<u32>,
    entries: Vec<Entry<K, V>>,
}

/// A key with its accumulator. The hash is kept: a table that grows need not ask the keys, nor need a sender of partials.
pub struct Entry<K, V> {
    /// As the exchange computed it.
    pub hash: u64,
    /// The key.
    pub key: K,
    /// Its accumulator.
    pub value: V,
}

impl<K, V> Default for Pane<K, V> {
    fn default() -> Self {
        Pane { places: HashTable::new(), entries: Vec::new() }
    }
}

impl<K, V> Pane<K, V> {
    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry of a key, made with `insert` when there is none.
    #[inline(always)]
    pub fn entry(
        &mut self,
        hash: u64,
        is: impl Fn(&K) -> bool,
        insert: impl FnOnce() -> (K, V),
    ) -> &mut Entry<K, V> {
        let found = self.places.find(spread(hash), |at| is(&self.entries[*at as usize].key)).copied();
        let at = match found {
            Some(at) => at as usize,
            None => self.insert(hash, insert()),
        };
        &mut self.entries[at]
    }

    #[inline(never)]
    fn insert(&mut self, hash: u64, (key, value): (K, V)) -> usize {
        let at = self.entries.len();
        // A pane of four billion keys does not fit into memory: the conversion cannot fail in practice.
        let place = u32::try_from(at).expect("fewer than 2^32 keys in a pane");
        let entries = &self.entries;
        self.places.insert_unique(spread(hash), place, |i| spread(entries[*i as usize].hash));
        self.entries.push(Entry { hash, key, value });
        at
    }

    /// The entry at a place, counted in order of appearance.
    #[inline]
    pub fn at(&self, place: usize) -> Option<&Entry<K, V>> {
        self.entries.get(place)
    }

    /// Turns the order around, for [`Pane::pop`]. No entry is found by its key from now on.
    pub fn reverse(&mut self) {
        self.places.clear();
        self.entries.reverse();
    }

    /// Gives out the last entry.
    #[inline]
    pub fn pop(&mut self) -> Option<Entry<K, V>> {
        self.entries.pop()
    }

    /// Adds an entry of a key that is not in the pane.
    pub fn push(&mut self, hash: u64, key: K, value: V) {
        self.insert(hash, (key, value));
    }

    /// Gives out all entries in order and keeps the memory.
    pub fn drain(&mut self) -> impl Iterator<Item = Entry<K, V>> {
        self.places.clear();
        self.entries.drain(..)
    }

    /// All entries in order.
    pub fn iter(&self) -> impl Iterator<Item = &Entry<K, V>> {
        self.entries.iter()
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.places.clear();
        self.entries.clear();
    }
}
