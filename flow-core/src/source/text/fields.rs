//! Splits one CSV record into its fields.

use super::broken::Cause;
use super::frame::Frame;
use csv::StringRecord;
use csv_core::{ReadRecordResult, ReaderBuilder, Terminator};

/// The parser of records, and the buffers it reuses.
#[derive(Debug)]
pub(super) struct Fields {
    delimiter: u8,
    lossy: bool,
    /// Records so far in which invalid UTF-8 was replaced.
    replaced: u64,
    null: Option<String>,
    /// Which fields are put into the record, by position; those behind its end are.
    wanted: Vec<bool>,
    quoted: csv_core::Reader,
    /// Unquoted text of the record's fields, and where each ends in it.
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Fields {
    /// Fields between `delimiter`s; those that read `null` come out empty.
    pub fn new(delimiter: u8, lossy: bool, null: Option<String>) -> Self {
        // Records are framed already: `\n` ends each, and a `\r` that is left is data.
        let mut quoted = ReaderBuilder::new().delimiter(delimiter).terminator(Terminator::Any(b'\n')).build();
        // It drops a byte order mark at the first bytes it is shown; only a file's may go.
        quoted.read_record(b"\n", &mut [0], &mut [0]);
        Fields {
            delimiter,
            lossy,
            replaced: 0,
            null,
            wanted: Vec::new(),
            quoted,
            text: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Records so far in which invalid UTF-8 was replaced.
    pub fn replaced(&self) -> u64 {
        self.replaced
    }

    /// From now on, leaves out the fields that are not wanted.
    pub fn only(&mut self, wanted: Vec<bool>) {
        self.wanted = wanted;
    }

    /// Replaces the fields of `record` by those of `frame`, and tells how many that has.
    pub fn split(&mut self, frame: Frame<'_>, record: &mut StringRecord) -> Result<usize, Cause> {
        record.clear();
        if frame.open_quote {
            return Err(Cause::OpenQuote);
        }
        match std::str::from_utf8(frame.bytes) {
            Ok(text) => Ok(self.split_text(text, frame.quoted, record)),
            Err(_) if self.lossy => {
                self.replaced += 1;
                Ok(self.split_text(&String::from_utf8_lossy(frame.bytes), frame.quoted, record))
            }
            Err(_) => Err(Cause::NotUtf8),
        }
    }

    fn split_text(&mut self, text: &str, quoted: bool, record: &mut StringRecord) -> usize {
        if quoted {
            return self.unquote(text, record);
        }
        let (mut from, mut fields) = (0, 0);
        for at in memchr::memchr_iter(self.delimiter, text.as_bytes()) {
            self.push(fields, &text[from..at], record);
            (from, fields) = (at + 1, fields + 1);
        }
        self.push(fields, &text[from..], record);
        fields + 1
    }

    #[inline]
    fn push(&self, at: usize, field: &str, record: &mut StringRecord) {
        if self.wanted.get(at).is_none_or(|wanted| *wanted) {
            record.push_field(if self.null.as_deref() == Some(field) { "" } else { field });
        }
    }

    fn unquote(&mut self, text: &str, record: &mut StringRecord) -> usize {
        // Room for everything: the text can only shrink, and each field but the first needs a delimiter.
        self.text.resize(text.len(), 0);
        self.ends.resize(text.len() + 1, 0);
        let (_, _, written, mut fields) =
            self.quoted.read_record(text.as_bytes(), &mut self.text, &mut self.ends);
        // Nothing is written here, but the parser asks for room.
        let (result, _, _, last) = self.quoted.read_record(b"\n", &mut [0], &mut self.ends[fields..]);
        debug_assert!(matches!(result, ReadRecordResult::Record), "a framed record is one record");
        fields += last;
        // Quotes and delimiters are ASCII, so taking them out of UTF-8 leaves UTF-8.
        let unquoted = String::from_utf8_lossy(&self.text[..written]);
        let mut from = 0;
        for (at, &end) in self.ends[..fields].iter().enumerate() {
            self.push(at, &unquoted[from..end], record);
            from = end;
        }
        fields
    }
}
