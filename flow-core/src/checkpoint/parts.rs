//! Reading the state of an operator.

use super::damage::{damaged, failed, io_failed, sinks};
use super::manifest::{Manifest, StateFile};
use super::names::{At, Name};
use super::state_file::{
    BLOCK_HEADER_BYTES, Block, HEADER_BYTES, Index, Owner, TRAILER_BYTES, block_fault, header_fault,
    index_hash, index_len,
};
use super::storage::Storage;
use super::writing::Slot;
use crate::error::{Error, Result};
use crate::sorted::Sorted;
use std::io;
use std::sync::Arc;

/// The state of one operator in a checkpoint. Of the files only what is asked for is read.
pub struct Parts {
    reading: Reading,
    files: Vec<OperatorFile>,
}

/// What one file has of the operator.
struct OperatorFile {
    name: String,
    at: At,
    /// The operator's number in the file.
    operator: u32,
    slots: Sorted<Slot, Vec<Block>>,
}

impl Parts {
    /// Looks at the files that `manifest` lists for `operator`. One that saved nothing has no slots.
    ///
    /// [`Store::parts`](super::Store::parts) is this for the folder of the store; here it may be any, and no lock is needed.
    ///
    /// # Errors
    /// When a file is missing, of another length, or not the one that the manifest lists.
    pub fn open(storage: &Arc<dyn Storage>, manifest: &Manifest, operator: &str) -> Result<Parts> {
        let reading =
            Reading { storage: Arc::clone(storage), checkpoint: manifest.id, sinks: sinks(manifest) };
        let state = manifest.operators.iter().find(|state| state.id == operator);
        let listed = state.map_or(&[][..], |state| &state.files);
        let mut files = Vec::new();
        for number in listed {
            let file = manifest.files.get(*number as usize);
            let file =
                file.expect("a manifest was checked when it was read, or is checked when it is written");
            files.extend(reading.operator_file(file, operator)?);
        }
        Ok(Parts { reading, files })
    }

    /// The slots that any of the files has, in order.
    pub fn slots(&self) -> Vec<Slot> {
        let mut slots = Sorted::default();
        for (slot, _) in self.files.iter().flat_map(|file| file.slots.iter()) {
            slots.insert(*slot, ());
        }
        slots.into_keys()
    }

    /// How many bytes all slots have.
    pub fn bytes(&self) -> u64 {
        let blocks = self.files.iter().flat_map(|file| file.slots.iter().flat_map(|slot| &slot.1));
        blocks.map(|block| u64::from(block.len)).sum()
    }

    /// The bytes of a slot, one entry for each file that has it, in the order to apply.
    ///
    /// # Errors
    /// When a file cannot be read, or is damaged.
    pub fn read(&self, slot: Slot) -> Result<Vec<Vec<u8>>> {
        let mut parts = Vec::new();
        for file in &self.files {
            if let Some(blocks) = file.slots.get(&slot) {
                parts.push(self.reading.slot(file, slot, blocks)?);
            }
        }
        Ok(parts)
    }
}

/// Reads the files of a checkpoint.
struct Reading {
    storage: Arc<dyn Storage>,
    checkpoint: u64,
    sinks: Vec<String>,
}

impl Reading {
    fn operator_file(&self, file: &StateFile, operator: &str) -> Result<Option<OperatorFile>> {
        let name = Name::parse(&file.name).ok_or_else(|| self.damage(&file.name, "it is no state file"))?;
        let mut index = self.index(file, name.at)?;
        let Some(number) = index.operators.iter().position(|other| other == operator) else {
            return Ok(None);
        };
        let slots = index.slots.swap_remove(number);
        Ok(Some(OperatorFile { name: file.name.clone(), at: name.at, operator: number as u32, slots }))
    }

    /// The index of the file that the manifest means, if it is that file.
    fn index(&self, file: &StateFile, at: At) -> Result<Index> {
        let name = &file.name;
        let len = match self.storage.len(name) {
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let what =
                    format!("it is missing: checkpoint {} lists it with {} bytes", self.checkpoint, file.len);
                return Err(self.damage(name, &what));
            }
            Err(error) => return Err(io_failed(&*self.storage, name, "looked at", &error)),
        };
        if len != file.len || len < (HEADER_BYTES + TRAILER_BYTES) as u64 {
            return Err(self.damage(name, &format!("it has {len} bytes, and should have {}", file.len)));
        }
        if let Some(fault) = header_fault(&self.read(name, 0, HEADER_BYTES)?, at) {
            return Err(self.damage(name, &fault));
        }
        let trailer = self.read(name, len - TRAILER_BYTES as u64, TRAILER_BYTES)?;
        let room = len - (HEADER_BYTES + TRAILER_BYTES) as u64;
        let index = index_len(&trailer).filter(|index| *index <= room);
        let index =
            index.ok_or_else(|| self.damage(name, "its end is damaged: it says of no index where it is"))?;
        let position = len - TRAILER_BYTES as u64 - index;
        let tail = self.read(name, position, index as usize + TRAILER_BYTES)?;
        let read = Index::read(&tail, at, position).map_err(|fault| self.damage(name, fault))?;
        let found = index_hash(&tail);
        if found != file.hash {
            let what =
                format!("it is another file: its hash is {found:016x} and should be {:016x}", file.hash);
            return Err(self.damage(name, &what));
        }
        Ok(read)
    }

    fn slot(&self, file: &OperatorFile, slot: Slot, blocks: &[Block]) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(blocks.iter().map(|block| block.len as usize).sum());
        for (piece, block) in blocks.iter().enumerate() {
            let owner = Owner { operator: file.operator, slot, piece: piece as u32 };
            let found = self.read(&file.name, block.at, BLOCK_HEADER_BYTES + block.len as usize)?;
            if let Some(fault) = block_fault(&found, file.at, *block, owner) {
                return Err(self.damage(&file.name, &fault));
            }
            bytes.extend_from_slice(&found[BLOCK_HEADER_BYTES..]);
        }
        Ok(bytes)
    }

    fn read(&self, name: &str, at: u64, bytes: usize) -> Result<Vec<u8>> {
        self.storage.read_at(name, at, bytes).map_err(|error| io_failed(&*self.storage, name, "read", &error))
    }

    #[cold]
    fn damage(&self, name: &str, what: &str) -> Error {
        damaged(&*self.storage, self.checkpoint, &self.sinks, failed(&*self.storage, name, what))
    }
}
