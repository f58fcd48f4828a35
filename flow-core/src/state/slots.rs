//! The storage of [`KeyTable`](super::KeyTable): slots, and a tag byte for each that says whether it is taken.
//!
//! The second home of `unsafe`, after the ring. Why it exists: rolling operators over a million keys (workload W3) have to be 1.9 times
//! as fast as a hash map in a loop. Over `hashbrown`, whose look-ups cannot be prefetched, this crate reached 1.33; with
//! look-ups of a batch under way before the first is needed, which takes a prefetch of a slot that may be uninitialized,
//! 2.0 and more (two cores, November 2026). Everything above this file is safe code: [`Slots`] checks what it is
//! asked, so no use of it can be unsound.
//!
//! **Invariant**: `data[i]` is initialized exactly where `tags[i] & TAKEN != 0`; `tags` is `GROUP` longer than `data` and
//! its last `GROUP` bytes repeat its first.

use std::mem::MaybeUninit;

use super::group::{GROUP, Tags, tag};

/// Set in the tag of a slot that is taken; the other seven bits are of the hash.
pub(super) const TAKEN: u8 = 0x80;

/// A power of two of slots.
pub(super) struct Slots<T> {
    tags: Vec<u8>,
    data: Vec<MaybeUninit<T>>,
}

impl<T> Slots<T> {
    /// `n` free slots; a power of two, at least `GROUP`.
    pub fn new(n: usize) -> Self {
        assert!(n.is_power_of_two() && n >= GROUP, "a table of {n} slots");
        let mut data = Vec::with_capacity(n);
        data.resize_with(n, MaybeUninit::uninit);
        Slots { tags: vec![0; n + GROUP], data }
    }

    /// How many slots there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// The tags from slot `at` on, around the end; `at` is taken modulo the number of slots.
    #[inline(always)]
    fn tags(&self, at: usize) -> Tags {
        let at = at & (self.data.len() - 1);
        let group = self.tags[at..].first_chunk::<GROUP>();
        Tags::load(group.expect("the tags are a group longer than the slots"))
    }

    /// The slot of the entry that `is`; `Err` is the free slot where it belongs. The search begins at the slot that
    /// `hash` says and goes on by groups; it ends at a group with a free slot, since nothing is ever removed.
    #[inline(always)]
    pub fn find(&self, hash: u64, is: impl Fn(&T) -> bool) -> Result<usize, usize> {
        let mask = self.data.len() - 1;
        let mut group = hash as usize & mask;
        loop {
            let tags = self.tags(group);
            for i in tags.like(hash) {
                let at = (group + i) & mask;
                // SAFETY: `like` gives only slots whose tag has `TAKEN` set, so by the invariant it is initialized.
                if is(unsafe { self.data[at].assume_init_ref() }) {
                    return Ok(at);
                }
            }
            if let Some(i) = tags.free().next() {
                return Err((group + i) & mask);
            }
            group = (group + GROUP) & mask;
        }
    }

    /// Asks for the memory of slot `at` and its tag; `at` is taken modulo the number of slots.
    #[inline(always)]
    pub fn prefetch(&self, at: usize) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let at = at & (self.data.len() - 1);
            // SAFETY: a prefetch reads nothing and may be given any address; these are even inside their vectors.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(self.tags.as_ptr().wrapping_add(at).cast());
                _mm_prefetch::<_MM_HINT_T0>(self.data.as_ptr().wrapping_add(at).cast());
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        std::hint::black_box(self.tags[at & (self.data.len() - 1)]);
    }

    /// What is in slot `at` (modulo their number), if it is taken.
    #[inline(always)]
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        let at = at & (self.data.len() - 1);
        if self.tags[at] & TAKEN == 0 {
            return None;
        }
        // SAFETY: the slot is taken, so by the invariant it is initialized.
        Some(unsafe { self.data[at].assume_init_mut() })
    }

    /// Fills the free slot `at` (modulo their number).
    ///
    /// # Panics
    /// If it is taken: its value would be lost.
    #[inline]
    pub fn put(&mut self, at: usize, hash: u64, value: T) -> &mut T {
        let at = at & (self.data.len() - 1);
        assert!(self.tags[at] & TAKEN == 0, "slot {at} is taken");
        let value = self.data[at].write(value);
        self.tags[at] = tag(hash);
        if at < GROUP {
            let n = self.tags.len();
            self.tags[n - GROUP + at] = tag(hash);
        }
        value
    }

    /// All that is in taken slots, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let taken = self.tags.iter().zip(&self.data).filter(|(tag, _)| **tag & TAKEN != 0);
        // SAFETY: the slot is taken, so by the invariant it is initialized.
        taken.map(|(_, slot)| unsafe { slot.assume_init_ref() })
    }

    /// Empties all slots into `f`.
    pub fn drain(&mut self, mut f: impl FnMut(T)) {
        for at in 0..self.data.len() {
            if self.tags[at] & TAKEN != 0 {
                // Freed first: should `f` panic, nothing is dropped twice.
                self.tags[at] = 0;
                // SAFETY: the slot was taken, so by the invariant it is initialized; its tag now says that it is
                // not, so the value is read once only.
                f(unsafe { self.data[at].assume_init_read() });
            }
        }
        let n = self.data.len();
        self.tags[n..].fill(0);
    }
}

impl<T> Drop for Slots<T> {
    fn drop(&mut self) {
        if std::mem::needs_drop::<T>() {
            self.drain(drop);
        }
    }
}
