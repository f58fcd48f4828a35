//! A state file while it is written.

use super::damage::{failed, io_failed};
use super::failpoint::{cut, point};
use super::manifest::StateFile;
use super::names::{At, Kind, Name};
use super::state_file::{self, BLOCK_BYTES_MAX, Block, Index, Owner, put_block};
use super::storage::{Storage, StorageFile};
use crate::error::Result;
use crate::sorted::Sorted;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// Bytes of blocks that are not full yet, at most. Above it all are written as they are.
const HELD_BYTES_MAX: usize = 8 << 20;

/// Which part of an operator's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// The keyed state of a key group.
    Group(u16),
    /// What an instance has beside it.
    Instance(u32),
}

/// The state file of a checkpoint that has begun. Dropped, or given to [`Store::abort`](super::Store::abort), it is removed.
///
/// It may be written on another thread than that of the [`Store`](super::Store).
pub struct Writing {
    storage: Arc<dyn Storage>,
    at: At,
    name: String,
    /// `None` once the file is whole, or has failed.
    file: Option<Box<dyn StorageFile>>,
    whole: Option<StateFile>,
    /// Full blocks that have not been written.
    out: Vec<u8>,
    /// Bytes of the file, with those in `out`.
    position: u64,
    index: Index,
    numbers: HashMap<String, u32>,
    /// The last bytes of slots, which do not fill a block; by the operator's number.
    rests: Vec<Sorted<Slot, Vec<u8>>>,
    /// Bytes in `rests`.
    held: usize,
    /// A manifest lists it, or may.
    kept: bool,
}

impl Writing {
    /// Creates the state file of a checkpoint.
    pub(super) fn create(storage: &Arc<dyn Storage>, at: At) -> Result<Writing> {
        let name = Name::new(Kind::State, at).to_string();
        let file = storage.create(&name).map_err(|error| io_failed(&**storage, &name, "created", &error))?;
        point("P4a");
        let out = state_file::header(at);
        let (storage, position) = (Arc::clone(storage), out.len() as u64);
        let (index, numbers, rests) = (Index::default(), HashMap::new(), Vec::new());
        let (file, whole) = (Some(file), None);
        Ok(Writing {
            storage,
            at,
            name,
            file,
            whole,
            out,
            position,
            index,
            numbers,
            rests,
            held: 0,
            kept: false,
        })
    }

    /// The checkpoint's number.
    pub fn id(&self) -> u64 {
        self.at.id
    }

    /// Which opening of the folder began it.
    pub(super) fn at(&self) -> At {
        self.at
    }

    /// The entry for [`Manifest::files`](super::Manifest::files). Length and hash are known after [`sync`](Self::sync);
    /// [`Store::commit`](super::Store::commit) fills them in.
    pub fn file(&self) -> StateFile {
        self.whole.clone().unwrap_or_else(|| StateFile { name: self.name.clone(), ..StateFile::default() })
    }

    /// Appends `bytes` to a slot of an operator's. The pieces of all slots may come in any order; those of one stay in theirs. A slot
    /// that got no bytes is in the file too.
    ///
    /// # Errors
    /// When the disk takes no more. The checkpoint has failed then.
    pub fn part(&mut self, operator: &str, slot: Slot, bytes: &[u8]) -> Result<()> {
        if self.file.is_none() {
            return Err(self.refused());
        }
        let owner = (self.number(operator), slot);
        match self.rests[owner.0 as usize].get_mut(&slot) {
            Some(rest) if rest.len() + bytes.len() < BLOCK_BYTES_MAX => {
                rest.extend_from_slice(bytes);
                self.held += bytes.len();
            }
            _ => self.blocks_with(owner, bytes)?,
        }
        if self.held > HELD_BYTES_MAX { self.blocks_of_rests() } else { Ok(()) }
    }

    /// Bytes so far. The index is added at the end.
    pub fn bytes(&self) -> u64 {
        self.position + self.held as u64
    }

    /// Ends the file and brings it to the disk: no part can follow. [`Store::commit`](super::Store::commit) does it where it has not been done.
    ///
    /// # Errors
    /// When the disk fails. The checkpoint has failed then; trying again fails too.
    pub fn sync(&mut self) -> Result<()> {
        if self.whole.is_some() {
            return Ok(());
        }
        if self.file.is_none() {
            return Err(self.refused());
        }
        let hash = self.index_written()?;
        point("P4c");
        // The sync of a file is never tried again: after an error the system takes what it lost for written.
        let synced = self.file.take().map_or(Ok(()), |mut file| file.sync());
        synced.map_err(|error| io_failed(&*self.storage, &self.name, "brought to the disk", &error))?;
        point("P4d");
        self.whole = Some(StateFile { name: self.name.clone(), len: self.position, hash });
        Ok(())
    }

    /// A manifest lists the file, or may: it stays.
    pub(super) fn keep(&mut self) {
        self.kept = true;
    }

    /// Whether it stays.
    pub(super) fn is_kept(&self) -> bool {
        self.kept
    }

    /// No manifest lists the file.
    pub(super) fn forget(&mut self) {
        self.kept = false;
    }

    fn number(&mut self, operator: &str) -> u32 {
        if let Some(number) = self.numbers.get(operator) {
            return *number;
        }
        let number = self.index.operators.len() as u32;
        self.index.operators.push(operator.to_owned());
        self.index.slots.push(Sorted::default());
        self.rests.push(Sorted::default());
        self.numbers.insert(operator.to_owned(), number);
        number
    }

    /// The first bytes of a slot, or those with which its rest fills a block.
    fn blocks_with(&mut self, owner: (u32, Slot), mut bytes: &[u8]) -> Result<()> {
        self.blocks(owner);
        let rests = &mut self.rests[owner.0 as usize];
        let mut rest = std::mem::take(rests.or_insert_with(owner.1, Vec::new));
        self.held -= rest.len();
        while rest.len() + bytes.len() >= BLOCK_BYTES_MAX {
            let (fits, more) = bytes.split_at(BLOCK_BYTES_MAX - rest.len());
            rest.extend_from_slice(fits);
            self.block(owner, &rest)?;
            rest.clear();
            bytes = more;
        }
        rest.extend_from_slice(bytes);
        self.held += rest.len();
        self.rests[owner.0 as usize].insert(owner.1, rest);
        Ok(())
    }

    fn blocks_of_rests(&mut self) -> Result<()> {
        self.held = 0;
        for operator in 0..self.rests.len() {
            for (slot, rest) in std::mem::take(&mut self.rests[operator]) {
                if !rest.is_empty() {
                    self.block((operator as u32, slot), &rest)?;
                }
            }
        }
        Ok(())
    }

    /// Writes what is left; returns the hash of the index.
    fn index_written(&mut self) -> Result<u64> {
        self.blocks_of_rests()?;
        let tail = self.index.write(self.at, self.position);
        let tail = tail.map_err(|what| {
            self.file = None;
            failed(&*self.storage, &self.name, what)
        })?;
        self.out.extend_from_slice(&tail);
        self.position += tail.len() as u64;
        self.write_out()?;
        Ok(state_file::index_hash(&tail))
    }

    fn blocks(&mut self, of: (u32, Slot)) -> &mut Vec<Block> {
        self.index.slots[of.0 as usize].or_insert_with(of.1, Vec::new)
    }

    fn block(&mut self, of: (u32, Slot), bytes: &[u8]) -> Result<()> {
        let piece = self.blocks(of).len() as u32;
        let owner = Owner { operator: of.0, slot: of.1, piece };
        let before = self.out.len();
        let block = put_block(&mut self.out, self.at, self.position, owner, bytes);
        self.blocks(of).push(block);
        self.position += (self.out.len() - before) as u64;
        if self.out.len() >= BLOCK_BYTES_MAX { self.write_out() } else { Ok(()) }
    }

    fn write_out(&mut self) -> Result<()> {
        let Some(file) = &mut self.file else { return Err(self.refused()) };
        if let Err(error) = written(&mut **file, &self.out) {
            self.file = None;
            return Err(io_failed(&*self.storage, &self.name, "written", &error));
        }
        self.out.clear();
        Ok(())
    }

    #[cold]
    fn refused(&self) -> crate::Error {
        let what = if self.whole.is_some() { "it is whole already" } else { "it has failed before" };
        failed(&*self.storage, &self.name, what)
    }
}

fn written(file: &mut dyn StorageFile, bytes: &[u8]) -> io::Result<()> {
    let (first, rest) = cut("P4b", bytes);
    file.write(first)?;
    point("P4b");
    if rest.is_empty() { Ok(()) } else { file.write(rest) }
}

impl Drop for Writing {
    fn drop(&mut self) {
        if !self.kept {
            self.file = None;
            // One that will not go is removed with the garbage of a later checkpoint, or at the next start.
            let _ = self.storage.remove(&self.name);
        }
    }
}
