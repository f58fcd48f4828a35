//! How much memory records take.

use super::Spill;
use crate::error::Result;
use crate::state::{Durable, Keep};

/// One record of so many is measured on average, where a record may own memory.
const MEASURED: u32 = 16;

/// How much memory a record takes beside its place, from those that have been measured.
///
/// Distances between those are random: data often repeats itself after a power of two or another round number of records, and of those at even distances
/// none might be like the others.
#[derive(Default)]
pub(crate) struct Size {
    /// Records that are passed over until the next one is measured.
    left: u32,
    /// What the distances come from.
    chance: u32,
    measured: usize,
    bytes: usize,
}

impl Size {
    /// Looks at the next record, if it is one that is measured; the first one is.
    ///
    /// # Errors
    /// When it cannot be written down.
    #[inline]
    pub fn look<T: Spill>(&mut self, record: &T) -> Result<()> {
        if !std::mem::needs_drop::<T>() {
            return Ok(());
        }
        if self.left == 0 {
            return self.measure(record);
        }
        self.left -= 1;
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn measure<T: Spill>(&mut self, record: &T) -> Result<()> {
        let mut bytes = Vec::new();
        Keep::<Durable>::write(record, &mut bytes)?;
        self.measured += 1;
        self.bytes += bytes.len();
        // A linear congruential generator (Numerical Recipes); its upper bits are the random ones.
        self.chance = self.chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.left = (self.chance >> 16) % (2 * MEASURED - 1);
        Ok(())
    }

    /// What each takes.
    pub fn each(&self) -> usize {
        // What is written is shorter than what lies in memory: numbers are, and each allocation has a header and room to grow.
        (self.bytes * 2).checked_div(self.measured).unwrap_or(0)
    }
}
