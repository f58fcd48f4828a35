//! The tags of a bucket's slots, compared at once in one word. Plain arithmetic: SSE2 was no faster for eight bytes.

/// Set in the tag of a slot that is taken; the other seven bits are of the hash.
const TAKEN: u8 = 0x80;

/// Slots of a bucket. With their tags, seven entries of 16 bytes fill two cache lines.
pub(super) const SLOTS: usize = 7;

const LOW: u64 = 0x0101_0101_0101_0101;
/// The highest bits of the tags; the eighth byte belongs to no slot.
const HIGH: u64 = 0x0080_8080_8080_8080;

/// The tag of a taken slot: seven bits of the hash that do not choose the bucket.
#[inline(always)]
fn tag(hash: u64) -> u64 {
    hash >> 57 | u64::from(TAKEN)
}

/// The first bit of the eighth byte: a bit for each slot, its entry's mark. Only tables that are saved set any.
const MARKS: usize = 56;
/// The last bit of the eighth byte.
const PHASE: u64 = 1 << 63;

/// One of two: which the buckets of a table are in says whether they have been written for the checkpoint in flight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Phase(u64);

impl Phase {
    /// The other one.
    pub fn next(self) -> Self {
        Phase(self.0 ^ PHASE)
    }
}

/// A tag for each slot, the first in the lowest byte; 0 is free.
#[derive(Clone, Copy, Default)]
pub(super) struct Tags(u64);

impl Tags {
    /// The taken slots whose tag is that of `hash`. Above a right one there may be a wrong one, whose tag differs in the lowest
    /// bit: it is taken too, and the keys are compared anyway. (The zero-byte test of S. E. Anderson's "Bit Twiddling Hacks".)
    #[inline(always)]
    pub fn like(self, hash: u64) -> Found {
        let x = self.0 ^ (LOW * tag(hash));
        Found(x.wrapping_sub(LOW) & !x & self.0 & HIGH)
    }

    /// The free slots.
    #[inline(always)]
    pub fn free(self) -> Found {
        Found(!self.0 & HIGH)
    }

    /// Whether slot `i` is taken.
    #[inline(always)]
    pub fn is_taken(self, i: usize) -> bool {
        i < SLOTS && self.0 >> (8 * i) & u64::from(TAKEN) != 0
    }

    /// Slot `i`, which is free, becomes taken.
    #[inline(always)]
    pub fn set(&mut self, i: usize, hash: u64) {
        self.0 |= tag(hash) << (8 * i);
    }

    /// Slot `i` becomes free.
    #[inline(always)]
    pub fn clear(&mut self, i: usize) {
        self.0 &= !(0xff << (8 * i));
    }

    /// The taken slots.
    #[inline]
    pub fn taken(self) -> Found {
        Found(self.0 & HIGH)
    }

    /// The taken slots that are marked.
    #[inline]
    pub fn marked(self) -> Found {
        // Bit i of the eighth byte to the highest bit of byte i.
        let mut marks = 0;
        for i in 0..SLOTS {
            marks |= (self.0 >> (MARKS + i) & 1) << (8 * i + 7);
        }
        Found(marks & self.0 & HIGH)
    }

    /// Whether slot `i` is marked.
    #[inline(always)]
    pub fn is_marked(self, i: usize) -> bool {
        i < SLOTS && self.0 >> (MARKS + i) & 1 != 0
    }

    /// Marks slot `i`.
    #[inline(always)]
    pub fn mark(&mut self, i: usize) {
        debug_assert!(i < SLOTS, "the last bit is the phase");
        self.0 |= 1 << (MARKS + i);
    }

    /// Whether the bucket is in `phase` and slot `i` marked.
    #[inline(always)]
    pub fn is_marked_in(self, phase: Phase, i: usize) -> bool {
        debug_assert!(i < SLOTS, "the last bit is the phase");
        let in_phase = self.0 ^ phase.0;
        in_phase.cast_signed() >= 0 && in_phase >> (MARKS + i) & 1 != 0
    }

    /// Slot `i` is not marked any more.
    #[inline(always)]
    pub fn unmark(&mut self, i: usize) {
        debug_assert!(i < SLOTS, "the last bit is the phase");
        self.0 &= !(1 << (MARKS + i));
    }

    /// The phase of the bucket.
    #[inline(always)]
    pub fn phase(self) -> Phase {
        Phase(self.0 & PHASE)
    }

    /// The bucket enters `phase`, with no slot marked.
    #[inline]
    pub fn enter(&mut self, phase: Phase) {
        self.0 = self.0 << 8 >> 8 | phase.0;
    }
}

/// Slots, lowest first: the highest bit of a byte for each.
#[derive(Clone, Copy)]
pub(super) struct Found(u64);

impl Iterator for Found {
    type Item = usize;
    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let i = self.0.trailing_zeros() as usize / 8;
        self.0 &= self.0 - 1;
        Some(i)
    }
}
