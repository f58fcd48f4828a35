//! The format of state files, version 1. Numbers are little endian.
//!
//! ```text
//! header    magic "FLOWSTAT", format u32, id u64, epoch u64, crc u32
//! block*    operator u32, slot u64, piece u32, len u32, crc u32, bytes
//! index     operators: n u32, (len u32, name)*
//!           slots:     n u32, (operator u32, slot u64, blocks: n u32, (at u64, len u32, crc u32)*)*
//! trailer   length of the index u64, crc u32, magic "ENDS"
//! ```
//!
//! A slot is `0 << 32 | group` or `1 << 32 | instance`; its blocks in the order of the index are its bytes. The checksum of a block and that of the
//! index cover where they stand and in which file too (id, epoch, position), so that nothing is at home anywhere else. The index has the checksums of all
//! blocks and the manifest the hash of the index: what is read is what the manifest means, without reading all of it.

use super::Slot;
use super::bytes::{Broken, Reader, crc, hash, put_blob, put_len};
use super::names::At;
use crate::sorted::Sorted;

/// The format of state files and of manifests.
pub(super) const FORMAT: u32 = 1;
/// Bytes of a block, at most.
pub(super) const BLOCK_BYTES_MAX: usize = 64 << 10;
pub(super) const HEADER_BYTES: usize = 32;
pub(super) const BLOCK_HEADER_BYTES: usize = 24;
pub(super) const TRAILER_BYTES: usize = 16;

const MAGIC: &[u8; 8] = b"FLOWSTAT";
const END: &[u8; 4] = b"ENDS";

/// What the file of checkpoint `at` begins with.
pub(super) fn header(at: At) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&FORMAT.to_le_bytes());
    out.extend_from_slice(&at.id.to_le_bytes());
    out.extend_from_slice(&at.epoch.to_le_bytes());
    let crc = crc(&[&out]);
    out.extend_from_slice(&crc.to_le_bytes());
    out
}

/// What is wrong with the header of what should be the file of checkpoint `at`.
pub(super) fn header_fault(found: &[u8], at: At) -> Option<String> {
    if found == header(at) {
        return None;
    }
    Some(foreign(found).unwrap_or_else(|| "its header is damaged: the checksum does not hold".into()))
}

/// What a whole header that is not the wanted one says.
fn foreign(found: &[u8]) -> Option<String> {
    let mut reader = Reader::new(found);
    if reader.bytes(MAGIC.len()).ok()? != MAGIC {
        return Some("it does not begin as a state file does".into());
    }
    let (format, id, epoch) = (reader.u32().ok()?, reader.u64().ok()?, reader.u64().ok()?);
    let whole = reader.u32().ok()? == crc(&[&found[..HEADER_BYTES - 4]]);
    whole.then(|| match format {
        FORMAT => format!("it says that it is the file of checkpoint {id}, epoch {epoch}"),
        _ => format!("it has format {format}, this program reads {FORMAT}"),
    })
}

/// Where a part of a file stands: it goes into the part's checksum.
fn place(at: At, position: u64) -> [u8; 24] {
    let mut place = [0; 24];
    place[..8].copy_from_slice(&at.id.to_le_bytes());
    place[8..16].copy_from_slice(&at.epoch.to_le_bytes());
    place[16..].copy_from_slice(&position.to_le_bytes());
    place
}

/// Whose bytes a block has: which operator of the index, which slot, and how many blocks the slot had before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    pub operator: u32,
    pub slot: Slot,
    pub piece: u32,
}

/// A block as the index lists it: where its header stands, the length of what follows, the checksum of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    pub at: u64,
    pub len: u32,
    pub crc: u32,
}

/// Appends a block that will stand at byte `position`.
pub(super) fn put_block(out: &mut Vec<u8>, at: At, position: u64, owner: Owner, bytes: &[u8]) -> Block {
    let len = u32::try_from(bytes.len()).expect("a block has a maximal length");
    let head = block_head(owner, len);
    let crc = crc(&[&place(at, position), &head, bytes]);
    out.extend_from_slice(&head);
    out.extend_from_slice(&crc.to_le_bytes());
    out.extend_from_slice(bytes);
    Block { at: position, len, crc }
}

/// A block's header but for the checksum.
fn block_head(owner: Owner, len: u32) -> [u8; BLOCK_HEADER_BYTES - 4] {
    let mut head = [0; BLOCK_HEADER_BYTES - 4];
    head[..4].copy_from_slice(&owner.operator.to_le_bytes());
    head[4..12].copy_from_slice(&slot_number(owner.slot).to_le_bytes());
    head[12..16].copy_from_slice(&owner.piece.to_le_bytes());
    head[16..].copy_from_slice(&len.to_le_bytes());
    head
}

/// What is wrong with `found`, the header and the bytes of what should be `block` of `owner`.
pub(super) fn block_fault(found: &[u8], at: At, block: Block, owner: Owner) -> Option<String> {
    let (head, rest) = found.split_at_checked(BLOCK_HEADER_BYTES - 4)?;
    let (written, bytes) = rest.split_at_checked(4)?;
    let computed = crc(&[&place(at, block.at), head, bytes]);
    let as_listed = head == block_head(owner, block.len) && written == block.crc.to_le_bytes();
    (computed != block.crc || !as_listed).then(|| {
        let at = block.at;
        let (found, expected) = (computed, block.crc);
        format!("its block at byte {at} is damaged: the checksum is {found:08x} and should be {expected:08x}")
    })
}

/// Which blocks have what.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Index {
    pub operators: Vec<String>,
    /// By the operator's number.
    pub slots: Vec<Sorted<Slot, Vec<Block>>>,
}

impl Index {
    /// Index and trailer, which will stand at byte `position`.
    pub fn write(&self, at: At, position: u64) -> Result<Vec<u8>, Broken> {
        let mut out = Vec::new();
        put_len(&mut out, self.operators.len())?;
        self.operators.iter().try_for_each(|name| put_blob(&mut out, name.as_bytes()))?;
        put_len(&mut out, self.slots.iter().map(Sorted::len).sum())?;
        let of_operators = (0u32..).zip(&self.slots);
        for (operator, (slot, blocks)) in
            of_operators.flat_map(|(n, of_it)| of_it.iter().map(move |slot| (n, slot)))
        {
            out.extend_from_slice(&operator.to_le_bytes());
            out.extend_from_slice(&slot_number(*slot).to_le_bytes());
            put_len(&mut out, blocks.len())?;
            for block in blocks {
                out.extend_from_slice(&block.at.to_le_bytes());
                out.extend_from_slice(&block.len.to_le_bytes());
                out.extend_from_slice(&block.crc.to_le_bytes());
            }
        }
        out.extend_from_slice(&(out.len() as u64).to_le_bytes());
        let crc = crc(&[&place(at, position), &out]);
        out.extend_from_slice(&crc.to_le_bytes());
        out.extend_from_slice(END);
        Ok(out)
    }

    /// Of `tail`, the index and the trailer, which stand at byte `position`.
    pub fn read(tail: &[u8], at: At, position: u64) -> Result<Index, Broken> {
        let (covered, rest) = tail.split_at_checked(tail.len() - 8).ok_or("it is cut short")?;
        if rest[..4] != crc(&[&place(at, position), covered]).to_le_bytes() || &rest[4..] != END {
            return Err("its index is damaged: the checksum does not hold");
        }
        let mut reader = Reader::new(&covered[..covered.len() - 8]);
        let operators = reader.list(Reader::text)?;
        let listed = reader.list(|reader| {
            let (operator, slot) = (reader.u32()?, slot_of(reader.u64()?)?);
            let block = |reader: &mut Reader<'_>| {
                Ok(Block { at: reader.u64()?, len: reader.u32()?, crc: reader.u32()? })
            };
            Ok((operator, slot, reader.list(block)?))
        })?;
        reader.end()?;
        let mut slots = vec![Sorted::default(); operators.len()];
        for (operator, slot, blocks) in listed {
            slots.get_mut(operator as usize).ok_or("a slot is of no operator")?.insert(slot, blocks);
        }
        Ok(Index { operators, slots })
    }
}

/// The length of the index, which its trailer says; `None` when it is none.
pub(super) fn index_len(trailer: &[u8]) -> Option<u64> {
    let mut reader = Reader::new(trailer);
    let len = reader.u64().ok()?;
    (trailer.len() == TRAILER_BYTES && &trailer[12..] == END).then_some(len)
}

/// What the manifest has of a file's index and trailer.
pub(super) fn index_hash(tail: &[u8]) -> u64 {
    hash(tail)
}

fn slot_number(slot: Slot) -> u64 {
    match slot {
        Slot::Group(group) => u64::from(group),
        Slot::Instance(instance) => 1 << 32 | u64::from(instance),
    }
}

fn slot_of(number: u64) -> Result<Slot, Broken> {
    let n = number as u32;
    match (number >> 32, u16::try_from(n)) {
        (0, Ok(group)) => Ok(Slot::Group(group)),
        (1, _) => Ok(Slot::Instance(n)),
        _ => Err("a slot is neither a key group nor an instance"),
    }
}
