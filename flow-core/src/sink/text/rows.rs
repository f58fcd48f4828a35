//! Records as CSV rows.

use super::columns;
use serde_core::Serialize;
use std::io::Write;

/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 64 * 1024;

/// What stands in the first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Header {
    /// The names of the record type's fields, known with the first record.
    Fields,
    /// No header.
    None,
    /// These names, written even when no record follows.
    Given(Vec<String>),
}

/// Writes rows, with LF line ends.
pub(super) struct Rows<W: Write> {
    writer: csv::Writer<W>,
    header: Header,
}

impl<W: Write> Rows<W> {
    /// Writes the header, if it is known already.
    pub fn new(output: W, header: Header) -> csv::Result<Self> {
        let mut writer = csv::WriterBuilder::new()
            .has_headers(false)
            .terminator(csv::Terminator::Any(b'\n'))
            .buffer_capacity(BUFFER_BYTES)
            .from_writer(output);
        if let Header::Given(names) = &header {
            writer.write_record(names)?;
        }
        Ok(Rows { writer, header })
    }

    /// Writes one record.
    #[inline]
    pub fn write<T: Serialize>(&mut self, record: &T) -> csv::Result<()> {
        if self.header == Header::Fields {
            self.write_header(record)?;
        }
        self.writer.serialize(record)
    }

    #[cold]
    fn write_header<T: Serialize>(&mut self, record: &T) -> csv::Result<()> {
        self.header = Header::None;
        columns::header(record).map_or(Ok(()), |names| self.writer.write_record(names))
    }

    /// Gives what was gathered to the output.
    pub fn flush(&mut self) -> std::io::Result<()> {
        self.writer.flush()
    }

    /// The output.
    pub fn output(&self) -> &W {
        self.writer.get_ref()
    }

    /// The output, with everything written.
    pub fn into_output(self) -> std::io::Result<W> {
        self.writer.into_inner().map_err(csv::IntoInnerError::into_error)
    }
}
