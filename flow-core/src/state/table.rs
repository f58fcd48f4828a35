//! The table of rolling operators: one entry a key, found by the hash that the exchange has computed already.

use super::Keep;
use crate::error::Result;
use crate::exchange::key_group;
use hashbrown::HashTable;
use std::hint::black_box;

/// From key to value.
pub struct KeyTable<K, V> {
    entries: HashTable<(K, V)>,
}

impl<K, V> Default for KeyTable<K, V> {
    fn default() -> Self {
        KeyTable { entries: HashTable::new() }
    }
}

/// The hash as the table uses it. All keys of an instance share bits of the low byte, which chose the instance: the
/// table must not look at those first.
#[inline(always)]
pub(super) fn spread(hash: u64) -> u64 {
    hash.rotate_left(32)
}

impl<K, V> KeyTable<K, V> {
    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value of a key, made with `insert` when there is none.
    #[inline(always)]
    pub fn entry(
        &mut self,
        hash: u64,
        is: impl Fn(&K) -> bool,
        insert: impl FnOnce() -> (K, V),
        hash_of: impl Fn(&K) -> u64,
    ) -> &mut (K, V) {
        let entry = self.entries.entry(spread(hash), |e| is(&e.0), |e| spread(hash_of(&e.0)));
        entry.or_insert_with(insert).into_mut()
    }

    /// Looks at where `hash` lies, so that the memory is on its way when the entry is asked for. The looks of a batch
    /// do not depend on each other, so the processor has many of them under way at once.
    #[inline(always)]
    pub fn touch(&self, hash: u64, is: impl Fn(&K) -> bool) {
        black_box(self.entries.find(spread(hash), |e| is(&e.0)).is_some());
    }

    /// Every entry, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &(K, V)> {
        self.entries.iter()
    }

    /// Writes the entries of one key group.
    ///
    /// # Errors
    /// What [`Keep::write`] reports.
    pub fn snapshot<M>(&self, group: usize, out: &mut Vec<u8>, hash_of: impl Fn(&K) -> u64) -> Result<()>
    where
        K: Keep<M>,
        V: Keep<M>,
    {
        for (key, value) in self.entries.iter().filter(|e| key_group(hash_of(&e.0)) == group) {
            key.write(out)?;
            value.write(out)?;
        }
        Ok(())
    }

    /// Adds entries that [`KeyTable::snapshot`] wrote.
    ///
    /// # Errors
    /// What [`Keep::read`] reports.
    pub fn restore<M>(&mut self, mut bytes: &[u8], hash_of: impl Fn(&K) -> u64) -> Result<()>
    where
        K: Keep<M>,
        V: Keep<M>,
    {
        while !bytes.is_empty() {
            let (key, value) = (K::read(&mut bytes)?, V::read(&mut bytes)?);
            self.entries.insert_unique(spread(hash_of(&key)), (key, value), |e| spread(hash_of(&e.0)));
        }
        Ok(())
    }
}
