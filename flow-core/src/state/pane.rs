//! The table of a window's pane: keys come out in the order in which they first appeared, which is part of the answer.

use super::slots::{Entries, Place, Slots, View};
use super::table::spread;
use super::track::Tracked;
use super::{Keep, Mode, Volatile};
use crate::checkpoint::records::Part;
use crate::checkpoint::{Groups, Section};
use crate::error::Result;

/// New keys that a run has room for at least.
const RUN_MIN: usize = 64;
/// Bytes of a table that is surely near enough to be asked for at once.
const NEAR_BYTES: usize = 1 << 19;

/// From key to accumulator, in order of first appearance, in a pipeline of mode `M`.
///
/// An element costs one look-up: key and accumulator lie in the table itself. The order is a list of places, written when a
/// key is new and read when the pane fires.
pub struct Pane<K, V, M: Mode = Volatile> {
    slots: Slots<(K, V), M::Only<Tracked<(K, V)>>>,
    order: Vec<Place>,
    /// How many have been given out, from the front.
    given: usize,
}

impl<K, V, M: Mode> Default for Pane<K, V, M> {
    fn default() -> Self {
        Pane { slots: Slots::for_entries(1), order: Vec::new(), given: 0 }
    }
}

impl<K, V, M: Mode> Pane<K, V, M> {
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
        hash_of: &dyn Fn(&K) -> u64,
    ) -> &mut (K, V) {
        self.run(1, hash_of).0.into_entry(hash, is, insert)
    }

    /// For a loop over `n` elements at most, and how many of them may be new keys before another is needed: not less than
    /// 64, where there are so many, so that a pane that is almost full is not asked too often.
    #[inline(always)]
    pub fn run(&mut self, n: usize, hash_of: &dyn Fn(&K) -> u64) -> (Run<'_, K, V, M>, usize) {
        if !self.slots.has_room(n.min(RUN_MIN)) {
            self.grow(n.min(RUN_MIN), hash_of);
        }
        let room = n.min(self.slots.room());
        (Run { slots: self.slots.view(), order: &mut self.order }, room)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, n: usize, hash_of: &dyn Fn(&K) -> u64) {
        let mut larger = self.slots.successor(self.len() + n);
        for place in &mut self.order {
            if let Some((entry, changed)) = self.slots.take_marked(*place) {
                *place = larger.put(spread(hash_of(&entry.0)), entry, changed);
            }
        }
        self.slots = larger;
    }

    /// The entry of a key, if it is there.
    #[inline]
    pub fn find(&self, hash: u64, is: impl Fn(&K) -> bool) -> Option<&(K, V)> {
        self.slots.get(self.slots.find(spread(hash), |e| is(&e.0))?)
    }

    /// The place of a key's entry, counted in order of appearance. It is searched for in the list of places: not for each
    /// record.
    pub fn place(&self, hash: u64, is: impl Fn(&K) -> bool) -> Option<usize> {
        let place = self.slots.find(spread(hash), |e| is(&e.0))?;
        self.order.iter().position(|other| *other == place)
    }

    /// How much memory the table takes.
    pub fn bytes(&self) -> usize {
        self.slots.bytes()
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
    pub fn push(&mut self, hash: u64, key: K, value: V, hash_of: &dyn Fn(&K) -> u64) {
        self.run(1, hash_of);
        self.order.push(self.slots.add(spread(hash), (key, value)));
    }

    /// All entries in order.
    pub fn iter(&self) -> impl Iterator<Item = &(K, V)> {
        self.order.iter().filter_map(|place| self.slots.get(*place))
    }

    /// All entries as they lie in memory: a table that has not been touched for long is read at once. The order is that of no
    /// input, and has to make no difference.
    pub fn unordered(&self) -> impl Iterator<Item = &(K, V)> {
        self.slots.iter()
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        while self.pop().is_some() {}
        self.order.clear();
        self.given = 0;
    }

    /// Of an empty pane: takes the entries of `other`, and gives it the memory. No checkpoint knows of them.
    pub fn adopt(&mut self, other: &mut Pane<K, V>) {
        debug_assert!(self.is_empty(), "a pane that has entries adopts none");
        self.slots.adopt(&mut other.slots);
        std::mem::swap(&mut self.order, &mut other.order);
        std::mem::swap(&mut self.given, &mut other.given);
    }

    /// A checkpoint: what has changed goes to section `of`, or, with `whole`, all there is, as it is now; [`Pane::save_more`] writes it.
    ///
    /// # Errors
    /// When the mode keeps no state.
    pub(crate) fn begin_save(
        &mut self,
        out: &Groups,
        of: Section,
        whole: bool,
        hash_of: impl Fn(&K) -> u64 + Send + 'static,
    ) -> Result<()>
    where
        K: Keep<M>,
        V: Keep<M>,
    {
        self.begin_save_as(out, of, whole, hash_of, V::write)
    }

    /// The same, where `value` writes a value.
    fn begin_save_as(
        &mut self,
        out: &Groups,
        of: Section,
        whole: bool,
        hash_of: impl Fn(&K) -> u64 + Send + 'static,
        value: fn(&V, &mut Vec<u8>) -> Result<()>,
    ) -> Result<()>
    where
        K: Keep<M>,
        V: 'static,
    {
        K::kept(|| {
            let out = out.clone();
            self.slots.begin_save(|tracked| {
                let save = move |entries: Entries<'_, (K, V)>| {
                    let hashed = entries.map(|entry| (hash_of(&entry.0), entry));
                    out.put(&of, hashed, |e, out| e.0.write(out), |e, out| value(&e.1, out));
                };
                tracked.begin(whole, Box::new(save));
            });
            Ok(())
        })
    }

    /// The same of a pane that stands alone, in the one section of its head. `known` says whether the last checkpoint has it, as it was then: no key has
    /// left since.
    ///
    /// # Errors
    /// When the mode keeps no state.
    pub(crate) fn begin_save_alone(
        &mut self,
        out: &Groups,
        known: &mut bool,
        hash_of: impl Fn(&K) -> u64 + Send + 'static,
        value: fn(&V, &mut Vec<u8>) -> Result<()>,
    ) -> Result<()>
    where
        K: Keep<M>,
        V: 'static,
    {
        let whole = out.is_whole() || !std::mem::replace(known, true);
        if whole && !out.is_whole() {
            out.drop_sections(Part::Head, &[]);
        }
        self.begin_save_as(out, out.section(Part::Head, &[], &[]), whole, hash_of, value)
    }

    /// Goes on with what [`Pane::begin_save`] began, as far as `left` allows; whether that is written.
    pub(crate) fn save_more(&mut self, left: &mut usize) -> bool {
        self.slots.save_more(left)
    }

    /// Writes what is not yet written for the checkpoint in flight: the pane goes.
    pub(crate) fn finish_save(&mut self) {
        self.slots.finish_save();
    }
}

/// A [`Pane`] that has room, for a loop over many look-ups.
pub struct Run<'a, K, V, M: Mode = Volatile> {
    slots: View<'a, (K, V), M::Only<Tracked<(K, V)>>>,
    order: &'a mut Vec<Place>,
}

impl<'a, K, V, M: Mode> Run<'a, K, V, M> {
    /// See [`Pane::entry`]; for no more new keys than there was room for.
    #[inline(always)]
    pub fn entry(
        &mut self,
        hash: u64,
        is: impl Fn(&K) -> bool,
        insert: impl FnOnce() -> (K, V),
    ) -> &mut (K, V) {
        Run::<'_, K, V, M> { slots: self.slots.again(), order: self.order }.into_entry(hash, is, insert)
    }

    #[inline(always)]
    fn into_entry(
        self,
        hash: u64,
        is: impl Fn(&K) -> bool,
        insert: impl FnOnce() -> (K, V),
    ) -> &'a mut (K, V) {
        let (place, entry) = self.slots.entry(spread(hash), |e| is(&e.0), insert);
        if let Err(new) = place {
            self.order.push(new);
        }
        entry
    }

    /// Whether the table is larger than the nearer caches, so that [`Run::prefetch`] pays.
    #[inline(always)]
    pub fn is_large(&self) -> bool {
        self.slots.bytes() > NEAR_BYTES
    }

    /// Asks for the memory of the entry of `hash`, so that it is on its way when the entry is asked for.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        self.slots.prefetch(spread(hash));
    }
}
