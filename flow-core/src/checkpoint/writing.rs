//! A state file while it is written.

use super::manifest::StateFile;
use crate::error::{Error, ErrorKind, Result};

/// Which part of an operator's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// The keyed state of a key group.
    Group(u16),
    /// What an instance has beside it.
    Instance(u32),
}

/// The state file of a checkpoint that has begun. Dropped, or given to [`Store::abort`](super::Store::abort), it is removed.
pub struct Writing {
    id: u64,
}

impl Writing {
    pub(super) fn new(id: u64) -> Self {
        Writing { id }
    }

    /// The checkpoint's number.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The entry for [`Manifest::files`](super::Manifest::files): its name. [`Store::commit`](super::Store::commit) fills in length and hash.
    pub fn file(&self) -> StateFile {
        StateFile::default()
    }

    /// Appends `bytes` to a slot of an operator's. The pieces of all slots may come in any order; those of one stay in theirs. A slot
    /// that got no bytes is in the file too.
    ///
    /// # Errors
    /// When the disk takes no more. The checkpoint has failed then.
    pub fn part(&mut self, operator: &str, slot: Slot, bytes: &[u8]) -> Result<()> {
        let _ = (operator, slot, bytes);
        Err(Error::new(ErrorKind::State, "not yet"))
    }

    /// Bytes so far.
    pub fn bytes(&self) -> u64 {
        0
    }

    /// Ends the file and brings it to the disk: no part can follow. [`Store::commit`](super::Store::commit) does it where it has not been done.
    ///
    /// # Errors
    /// When the disk fails. The checkpoint has failed then; trying again fails too.
    pub fn sync(&mut self) -> Result<()> {
        Err(Error::new(ErrorKind::State, "not yet"))
    }
}
