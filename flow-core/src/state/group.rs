//! The tags of neighbouring slots, compared at once: sixteen with SSE2, which every x86-64 has, else eight in a word.

use super::slots::TAKEN;

pub(super) use imp::{GROUP, Tags};

/// The tag of a taken slot: seven bits of the hash that do not choose the slot.
#[inline(always)]
pub(super) fn tag(hash: u64) -> u8 {
    (hash >> 57) as u8 | TAKEN
}

/// Slots of a group, lowest first; a bit (or the highest bit of a byte) for each.
#[derive(Clone, Copy)]
pub(super) struct Found {
    bits: u64,
}

impl Iterator for Found {
    type Item = usize;
    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.bits == 0 {
            return None;
        }
        let i = self.bits.trailing_zeros() as usize / imp::BITS_EACH;
        self.bits &= self.bits - 1;
        Some(i)
    }
}

#[cfg(target_arch = "x86_64")]
mod imp {
    use super::{Found, tag};
    use std::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8};

    pub const GROUP: usize = 16;
    pub const BITS_EACH: usize = 1;

    /// The tags of a group.
    #[derive(Clone, Copy)]
    pub struct Tags(__m128i);

    impl Tags {
        #[inline(always)]
        pub fn load(bytes: &[u8; GROUP]) -> Self {
            let word = u128::from_le_bytes(*bytes);
            // SAFETY: SSE2 belongs to every x86-64.
            Tags(unsafe { _mm_set_epi64x((word >> 64) as i64, word as i64) })
        }

        /// The slots whose tag is that of `hash`: all of them are taken.
        #[inline(always)]
        pub fn like(self, hash: u64) -> Found {
            // SAFETY: SSE2 belongs to every x86-64.
            let same = unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(self.0, _mm_set1_epi8(tag(hash) as i8))) };
            Found { bits: u64::from(same as u32) }
        }

        /// The free slots.
        #[inline(always)]
        pub fn free(self) -> Found {
            // SAFETY: SSE2 belongs to every x86-64.
            let taken = unsafe { _mm_movemask_epi8(self.0) };
            Found { bits: u64::from(!taken as u32 & 0xffff) }
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod imp {
    use super::{Found, tag};

    pub const GROUP: usize = 8;
    pub const BITS_EACH: usize = 8;
    const LOW: u64 = 0x0101_0101_0101_0101;

    /// The tags of a group.
    #[derive(Clone, Copy)]
    pub struct Tags(u64);

    impl Tags {
        #[inline(always)]
        pub fn load(bytes: &[u8; GROUP]) -> Self {
            Tags(u64::from_le_bytes(*bytes))
        }

        /// The slots whose tag is that of `hash`. Above a right one there may be a wrong one, whose tag differs in the
        /// lowest bit: it is taken too, and the keys are compared anyway. (The zero-byte test of S. E. Anderson's "Bit Twiddling Hacks".)
        #[inline(always)]
        pub fn like(self, hash: u64) -> Found {
            let x = self.0 ^ (LOW * u64::from(tag(hash)));
            Found { bits: x.wrapping_sub(LOW) & !x & (LOW << 7) & self.0 }
        }

        /// The free slots.
        #[inline(always)]
        pub fn free(self) -> Found {
            Found { bits: !self.0 & (LOW << 7) }
        }
    }
}
