//! Reading the state of an operator.

use super::writing::Slot;
use crate::error::{Error, ErrorKind, Result};

/// The state of one operator in a checkpoint.
pub struct Parts {}

impl Parts {
    /// The slots that any of the files has, in order.
    pub fn slots(&self) -> Vec<Slot> {
        Vec::new()
    }

    /// The bytes of a slot, one entry for each file that has it, in the order to apply.
    ///
    /// # Errors
    /// When a file cannot be read, or is damaged.
    pub fn read(&self, slot: Slot) -> Result<Vec<Vec<u8>>> {
        let _ = slot;
        Err(Error::new(ErrorKind::State, "not yet"))
    }
}
