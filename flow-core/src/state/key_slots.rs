//! Keys that come and go: a slot for each that has a value, found by the key's hash. The number of a slot stays the same while the key is there:
//! it is its place in memory, but where the job has a state backend. `slot_track.rs` says how they are written down, `slot_spill.rs` how they leave the memory.

use super::keep::Only;
use super::slot_spill::Away;
use super::slot_track::{Marks, SlotsTracked};
use super::{Mode, Volatile};
use crate::checkpoint::is_restored;
use std::collections::HashMap;

/// The slot of a key.
pub struct KeySlot<K, V> {
    /// The key.
    pub key: K,
    /// Its value.
    pub value: V,
    pub(super) hash: u64,
    pub(super) next: Next,
    pub(super) marks: Marks,
}

impl<K, V> KeySlot<K, V> {
    pub(super) fn is_apart(&self) -> bool {
        self.next == Next::APART
    }
}

/// What follows a slot: the slot of another key with the same hash. A number, so that the marks beside it take no place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Next(pub(super) u32);

impl Next {
    /// It is not to be found by its key.
    const APART: Self = Next(u32::MAX);
    /// No other key has its hash.
    const NONE: Self = Next(u32::MAX - 1);

    fn of(at: Option<u32>) -> Self {
        at.map_or(Next::NONE, Next)
    }
    fn at(self) -> Option<u32> {
        (self.0 < Next::NONE.0).then_some(self.0)
    }
}

/// From key to value, in a pipeline of mode `M`.
pub struct KeySlots<K, V, M: Mode = Volatile> {
    pub(super) slots: Vec<Option<KeySlot<K, V>>>,
    pub(super) free: Vec<u32>,
    first: Firsts,
    pub(super) tracked: M::Only<SlotsTracked<K, V>>,
    /// Those that are not in memory.
    pub(super) away: M::Only<Away<K, V>>,
}

impl<K, V, M: Mode> Default for KeySlots<K, V, M> {
    fn default() -> Self {
        let tracked = <M::Only<SlotsTracked<K, V>>>::default();
        KeySlots {
            slots: Vec::new(),
            free: Vec::new(),
            first: Firsts::default(),
            tracked,
            away: Default::default(),
        }
    }
}

#[cfg(test)]
impl<K, V, M: Mode> KeySlots<K, V, M> {
    /// How many are not in memory.
    pub fn away(&self) -> usize {
        self.away.look().and_then(Away::look).map_or(0, |over| over.count())
    }

    /// All slots.
    pub fn iter(&self) -> impl Iterator<Item = &KeySlot<K, V>> {
        self.slots.iter().flatten()
    }
}

impl<K, V, M: Mode> KeySlots<K, V, M> {
    /// The slot of a key that has one; it is then in memory.
    #[inline]
    pub fn find(&mut self, hash: u64, is: impl Fn(&K) -> bool) -> Option<u32> {
        let mut at = self.first.get(hash);
        while let Some(slot) = at.and_then(|at| self.slot(at)) {
            if is(&slot.key) {
                return at;
            }
            at = slot.next.at();
        }
        None
    }

    /// Where in memory a slot is.
    #[inline(always)]
    fn here(&mut self, at: u32) -> Option<u32> {
        if self.away.get().and_then(Away::on).is_some() { self.bring(at) } else { Some(at) }
    }

    #[inline(always)]
    fn slot(&mut self, at: u32) -> Option<&mut KeySlot<K, V>> {
        let place = self.here(at)?;
        self.slots.get_mut(place as usize)?.as_mut()
    }

    /// A slot for a key that has none.
    ///
    /// # Panics
    /// If there are more than four thousand million keys.
    pub fn insert(&mut self, hash: u64, key: K, value: V) -> u32 {
        let (at, place) = self.put(hash, key, value);
        let next = Next::of(self.first.set(hash, at));
        if let Some(Some(slot)) = self.slots.get_mut(place as usize) {
            slot.next = next;
        }
        at
    }

    /// A slot that [`KeySlots::find`] does not find: keys that are nothing are all apart, and there may be many of them.
    ///
    /// # Panics
    /// If there are more than four thousand million keys.
    pub fn insert_apart(&mut self, hash: u64, key: K, value: V) -> u32 {
        self.put(hash, key, value).0
    }

    /// The number of a new slot, and its place.
    #[inline(always)]
    fn put(&mut self, hash: u64, key: K, value: V) -> (u32, u32) {
        let marks = self.tracked.get().map_or(Marks::default(), |tracked| {
            is_restored(hash);
            tracked.fresh()
        });
        let place = self.lay(KeySlot { key, value, hash, next: Next::APART, marks });
        let number = self.away.get().and_then(Away::on).map(|over| over.name(place));
        (number.unwrap_or(place), place)
    }

    /// Puts a slot into a place that is free.
    #[inline(always)]
    pub(super) fn lay(&mut self, slot: KeySlot<K, V>) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            let at = u32::try_from(self.slots.len() - 1).ok().filter(|at| *at < Next::NONE.0);
            at.expect("fewer keys than 2^32 fit into memory")
        });
        self.slots[place as usize] = Some(slot);
        place
    }

    /// A slot, to be changed.
    #[inline]
    pub fn get(&mut self, at: u32) -> Option<&mut KeySlot<K, V>> {
        let place = self.here(at)?;
        let slot = self.slots.get_mut(place as usize)?.as_mut()?;
        if let Some(tracked) = self.tracked.get() {
            tracked.touch(at, slot);
        }
        Some(slot)
    }

    /// A slot, to be looked at, that [`KeySlots::find`] has found.
    #[inline]
    pub fn peek(&self, at: u32) -> Option<&KeySlot<K, V>> {
        let place = match self.away.look().and_then(Away::look) {
            Some(over) => over.place(at)?,
            None => at,
        };
        self.slots.get(place as usize)?.as_ref()
    }

    /// Takes the slot of a key back.
    pub fn remove(&mut self, at: u32) -> Option<K> {
        self.get(at)?;
        let place = self.here(at)?;
        let gone = (at, self.slots.get_mut(place as usize)?.take()?);
        let (hash, next) = (gone.1.hash, gone.1.next);
        self.free.push(place);
        let mut left = self.slots.len() - self.free.len();
        if let Some(over) = self.away.get().and_then(Away::on) {
            over.forget(at);
            left += over.count();
        }
        if let Some(tracked) = self.tracked.get() {
            tracked.left(&gone, hash, left);
        }
        let key = gone.1.key;
        if next == Next::APART {
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
        while let Some(slot) = at.and_then(|at| self.slot(at)) {
            if slot.next == Next(gone) {
                slot.next = next;
                return;
            }
            at = slot.next.at();
        }
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
        let mut slots = KeySlots::<_, _>::default();
        let apart: Vec<u32> = (0..3).map(|i| slots.insert_apart(7, "none", i)).collect();
        let (a, b) = (slots.insert(7, "a", 10), slots.insert(7, "b", 11));
        assert_eq!(slots.find(7, |key| *key == "none"), None);
        assert_eq!(slots.remove(apart[1]), Some("none"));
        let again = slots.insert_apart(7, "none", 4);
        assert_eq!(again, apart[1], "its place is free");
        let found = |slots: &mut KeySlots<_, _>, name| slots.find(7, |key| *key == name);
        assert_eq!((found(&mut slots, "a"), found(&mut slots, "b")), (Some(a), Some(b)));
        assert_eq!(slots.remove(a), Some("a"));
        assert_eq!((found(&mut slots, "a"), found(&mut slots, "b")), (None, Some(b)));
        assert_eq!(slots.iter().count(), 4);
    }

    /// One chain of all of them would take minutes.
    #[test]
    fn many_slots_apart_are_removed_in_their_order() {
        let mut slots = KeySlots::<_, _>::default();
        let all: Vec<u32> = (0..300_000).map(|i| slots.insert_apart(0, None::<u8>, i)).collect();
        assert!(all.into_iter().all(|at| slots.remove(at).is_some()));
        assert_eq!(slots.iter().count(), 0);
    }
}
