//! How values of state are written down: the wire format of the postcard crate, which is compact and names no fields.
//!
//! ```text
//! bool, u8, i8      a byte                          str, bytes, char    length, bytes
//! u16 … u128        a varint: seven bits a byte     option              0, or 1 and the value
//! i16 … i128        zigzag, as a varint             seq, map            length, elements
//! f32, f64          bits, little endian             variant             index (u32), content
//! struct, tuple     the fields                      length              usize, as a varint
//! ```
//!
//! The crate itself would bring serde's derive, which its users may not need and whose build is the longest of all
//! dependencies. `tests` compares with it.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub(super) use read::take;
pub(super) use write::append;

use std::fmt;

/// Values inside one another, at most: foreign bytes could else nest so deeply that the stack overflows.
const DEPTH_MAX: usize = 128;

/// Why a value cannot be written or read.
#[derive(Debug)]
pub(super) struct CodecError(String);

impl CodecError {
    #[cold]
    fn new(what: &str) -> Self {
        CodecError(what.to_owned())
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CodecError {}

impl serde_core::ser::Error for CodecError {
    fn custom<T: fmt::Display>(what: T) -> Self {
        CodecError(what.to_string())
    }
}

impl serde_core::de::Error for CodecError {
    fn custom<T: fmt::Display>(what: T) -> Self {
        CodecError(what.to_string())
    }
}
