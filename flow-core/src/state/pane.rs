//! The table of a window's pane: keys come out in the order in which they first appeared, which is part of the answer.

use super::slots::{Place, Slots};
use super::table::spread;

/// From key to accumulator, in order of first appearance.
///
/// An element costs one look-up: key and accumulator lie in the table itself. The order is a list of places, written when a
/// key is new and read when the pane fires.
pub struct Pane<K, V> {
    slots: Slots<(K, V)>,
    order: Vec<Place>,
    /// How many have been given out, from the front.
    given: usize,
}

impl<K, V> Default for Pane<K, V> {
    fn default() -> Self {
        Pane { slots: Slots::for_entries(1), order: Vec::new(), given: 0 }
    }
}

impl<K, V> Pane<K, V> {
    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.slots.taken()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entry of a key, made with `insert` when there is none. Not to be called between [`Pane::pop`] and
    /// [`Pane::clear`]: keys are no longer found.
    #[inline(always)]
    pub fn entry(
        &mut self,
        hash: u64,
        is: impl Fn(&K) -> bool,
        insert: impl FnOnce() -> (K, V),
        hash_of: impl Fn(&K) -> u64,
    ) -> &mut (K, V) {
        if !self.slots.has_room(1) {
            self.grow(hash_of);
        }
        let Pane { slots, order, .. } = self;
        let (place, entry) = slots.entry(spread(hash), |e| is(&e.0), insert);
        if let Err(new) = place {
            order.push(new);
        }
        entry
    }

    /// Asks for the memory of the entry of `hash`, so that it is on its way when the entry is asked for.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        self.slots.prefetch(spread(hash));
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, hash_of: impl Fn(&K) -> u64) {
        let mut larger = Slots::for_entries(self.len() + 1);
        for place in &mut self.order {
            if let Some(entry) = self.slots.take(*place) {
                *place = larger.add(spread(hash_of(&entry.0)), entry);
            }
        }
        self.slots = larger;
    }

    /// The entry at a place, counted in order of appearance.
    #[inline]
    pub fn at(&self, place: usize) -> Option<&(K, V)> {
        self.slots.get(*self.order.get(place)?)
    }

    /// Gives out the first entry of those that are left.
    #[inline]
    pub fn pop(&mut self) -> Option<(K, V)> {
        let place = *self.order.get(self.given)?;
        self.given += 1;
        self.slots.take(place)
    }

    /// Adds an entry of a key that is not in the pane.
    pub fn push(&mut self, hash: u64, key: K, value: V, hash_of: impl Fn(&K) -> u64) {
        self.entry(hash, |_| false, || (key, value), hash_of);
    }

    /// All entries in order.
    pub fn iter(&self) -> impl Iterator<Item = &(K, V)> {
        self.order.iter().filter_map(|place| self.slots.get(*place))
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        while self.pop().is_some() {}
        self.order.clear();
        self.given = 0;
    }
}
