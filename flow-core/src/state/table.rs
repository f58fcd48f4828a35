//! The table of rolling operators: one entry a key, found by the hash that the exchange has computed already.
//!
//! Open addressing: a look-up begins at the bucket its hash says, whose tags are compared at once, and goes on to the next;
//! it ends at a bucket with a free slot, which is where a new key goes. When a key leaves, those that had gone past its bucket move up.

use super::backend::Space;
use super::keep::Only;
use super::pages::{
    Collected, GonePages, PAGES, Pager, Restoring, section as pages_section, write_gone as write_pages_gone,
};
use super::slots::{Place, Slots};
use super::spilled::Spilled;
use super::track::{Tracked, next_gone};
use super::{Keep, Mode, Volatile, write_key};
use crate::checkpoint::records::{Part, Record, Records, broken};
use crate::checkpoint::{Groups, Section};
use crate::error::Result;
use crate::exchange::key_group;
use std::collections::HashSet;

/// What a table tracks in mode `M`.
type TrackedIn<M, T> = <M as Mode>::Only<Tracked<T>>;

/// From key to value, in a pipeline of mode `M`.
pub struct KeyTable<K, V, M: Mode = Volatile> {
    /// Where what is large in an entry goes, if it does not stand in it. It is dropped first: see [`Ended`].
    pages: M::Only<Ended>,
    slots: Slots<(K, V), TrackedIn<M, (K, V)>>,
    /// Entries that are not in memory.
    spilled: M::Only<Spilled<K, V>>,
}

/// A pager that has no work any more when the table ends: what its entries had is gone with the store.
#[derive(Default)]
pub struct Ended(Option<Pager>);

impl Ended {
    fn pager(&self) -> Option<Pager> {
        self.0.clone()
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        if let Some(pager) = &self.0 {
            pager.close();
        }
    }
}

impl<K, V, M: Mode> Default for KeyTable<K, V, M> {
    fn default() -> Self {
        KeyTable { slots: Slots::for_entries(1), spilled: Default::default(), pages: Default::default() }
    }
}

/// The hash as a table uses it. All keys of an instance share bits of the low byte, which chose the instance: the
/// table must not look at those first.
#[inline(always)]
pub(super) fn spread(hash: u64) -> u64 {
    hash.rotate_left(32)
}

impl<K, V, M: Mode> KeyTable<K, V, M> {
    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.slots.taken() + self.spilled.look().map_or(0, Spilled::count)
    }

    /// Where the job has a state backend: entries that are too many for the memory go to `space`. To be called before anything else; then
    /// [`KeyTable::reserve`] lets entries go, and whoever asks for one gets it back.
    ///
    /// # Errors
    /// When the mode keeps no state.
    pub(crate) fn spill(
        &mut self,
        space: Option<Space>,
        hash_of: impl Fn(&K) -> u64 + Send + 'static,
    ) -> Result<()>
    where
        K: Keep<M>,
        V: Keep<M>,
    {
        let Some(space) = space else { return Ok(()) };
        K::kept(|| {
            if let Some(spilled) = self.spilled.get() {
                let pager = self.pages.look().and_then(Ended::pager);
                spilled.open::<M>(space, Box::new(hash_of), pager);
            }
            Ok(())
        })
    }

    /// The same, with or without a state backend, of a table whose entries may have [pages](super::pages). Of such a table nobody asks for
    /// [`KeyTable::retain`].
    ///
    /// # Errors
    /// When the mode keeps no state.
    pub(crate) fn page(
        &mut self,
        space: Option<Space>,
        hash_of: impl Fn(&K) -> u64 + Send + 'static,
    ) -> Result<()>
    where
        K: Keep<M>,
        V: Keep<M>,
    {
        if let Some(pages) = self.pages.get() {
            *pages = Ended(Some(Pager::new(space.clone())));
        }
        self.spill(space, hash_of)
    }

    /// Before entries of a key group are restored of which some may have pages.
    pub(crate) fn restoring(&self, group: usize) -> Option<Restoring> {
        Some(Restoring::new(self.pages.look()?.pager()?, group))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes room for `n` keys more. A batch asks once, so that no look-up has to be ready for a growing table.
    #[inline]
    pub fn reserve(&mut self, n: usize, hash_of: impl Fn(&K) -> u64) {
        if let Some(over) = self.spilled.get().and_then(Spilled::on) {
            over.make_room(&mut self.slots, n);
        }
        if !self.slots.has_room(n) {
            grow(&mut self.slots, n, hash_of);
        }
    }

    /// Forgets the entries whose value is not to stay; all others are put into a new table.
    #[cold]
    #[inline(never)]
    pub fn retain(&mut self, stays: impl Fn(&V) -> bool, hash_of: impl Fn(&K) -> u64) {
        debug_assert!(
            self.pages.look().is_none_or(|pages| pages.0.is_none()),
            "entries that have pages are retained"
        );
        let limit = self.slots.bytes();
        let mut kept = self.slots.successor(self.slots.iter().filter(|e| stays(&e.1)).count().max(1));
        self.slots.drain(|e, changed| {
            let hash = hash_of(&e.0);
            if stays(&e.1) {
                kept.put(spread(hash), e, changed);
            } else if let Some(tracked) = kept.tracked() {
                tracked.gone.note(key_group(hash), &e, limit);
            }
        });
        self.slots = kept;
        if let Some(over) = self.spilled.get().and_then(Spilled::on) {
            over.retain(&stays, limit, self.slots.tracked().map(|tracked| &mut tracked.gone));
        }
    }

    /// The value of a key, which is made with `value` when there is none. `is` looks at the key that is asked for where the caller has it, `same` at
    /// what `key` makes of it.
    ///
    /// # Panics
    /// When room for a new key has not been reserved.
    #[inline(always)]
    pub fn entry(
        &mut self,
        hash: u64,
        is: impl Fn(&K) -> bool,
        same: impl Fn(&K, &K) -> bool,
        key: impl FnOnce() -> K,
        value: impl FnOnce() -> V,
    ) -> &mut (K, V) {
        let KeyTable { slots, spilled, .. } = self;
        let make = || match spilled.get().and_then(Spilled::on) {
            // What is asked for is what would be new: so nothing of the caller's has to lie in memory for the call.
            Some(over) => over.take_or(hash, key(), same, value),
            None => (key(), value()),
        };
        slots.view().entry(spread(hash), |e| is(&e.0), make).1
    }

    /// Puts in a key that is not there.
    ///
    /// # Panics
    /// When room for it has not been reserved.
    #[inline]
    pub fn insert(&mut self, hash: u64, entry: (K, V)) {
        self.slots.put(spread(hash), entry, true);
    }

    /// Takes a key out, if it is there.
    #[inline(never)]
    pub fn remove(
        &mut self,
        hash: u64,
        is: impl Fn(&K) -> bool,
        hash_of: impl Fn(&K) -> u64,
    ) -> Option<(K, V)> {
        let gone = match self.slots.find(spread(hash), |e| is(&e.0)) {
            Some(place) => self.slots.remove(place, |e| spread(hash_of(&e.0)))?,
            None => self.spilled.get()?.on()?.take(hash, &is)?,
        };
        let limit = self.slots.bytes();
        if let Some(tracked) = self.slots.tracked() {
            tracked.gone.note(key_group(hash), &gone, limit);
        }
        Some(gone)
    }

    /// The entry of a key, if it is there.
    #[inline]
    pub fn find(&mut self, hash: u64, is: impl Fn(&K) -> bool) -> Option<&mut (K, V)> {
        let place = match self.slots.find(spread(hash), |e| is(&e.0)) {
            Some(place) => place,
            None => self.fetch(hash, &is)?,
        };
        self.slots.get_mut(place)
    }

    /// Gets the entry of a key back into memory, if it is not there but in the store.
    #[inline]
    fn fetch(&mut self, hash: u64, is: &dyn Fn(&K) -> bool) -> Option<Place> {
        let KeyTable { slots, spilled, .. } = self;
        let over = spilled.get()?.on()?;
        // Before: what leaves must not pass by what comes back, which is nowhere meanwhile.
        over.make_room(slots, 1);
        if !slots.has_room(1) {
            grow(slots, 1, |k| over.hash(k));
        }
        Some(slots.add(spread(hash), over.take(hash, is)?))
    }

    /// Asks for the memory of the entry of `hash`, so that it is on its way when the entry is asked for.
    #[inline(always)]
    pub fn prefetch(&mut self, hash: u64) {
        self.slots.view().prefetch(spread(hash));
    }

    /// Every entry, in no order.
    ///
    /// # Panics
    /// Where entries lie with a state backend.
    pub fn iter(&self) -> impl Iterator<Item = &(K, V)> {
        assert!(self.len() == self.slots.taken(), "entries of a table are not in memory");
        self.slots.iter()
    }

    /// A checkpoint: what has changed goes to `out`, or all there is, as it is now; [`KeyTable::save_more`] writes it.
    ///
    /// # Errors
    /// When the mode keeps no state.
    pub(crate) fn begin_save(
        &mut self,
        out: &Groups,
        part: Part,
        hash_of: impl Fn(&K) -> u64 + Send + 'static,
    ) -> Result<()>
    where
        K: Keep<M>,
        V: Keep<M>,
    {
        self.begin_save_as(out, part, &[], hash_of)
    }

    /// The same, in a section of this name: of an operator that has more than one.
    ///
    /// # Errors
    /// When the mode keeps no state.
    pub(crate) fn begin_save_as(
        &mut self,
        out: &Groups,
        part: Part,
        name: &[u8],
        hash_of: impl Fn(&K) -> u64 + Send + 'static,
    ) -> Result<()>
    where
        K: Keep<M>,
        V: Keep<M>,
    {
        K::kept(|| {
            let section = out.section(part, name, &[]);
            let (store, mut whole) = (section.clone(), out.is_whole());
            let groups = out;
            let pager = self.pages.look().and_then(Ended::pager);
            let pages = pager.as_ref().map(|pager| (pages_section(groups, part), pager.gone()));
            whole |= pages.as_ref().is_some_and(|pages| pages.1.is_none());
            let out = out.clone();
            self.slots.begin_save(|tracked| {
                let gone = tracked.gone.since_last(|entry, out| entry.0.write(out));
                whole |= gone.is_none();
                changes(groups, part, name, &section, gone.filter(|_| !whole));
                if let Some((of_pages, gone)) = &pages {
                    pages_changes(groups, part, of_pages, gone.as_deref().filter(|_| !whole));
                }
                let collected = pager
                    .clone()
                    .zip(pages.as_ref())
                    .map(|(pager, pages)| Collected::new(pager, pages.0.clone(), whole));
                let save = move |entries: super::slots::Entries<'_, (K, V)>| {
                    let hashed = entries.map(|entry| (hash_of(&entry.0), entry));
                    out.put(
                        &section,
                        hashed,
                        |e, out| write_key(&e.0, &hash_of, out),
                        |e, out| match &collected {
                            Some(pages) => pages.of(key_group(hash_of(&e.0)), || e.1.write(out)),
                            None => e.1.write(out),
                        },
                    );
                    if let Some(pages) = &collected {
                        pages.hand_on(&out);
                    }
                };
                tracked.begin(whole, Box::new(save));
            });
            if let Some(over) = self.spilled.get().and_then(Spilled::on) {
                over.begin_save(groups, store, whole);
            }
            if let Some((pager, pages)) = pager.zip(pages) {
                pager.begin_save(groups, pages.0, whole);
            }
            Ok(())
        })
    }

    /// Goes on with what [`KeyTable::begin_save`] began, as far as `left` allows; whether that is written.
    pub(crate) fn save_more(&mut self, left: &mut usize) -> bool {
        let KeyTable { slots, spilled, pages } = self;
        slots.save_more(left)
            && spilled.get().and_then(Spilled::on).is_none_or(|over| over.save_more(left))
            && pages.look().and_then(|pages| pages.0.as_ref()).is_none_or(|pages| pages.save_more(left))
    }

    /// Adds the entries of a checkpoint.
    ///
    /// # Errors
    /// When they are not of these types.
    pub(crate) fn restore(&mut self, bytes: &[u8], hash_of: impl Fn(&K) -> u64) -> Result<()>
    where
        K: Keep<M>,
        V: Keep<M>,
    {
        self.restore_each(bytes, hash_of, |_, _| ())
    }

    /// The same; `each` is told the hash of each key.
    ///
    /// # Errors
    /// When they are not of these types.
    pub(crate) fn restore_each(
        &mut self,
        bytes: &[u8],
        hash_of: impl Fn(&K) -> u64,
        mut each: impl FnMut(u64, &(K, V)),
    ) -> Result<()>
    where
        K: Keep<M>,
        V: Keep<M>,
    {
        if bytes.is_empty() {
            return Ok(());
        }
        K::kept(|| {
            // All keys with one hash are of one key group, so they come together.
            let mut hashes = HashSet::new();
            for record in Records(bytes) {
                if let Record::Put { key, value } = record? {
                    let entry = (read_all::<M, K>(key)?, read_all::<M, V>(value)?);
                    let hash = hash_of(&entry.0);
                    each(hash, &entry);
                    self.reserve(1, &hash_of);
                    if let Some(over) = self.spilled.get().and_then(Spilled::on)
                        && !hashes.insert(hash)
                    {
                        over.share(hash);
                    }
                    self.slots.add(spread(hash), entry);
                }
            }
            Ok(())
        })
    }
}

#[cold]
#[inline(never)]
fn grow<K, V, O: Only<Tracked<(K, V)>>>(slots: &mut Slots<(K, V), O>, n: usize, hash_of: impl Fn(&K) -> u64) {
    let mut larger = slots.successor(slots.taken() + n);
    slots.drain(|e, changed| {
        larger.put(spread(hash_of(&e.0)), e, changed);
    });
    *slots = larger;
}

/// Of a checkpoint of changes: what has gone since the last one; where that is not known, that all is written anew.
#[inline(never)]
fn changes(out: &Groups, part: Part, name: &[u8], section: &Section, gone: Option<Vec<u8>>) {
    match gone {
        Some(gone) => write_gone(&gone, section, out),
        None if !out.is_whole() => out.drop_sections(part, name),
        None => {}
    }
}

/// The same of pages.
#[inline(never)]
fn pages_changes(out: &Groups, part: Part, section: &Section, gone: Option<&[GonePages]>) {
    match gone {
        Some(gone) => write_pages_gone(gone, section, out),
        None if !out.is_whole() => out.drop_sections(part, PAGES),
        None => {}
    }
}

/// Writes the keys that have left a table.
#[inline(never)]
pub(super) fn write_gone(mut gone: &[u8], section: &Section, out: &Groups) {
    while let Some((group, key)) = next_gone(&mut gone) {
        out.remove(section, group, key);
    }
}

/// Reads a value that takes up all of `bytes`.
///
/// # Errors
/// When it does not, or is of another type.
pub(crate) fn read_all<M, T: Keep<M>>(mut bytes: &[u8]) -> Result<T> {
    let value = T::read(&mut bytes)?;
    if bytes.is_empty() { Ok(value) } else { Err(broken("something stands behind a value")) }
}
