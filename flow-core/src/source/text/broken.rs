//! What can be wrong with text input, and where it is.
//!
//! Every message names the file, the number of the record and the byte offset at which the record
//! starts, so that `tail -c +OFFSET FILE` shows it.

use std::fmt;
use std::sync::Arc;

/// One line or CSV record that could not be read.
///
/// Sources stop with it as their error, or, where the pipeline says `.results()`, yield it as the
/// `Err` of a record and go on with the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The file, or `standard input`, or the address it came from.
    pub file: Arc<str>,
    /// Number of the record, from 1; for CSV without blank lines and without the header, which is 0.
    pub record: u64,
    /// Offset in the file of the record's first byte.
    pub offset_bytes: u64,
    /// What is wrong with it.
    pub cause: Cause,
}

/// Why a record is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The record is not valid UTF-8.
    NotUtf8,
    /// The record is longer than the limit; reading went on behind its end.
    TooLong {
        /// The limit in force.
        limit_bytes: usize,
        /// Whether the record was still inside a quoted field at the limit.
        in_quotes: bool,
    },
    /// A quoted field is still open at the end of the input.
    OpenQuote,
    /// The record has more or fewer fields than the header (or, without one, the first record).
    FieldCount {
        /// Fields of the header.
        expected: usize,
        /// Fields of this record.
        found: usize,
    },
    /// The fields do not make the record type asked for.
    Fields {
        /// The column at fault, where it is known.
        column: Option<String>,
        /// What the field says, where it is known.
        text: Option<String>,
        /// What the deserializer answered.
        message: String,
    },
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.record {
            0 => write!(f, "{}: header", self.file)?,
            record => write!(f, "{}: record {record}", self.file)?,
        }
        write!(f, " at byte {}: {}", self.offset_bytes, self.cause)
    }
}

impl std::error::Error for Broken {}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::NotUtf8 => f.write_str(
                "not valid UTF-8; read the input with `.lossy()` to replace what is invalid, \
                 or with `.results()` to get broken records as values",
            ),
            Cause::TooLong { limit_bytes, in_quotes } => {
                write!(f, "longer than the limit of {limit_bytes} bytes")?;
                if *in_quotes {
                    f.write_str(" and still inside quotes: a quote may be missing; otherwise")?;
                } else {
                    f.write_str(";")?;
                }
                f.write_str(" raise the limit with `.line_limit(bytes)`")
            }
            Cause::OpenQuote => f.write_str("a quoted field is still open at the end of the input"),
            Cause::FieldCount { expected, found } => {
                write!(f, "{found} fields where the header has {expected}")
            }
            Cause::Fields { column, text, message } => {
                if let Some(column) = column {
                    write!(f, "column `{column}`: ")?;
                }
                if let Some(text) = text {
                    write!(f, "`{text}`: ")?;
                }
                f.write_str(message)
            }
        }
    }
}

/// Why reading text failed: a broken record, after which reading may go on, or the input itself.
#[derive(Debug)]
pub enum ReadError {
    /// One record is broken; the next call reads the record behind it.
    Broken(Broken),
    /// The input could not be read; nothing more will come.
    Io {
        /// The file, or `standard input`, or the address it came from.
        file: Arc<str>,
        /// What the system answered: an `io::Error`, boxed, since dropping one is compiled in every crate where it may happen.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Broken(broken) => broken.fmt(f),
            ReadError::Io { file, source } => write!(f, "{file}: cannot be read: {source}"),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReadError::Broken(_) => None,
            ReadError::Io { source, .. } => Some(&**source),
        }
    }
}
