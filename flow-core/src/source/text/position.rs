//! Where the reader of a file stands, as a checkpoint keeps it.
//!
//! A position is behind the last record that was given to the stage, whatever has been read ahead of it. Numbers are little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 1 | 1, the version of this layout |
//! | 1 | 1 when the end of the part has been reached, else 0 |
//! | 4, n | the path: its length, and its bytes as the system has them |
//! | 8, 8 | the part of the file: records that start in it are read; 0 and `u64::MAX` for a whole file |
//! | 8, 8 | where the next record starts, and how many stand before it as the reader of the part counts them |
//! | 4, 8 | of the file's first bytes: how many, and their sum |
//! | 4, 8 | of the bytes before the next record: how many, and their sum |
//!
//! The two sums tell whether the file is the one that was read: at most 4 KiB at its beginning and 4 KiB before the next record, and
//! nothing behind it, so that a file may grow, and a record that has ended the job may be mended. Not its inode or its times: a file that
//! was copied back or taken along to another machine is the same, and one that grows has another time. The sum is FNV-1a with
//! 64 bits: a single byte that differs always shows. The state file has a checksum of its own.
//!
//! The columns of a CSV file are not in it: they are read from the head of the file again.

use crate::error::{Error, Result};
use crate::source::unpack::{self, Unpack, pack_bytes, path_of};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::ops::Range;
use std::path::{Path, PathBuf};

const VERSION: u8 = 1;

/// How much is looked at, at each of the two places.
pub(super) const LOOK_BYTES: usize = 4096;

/// Where a reader of records stands.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Where the next record starts.
    pub offset: u64,
    /// Records before it, as broken ones are numbered.
    pub records: u64,
    /// Bytes before the next record: as many as are at hand.
    pub before: &'a [u8],
    /// Nothing comes any more, whatever the file grows by.
    pub over: bool,
}

/// Where a reader of records begins that goes on from a position.
#[derive(Debug)]
pub struct Begin {
    /// Where the next record starts.
    pub offset: u64,
    /// Records that start here or later belong to another part.
    pub until: u64,
    /// Records before the next one.
    pub records: u64,
    /// The bytes before the next record.
    pub before: Vec<u8>,
}

/// Some bytes of a file: how many, and their sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    pub len: usize,
    pub sum: u64,
}

impl Look {
    pub fn of(bytes: &[u8]) -> Self {
        let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Look { len: bytes.len(), sum: bytes.iter().fold(0xcbf2_9ce4_8422_2325, step) }
    }

    fn encode(self, out: &mut Vec<u8>) {
        out.extend(u32::try_from(self.len).unwrap_or(u32::MAX).to_le_bytes());
        out.extend(self.sum.to_le_bytes());
    }

    fn decode(bytes: &mut Unpack<'_>) -> Option<Self> {
        let look = Look { len: bytes.u32()? as usize, sum: bytes.u64()? };
        (look.len <= LOOK_BYTES).then_some(look)
    }
}

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    pub(super) path: PathBuf,
    pub(super) part: Range<u64>,
    pub(super) ended: bool,
    pub(super) offset: u64,
    pub(super) records: u64,
    pub(super) head: Look,
    pub(super) tail: Look,
}

impl Position {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION, u8::from(self.ended)];
        pack_bytes(self.path.as_os_str().as_encoded_bytes(), &mut out);
        for number in [self.part.start, self.part.end, self.offset, self.records] {
            out.extend(number.to_le_bytes());
        }
        self.head.encode(&mut out);
        self.tail.encode(&mut out);
        out
    }

    /// From bytes.
    ///
    /// # Errors
    /// When they are no position.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Self::unpack(bytes).ok_or_else(foreign)
    }

    fn unpack(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Unpack::new(bytes);
        let ended = match (bytes.u8()?, bytes.u8()?) {
            (VERSION, ended @ (0 | 1)) => ended == 1,
            _ => return None,
        };
        let path = path_of(bytes.bytes()?)?;
        let part = bytes.u64()?..bytes.u64()?;
        let (offset, records) = (bytes.u64()?, bytes.u64()?);
        let (head, tail) = (Look::decode(&mut bytes)?, Look::decode(&mut bytes)?);
        let fits = head.len as u64 <= offset && tail.len as u64 <= offset;
        (fits && bytes.is_over()).then_some(Position { path, part, ended, offset, records, head, tail })
    }

    /// Whether it is of a part of a file.
    pub(super) fn is_of_part(&self) -> bool {
        self.part != WHOLE
    }
}

#[cold]
fn foreign() -> Error {
    unpack::foreign("a position that no text source of this version has written")
}

/// The part that is a whole file.
pub(super) const WHOLE: Range<u64> = 0..u64::MAX;

/// What the reader of a file has to keep to say where it stands.
#[derive(Debug)]
pub struct Origin {
    path: PathBuf,
    part: Range<u64>,
    /// The file's first bytes.
    head: Vec<u8>,
}

impl Origin {
    /// Of the part `part` of `path`, which begins with `head`.
    pub(super) fn new(path: PathBuf, part: Range<u64>, head: Vec<u8>) -> Self {
        Origin { path, part, head }
    }

    /// Of a file that was opened just now.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn of(path: &Path, part: Range<u64>, file: &mut File) -> io::Result<Self> {
        let head = head_of(file)?;
        file.rewind()?;
        Ok(Origin { path: path.to_path_buf(), part, head })
    }

    /// The position of a reader that stands at `place`.
    pub(super) fn position(&self, place: Place<'_>) -> Position {
        let Place { offset, records, before, over } = place;
        let head = usize::try_from(offset).map_or(self.head.len(), |offset| offset.min(self.head.len()));
        let tail = before.len().saturating_sub(LOOK_BYTES);
        Position {
            path: self.path.clone(),
            part: self.part.clone(),
            ended: over,
            offset,
            records,
            head: Look::of(&self.head[..head]),
            tail: Look::of(&before[tail..]),
        }
    }
}

/// The first bytes from where the file stands.
pub(super) fn head_of(file: &mut File) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    file.take(LOOK_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}
