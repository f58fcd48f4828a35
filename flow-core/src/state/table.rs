//! The table of rolling operators: one entry a key, found by the hash that the exchange has computed already.
//!
//! Open addressing: a look-up begins at the bucket its hash says, whose tags are compared at once, and goes on to the next;
//! it ends at a bucket with a free slot, which is where a new key goes. When a key leaves, those that had gone past its bucket move up.

use super::slots::Slots;
use super::track::{Tracked, next_gone};
use super::{Keep, Mode, Volatile};
use crate::checkpoint::records::{Part, Record, Records, broken};
use crate::checkpoint::{Groups, Section};
use crate::error::Result;
use crate::exchange::key_group;

/// What a table tracks in mode `M`.
type TrackedIn<M, T> = <M as Mode>::Only<Tracked<T>>;

/// From key to value, in a pipeline of mode `M`.
pub struct KeyTable<K, V, M: Mode = Volatile> {
    slots: Slots<(K, V), TrackedIn<M, (K, V)>>,
}

impl<K, V, M: Mode> Default for KeyTable<K, V, M> {
    fn default() -> Self {
        KeyTable { slots: Slots::for_entries(1) }
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
        self.slots.taken()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes room for `n` keys more. A batch asks once, so that no look-up has to be ready for a growing table.
    #[inline]
    pub fn reserve(&mut self, n: usize, hash_of: impl Fn(&K) -> u64) {
        if !self.slots.has_room(n) {
            self.grow(n, hash_of);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, n: usize, hash_of: impl Fn(&K) -> u64) {
        let mut larger = self.slots.successor(self.len() + n);
        self.slots.drain(|e, changed| {
            larger.put(spread(hash_of(&e.0)), e, changed);
        });
        self.slots = larger;
    }

    /// Forgets the entries whose value is not to stay; all others are put into a new table.
    #[cold]
    #[inline(never)]
    pub fn retain(&mut self, stays: impl Fn(&V) -> bool, hash_of: impl Fn(&K) -> u64) {
        let limit = self.slots.bytes();
        let mut kept = self.slots.successor(self.iter().filter(|e| stays(&e.1)).count().max(1));
        self.slots.drain(|e, changed| {
            let hash = hash_of(&e.0);
            if stays(&e.1) {
                kept.put(spread(hash), e, changed);
            } else if let Some(tracked) = kept.tracked() {
                tracked.gone.note(key_group(hash), &e, limit);
            }
        });
        self.slots = kept;
    }

    /// The value of a key, made with `insert` when there is none.
    ///
    /// # Panics
    /// When room for a new key has not been reserved.
    #[inline(always)]
    pub fn entry(
        &mut self,
        hash: u64,
        is: impl Fn(&K) -> bool,
        insert: impl FnOnce() -> (K, V),
    ) -> &mut (K, V) {
        self.slots.view().entry(spread(hash), |e| is(&e.0), insert).1
    }

    /// Takes a key out, if it is there.
    #[inline(never)]
    pub fn remove(
        &mut self,
        hash: u64,
        is: impl Fn(&K) -> bool,
        hash_of: impl Fn(&K) -> u64,
    ) -> Option<(K, V)> {
        let place = self.slots.find(spread(hash), |e| is(&e.0))?;
        let gone = self.slots.remove(place, |e| spread(hash_of(&e.0)))?;
        let limit = self.slots.bytes();
        if let Some(tracked) = self.slots.tracked() {
            tracked.gone.note(key_group(hash), &gone, limit);
        }
        Some(gone)
    }

    /// The entry of a key, if it is there.
    #[inline]
    pub fn find(&mut self, hash: u64, is: impl Fn(&K) -> bool) -> Option<&mut (K, V)> {
        let place = self.slots.find(spread(hash), |e| is(&e.0))?;
        self.slots.get_mut(place)
    }

    /// Asks for the memory of the entry of `hash`, so that it is on its way when the entry is asked for.
    #[inline(always)]
    pub fn prefetch(&mut self, hash: u64) {
        self.slots.view().prefetch(spread(hash));
    }

    /// Every entry, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &(K, V)> {
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
            let out = out.clone();
            self.slots.begin_save(|tracked| {
                let gone = tracked.gone.since_last(|entry, out| entry.0.write(out));
                match &gone {
                    Some(gone) if !out.is_whole() => write_gone(gone, &section, &out),
                    None if !out.is_whole() => out.drop_sections(part, name),
                    _ => {}
                }
                let whole = out.is_whole() || gone.is_none();
                let save = move |entries: super::slots::Entries<'_, (K, V)>| {
                    let hashed = entries.map(|entry| (hash_of(&entry.0), entry));
                    out.put(&section, hashed, |e, out| e.0.write(out), |e, out| e.1.write(out));
                };
                tracked.begin(whole, Box::new(save));
            });
            Ok(())
        })
    }

    /// Goes on with what [`KeyTable::begin_save`] began, as far as `left` allows; whether that is written.
    pub(crate) fn save_more(&mut self, left: &mut usize) -> bool {
        self.slots.save_more(left)
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
        if bytes.is_empty() {
            return Ok(());
        }
        K::kept(|| {
            for record in Records(bytes) {
                if let Record::Put { key, value } = record? {
                    let entry = (read_all::<M, K>(key)?, read_all::<M, V>(value)?);
                    let hash = hash_of(&entry.0);
                    self.reserve(1, &hash_of);
                    self.slots.add(spread(hash), entry);
                }
            }
            Ok(())
        })
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
