//! The table of rolling operators: one entry a key, found by the hash that the exchange has computed already.
//!
//! Open addressing: a look-up begins at the slot its hash says and goes on by groups of eight, whose tags are compared
//! at once; it ends at a group with a free slot. Nothing is ever removed, so the first free slot is where a new key goes.

use super::Keep;
use super::group::GROUP;
use super::slots::Slots;
use crate::error::Result;
use crate::exchange::key_group;

/// From key to value.
pub struct KeyTable<K, V> {
    slots: Slots<(K, V)>,
    len: usize,
}

impl<K, V> Default for KeyTable<K, V> {
    fn default() -> Self {
        KeyTable { slots: Slots::new(GROUP), len: 0 }
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
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
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
        let h = spread(hash);
        let at = match self.slots.find(h, |e| is(&e.0)) {
            Ok(at) => at,
            Err(at) => self.add(at, h, insert(), hash_of),
        };
        self.slots.get_mut(at).expect("the slot of an entry that was found or put there")
    }

    /// Adds an entry of a new key, whose free slot is `at`; returns the slot it got.
    #[inline(never)]
    fn add(&mut self, at: usize, h: u64, entry: (K, V), hash_of: impl Fn(&K) -> u64) -> usize {
        self.len += 1;
        // At most five eighths are taken, so that most look-ups end in their first group.
        if self.len * 8 <= self.slots.len() * 5 {
            self.slots.put(at, h, entry);
            return at;
        }
        let mut larger = Slots::new(self.slots.len() * 2);
        self.slots.drain(|e| {
            put(&mut larger, spread(hash_of(&e.0)), e);
        });
        self.slots = larger;
        put(&mut self.slots, h, entry)
    }

    /// Asks for the memory of the entry of `hash`, so that it is on its way when the entry is asked for.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        self.slots.prefetch(spread(hash) as usize);
    }

    /// Every entry, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &(K, V)> {
        self.slots.iter()
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
        for (key, value) in self.iter().filter(|e| key_group(hash_of(&e.0)) == group) {
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
            let hash = hash_of(&key);
            let mut entry = Some((key, value));
            self.entry(hash, |_| false, || entry.take().expect("called once"), &hash_of);
        }
        Ok(())
    }
}

/// Puts the entry of a new key where it belongs.
fn put<T>(slots: &mut Slots<T>, h: u64, entry: T) -> usize {
    let (Ok(at) | Err(at)) = slots.find(h, |_| false);
    slots.put(at, h, entry);
    at
}
