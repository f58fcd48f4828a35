//! Taking positions apart: bytes that somebody else may have written.

use crate::error::{Error, ErrorKind};
use std::path::PathBuf;

/// Takes bytes from the front. `None` when there are not so many: nothing is allocated before it is known that the bytes are there.
pub struct Unpack<'a>(&'a [u8]);

impl<'a> Unpack<'a> {
    /// Of these.
    pub fn new(bytes: &'a [u8]) -> Self {
        Unpack(bytes)
    }

    /// What `f` takes from `bytes`, if that is all there is.
    pub fn all<T>(bytes: &'a [u8], f: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mut bytes = Unpack(bytes);
        let found = f(&mut bytes)?;
        bytes.is_over().then_some(found)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    /// A byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    /// Four bytes, little-endian.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Eight bytes, little-endian.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Sixteen bytes, little-endian.
    pub fn i128(&mut self) -> Option<i128> {
        self.array().map(i128::from_le_bytes)
    }

    /// So many bytes as the four before them say.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.u32()? as usize;
        let (first, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(first)
    }

    /// Whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}

/// Appends bytes behind their number.
pub fn pack_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend(bytes);
}

/// A path from its bytes as the system has them.
#[cfg(unix)]
pub fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(bytes).into())
}

/// A path from its bytes, which here have to be UTF-8.
#[cfg(not(unix))]
pub fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

/// What is `what` and not a position of the source that was given it.
#[cold]
pub fn foreign(what: &str) -> Error {
    Error::new(ErrorKind::State, what)
        .note("the checkpoint is of another source under this name, or of another version of this library")
}
