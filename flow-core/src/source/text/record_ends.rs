//! Where a CSV record ends: at a `\n` that stands outside quotes.
//!
//! The same reading of quotes as the `csv` crate's, byte for byte, or a file could be cut where the
//! parser sees no record start: a quote opens a quoted field only as its first byte; inside, two
//! quotes are one; after the closing quote whatever follows is taken as it stands.

use super::frame::Ends;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    RecordStart,
    FieldStart,
    Field,
    Quoted,
    /// Behind a quote inside a quoted field: it closes the field, unless another one follows.
    QuoteInQuoted,
}

/// A scanner of CSV records.
#[derive(Debug, Clone)]
pub(super) struct RecordEnds {
    delimiter: u8,
    place: Place,
    quoted: bool,
}

impl RecordEnds {
    /// A scanner that stands at a record start.
    pub fn new(delimiter: u8) -> Self {
        RecordEnds { delimiter, place: Place::RecordStart, quoted: false }
    }

    fn after(&self, byte: u8) -> Place {
        if byte == self.delimiter { Place::FieldStart } else { Place::Field }
    }

    /// Whether a quote at `at` of `rest` opens a field.
    fn opens(&self, rest: &[u8], at: usize) -> bool {
        match at.checked_sub(1) {
            Some(before) => rest[before] == self.delimiter,
            None => matches!(self.place, Place::RecordStart | Place::FieldStart),
        }
    }
}

impl Ends for RecordEnds {
    fn find(&mut self, fresh: &[u8]) -> Option<usize> {
        if self.place == Place::RecordStart {
            self.quoted = false;
        }
        let mut at = 0;
        while at < fresh.len() {
            let rest = &fresh[at..];
            let step = match self.place {
                Place::RecordStart | Place::FieldStart | Place::Field => {
                    match memchr::memchr2(b'"', b'\n', rest) {
                        Some(hit) if rest[hit] == b'\n' => {
                            self.place = Place::RecordStart;
                            return Some(at + hit);
                        }
                        Some(hit) => {
                            let opens = self.opens(rest, hit);
                            self.quoted |= opens;
                            self.place = if opens { Place::Quoted } else { Place::Field };
                            hit + 1
                        }
                        None => {
                            self.place = self.after(rest[rest.len() - 1]);
                            rest.len()
                        }
                    }
                }
                Place::Quoted => match memchr::memchr(b'"', rest) {
                    Some(hit) => {
                        self.place = Place::QuoteInQuoted;
                        hit + 1
                    }
                    None => rest.len(),
                },
                Place::QuoteInQuoted if rest[0] == b'"' => {
                    self.place = Place::Quoted;
                    1
                }
                Place::QuoteInQuoted if rest[0] == b'\n' => {
                    self.place = Place::RecordStart;
                    return Some(at);
                }
                Place::QuoteInQuoted => {
                    self.place = self.after(rest[0]);
                    1
                }
            };
            at += step;
        }
        None
    }

    fn in_quotes(&self) -> bool {
        self.place == Place::Quoted
    }

    fn quoted(&self) -> bool {
        self.quoted
    }
}
