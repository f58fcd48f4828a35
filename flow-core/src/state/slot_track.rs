//! What [`KeySlots`] know for checkpoints: as `track.rs`, with the marks of a slot beside it, and a cursor over the slots in memory.
//!
//! ```text
//! key -> value            of a key that is found
//! key slot -> value       of a slot apart, of which a key may have many: u32, little-endian
//! ```

use super::key_slots::{KeySlot, KeySlots};
use super::slot_spill::{Away, Over};
use super::table::write_gone;
use super::track::{Gone, WriteKey};
use super::{Keep, Mode, Only, write_key};
use crate::checkpoint::records::{Part, broken};
use crate::checkpoint::{Groups, Section};
use crate::error::Result;
use crate::exchange::key_group;

/// Units that writing a slot costs; to look at one costs one.
const COST: usize = 8;

/// A slot and its place.
type Placed<K, V> = (u32, KeySlot<K, V>);

/// Writes a slot, whose place it is told.
type Save<K, V> = Box<dyn FnMut(u32, &KeySlot<K, V>) + Send>;

/// What a slot has for checkpoints.
#[derive(Clone, Copy, Default)]
pub(super) struct Marks(u8);

impl Marks {
    /// One of two: see [`Phase`](super::group::Phase).
    const PHASE: u8 = 1;
    /// It has changed since the last checkpoint.
    const CHANGED: u8 = 2;
    /// No checkpoint has it.
    const NEW: u8 = 4;
}

/// See the module.
pub struct SlotsTracked<K, V> {
    /// All slots are in it, except those that the checkpoint in flight has not come to.
    phase: u8,
    flight: Option<Flight<K, V>>,
    /// The keys that have left since the last checkpoint, of those that it has.
    gone: Gone<Placed<K, V>>,
}

/// A checkpoint being written.
struct Flight<K, V> {
    save: Save<K, V>,
    /// Whether slots are written that have not changed.
    whole: bool,
    /// The slot that the cursor looks at next.
    next: usize,
}

impl<K, V> Default for SlotsTracked<K, V> {
    fn default() -> Self {
        SlotsTracked { phase: 0, flight: None, gone: Gone::default() }
    }
}

impl<K, V> SlotsTracked<K, V> {
    /// The marks of a slot that is new.
    pub(super) fn fresh(&self) -> Marks {
        Marks(self.phase | Marks::CHANGED | Marks::NEW)
    }

    /// The marks of a slot that comes out of a store, of which the checkpoint in flight has what it needs.
    pub(super) fn loaded(&self) -> Marks {
        Marks(self.phase | Marks::CHANGED)
    }

    /// Before a slot leaves for a store; whether it is not as the last checkpoint has it.
    pub(super) fn settle(&mut self, at: u32, slot: &mut KeySlot<K, V>) -> bool {
        if slot.marks.0 & Marks::PHASE != self.phase {
            self.write(at, slot);
        }
        slot.marks.0 & Marks::CHANGED != 0
    }

    /// Before a slot changes.
    #[inline(always)]
    pub(super) fn touch(&mut self, at: u32, slot: &mut KeySlot<K, V>) {
        if slot.marks.0 & Marks::PHASE != self.phase {
            self.write(at, slot);
        }
        slot.marks.0 |= Marks::CHANGED;
    }

    /// Writes what is to be written of a slot that is in the old phase; whether it was.
    #[cold]
    #[inline(never)]
    fn write(&mut self, at: u32, slot: &mut KeySlot<K, V>) -> bool {
        let changed = slot.marks.0 & Marks::CHANGED != 0;
        slot.marks.0 = self.phase;
        match &mut self.flight {
            Some(flight) if flight.whole || changed => (flight.save)(at, slot),
            _ => return false,
        }
        true
    }

    /// A slot leaves, which has been touched; `left` is how many are left.
    pub(super) fn left(&mut self, slot: &Placed<K, V>, hash: u64, left: usize) {
        if slot.1.marks.0 & Marks::NEW == 0 {
            self.gone.note(key_group(hash), slot, left.saturating_mul(size_of::<KeySlot<K, V>>()));
        }
    }

    /// `numbers` has those of the slots where they are not their places.
    fn write_more(
        &mut self,
        slots: &mut [Option<KeySlot<K, V>>],
        numbers: Option<&[u32]>,
        left: &mut usize,
    ) -> bool {
        let Some(next) = self.flight.as_ref().map(|flight| flight.next) else { return true };
        let mut at = next;
        for slot in slots.get_mut(next..).unwrap_or_default() {
            if *left == 0 {
                break;
            }
            *left -= 1;
            if let Some(slot) = slot
                && slot.marks.0 & Marks::PHASE != self.phase
                && self.write(numbers.map_or(at as u32, |numbers| numbers[at]), slot)
            {
                *left = left.saturating_sub(COST);
            }
            at += 1;
        }
        let through = at >= slots.len();
        match &mut self.flight {
            Some(flight) if !through => flight.next = at,
            flight => *flight = None,
        }
        through
    }
}

/// Writes which keys have left, those in `gone`, at the beginning of a section of changes; none where that is not known. Whether all entries have
/// to be written.
pub(super) fn begin(
    gone: Option<&[u8]>,
    section: &Section,
    (part, name): (Part, &[u8]),
    out: &Groups,
) -> bool {
    match gone {
        Some(gone) if !out.is_whole() => write_gone(gone, section, out),
        None if !out.is_whole() => out.drop_sections(part, name),
        _ => {}
    }
    out.is_whole() || gone.is_none()
}

impl<K, V, M: Mode> KeySlots<K, V, M> {
    /// A checkpoint: what has changed goes to `out`, in a section of this name, or all there is, as it is now; [`KeySlots::save_more`] writes it.
    /// `value` writes a value.
    ///
    /// # Errors
    /// When the mode keeps no state.
    pub(crate) fn begin_save(
        &mut self,
        out: &Groups,
        name: &[u8],
        hash_of: impl Fn(&K) -> u64 + Send + 'static,
        value: fn(&V, &mut Vec<u8>) -> Result<()>,
    ) -> Result<()>
    where
        K: Keep<M>,
        V: 'static,
    {
        K::kept(|| {
            self.save_more(&mut usize::MAX.clone());
            let section = out.section(Part::Head, name, &[]);
            let Some(tracked) = self.tracked.get() else { return Ok(()) };
            let write: WriteKey<Placed<K, V>> = |(at, slot), out| {
                slot.key.write(out)?;
                apart(*at, slot, out)
            };
            let gone = tracked.gone.since_last(write);
            let whole = begin(gone.as_deref(), &section, (Part::Head, name), out);
            let (groups, of) = (out.clone(), section.clone());
            let out = out.clone();
            let save = move |at: u32, slot: &KeySlot<K, V>| {
                let one = [(slot.hash, slot)].into_iter();
                out.put(
                    &section,
                    one,
                    |slot, out| {
                        write_key(&slot.key, &hash_of, out)?;
                        apart(at, slot, out)
                    },
                    |slot, out| value(&slot.value, out),
                );
            };
            tracked.phase ^= Marks::PHASE;
            tracked.flight = Some(Flight { save: Box::new(save), whole, next: 0 });
            if let Some(over) = self.away.get().and_then(Away::on) {
                over.begin_save(&groups, of, whole);
            }
            Ok(())
        })
    }

    /// Goes on with what [`KeySlots::begin_save`] began, as far as `left` allows; whether that is written.
    pub(crate) fn save_more(&mut self, left: &mut usize) -> bool {
        let KeySlots { slots, tracked, away, .. } = self;
        let over = away.get().and_then(Away::on);
        let numbers = over.as_deref().map(Over::numbers);
        tracked.get().is_none_or(|tracked| tracked.write_more(slots, numbers, left))
            && over.is_none_or(|over| over.save_more(left))
    }

    /// Puts back a slot that [`KeySlots::begin_save`] wrote under `key`; its place.
    ///
    /// # Errors
    /// When the key is of another type.
    pub(crate) fn put_back(&mut self, mut key: &[u8], hash_of: impl Fn(&K) -> u64, value: V) -> Result<u32>
    where
        K: Keep<M>,
    {
        self.make_room(1);
        let own = K::read(&mut key)?;
        let hash = hash_of(&own);
        match key.len() {
            0 => Ok(self.insert(hash, own, value)),
            4 => Ok(self.insert_apart(hash, own, value)),
            _ => Err(broken("something stands behind a key")),
        }
    }
}

/// Behind a key that others may be equal to: its place.
pub(super) fn apart<K, V>(at: u32, slot: &KeySlot<K, V>, out: &mut Vec<u8>) -> Result<()> {
    if slot.is_apart() {
        out.extend_from_slice(&at.to_le_bytes());
    }
    Ok(())
}
