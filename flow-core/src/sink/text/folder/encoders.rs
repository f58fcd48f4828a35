//! Records as bytes: lines, rows of CSV, lines of JSON.

use super::parts::Encoded;
use crate::sink::text::columns;
use crate::sink::text::rows::{Header, Rows};
use crate::sink::text::writers::unfit;
use serde_core::Serialize;
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How a sink writes its records.
pub trait Format: Clone + Send + 'static {
    /// What writes those of one instance.
    type Encoder: Send + 'static;
    /// The name of the sink.
    const NAME: &'static str;
    /// What the names of files end in, unless said otherwise.
    const EXTENSION: &'static str;
    /// For one instance. What files begin with may be known already.
    fn encoder(&self, to: &mut Encoded) -> Self::Encoder;
}

/// A [`Format`] for records `T`.
pub trait Encodes<T>: Format {
    /// Puts the record's bytes in place of those of the one before; with the first it knows what files begin with.
    ///
    /// # Errors
    /// What is wrong with the record.
    fn encode(encoder: &mut Self::Encoder, record: &T, to: &mut Encoded) -> Result<(), String>;
}

/// One `Display` a line: what [`text_files`](super::text_files) writes.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    pub(super) header: Option<String>,
}

impl Format for Lines {
    type Encoder = ();
    const NAME: &'static str = "text_files";
    const EXTENSION: &'static str = "txt";

    fn encoder(&self, to: &mut Encoded) {
        if let Some(header) = &self.header {
            to.head = format!("{header}\n").into_bytes();
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Display + 'static> Encodes<T> for Lines {
    #[inline]
    fn encode((): &mut (), record: &T, to: &mut Encoded) -> Result<(), String> {
        to.record.clear();
        writeln!(to.record, "{record}").map_err(|error| error.to_string())
    }
}

/// Rows of CSV: what [`csv_files`](super::csv_files) writes.
#[derive(Debug, Clone)]
pub struct Csv {
    pub(super) header: Header,
}

/// Writes rows into memory.
pub struct RowEncoder {
    header: Header,
    /// From the first record on.
    rows: Option<Rows<Shared>>,
    bytes: Shared,
}

/// Bytes that the CSV writer has and its owner can take: it does not give them away by itself.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl RowEncoder {
    /// The header stands alone: each file begins with it.
    #[cold]
    fn begin(&mut self, fields: Option<Vec<String>>, to: &mut Encoded) -> csv::Result<Rows<Shared>> {
        let header = match std::mem::replace(&mut self.header, Header::None) {
            Header::Fields => fields.map_or(Header::None, Header::Given),
            header => header,
        };
        let mut rows = Rows::new(self.bytes.clone(), header)?;
        rows.flush()?;
        to.head = std::mem::take(&mut *self.bytes.lock());
        Ok(rows)
    }

    fn row<T: Serialize>(&mut self, record: &T, to: &mut Encoded) -> csv::Result<()> {
        let mut rows = match self.rows.take() {
            Some(rows) => rows,
            None => self.begin(columns::header(record), to)?,
        };
        rows.write(record)?;
        rows.flush()?;
        self.rows = Some(rows);
        to.record.clear();
        std::mem::swap(&mut to.record, &mut *self.bytes.lock());
        Ok(())
    }
}

impl Format for Csv {
    type Encoder = RowEncoder;
    const NAME: &'static str = "csv_files";
    const EXTENSION: &'static str = "csv";

    fn encoder(&self, _: &mut Encoded) -> RowEncoder {
        RowEncoder { header: self.header.clone(), rows: None, bytes: Shared::default() }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + 'static> Encodes<T> for Csv {
    #[inline]
    fn encode(encoder: &mut RowEncoder, record: &T, to: &mut Encoded) -> Result<(), String> {
        encoder.row(record, to).map_err(|error| unfit(&error))
    }
}

/// Lines of JSON: what [`json_files`](super::json_files) writes.
#[cfg(feature = "json")]
#[derive(Debug, Clone, Copy, Default)]
pub struct Json {
    _private: (),
}

#[cfg(feature = "json")]
impl Format for Json {
    type Encoder = ();
    const NAME: &'static str = "json_files";
    const EXTENSION: &'static str = "jsonl";

    fn encoder(&self, _: &mut Encoded) {}
}

#[cfg(feature = "json")]
#[diagnostic::do_not_recommend]
impl<T: Serialize + 'static> Encodes<T> for Json {
    #[inline]
    fn encode((): &mut (), record: &T, to: &mut Encoded) -> Result<(), String> {
        to.record.clear();
        serde_json::to_writer(&mut to.record, record).map_err(|error| error.to_string())?;
        to.record.push(b'\n');
        Ok(())
    }
}
