//! Which key is looked at next: each has one entry that counts, for the first time at which something is due of it.

use crate::error::Result;
use crate::time::Timestamp;
use crate::window::saved::take;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// When a key is looked at next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next(Option<i64>);

impl Next {
    /// Never so far.
    pub const NEVER: Next = Next(None);

    /// Writes it, as [`Next::take`] reads it.
    pub fn put(self, out: &mut Vec<u8>) {
        out.push(u8::from(self.0.is_some()));
        out.extend_from_slice(&self.0.unwrap_or_default().to_le_bytes());
    }

    /// Reads it.
    pub fn take(bytes: &mut &[u8]) -> Result<Self> {
        let ([is], time) = (take(bytes)?, i64::from_le_bytes(take(bytes)?));
        Ok(Next((is != 0).then_some(time)))
    }
}

/// Entries of keys by the slots that they have. An entry that the key has forgotten says nothing.
#[derive(Default)]
pub struct Due(BinaryHeap<Reverse<(i64, u32)>>);

impl Due {
    /// Something of the key in `slot` is due at `time`, of whom `next` says what is known.
    #[inline]
    pub fn at(&mut self, next: &mut Next, slot: u32, time: i128) {
        let time = time.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        if next.0.is_none_or(|known| time < known) {
            next.0 = Some(time);
            self.0.push(Reverse((time, slot)));
        }
    }

    /// Takes the first entry that is due at watermark `w`: the slot, and when.
    pub fn pop(&mut self, w: Timestamp) -> Option<(u32, i64)> {
        let Reverse((time, slot)) = *self.0.peek()?;
        if time > w.0 {
            return None;
        }
        self.0.pop();
        Some((slot, time))
    }

    /// Whether an entry for `time` counts; if so it has been used.
    pub fn counts(next: &mut Next, time: i64) -> bool {
        let counts = next.0 == Some(time);
        if counts {
            *next = Next::NEVER;
        }
        counts
    }
}
