//! The storage of [`KeyTable`](super::KeyTable) and [`Pane`](super::Pane): buckets of slots, with a tag byte for each that says whether it is taken.
//!
//! The second home of `unsafe`, after the ring. Why it exists: rolling operators over a million keys (workload W3) have to be 1.9 times
//! as fast as a hash map in a loop. Over `hashbrown`, whose look-ups cannot be prefetched, this crate reached 1.33; with look-ups
//! begun some records ahead, which takes a prefetch of a slot that may be uninitialized, 1.8 to 2.6 (medians of series on two cores, November 2026).
//! Everything above this file is safe code: [`Slots`] checks what it is asked, so no use of it can be unsound.
//!
//! Tags and slots of a bucket are neighbours: a look-up in a table that is larger than the caches waits for one place in memory, and
//! one page, where tags in a vector of their own make it two (W3: 1.46 with those, 1.56 and 1.88 in two series with these).
//!
//! **Invariant**: `data[i]` of a bucket is initialized exactly where its tags say that slot i is taken.

use super::group::{Found, SLOTS, Tags};
use super::keep::Only;
use super::table::spread;
use super::track::{Tracked, Untracked};
use crate::checkpoint::is_restored;
use std::mem::MaybeUninit;

/// Cache lines of a bucket that a prefetch asks for: most entries lie in the first two.
const LINES: usize = 2;

/// Asks for the memory at an address, so that it is on its way when it is read.
#[inline(always)]
pub(crate) fn prefetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and may be given any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast::<i8>()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::hint::black_box(at);
}

/// Aligned to a cache line, so that none is touched in vain.
#[repr(C, align(64))]
pub(super) struct Bucket<T> {
    pub(super) tags: Tags,
    data: [MaybeUninit<T>; SLOTS],
}

/// A power of two of buckets; `O` holds what there is to know for checkpoints, or nothing.
pub(super) struct Slots<T, O: Only<Tracked<T>> = Untracked> {
    buckets: Vec<Bucket<T>>,
    taken: usize,
    /// How many may be taken before the table has to grow.
    limit: usize,
    tracked: O,
}

/// Buckets for `n` entries.
fn buckets_for(n: usize) -> usize {
    n.saturating_mul(4).div_ceil(3 * SLOTS).checked_next_power_of_two().unwrap_or(usize::MAX)
}

/// Where an entry lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(u32);

impl Place {
    #[inline(always)]
    fn new(bucket: usize, i: usize) -> Self {
        Place((bucket * 8 + i) as u32)
    }

    #[inline(always)]
    fn parts(self) -> (usize, usize) {
        (self.0 as usize / 8, self.0 as usize % 8)
    }
}

impl<T, O: Only<Tracked<T>>> Slots<T, O> {
    /// With room for `n` entries: at most three quarters of the slots are then taken, so that most look-ups end in their
    /// first bucket.
    ///
    /// # Panics
    /// If `n` is above a thousand million.
    pub fn for_entries(n: usize) -> Self {
        let buckets = buckets_for(n);
        assert!(buckets <= 1 << 29, "{n} entries in one table: raise the parallelism");
        let limit = buckets * SLOTS * 3 / 4;
        let mut empty = Vec::with_capacity(buckets);
        for _ in 0..buckets {
            empty.push(Bucket { tags: Tags::default(), data: [const { MaybeUninit::uninit() }; SLOTS] });
        }
        Slots { buckets: empty, taken: 0, limit, tracked: O::default() }
    }

    /// How many slots are taken.
    #[inline(always)]
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// Whether there is room for `n` entries more.
    #[inline(always)]
    pub fn has_room(&self, n: usize) -> bool {
        self.taken + n <= self.limit
    }

    /// How many entries more there is room for.
    #[inline(always)]
    pub fn room(&self) -> usize {
        self.limit.saturating_sub(self.taken)
    }

    /// How much memory the slots take.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.buckets)
    }

    /// How much memory those for `n` entries take.
    pub fn bytes_for(n: usize) -> usize {
        buckets_for(n).saturating_mul(size_of::<Bucket<T>>())
    }

    /// A place that is taken, from bucket `hand` on, round and round; `hand` moves to its bucket.
    pub fn next_taken(&self, hand: &mut usize) -> Option<Place> {
        for _ in 0..self.buckets.len() {
            *hand &= self.buckets.len() - 1;
            if let Some(i) = self.buckets[*hand].tags.taken().next() {
                return Some(Place::new(*hand, i));
            }
            *hand += 1;
        }
        None
    }

    /// The slots for a loop over many look-ups.
    #[inline(always)]
    pub fn view(&mut self) -> View<'_, T, O> {
        View { buckets: &mut self.buckets, taken: &mut self.taken, tracked: &mut self.tracked }
    }

    /// What there is to know for checkpoints.
    #[inline(always)]
    pub fn tracked(&mut self) -> Option<&mut Tracked<T>> {
        self.tracked.get()
    }

    /// Begins to write the entries, those that have changed or all: see [`Tracked::begin`].
    pub fn begin_save(&mut self, begin: impl FnOnce(&mut Tracked<T>)) {
        self.finish_save();
        if let Some(tracked) = self.tracked.get() {
            begin(tracked);
        }
    }

    /// Writes some more of the entries, as far as `left` allows; whether all are written.
    pub fn save_more(&mut self, left: &mut usize) -> bool {
        self.tracked.get().is_none_or(|tracked| tracked.write_more(&mut self.buckets, left))
    }

    /// Writes what has not been written for the checkpoint in flight: before the table changes as a whole.
    #[inline]
    pub fn finish_save(&mut self) {
        if let Some(tracked) = self.tracked.get()
            && tracked.is_in_flight()
        {
            tracked.write_more(&mut self.buckets, &mut usize::MAX.clone());
        }
    }

    /// An empty table with room for `n` entries that takes the place of this one, which is to be [drained](Slots::drain) into it.
    pub fn successor(&mut self, n: usize) -> Self {
        self.finish_save();
        let mut other = Self::for_entries(n);
        if let (Some(new), Some(old)) = (other.tracked.get(), self.tracked.get()) {
            new.succeed(old);
        }
        other
    }

    /// Both are empty, or `other` is not tracked and this one empty: takes the entries of `other`, which count as changed, and
    /// gives it the memory.
    pub fn adopt(&mut self, other: &mut Slots<T>) {
        self.finish_save();
        if let Some(tracked) = self.tracked.get()
            && self.taken == 0
        {
            // Nothing of marks and phases remains: the other one knows of none.
            self.buckets.iter_mut().for_each(|bucket| bucket.tags = Tags::default());
            tracked.start_over();
        }
        std::mem::swap(&mut self.buckets, &mut other.buckets);
        std::mem::swap(&mut self.taken, &mut other.taken);
        std::mem::swap(&mut self.limit, &mut other.limit);
    }

    /// Before the entries of a bucket change.
    #[inline(always)]
    fn touch(&mut self, bucket: usize) {
        if let (Some(tracked), Some(bucket)) = (self.tracked.get(), self.buckets.get_mut(bucket)) {
            tracked.touch(bucket);
        }
    }

    /// Puts in an entry that is not there, and has changed; returns its place.
    pub fn add(&mut self, hash: u64, entry: T) -> Place {
        if self.tracked().is_some() {
            // The hash is as `spread` has made it; twice is not at all.
            is_restored(spread(hash));
        }
        self.put(hash, entry, true)
    }

    /// The same; `changed` says whether the entry is not as the last checkpoint has it.
    pub fn put(&mut self, hash: u64, entry: T, changed: bool) -> Place {
        // One slot stays free: every search ends.
        assert!(self.taken + 1 < self.buckets.len() * SLOTS, "no room for an entry was asked for");
        let mut bucket = hash as usize;
        loop {
            bucket &= self.buckets.len() - 1;
            if let Some(i) = self.buckets[bucket].tags.free().next() {
                self.put_at(Place::new(bucket, i), hash, entry, changed);
                return Place::new(bucket, i);
            }
            bucket += 1;
        }
    }

    /// Puts an entry into a free slot.
    fn put_at(&mut self, place: Place, hash: u64, entry: T, changed: bool) {
        let (bucket, i) = place.parts();
        self.touch(bucket);
        self.buckets[bucket].fill(i, hash, entry);
        self.taken += 1;
        if changed && self.tracked.get().is_some() {
            self.buckets[bucket].tags.mark(i);
        }
    }

    /// Where the entry lies that `is`, if it is there. As [`View::entry`], it finds nothing once a slot has been freed.
    #[inline]
    pub fn find(&self, hash: u64, is: impl Fn(&T) -> bool) -> Option<Place> {
        let mut bucket = hash as usize;
        loop {
            bucket &= self.buckets.len() - 1;
            let tags = self.buckets[bucket].tags;
            let mut like = tags.like(hash).map(|i| Place::new(bucket, i));
            if let Some(place) = like.find(|place| self.get(*place).is_some_and(&is)) {
                return Some(place);
            }
            // One slot stays free: every search ends.
            if tags.free().next().is_some() {
                return None;
            }
            bucket += 1;
        }
    }

    /// An entry that may be the one of `hash`, in the first place where it may be.
    #[inline(always)]
    pub fn likely(&self, hash: u64) -> Option<&T> {
        let bucket = &self.buckets[hash as usize & (self.buckets.len() - 1)];
        bucket.get(bucket.tags.like(hash).next()?)
    }

    /// What lies at a place, if something does.
    #[inline]
    pub fn get(&self, place: Place) -> Option<&T> {
        let (bucket, i) = place.parts();
        self.buckets.get(bucket)?.get(i)
    }

    /// Asks for the memory of a place.
    #[inline(always)]
    pub fn prefetch(&self, place: Place) {
        if let Some(bucket) = self.buckets.get(place.parts().0) {
            bucket.prefetch();
        }
    }

    /// Frees a place; gives out what lay there, if something did.
    #[inline]
    pub fn take(&mut self, place: Place) -> Option<T> {
        self.take_marked(place).map(|(entry, _)| entry)
    }

    /// The same, and whether it has changed since the last checkpoint.
    #[inline]
    pub fn take_marked(&mut self, place: Place) -> Option<(T, bool)> {
        let (bucket, i) = place.parts();
        self.touch(bucket);
        let tracks = self.tracked.get().is_some();
        let bucket = self.buckets.get_mut(bucket).filter(|b| b.tags.is_taken(i))?;
        let changed = tracks && bucket.tags.is_marked(i);
        if tracks {
            bucket.tags.unmark(i);
        }
        bucket.tags.clear(i);
        self.taken -= 1;
        // SAFETY: the slot was taken, so by the invariant it is initialized; its tag now says that it is not, so the value
        // is read once only.
        Some((unsafe { bucket.data[i].assume_init_read() }, changed))
    }

    /// What lies at a place, if something does, to be changed.
    #[inline]
    pub fn get_mut(&mut self, place: Place) -> Option<&mut T> {
        let (bucket, i) = place.parts();
        self.touch(bucket);
        let tracks = self.tracked.get().is_some();
        let bucket = self.buckets.get_mut(bucket).filter(|b| b.tags.is_taken(i))?;
        if tracks {
            bucket.tags.mark(i);
        }
        // SAFETY: the slot is taken, so by the invariant it is initialized.
        Some(unsafe { bucket.data[i].assume_init_mut() })
    }

    /// Takes out what lies at a place. Entries that had gone past its bucket because it was full move up, so that each is still
    /// found by its hash; their places change.
    pub fn remove(&mut self, place: Place, hash_of: impl Fn(&T) -> u64) -> Option<T> {
        self.remove_marked(place, hash_of).map(|(entry, _)| entry)
    }

    /// The same, and whether it has changed since the last checkpoint.
    pub fn remove_marked(&mut self, place: Place, hash_of: impl Fn(&T) -> u64) -> Option<(T, bool)> {
        let mask = self.buckets.len() - 1;
        let is_full = |slots: &Self, bucket: usize| slots.buckets[bucket].tags.free().next().is_none();
        let (mut hole, _) = place.parts();
        let (mut next, mut full) = (hole, is_full(self, hole));
        let removed = self.take_marked(place)?;
        // One slot stays free, so there is a bucket that nothing has gone past.
        while full {
            next = (next + 1) & mask;
            full = is_full(self, next);
            let went_past = |place: &Place| {
                let home = self.get(*place).map(|e| hash_of(e) as usize & mask);
                home.is_some_and(|home| next.wrapping_sub(home) & mask >= next.wrapping_sub(hole) & mask)
            };
            let moves = (0..SLOTS).map(|i| Place::new(next, i)).find(went_past);
            if let Some((entry, changed)) = moves.and_then(|from| self.take_marked(from))
                && let Some(i) = self.buckets[hole].tags.free().next()
            {
                let hash = hash_of(&entry);
                self.put_at(Place::new(hole, i), hash, entry, changed);
                hole = next;
            }
        }
        Some(removed)
    }

    /// Where all entries lie.
    pub fn taken_places(&self) -> impl Iterator<Item = Place> {
        self.places().filter(|place| self.get(*place).is_some())
    }

    fn places(&self) -> impl Iterator<Item = Place> + use<T, O> {
        (0..self.buckets.len()).flat_map(|bucket| (0..SLOTS).map(move |i| Place::new(bucket, i)))
    }

    /// All entries, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.places().filter_map(|place| self.get(place))
    }

    /// Empties all slots into `f`, which is told whether the entry has changed since the last checkpoint.
    pub fn drain(&mut self, mut f: impl FnMut(T, bool)) {
        // Each is freed before `f` has it: should `f` panic, nothing is dropped twice.
        for place in self.places() {
            if let Some((entry, changed)) = self.take_marked(place) {
                f(entry, changed);
            }
        }
    }
}

/// Slots with their bounds at hand: in a loop over many look-ups nothing is loaded from behind a reference twice.
pub(super) struct View<'a, T, O: Only<Tracked<T>> = Untracked> {
    buckets: &'a mut [Bucket<T>],
    taken: &'a mut usize,
    tracked: &'a mut O,
}

impl<'a, T, O: Only<Tracked<T>>> View<'a, T, O> {
    /// The same for shorter.
    #[inline(always)]
    pub fn again(&mut self) -> View<'_, T, O> {
        View { buckets: self.buckets, taken: self.taken, tracked: self.tracked }
    }

    /// How much memory the slots take.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.buckets)
    }

    /// The entry that `is`, or else that of `make`, and its place: `Err` where it is new. The search begins at the bucket that
    /// `hash` says and goes on to the next. It ends at a bucket with a free slot, where a new entry goes; so nothing is
    /// found by its hash any more once a slot has been freed by [`Slots::take`].
    ///
    /// # Panics
    /// When a new entry would take the last free slot.
    #[inline(always)]
    pub fn entry(
        self,
        hash: u64,
        is: impl Fn(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> (Result<Place, Place>, &'a mut T) {
        let View { buckets, taken, tracked } = self;
        let mut bucket = hash as usize;
        loop {
            bucket &= buckets.len() - 1;
            let tags = buckets[bucket].tags;
            for i in tags.like(hash) {
                // SAFETY: `like` gives only slots that are taken, so by the invariant it is initialized.
                if is(unsafe { buckets[bucket].data[i].assume_init_ref() }) {
                    if let Some(tracked) = tracked.get() {
                        tracked.change(&mut buckets[bucket], i);
                    }
                    // SAFETY: as above; nothing has changed it since, and to touch and to mark leave it where it is.
                    let entry = unsafe { buckets[bucket].data[i].assume_init_mut() };
                    return (Ok(Place::new(bucket, i)), entry);
                }
            }
            if let Some(i) = tags.free().next() {
                // One slot stays free: every search ends.
                assert!(*taken + 1 < buckets.len() * SLOTS, "no room for an entry was asked for");
                if let Some(tracked) = tracked.get() {
                    tracked.touch(&mut buckets[bucket]);
                    // Should `make` panic, a free slot is marked, which means nothing.
                    buckets[bucket].tags.mark(i);
                }
                let entry = buckets[bucket].fill(i, hash, make());
                *taken += 1;
                return (Err(Place::new(bucket, i)), entry);
            }
            bucket += 1;
        }
    }

    /// Asks for the memory of the bucket of `hash`.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        self.buckets[hash as usize & (self.buckets.len() - 1)].prefetch();
    }
}

impl<T> Bucket<T> {
    /// Asks for its memory.
    #[inline(always)]
    fn prefetch(&self) {
        for line in 0..(size_of::<Self>() / 64).min(LINES) {
            prefetch(std::ptr::from_ref(self).cast::<u8>().wrapping_add(64 * line));
        }
    }

    /// What lies in a slot, if something does.
    #[inline]
    fn get(&self, i: usize) -> Option<&T> {
        // SAFETY: the slot is taken, so by the invariant it is initialized.
        self.tags.is_taken(i).then(|| unsafe { self.data[i].assume_init_ref() })
    }

    /// The entries in some of the slots.
    #[inline]
    pub fn entries(&self, slots: Found) -> Entries<'_, T> {
        Entries { bucket: self, slots }
    }

    /// Fills a free slot.
    #[inline(never)]
    fn fill(&mut self, i: usize, hash: u64, value: T) -> &mut T {
        let Bucket { tags, data } = self;
        assert!(!tags.is_taken(i), "slot {i} is taken");
        let value = data[i].write(value);
        tags.set(i, hash);
        value
    }
}

/// Some of the entries of a bucket.
pub(super) struct Entries<'a, T> {
    bucket: &'a Bucket<T>,
    slots: Found,
}

impl<'a, T> Iterator for Entries<'a, T> {
    type Item = &'a T;
    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        self.bucket.get(self.slots.next()?)
    }
}

impl<T, O: Only<Tracked<T>>> Drop for Slots<T, O> {
    fn drop(&mut self) {
        if let Some(tracked) = self.tracked.get() {
            // Whoever drops it in flight does not want it written: the job has failed.
            tracked.give_up();
        }
        if std::mem::needs_drop::<T>() {
            self.drain(|entry, _| drop(entry));
        }
    }
}
