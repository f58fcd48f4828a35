//! Keys that come and go: a slot for each that has a value, found by the key's hash. The place of a slot stays the same while the key is there.

use std::collections::HashMap;

/// The slot of a key.
pub struct KeySlot<K, V> {
    /// The key.
    pub key: K,
    /// Its value.
    pub value: V,
    hash: u64,
    /// The next slot of a key with the same hash.
    next: Option<u32>,
}

/// From key to value.
pub struct KeySlots<K, V> {
    slots: Vec<Option<KeySlot<K, V>>>,
    free: Vec<u32>,
    first: Firsts,
}

impl<K, V> Default for KeySlots<K, V> {
    fn default() -> Self {
        KeySlots { slots: Vec::new(), free: Vec::new(), first: Firsts::default() }
    }
}

impl<K, V> KeySlots<K, V> {
    /// The slot of a key that has one.
    #[inline]
    pub fn find(&self, hash: u64, is: impl Fn(&K) -> bool) -> Option<u32> {
        let mut at = self.first.get(hash);
        while let Some(slot) = at.and_then(|at| self.slots[at as usize].as_ref()) {
            if is(&slot.key) {
                return at;
            }
            at = slot.next;
        }
        None
    }

    /// A slot for a key that has none. (Keys that are all to be apart may have one each.)
    ///
    /// # Panics
    /// If there are more than four thousand million keys.
    pub fn insert(&mut self, hash: u64, key: K, value: V) -> u32 {
        let at = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).expect("fewer keys than 2^32 fit into memory")
        });
        let next = self.first.set(hash, at);
        self.slots[at as usize] = Some(KeySlot { key, value, hash, next });
        at
    }

    /// A slot.
    #[inline]
    pub fn get(&mut self, at: u32) -> Option<&mut KeySlot<K, V>> {
        self.slots.get_mut(at as usize)?.as_mut()
    }

    /// Takes the slot of a key back.
    pub fn remove(&mut self, at: u32) -> Option<K> {
        let KeySlot { key, hash, next, .. } = self.slots.get_mut(at as usize)?.take()?;
        self.free.push(at);
        if self.first.get(hash) == Some(at) {
            self.first.replace(hash, next);
        } else {
            self.unlink(hash, at, next);
        }
        Some(key)
    }

    /// Keys with one hash are so rare that this runs almost never.
    #[cold]
    fn unlink(&mut self, hash: u64, gone: u32, next: Option<u32>) {
        let mut at = self.first.get(hash);
        while let Some(slot) = at.and_then(|at| self.slots[at as usize].as_mut()) {
            if slot.next == Some(gone) {
                slot.next = next;
                return;
            }
            at = slot.next;
        }
    }

    /// All slots, with the hashes of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &KeySlot<K, V>)> {
        self.slots.iter().flatten().map(|slot| (slot.hash, slot))
    }
}

/// From hash to the first slot; apart, so that it is compiled once and not for each type of key.
#[derive(Default)]
struct Firsts(HashMap<u64, u32, foldhash::fast::FixedState>);

impl Firsts {
    fn get(&self, hash: u64) -> Option<u32> {
        self.0.get(&hash).copied()
    }

    /// Returns what was there.
    fn set(&mut self, hash: u64, at: u32) -> Option<u32> {
        self.0.insert(hash, at)
    }

    fn replace(&mut self, hash: u64, at: Option<u32>) {
        match at {
            Some(at) => self.0.insert(hash, at),
            None => self.0.remove(&hash),
        };
    }
}
