//! Slots of [`KeySlots`] that lie in a store of the state backend.
//!
//! As in `spill.rs`, each slot is in one place: in memory or here, and who asks for one takes it out. Queues know a slot by its number, which it
//! keeps wherever it is; where that is says a word for each number, and hashes lead to numbers. So of a slot that has left there remain some ten
//! bytes in memory, and a key that is new asks the store for nothing.
//!
//! ```text
//! store  := slot* note*
//! slot   := 4 group^2 number^4  ->  length^4 beside ( n key^(n-1) m value^(m-1) )      the entry as in `checkpoint/records.rs`
//! beside := hash^8 next^4 rest                                      what checkpoints do not have; `rest` is that of the operator
//! note   := 5 interval^4 group^2 number^4  ->                       as in `spill.rs`
//! ```
//!
//! Numbers in keys are big-endian, those in values little-endian.

use super::backend::{Changes, Space};
use super::flight::{Flights, Kind};
use super::key_slots::{KeySlot, Next};
use super::slot_track::apart;
use crate::checkpoint::records::{Record, Records, broken, frame};
use crate::checkpoint::{Groups, Section};
use crate::error::Result;
use crate::exchange::key_group;

const SLOTS: Kind = Kind { records: 4, notes: 5, beside: true };

/// Changes that are written together: bytes at most, about.
const CHANGES: usize = 1 << 18;

/// Slots more than have to that leave together, so that not each batch has to wait for the store.
const MORE: usize = 64;

/// How a value is written down.
pub(crate) struct Form<V> {
    /// Appends what checkpoints have of it.
    pub write: fn(&V, &mut Vec<u8>) -> Result<()>,
    /// Appends what they do not have, and has to come back from the store.
    pub beside: fn(&V, &mut Vec<u8>),
    /// Reads it from all of what `write` and `beside` wrote.
    pub read: fn(&[u8], &[u8]) -> Result<V>,
}

/// Where the slot of a number is.
#[derive(Clone, Copy)]
struct Where(u32);

impl Where {
    /// Nowhere: no slot has the number.
    const FREE: Self = Where(u32::MAX);
    /// In the store; the other bits are its key group.
    const AWAY: u32 = 1 << 31;

    fn away(group: usize) -> Self {
        Where(Self::AWAY | group as u32)
    }
    fn group(self) -> Option<u16> {
        (self.0 & Self::AWAY != 0 && self.0 != Self::FREE.0).then_some(self.0 as u16)
    }
    fn place(self) -> Option<u32> {
        (self.0 & Self::AWAY == 0).then_some(self.0)
    }
}

/// What slots have of a state backend: nothing, unless the job has one.
pub struct Away<K, V>(Option<Box<Over<K, V>>>);

impl<K, V> Default for Away<K, V> {
    fn default() -> Self {
        Away(None)
    }
}

impl<K, V> Away<K, V> {
    /// What lies in the store, where there is one.
    #[inline(always)]
    pub(super) fn on(&mut self) -> Option<&mut Over<K, V>> {
        self.0.as_deref_mut()
    }

    /// The same, to look at.
    #[inline(always)]
    pub(super) fn look(&self) -> Option<&Over<K, V>> {
        self.0.as_deref()
    }
}

/// See the module.
pub struct Over<K, V> {
    space: Space,
    form: Form<V>,
    write_key: fn(&K, &mut Vec<u8>) -> Result<()>,
    read_key: fn(&mut &[u8]) -> Result<K>,
    /// Of each number.
    places: Vec<Where>,
    free: Vec<u32>,
    /// Of each place in memory the number of what lies there, or lay there last.
    numbers: Vec<u32>,
    /// How many slots lie in the store, and whether there has been any.
    count: usize,
    used: bool,
    /// What a slot takes outside its place, as far as its length when it is written tells.
    heap: usize,
    /// The place whose slot leaves next.
    hand: usize,
    changes: Changes,
    flights: Flights,
    found: Vec<u8>,
}

fn store_key(group: u16, number: u32) -> [u8; 7] {
    let mut key = [SLOTS.records; 7];
    key[1..3].copy_from_slice(&group.to_be_bytes());
    key[3..].copy_from_slice(&number.to_be_bytes());
    key
}

/// Slots by their places.
type Slots<K, V> = Vec<Option<KeySlot<K, V>>>;

impl<K, V> Over<K, V> {
    fn ok<T>(&self, done: Result<T>) -> Option<T> {
        done.map_err(|error| self.space.report(error)).ok()
    }

    /// How many slots lie in the store.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The numbers of what lies at each place.
    pub(super) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Where in memory the slot of a number is, if it is there.
    pub(super) fn place(&self, number: u32) -> Option<u32> {
        self.places.get(number as usize)?.place()
    }

    /// A number for a new slot, which lies at `place`.
    ///
    /// # Panics
    /// If there are more than two thousand million.
    pub(super) fn name(&mut self, place: u32) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.places.push(Where::FREE);
            let number = u32::try_from(self.places.len() - 1).ok();
            number.filter(|number| *number < Where::AWAY).expect("fewer keys than 2^31 have state")
        });
        self.lies(number, place);
        number
    }

    fn lies(&mut self, number: u32, place: u32) {
        self.places[number as usize] = Where(place);
        if self.numbers.len() <= place as usize {
            self.numbers.resize(place as usize + 1, 0);
        }
        self.numbers[place as usize] = number;
    }

    /// The slot of a number, which was in memory, has gone for good.
    pub(super) fn forget(&mut self, number: u32) {
        self.places[number as usize] = Where::FREE;
        self.free.push(number);
    }

    /// Takes the slot of a number out of the store, if it is there; it is to lie at `place`, with the marks of [`SlotsTracked::loaded`](super::slot_track::SlotsTracked::loaded).
    fn take(&mut self, number: u32) -> Option<(K, V, u64, Next)> {
        let group = self.places.get(number as usize)?.group()?;
        let mut found = std::mem::take(&mut self.found);
        let got = self.space.store.get(&store_key(group, number), &mut found);
        let read = match got {
            Ok(true) => self.read(&found),
            Ok(false) => Err(broken("a key that had left the memory is not in its store")),
            Err(error) => Err(error),
        };
        self.found = found;
        let slot = self.ok(read)?;
        self.changes.remove(&store_key(group, number));
        self.flush();
        self.count -= 1;
        Some(slot)
    }

    fn read(&self, bytes: &[u8]) -> Result<(K, V, u64, Next)> {
        let cut = || broken("a key that had left the memory is cut short");
        let (beside, entry) = SLOTS.apart(bytes).ok_or_else(cut)?;
        let (hash, beside) = beside.split_first_chunk().ok_or_else(cut)?;
        let (next, beside) = beside.split_first_chunk().ok_or_else(cut)?;
        let (hash, next) = (u64::from_le_bytes(*hash), Next(u32::from_le_bytes(*next)));
        let Some(Record::Put { mut key, value }) = Records(entry).next().transpose()? else {
            return Err(cut());
        };
        Ok(((self.read_key)(&mut key)?, (self.form.read)(value, beside)?, hash, next))
    }

    fn record(&self, number: u32, slot: &KeySlot<K, V>, out: &mut Vec<u8>) -> Result<()> {
        let from = out.len();
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&slot.hash.to_le_bytes());
        out.extend_from_slice(&slot.next.0.to_le_bytes());
        (self.form.beside)(&slot.value, out);
        let length = (out.len() - from - 4) as u32;
        out[from..from + 4].copy_from_slice(&length.to_le_bytes());
        frame(out, |out| {
            (self.write_key)(&slot.key, out)?;
            apart(number, slot, out)
        })?;
        frame(out, |out| (self.form.write)(&slot.value, out))
    }

    /// Puts a slot into the store; `changed` says whether it is not as the last checkpoint has it.
    fn leave(&mut self, number: u32, slot: &KeySlot<K, V>, changed: bool) {
        let mut bytes = std::mem::take(&mut self.found);
        bytes.clear();
        let written = self.record(number, slot, &mut bytes);
        if self.ok(written).is_some() {
            let group = key_group(slot.hash);
            let key = store_key(group as u16, number);
            self.changes.put(&key, |out| out.extend_from_slice(&bytes));
            if changed && let Some(note) = self.flights.note(&key) {
                self.changes.put(&note, |_| {});
            }
            self.places[number as usize] = Where::away(group);
            self.count += 1;
            self.used = true;
            if self.changes.bytes() >= CHANGES {
                self.flush();
            }
        }
        self.found = bytes;
    }

    fn flush(&mut self) {
        let written = self.space.store.write(&self.changes);
        self.ok(written);
        self.changes.clear();
    }

    /// How many of the slots in memory are too many, where `n` may be added and so many places are free.
    fn too_many(&self, slots: &Slots<K, V>, free: usize, n: usize) -> usize {
        let each = size_of::<Option<KeySlot<K, V>>>() + size_of::<u32>();
        let taken = slots.len() - free;
        let room = slots.capacity() - taken;
        // While places are added there are the old ones too.
        let grown = if room >= n { 0 } else { (2 * slots.capacity()).max(taken + n) * each };
        let used = slots.capacity() * each + grown + (taken + n) * self.heap;
        let Some(above @ 1..) = used.checked_sub(self.space.share) else { return 0 };
        if slots.capacity() * each > self.space.share {
            // The places alone are too many.
            return taken;
        }
        let for_heap = if self.heap == 0 { 0 } else { above.saturating_sub(grown).div_ceil(self.heap) };
        for_heap.max(n.saturating_sub(room)).min(taken)
    }

    /// A place that is taken, from the hand on, round and round.
    fn next_taken(&mut self, slots: &Slots<K, V>) -> Option<usize> {
        if self.hand >= slots.len() {
            self.hand = 0;
        }
        let (before, behind) = slots.split_at(self.hand);
        let place = match behind.iter().position(Option::is_some) {
            Some(at) => self.hand + at,
            None => before.iter().position(Option::is_some)?,
        };
        self.hand = place + 1;
        Some(place)
    }

    /// Weighs a slot, of which much may lie elsewhere.
    fn weigh(&mut self, slots: &Slots<K, V>) {
        if !std::mem::needs_drop::<(K, V)>() {
            return;
        }
        let Some(Some(slot)) = self.next_taken(slots).map(|place| &slots[place]) else { return };
        let mut bytes = Vec::new();
        // What cannot be written is reported when it has to be.
        if self.record(0, slot, &mut bytes).is_ok() {
            // Containers have room to grow, and allocations a header.
            let now = 2 * bytes.len() + 16;
            self.heap = if self.heap == 0 { now } else { (15 * self.heap + now).div_ceil(16) };
        }
    }

    /// See [`Spill::begin_save`](super::spill::Spill::begin_save).
    pub(super) fn begin_save(&mut self, out: &Groups, section: Section, whole: bool) {
        if self.used {
            self.flights.begin(&self.space, out, section, whole);
        } else {
            self.flights.pass();
        }
    }

    pub(super) fn save_more(&mut self, left: &mut usize) -> bool {
        self.flights.more(&self.space, &mut self.changes, left)
    }
}

mod leaving;
