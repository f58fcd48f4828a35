//! Keys that come and go: a slot for each that has a value, found by the key's hash. The place of a slot stays the same while the key is there.

use std::collections::HashMap;

/// The slot of a key.
pub struct KeySlot<K, V> {
    /// The key.
    pub key: K,
    /// Its value.
    pub value: V,
    hash: u64,
    next: Next,
}

/// What follows a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// It is not to be found by its key.
    Apart,
    /// No other key has its hash.
    None,
    /// The slot of another key with the same hash.
    At(u32),
}

impl Next {
    fn of(at: Option<u32>) -> Self {
        at.map_or(Next::None, Next::At)
    }
    fn at(self) -> Option<u32> {
        if let Next::At(at) = self { Some(at) } else { None }
    }
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
            at = slot.next.at();
        }
        None
    }

    /// A slot for a key that has none.
    ///
    /// # Panics
    /// If there are more than four thousand million keys.
    pub fn insert(&mut self, hash: u64, key: K, value: V) -> u32 {
        let at = self.insert_apart(hash, key, value);
        let next = Next::of(self.first.set(hash, at));
        if let Some(slot) = self.get(at) {
            slot.next = next;
        }
        at
    }

    /// A slot that [`KeySlots::find`] does not find: keys that are nothing are all apart, and there may be many of them.
    ///
    /// # Panics
    /// If there are more than four thousand million keys.
    pub fn insert_apart(&mut self, hash: u64, key: K, value: V) -> u32 {
        let at = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).expect("fewer keys than 2^32 fit into memory")
        });
        self.slots[at as usize] = Some(KeySlot { key, value, hash, next: Next::Apart });
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
        if next == Next::Apart {
            return Some(key);
        }
        if self.first.get(hash) == Some(at) {
            self.first.replace(hash, next.at());
        } else {
            self.unlink(hash, at, next);
        }
        Some(key)
    }

    /// Keys with one hash are so rare that this runs almost never.
    #[cold]
    fn unlink(&mut self, hash: u64, gone: u32, next: Next) {
        let mut at = self.first.get(hash);
        while let Some(slot) = at.and_then(|at| self.slots[at as usize].as_mut()) {
            if slot.next == Next::At(gone) {
                slot.next = next;
                return;
            }
            at = slot.next.at();
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

#[cfg(test)]
mod tests {
    use super::KeySlots;

    #[test]
    fn slots_apart_are_not_found_and_leave_those_that_are() {
        let mut slots = KeySlots::default();
        let apart: Vec<u32> = (0..3).map(|i| slots.insert_apart(7, "none", i)).collect();
        let (a, b) = (slots.insert(7, "a", 10), slots.insert(7, "b", 11));
        assert_eq!(slots.find(7, |key| *key == "none"), None);
        assert_eq!(slots.remove(apart[1]), Some("none"));
        let again = slots.insert_apart(7, "none", 4);
        assert_eq!(again, apart[1], "its place is free");
        let found = |slots: &KeySlots<_, _>, name| slots.find(7, |key| *key == name);
        assert_eq!((found(&slots, "a"), found(&slots, "b")), (Some(a), Some(b)));
        assert_eq!(slots.remove(a), Some("a"));
        assert_eq!((found(&slots, "a"), found(&slots, "b")), (None, Some(b)));
        assert_eq!(slots.iter().count(), 4);
    }

    /// One chain of all of them would take minutes.
    #[test]
    fn many_slots_apart_are_removed_in_their_order() {
        let mut slots = KeySlots::default();
        let all: Vec<u32> = (0..300_000).map(|i| slots.insert_apart(0, None::<u8>, i)).collect();
        assert!(all.into_iter().all(|at| slots.remove(at).is_some()));
        assert_eq!(slots.iter().count(), 0);
    }
}
