//! What a table knows for checkpoints: which entries have changed since the last one, and how far the one in flight is written.
//!
//! **Copy on write, by writing.** At a barrier nothing is copied: the table enters the other [`Phase`], and every bucket that is
//! still in the old one stands for the moment of the barrier. Between batches a cursor writes some buckets, which enter the new phase; who
//! is about to change a bucket that is in the old one [touches](Tracked::touch) it, which writes it first. So each entry is written once,
//! as it was at the barrier, whatever happens meanwhile, and the pause at the barrier is that of flipping a bit. Copies of segments
//! (Flink's way) would ask for `V: Clone` and for memory; here the copy is the bytes that were to be written anyway.
//!
//! **Changes.** Every entry that is handed out to be changed is marked, by a bit in the eighth byte of its bucket's tags: no memory beside
//! the one that the look-up has loaded anyway. Writing an entry removes its mark; of a checkpoint of changes only those that are marked are
//! written. Keys that have left are noted as bytes ([`Gone`]): in a file of changes they come first.
//!
//! **Limits.** A table that grows while it is written is written to its end before: growing moves every entry, which costs as much. It happens
//! once in a doubling. Of keys that have left no more is noted than a table takes: beyond that it is written whole again.

use super::group::Phase;
use super::keep::Nothing;
use super::slots::{Bucket, Entries};
use crate::error::Result;

/// What a table without checkpoints has instead of [`Tracked`].
pub(super) type Untracked = Nothing;

/// Units that writing an entry costs; to look at a bucket costs one.
const ENTRY: usize = 8;

/// Writes entries of one bucket, which are as they were at the barrier.
pub(super) type Save<T> = Box<dyn FnMut(Entries<'_, T>) + Send>;

/// Writes the key of an entry.
pub(super) type WriteKey<T> = fn(&T, &mut Vec<u8>) -> Result<()>;

/// See the module.
pub struct Tracked<T> {
    /// All buckets are in it, except those that the checkpoint in flight has not come to.
    phase: Phase,
    flight: Option<Flight<T>>,
    /// Every entry counts as changed.
    fresh: bool,
    /// The keys that have left since the last checkpoint.
    pub(super) gone: Gone<T>,
}

/// A checkpoint being written.
struct Flight<T> {
    save: Save<T>,
    /// Whether entries are written that have not changed.
    whole: bool,
    /// The bucket that the cursor looks at next.
    next: usize,
}

impl<T> Default for Tracked<T> {
    fn default() -> Self {
        Tracked { phase: Phase::default(), flight: None, fresh: false, gone: Gone::default() }
    }
}

impl<T> Tracked<T> {
    /// Begins to write all entries, or those that have changed since the last beginning.
    pub fn begin(&mut self, whole: bool, save: Save<T>) {
        debug_assert!(self.flight.is_none(), "two checkpoints of one table in flight");
        self.phase = self.phase.next();
        let whole = std::mem::take(&mut self.fresh) || whole;
        self.flight = Some(Flight { save, whole, next: 0 });
    }

    /// Whether every entry counts as changed, with a mark or without.
    pub(super) fn is_fresh(&self) -> bool {
        self.fresh
    }

    pub(super) fn is_in_flight(&self) -> bool {
        self.flight.is_some()
    }

    /// Before `bucket` changes.
    #[inline(always)]
    pub(super) fn touch(&mut self, bucket: &mut Bucket<T>) {
        if bucket.tags.phase() != self.phase {
            self.write(bucket);
        }
    }

    /// Before the entry in slot `i` of `bucket` changes.
    #[inline(always)]
    pub(super) fn change(&mut self, bucket: &mut Bucket<T>, i: usize) {
        // Most entries change more than once between two checkpoints.
        if !bucket.tags.is_marked_in(self.phase, i) {
            self.mark(bucket, i);
        }
    }

    #[cold]
    #[inline(never)]
    fn mark(&mut self, bucket: &mut Bucket<T>, i: usize) {
        self.touch(bucket);
        bucket.tags.mark(i);
    }

    /// Writes what is to be written of a bucket that is in the old phase.
    #[cold]
    #[inline(never)]
    fn write(&mut self, bucket: &mut Bucket<T>) {
        let Tracked { phase, flight, .. } = self;
        if let Some(flight) = flight {
            flight.write(bucket);
        }
        bucket.tags.enter(*phase);
    }

    /// Goes on with the checkpoint in flight; whether it is written, or there is none.
    pub(super) fn write_more(&mut self, buckets: &mut [Bucket<T>], left: &mut usize) -> bool {
        let Tracked { phase, flight, .. } = self;
        let Some(flying) = flight else { return true };
        let rest = buckets.get_mut(flying.next..).unwrap_or_default();
        for bucket in rest {
            if *left == 0 {
                return false;
            }
            flying.next += 1;
            *left -= 1;
            if bucket.tags.phase() != *phase {
                let written = flying.write(bucket);
                bucket.tags.enter(*phase);
                *left = left.saturating_sub(ENTRY * written);
            }
        }
        *flight = None;
        true
    }

    /// The checkpoint in flight is not wanted any more.
    pub(super) fn give_up(&mut self) {
        self.flight = None;
    }

    /// Another table takes the place of `old`, which is not in flight.
    pub(super) fn succeed(&mut self, old: &mut Self) {
        self.fresh = old.fresh;
        self.gone = std::mem::take(&mut old.gone);
    }

    /// Its buckets are replaced by others, which no checkpoint knows of.
    pub(super) fn start_over(&mut self) {
        (self.phase, self.fresh) = (Phase::default(), true);
    }
}

impl<T> Flight<T> {
    /// Returns how many entries it wrote.
    fn write(&mut self, bucket: &Bucket<T>) -> usize {
        let slots = if self.whole { bucket.tags.taken() } else { bucket.tags.marked() };
        let count = slots.count();
        if count > 0 {
            (self.save)(bucket.entries(slots));
        }
        count
    }
}

/// Keys that have left a table since its last checkpoint.
pub struct Gone<T> {
    /// None before the first checkpoint: it is whole, so nobody asks what has left.
    write: Option<WriteKey<T>>,
    /// Key group, length and bytes of each: `u16`, `u32`.
    keys: Vec<u8>,
    /// There were too many.
    lost: bool,
}

impl<T> Default for Gone<T> {
    fn default() -> Self {
        Gone { write: None, keys: Vec::new(), lost: false }
    }
}

/// Bytes of keys that have left which are kept of any table.
const GONE_MIN: usize = 1 << 16;

impl<T> Gone<T> {
    /// The key of `entry` has left; `limit` is how many bytes the table takes.
    pub fn note(&mut self, group: usize, entry: &T, limit: usize) {
        let Some(write) = self.write.filter(|_| !self.lost) else { return };
        let begin = self.keys.len();
        self.keys.extend_from_slice(&u16::try_from(group).unwrap_or(u16::MAX).to_le_bytes());
        self.keys.extend_from_slice(&[0; 4]);
        let from = self.keys.len();
        let written = write(entry, &mut self.keys);
        let length = u32::try_from(self.keys.len() - from).ok();
        match (written, length) {
            (Ok(()), Some(length)) if self.keys.len() <= limit.max(GONE_MIN) => {
                self.keys[begin + 2..from].copy_from_slice(&length.to_le_bytes());
            }
            // What cannot be written is reported when the entries are.
            _ => {
                self.lost = true;
                self.keys = Vec::new();
            }
        }
    }

    /// The keys that have left since this was asked last, with their groups; none where the checkpoint has to have all entries.
    pub fn since_last(&mut self, write: WriteKey<T>) -> Option<Vec<u8>> {
        let known = self.write.replace(write).is_some() && !self.lost;
        self.lost = false;
        let keys = std::mem::take(&mut self.keys);
        known.then_some(keys)
    }
}

/// Takes the first key, with its group, from what [`Gone::since_last`] gave.
pub(super) fn next_gone<'a>(keys: &mut &'a [u8]) -> Option<(usize, &'a [u8])> {
    let (group, rest) = keys.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (key, rest) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    *keys = rest;
    Some((u16::from_le_bytes(*group).into(), key))
}
