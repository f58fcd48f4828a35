//! The part of a table that lies in a store of the state backend, as its entries. What does not depend on their types is in `spill.rs`.

use super::Keep;
use super::backend::Space;
use super::keep::Only;
use super::pages::{Pager, Task, during};
use super::slot_spill::Form;
use super::slots::Slots;
use super::spill::{Spill, beginning};
use super::table::{read_all, spread};
use super::track::{Gone, Tracked};
use crate::checkpoint::records::{Record, Records, frame, framed};
use crate::checkpoint::{Groups, Section};
use crate::error::Result;
use crate::exchange::key_group;

/// Entries more than have to that leave together, so that not each batch has to wait for the store.
const MORE: usize = 64;

/// One of so many entries is weighed at most.
const WEIGHED: usize = 16;

/// What a table has of a state backend: nothing, unless the job has one.
pub struct Spilled<K, V>(Option<Box<Over<K, V>>>);

impl<K, V> Default for Spilled<K, V> {
    fn default() -> Self {
        Spilled(None)
    }
}

impl<K, V> Spilled<K, V> {
    /// What lies in the store, where there is one.
    #[inline(always)]
    pub fn on(&mut self) -> Option<&mut Over<K, V>> {
        self.0.as_deref_mut()
    }

    /// The same, to look at.
    #[inline(always)]
    pub(super) fn look(&self) -> Option<&Over<K, V>> {
        self.0.as_deref()
    }

    /// How many entries lie in the store.
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(0, |over| over.spill.count())
    }

    /// Whether there is one.
    pub(super) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Whether entries have left their table, which then has no order.
    pub(super) fn is_scattered(&self) -> bool {
        self.0.as_ref().is_some_and(|over| over.scattered)
    }

    /// From now on there is one.
    pub(super) fn open<M>(
        &mut self,
        space: Space,
        hash_of: Box<dyn Fn(&K) -> u64 + Send>,
        pager: Option<Pager>,
    ) where
        K: Keep<M>,
        V: Keep<M>,
    {
        let form = Form { write: V::write, beside: |_, _| (), read: |value, _| read_all::<M, V>(value) };
        self.open_as::<M>(space, hash_of, pager, form);
    }

    /// The same, of values that are written in a form of their own.
    pub(super) fn open_as<M>(
        &mut self,
        space: Space,
        hash_of: Box<dyn Fn(&K) -> u64 + Send>,
        pager: Option<Pager>,
        form: Form<V>,
    ) where
        K: Keep<M>,
    {
        self.0 = Some(Box::new(Over {
            spill: Spill::new(space),
            hash_of,
            pager,
            form,
            write_key: |key, out| key.write(out),
            read_key: |bytes| read_all::<M, K>(bytes),
            heap: 0,
            asked: 0,
            hand: 0,
            scattered: false,
            from: beginning(),
            shown: (Vec::new(), 0),
        }));
    }
}

/// The entries of a table that lie in a store.
pub struct Over<K, V> {
    spill: Spill,
    hash_of: Box<dyn Fn(&K) -> u64 + Send>,
    /// Where what is large in an entry goes.
    pager: Option<Pager>,
    form: Form<V>,
    write_key: fn(&K, &mut Vec<u8>) -> Result<()>,
    read_key: fn(&[u8]) -> Result<K>,
    /// What an entry takes outside the table, as far as its length when it is written tells.
    heap: usize,
    /// For how many entries room has been made since one was weighed.
    asked: usize,
    /// The bucket whose entries leave next.
    hand: usize,
    /// Whether entries have left a table: those that remain do not lie where they were.
    scattered: bool,
    /// From where those in the store have not been given out, or shown.
    from: Vec<u8>,
    /// Some that are being shown, and how many bytes of them have been.
    shown: (Vec<u8>, usize),
}

/// Bytes that what is outside the table takes, where it is so long when it is written: containers have room to grow, and allocations a header.
fn heap(written: usize) -> usize {
    2 * written + 16
}

impl<K, V> Over<K, V> {
    /// Before `n` entries may be added: those that are too many for the memory go to the store.
    #[cold]
    #[inline(never)]
    pub fn make_room<O: Only<Tracked<(K, V)>>>(&mut self, slots: &mut Slots<(K, V), O>, n: usize) {
        self.asked = self.asked.saturating_add(n);
        self.weigh(slots);
        let mut too_many = self.too_many(slots, n);
        if too_many == 0 {
            return;
        }
        too_many += MORE + slots.taken() / 64;
        self.leave(slots, too_many);
        if slots.taken() == 0 && slots.bytes() > self.spill.space.share.max(Slots::<(K, V), O>::bytes_for(n))
        {
            *slots = slots.successor(n);
        }
    }

    /// So many entries go to the store, or all.
    fn leave<O: Only<Tracked<(K, V)>>>(&mut self, slots: &mut Slots<(K, V), O>, mut too_many: usize) {
        self.scattered = true;
        let fresh = slots.tracked().is_some_and(|tracked| tracked.is_fresh());
        while too_many > 0
            && let Some(place) = slots.next_taken(&mut self.hand)
            && let Some((entry, changed)) = slots.remove_marked(place, |e| spread((self.hash_of)(&e.0)))
        {
            let hash = (self.hash_of)(&entry.0);
            if slots.find(spread(hash), |other| (self.hash_of)(&other.0) == hash).is_some() {
                self.spill.share(hash);
            }
            let (pager, form, key) = (self.pager.clone(), &self.form, self.write_key);
            self.spill.put(hash, changed || fresh, |out| match pager {
                Some(pager) => {
                    during(Task::Leave { pager, group: key_group(hash) }, || write(&entry, form, key, out)).0
                }
                None => write(&entry, form, key, out),
            });
            too_many -= 1;
        }
        self.spill.flush();
    }

    /// All entries go to the store.
    #[cold]
    #[inline(never)]
    pub(super) fn all_leave<O: Only<Tracked<(K, V)>>>(&mut self, slots: &mut Slots<(K, V), O>) {
        if slots.taken() > 0 {
            self.leave(slots, usize::MAX);
            *slots = slots.successor(1);
        }
    }

    /// How many entries are too many for the memory, where `n` may be added.
    fn too_many<O: Only<Tracked<(K, V)>>>(&self, slots: &Slots<(K, V), O>, n: usize) -> usize {
        let (share, taken) = (self.spill.space.share, slots.taken());
        // While a table grows there are two of them.
        let grown = if slots.has_room(n) { 0 } else { Slots::<(K, V), O>::bytes_for(taken + n) };
        let used = slots.bytes() + grown + (taken + n) * self.heap;
        let Some(above @ 1..) = used.checked_sub(share) else { return 0 };
        let for_heap = if self.heap == 0 { 0 } else { above.saturating_sub(grown).div_ceil(self.heap) };
        let for_slots = n.saturating_sub(slots.room());
        match for_heap.max(for_slots) {
            // The table alone is too large.
            0 => taken,
            many => many.min(taken),
        }
    }

    /// Weighs an entry, where entries have something outside the table.
    fn weigh<O: Only<Tracked<(K, V)>>>(&mut self, slots: &mut Slots<(K, V), O>) {
        // Where room is made for one after the other, not each time.
        if !std::mem::needs_drop::<(K, V)>() || (self.heap > 0 && self.asked < WEIGHED) {
            return;
        }
        self.asked = 0;
        let Some(entry) = slots.next_taken(&mut self.hand).and_then(|place| slots.get(place)) else { return };
        let mut bytes = Vec::new();
        // What cannot be written is reported when it has to be.
        let (written, task) = match &self.pager {
            Some(_) => {
                during(Task::Weigh { more: 0 }, || write(entry, &self.form, self.write_key, &mut bytes))
            }
            None => (write(entry, &self.form, self.write_key, &mut bytes), None),
        };
        if written.is_ok() {
            let more = if let Some(Task::Weigh { more }) = task { more } else { 0 };
            let now = heap(bytes.len() + more);
            self.heap = if self.heap == 0 { now } else { (15 * self.heap + now).div_ceil(16) };
        }
        // Another one next time.
        self.hand += 1;
    }

    /// Takes the entry of a key out of the store, if it is there.
    #[cold]
    #[inline(never)]
    pub fn take(&mut self, hash: u64, is: &dyn Fn(&K) -> bool) -> Option<(K, V)> {
        if self.spill.count() == 0 {
            return None;
        }
        let found = self.spill.get(hash)?;
        let (mut rest, mut taken) = (Vec::new(), None);
        let done = self.each(&found, |over, key, value| {
            let own = if taken.is_none() { Some((over.read_key)(key)?).filter(is) } else { None };
            match own {
                Some(own) => taken = Some((own, over.load(hash, value)?)),
                None => append(key, value, &mut rest),
            }
            Ok(())
        });
        match done {
            Ok(()) if taken.is_some() => {
                self.spill.replace(hash, &rest, 1);
                self.spill.flush();
            }
            Ok(()) => {}
            Err(error) => self.spill.space.report(error),
        }
        if !rest.is_empty() {
            self.spill.share(hash);
        }
        self.spill.give_back(found);
        taken
    }

    /// The same of this key, or it with a new value.
    #[cold]
    #[inline(never)]
    pub fn take_or(
        &mut self,
        hash: u64,
        key: K,
        same: impl Fn(&K, &K) -> bool,
        value: impl FnOnce() -> V,
    ) -> (K, V) {
        self.take(hash, &|other| same(other, &key)).unwrap_or_else(|| (key, value()))
    }

    /// Reads the value of an entry that is taken out.
    fn load(&self, hash: u64, value: &[u8]) -> Result<V> {
        let read = self.form.read;
        match self.pager.clone() {
            Some(pager) => during(Task::Load { pager, group: key_group(hash) }, || read(value, &[])).0,
            None => read(value, &[]),
        }
    }

    /// Shows the entries in `bytes`.
    fn each(&self, bytes: &[u8], mut f: impl FnMut(&Self, &[u8], &[u8]) -> Result<()>) -> Result<()> {
        for record in Records(bytes) {
            if let Record::Put { key, value } = record? {
                f(self, key, value)?;
            }
        }
        Ok(())
    }

    /// Forgets the entries whose value is not to stay, and notes that they have left.
    pub(super) fn retain(
        &mut self,
        stays: &dyn Fn(&V) -> bool,
        limit: usize,
        gone: Option<&mut Gone<(K, V)>>,
    ) {
        let mut gone = gone;
        let mut from = beginning();
        loop {
            let chunk = self.spill.chunk(&mut from);
            if chunk.is_empty() {
                return;
            }
            for (hash, bytes) in chunk {
                let (mut rest, mut left) = (Vec::new(), 0);
                let done = self.each(&bytes, |over, key, value| {
                    let entry = ((over.read_key)(key)?, (over.form.read)(value, &[])?);
                    if stays(&entry.1) {
                        append(key, value, &mut rest);
                    } else {
                        left += 1;
                        if let Some(gone) = &mut gone {
                            gone.note(key_group(hash), &entry, limit);
                        }
                    }
                    Ok(())
                });
                if let Err(error) = done {
                    return self.spill.space.report(error);
                }
                if left > 0 {
                    self.spill.replace(hash, &rest, left);
                }
            }
            self.spill.flush();
        }
    }

    /// Whether entries have left a table, which then has no order.
    pub(super) fn is_scattered(&self) -> bool {
        self.scattered
    }

    /// From now on so many bytes may be in memory.
    pub(super) fn set_share(&mut self, share: usize) {
        self.spill.space.share = share;
    }

    /// Forgets what lies in the store, and what is known of the table.
    pub(super) fn wipe(&mut self) {
        self.spill.wipe();
        (self.scattered, self.from) = (false, beginning());
        self.shown = (Vec::new(), 0);
    }

    /// Moves some entries from the store to the table, which is empty, as it is given out.
    #[cold]
    #[inline(never)]
    pub(super) fn bring_some<O: Only<Tracked<(K, V)>>>(&mut self, slots: &mut Slots<(K, V), O>) {
        if self.spill.count() == 0 {
            return;
        }
        let mut entries = Vec::new();
        for (hash, bytes) in self.spill.chunk(&mut self.from) {
            let before = entries.len();
            let done = self.each(&bytes, |over, key, value| {
                entries.push((hash, ((over.read_key)(key)?, (over.form.read)(value, &[])?)));
                Ok(())
            });
            if let Err(error) = done {
                return self.spill.space.report(error);
            }
            self.spill.replace(hash, &[], entries.len() - before);
        }
        self.spill.flush();
        if !slots.has_room(entries.len()) {
            *slots = slots.successor(entries.len());
        }
        for (hash, entry) in entries {
            slots.add(spread(hash), entry);
        }
    }

    /// See [`Spill::begin_save`].
    pub(super) fn begin_save(&mut self, out: &Groups, section: Section, whole: bool) {
        self.spill.begin_save(out, section, whole);
    }

    /// See [`Spill::save_more`].
    pub(super) fn save_more(&mut self, left: &mut usize) -> bool {
        self.spill.save_more(left)
    }

    /// Several keys have this hash.
    pub(super) fn share(&mut self, hash: u64) {
        self.spill.share(hash);
    }

    /// The hash of a key.
    pub(super) fn hash(&self, key: &K) -> u64 {
        (self.hash_of)(key)
    }
}

/// Writes an entry.
fn write<K, V>(
    (key, value): &(K, V),
    form: &Form<V>,
    write_key: fn(&K, &mut Vec<u8>) -> Result<()>,
    out: &mut Vec<u8>,
) -> Result<()> {
    frame(out, |out| write_key(key, out))?;
    frame(out, |out| (form.write)(value, out))
}

/// Appends an entry as it was written.
fn append(key: &[u8], value: &[u8], out: &mut Vec<u8>) {
    framed(1, key, out);
    framed(1, value, out);
}

mod looking;
