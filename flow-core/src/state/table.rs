//! The table of rolling operators: one entry a key, found by the hash that the exchange has computed already.
//!
//! Open addressing: a look-up begins at the bucket its hash says, whose tags are compared at once, and goes on to the next;
//! it ends at a bucket with a free slot, which is where a new key goes. When a key leaves, those that had gone past its bucket move up.

use super::Keep;
use super::slots::Slots;
use crate::error::Result;
use crate::exchange::key_group;

/// From key to value.
pub struct KeyTable<K, V> {
    slots: Slots<(K, V)>,
}

impl<K, V> Default for KeyTable<K, V> {
    fn default() -> Self {
        KeyTable { slots: Slots::for_entries(1) }
    }
}

/// The hash as a table uses it. All keys of an instance share bits of the low byte, which chose the instance: the
/// table must not look at those first.
#[inline(always)]
pub(super) fn spread(hash: u64) -> u64 {
    hash.rotate_left(32)
}

impl<K, V> KeyTable<K, V> {
    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.slots.taken()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes room for `n` keys more. A batch asks once, so that no look-up has to be ready for a growing table.
    #[inline]
    pub fn reserve(&mut self, n: usize, hash_of: impl Fn(&K) -> u64) {
        if !self.slots.has_room(n) {
            self.grow(n, hash_of);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, n: usize, hash_of: impl Fn(&K) -> u64) {
        let mut larger = Slots::for_entries(self.len() + n);
        self.slots.drain(|e| {
            larger.add(spread(hash_of(&e.0)), e);
        });
        self.slots = larger;
    }

    /// Forgets the entries whose value is not to stay; all others are put into a new table.
    #[cold]
    #[inline(never)]
    pub fn retain(&mut self, stays: impl Fn(&V) -> bool, hash_of: impl Fn(&K) -> u64) {
        let mut kept = Slots::for_entries(self.iter().filter(|e| stays(&e.1)).count().max(1));
        self.slots.drain(|e| {
            if stays(&e.1) {
                kept.add(spread(hash_of(&e.0)), e);
            }
        });
        self.slots = kept;
    }

    /// The value of a key, made with `insert` when there is none.
    ///
    /// # Panics
    /// When room for a new key has not been reserved.
    #[inline(always)]
    pub fn entry(
        &mut self,
        hash: u64,
        is: impl Fn(&K) -> bool,
        insert: impl FnOnce() -> (K, V),
    ) -> &mut (K, V) {
        self.slots.view().entry(spread(hash), |e| is(&e.0), insert).1
    }

    /// Takes a key out, if it is there.
    #[inline(never)]
    pub fn remove(
        &mut self,
        hash: u64,
        is: impl Fn(&K) -> bool,
        hash_of: impl Fn(&K) -> u64,
    ) -> Option<(K, V)> {
        let place = self.slots.find(spread(hash), |e| is(&e.0))?;
        self.slots.remove(place, |e| spread(hash_of(&e.0)))
    }

    /// The entry of a key, if it is there.
    #[inline]
    pub fn find(&mut self, hash: u64, is: impl Fn(&K) -> bool) -> Option<&mut (K, V)> {
        let place = self.slots.find(spread(hash), |e| is(&e.0))?;
        self.slots.get_mut(place)
    }

    /// Asks for the memory of the entry of `hash`, so that it is on its way when the entry is asked for.
    #[inline(always)]
    pub fn prefetch(&mut self, hash: u64) {
        self.slots.view().prefetch(spread(hash));
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
        if self.is_empty() {
            return Ok(());
        }
        K::kept(|| {
            for (key, value) in self.iter().filter(|e| key_group(hash_of(&e.0)) == group) {
                key.write(out)?;
                value.write(out)?;
            }
            Ok(())
        })
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
        if bytes.is_empty() {
            return Ok(());
        }
        K::kept(|| {
            while !bytes.is_empty() {
                let (key, value) = (K::read(&mut bytes)?, V::read(&mut bytes)?);
                let hash = hash_of(&key);
                self.reserve(1, &hash_of);
                self.slots.add(spread(hash), (key, value));
            }
            Ok(())
        })
    }
}
