//! How much memory records take.

use super::Spill;
use crate::error::Result;
use crate::state::{Durable, Keep};

/// One record of so many is measured, where a record may own memory.
const MEASURED: usize = 16;

/// How much memory a record takes beside its place, from those that have been measured.
#[derive(Default)]
pub(crate) struct Size {
    measured: usize,
    bytes: usize,
}

impl Size {
    /// Looks at the record of this number, if it is one that is measured.
    ///
    /// # Errors
    /// When it cannot be written down.
    #[inline]
    pub fn look<T: Spill>(&mut self, number: usize, record: &T) -> Result<()> {
        if std::mem::needs_drop::<T>() && number.is_multiple_of(MEASURED) {
            return self.measure(record);
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn measure<T: Spill>(&mut self, record: &T) -> Result<()> {
        let mut bytes = Vec::new();
        Keep::<Durable>::write(record, &mut bytes)?;
        self.measured += 1;
        self.bytes += bytes.len();
        Ok(())
    }

    /// What each takes.
    pub fn each(&self) -> usize {
        // What is written is shorter than what lies in memory: numbers are, and each allocation has a header and room to grow.
        (self.bytes * 2).checked_div(self.measured).unwrap_or(0)
    }
}
