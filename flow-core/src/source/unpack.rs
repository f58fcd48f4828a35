//! Taking positions apart.

pub(crate) use crate::unpack::Unpack;

use crate::error::{Error, ErrorKind};
use std::path::PathBuf;

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
