//! The table of a window's pane: keys come out in the order in which they first appeared, which is part of the answer.

use super::backend::Space;
use super::beyond::Beyond;
use super::keep::Only;
use super::slots::{Entries, Place, Slots, View};
use super::spilled::Spilled;
use super::table::spread;
use super::track::Tracked;
use super::{Form, Keep, Mode, Volatile, write_key};
use crate::checkpoint::records::Part;
use crate::checkpoint::{Groups, Section};
use crate::error::Result;
use std::borrow::Cow;

/// New keys that a run has room for at least.
const RUN_MIN: usize = 64;
/// How many entries are on their way, where they are taken out in their order: one waits for the memory of each.
const AHEAD: usize = 16;
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
    /// Entries that are not in memory.
    spilled: M::Only<Spilled<K, V>>,
}

impl<K, V, M: Mode> Default for Pane<K, V, M> {
    fn default() -> Self {
        Pane { slots: Slots::for_entries(1), order: Vec::new(), given: 0, spilled: Default::default() }
    }
}

impl<K, V, M: Mode> Pane<K, V, M> {
    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.slots.taken() + self.spilled.look().map_or(0, Spilled::count)
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
        if let Some(over) = self.spilled.get().and_then(Spilled::on) {
            over.make_room(&mut self.slots, n.min(RUN_MIN));
            if over.is_scattered() {
                self.order.clear();
            }
        }
        if !self.slots.has_room(n.min(RUN_MIN)) {
            self.grow(n.min(RUN_MIN), hash_of);
        }
        let room = n.min(self.slots.room());
        (Run { slots: self.slots.view(), order: &mut self.order, spilled: &mut self.spilled }, room)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, n: usize, hash_of: &dyn Fn(&K) -> u64) {
        let mut larger = self.slots.successor(self.slots.taken() + n);
        if self.is_scattered() {
            self.slots.drain(|entry, changed| {
                larger.put(spread(hash_of(&entry.0)), entry, changed);
            });
        }
        for i in 0..self.order.len() {
            if let Some(soon) = self.order.get(i + AHEAD) {
                self.slots.prefetch(*soon);
            }
            if let Some((entry, changed)) = self.slots.take_marked(self.order[i]) {
                self.order[i] = larger.put(spread(hash_of(&entry.0)), entry, changed);
            }
        }
        self.slots = larger;
    }

    /// The entry of a key, if it is there.
    #[inline]
    pub fn find(&self, hash: u64, is: impl Fn(&K) -> bool) -> Option<&(K, V)> {
        self.assert_in_memory();
        self.slots.get(self.slots.find(spread(hash), |e| is(&e.0))?)
    }

    /// The value of a key, if it is there; wherever it is it stays there.
    #[inline]
    pub fn look(&self, hash: u64, is: impl Fn(&K) -> bool) -> Option<Cow<'_, V>>
    where
        V: Clone,
    {
        match self.slots.find(spread(hash), |e| is(&e.0)) {
            Some(place) => self.slots.get(place).map(|e| Cow::Borrowed(&e.1)),
            None => self.spilled.look()?.look()?.look(hash, &is).map(Cow::Owned),
        }
    }

    /// Asks for the memory of the entry of `hash`.
    #[inline(always)]
    pub fn prefetch(&mut self, hash: u64) {
        self.slots.view().prefetch(spread(hash));
    }

    /// What is likely the value of the key of `hash`: to ask for the memory that it names.
    #[inline(always)]
    pub fn likely(&self, hash: u64) -> Option<&V> {
        self.slots.likely(spread(hash)).map(|entry| &entry.1)
    }

    /// The place of a key's entry, counted in order of appearance. It is searched for in the list of places: not for each
    /// record.
    pub fn place(&self, hash: u64, is: impl Fn(&K) -> bool) -> Option<usize> {
        self.assert_in_memory();
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
        let place = match self.order.get(self.given) {
            Some(place) => *place,
            None => self.more()?,
        };
        self.given += 1;
        if let Some(soon) = self.order.get(self.given + AHEAD) {
            self.slots.prefetch(*soon);
        }
        self.slots.take(place)
    }

    /// Gives out an entry of those that are left, as they lie in memory, from bucket `hand` on: where no order is asked for, this does not wait for the memory of
    /// each. Every table has its keys in the same order then, so who looks one up in another finds its neighbours near.
    #[inline]
    pub(crate) fn pop_near(&mut self, hand: &mut usize) -> Option<(K, V)> {
        if self.slots.taken() == 0 {
            self.spilled.get()?.on()?.bring_some(&mut self.slots);
        }
        let place = self.slots.next_taken(hand)?;
        self.slots.take(place)
    }

    /// The first of the entries that come when all in `order` have been given out.
    #[inline(always)]
    fn more(&mut self) -> Option<Place> {
        let over = self.spilled.get()?.on()?;
        if self.slots.taken() == 0 {
            over.bring_some(&mut self.slots);
        }
        self.order = self.slots.taken_places().collect();
        self.given = 0;
        self.order.first().copied()
    }

    /// Before all entries are looked at with [`Pane::at`], and those that are not in memory with [`Pane::show`]: where entries have
    /// left, the others are counted anew.
    pub fn settle(&mut self) {
        if self.is_scattered() {
            self.order = self.slots.taken_places().collect();
        }
    }

    /// The next entry that is not in memory; none when all have been shown, and then the first again.
    #[inline(always)]
    pub fn show(&mut self) -> Option<(K, V)> {
        self.spilled.get()?.on()?.show()
    }

    /// All entries go to the state backend, if there is one.
    pub(crate) fn leave(&mut self) {
        if let Some(over) = self.spilled.get().and_then(Spilled::on) {
            over.all_leave(&mut self.slots);
            self.order.clear();
        }
    }

    /// Of entries that have left: see [`Over::show_some`](super::spilled::Over::show_some).
    pub(crate) fn show_some(&self, from: &mut Vec<u8>, most: usize) -> Vec<(u64, (K, V))> {
        self.spilled.look().and_then(Spilled::look).map_or_else(Vec::new, |over| over.show_some(from, most))
    }

    /// Whether entries have gone to a state backend since the pane was empty.
    pub(crate) fn is_scattered(&self) -> bool {
        self.spilled.look().is_some_and(Spilled::is_scattered)
    }

    /// Where the job has a state backend: entries that are too many for the memory go to a part of it that is this pane's.
    pub(crate) fn spill(&mut self, beyond: &mut Beyond<K, V>) {
        if let Some(spilled) = self.spilled.get().filter(|spilled| !spilled.is_on()) {
            beyond.give(spilled);
        }
    }

    /// The same of a pane that stands alone, whose values are written as `form` says. To be called before anything else.
    ///
    /// # Errors
    /// When the mode keeps no state.
    pub(crate) fn spill_alone(
        &mut self,
        space: Option<Space>,
        hash_of: impl Fn(&K) -> u64 + Send + 'static,
        form: Form<V>,
    ) -> Result<()>
    where
        K: Keep<M>,
    {
        let Some(space) = space else { return Ok(()) };
        K::kept(|| {
            if let Some(spilled) = self.spilled.get() {
                spilled.open_as::<M>(space, Box::new(hash_of), None, form);
            }
            Ok(())
        })
    }

    /// From now on so many bytes may be in memory; those beyond leave.
    pub(crate) fn set_share(&mut self, share: usize) {
        let Some(over) = self.spilled.get().and_then(Spilled::on) else { return };
        over.set_share(share);
        // One that is being given out is empty soon.
        if self.given == 0 {
            over.make_room(&mut self.slots, 1);
            if over.is_scattered() {
                self.order.clear();
            }
        }
    }

    /// Several keys have this hash, of which some may not be in memory.
    pub(crate) fn share(&mut self, hash: u64) {
        if let Some(over) = self.spilled.get().and_then(Spilled::on) {
            over.share(hash);
        }
    }

    /// Adds an entry of a key that is not in the pane.
    pub fn push(&mut self, hash: u64, key: K, value: V, hash_of: &dyn Fn(&K) -> u64) {
        self.run(1, hash_of);
        self.order.push(self.slots.add(spread(hash), (key, value)));
    }

    /// Only windows that look at their entries by [`Pane::pop`], [`Pane::at`] and [`Pane::show`] let them leave.
    #[inline(always)]
    fn assert_in_memory(&self) {
        assert!(!self.is_scattered(), "entries of a pane are not in memory");
    }

    /// All entries in order.
    ///
    /// # Panics
    /// Where entries have gone to a state backend.
    pub fn iter(&self) -> impl Iterator<Item = &(K, V)> {
        self.assert_in_memory();
        self.order.iter().filter_map(|place| self.slots.get(*place))
    }

    /// Shows all entries as they lie in memory, to be changed.
    pub fn each_mut(&mut self, mut each: impl FnMut(&mut (K, V))) {
        let places: Vec<Place> = self.slots.taken_places().collect();
        for place in places {
            if let Some(entry) = self.slots.get_mut(place) {
                each(entry);
            }
        }
    }

    /// All entries as they lie in memory: a table that has not been touched for long is read at once. The order is that of no
    /// input, and has to make no difference.
    ///
    /// # Panics
    /// Where entries have gone to a state backend.
    pub fn unordered(&self) -> impl Iterator<Item = &(K, V)> {
        self.assert_in_memory();
        self.slots.iter()
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        if let Some(over) = self.spilled.get().and_then(Spilled::on) {
            if over.is_scattered() {
                self.order = self.slots.taken_places().collect();
                self.given = 0;
            }
            over.wipe();
        }
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
    ///
    /// # Errors
    /// When the mode keeps no state.
    pub(crate) fn begin_save_as(
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
            let (groups, store) = (out.clone(), of.clone());
            self.slots.begin_save(|tracked| {
                let save = move |entries: Entries<'_, (K, V)>| {
                    let hashed = entries.map(|entry| (hash_of(&entry.0), entry));
                    out.put(&of, hashed, |e, out| write_key(&e.0, &hash_of, out), |e, out| value(&e.1, out));
                };
                tracked.begin(whole, Box::new(save));
            });
            if let Some(over) = self.spilled.get().and_then(Spilled::on) {
                over.begin_save(&groups, store, whole);
            }
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
        let Pane { slots, spilled, .. } = self;
        slots.save_more(left) && spilled.get().and_then(Spilled::on).is_none_or(|over| over.save_more(left))
    }

    /// Writes what is not yet written for the checkpoint in flight: the pane goes.
    pub(crate) fn finish_save(&mut self) {
        self.slots.finish_save();
        if let Some(over) = self.spilled.get().and_then(Spilled::on) {
            while !over.save_more(&mut usize::MAX.clone()) {}
        }
    }
}

/// A [`Pane`] that has room, for a loop over many look-ups.
pub struct Run<'a, K, V, M: Mode = Volatile> {
    slots: View<'a, (K, V), M::Only<Tracked<(K, V)>>>,
    order: &'a mut Vec<Place>,
    spilled: &'a mut M::Only<Spilled<K, V>>,
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
        let Run { slots, order, spilled } = self;
        Run::<'_, K, V, M> { slots: slots.again(), order, spilled }.into_entry(hash, is, insert)
    }

    #[inline(always)]
    fn into_entry(
        self,
        hash: u64,
        is: impl Fn(&K) -> bool,
        insert: impl FnOnce() -> (K, V),
    ) -> &'a mut (K, V) {
        let Run { slots, order, spilled } = self;
        let make = || spilled.get().and_then(|spilled| spilled.on()?.take(hash, &is)).unwrap_or_else(insert);
        let (place, entry) = slots.entry(spread(hash), |e| is(&e.0), make);
        if let Err(new) = place {
            order.push(new);
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
