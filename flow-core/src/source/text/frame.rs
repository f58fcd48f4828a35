//! Cuts a byte stream into records: one reused buffer, one limit, one place where offsets are kept.
//!
//! A frame is what stands between two record ends, without the `\n` and without one `\r` before it.
//! What ends a record is asked of [`Ends`], so lines and CSV records share everything else: the byte
//! order mark, the last record without newline, the length limit and byte ranges.

use super::position::Begin;
use std::io::{self, Read, Seek, SeekFrom};

/// First size of the buffer. It grows only for longer records, up to the record limit.
const BUFFER_BYTES: usize = 64 * 1024;

/// The longest record accepted unless the pipeline says otherwise.
pub(super) const RECORD_LIMIT_BYTES: usize = 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Finds the `\n` that ends a record. It is shown every byte exactly once, in order.
pub(super) trait Ends {
    /// Position in `fresh` of the `\n` that ends the current record. `fresh` follows what was shown
    /// before; after a hit the next bytes shown belong to the next record.
    fn find(&mut self, fresh: &[u8]) -> Option<usize>;

    /// Whether the bytes shown so far end inside quotes.
    fn in_quotes(&self) -> bool {
        false
    }

    /// Whether the record that ended last, or is being shown, has a quoted part.
    fn quoted(&self) -> bool {
        false
    }
}

/// A line ends at every `\n`.
#[derive(Debug, Default)]
pub(super) struct LineEnds;

impl Ends for LineEnds {
    #[inline]
    fn find(&mut self, fresh: &[u8]) -> Option<usize> {
        memchr::memchr(b'\n', fresh)
    }
}

/// The bytes of one record and where it starts in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame<'a> {
    pub bytes: &'a [u8],
    pub offset: u64,
    /// Whether some of it is quoted.
    pub quoted: bool,
    /// Whether the input ended inside quotes.
    pub open_quote: bool,
}

#[derive(Debug)]
pub(super) enum FrameError {
    /// The record at `offset` is longer than the limit; it has been passed over.
    TooLong {
        offset: u64,
        in_quotes: bool,
    },
    Io(io::Error),
}

/// The reader of frames. Bytes `start..filled` of the buffer are read but not consumed, and
/// `buffer[0]` is byte `base` of the file.
#[derive(Debug)]
pub(super) struct Frames<R, E> {
    input: R,
    ends: E,
    buffer: Vec<u8>,
    start: usize,
    filled: usize,
    base: u64,
    /// Records that start here or later belong to another range.
    until: u64,
    limit_bytes: usize,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing read yet, and a byte order mark may come.
    AtFileStart,
    Reading,
    Finished,
}

impl<R: Read, E: Ends> Frames<R, E> {
    /// Frames of a whole input, read from its first byte.
    pub fn whole(input: R, ends: E, limit_bytes: usize) -> Self {
        Frames {
            input,
            ends,
            buffer: vec![0; BUFFER_BYTES.min(limit_bytes.saturating_add(2).max(16))],
            start: 0,
            filled: 0,
            base: 0,
            until: u64::MAX,
            limit_bytes,
            state: State::AtFileStart,
        }
    }

    /// The limit on the length of a record.
    pub fn limit_bytes(&self) -> usize {
        self.limit_bytes
    }

    /// Where the next record starts, once the first one was read.
    pub fn next_offset(&self) -> u64 {
        self.base + self.start as u64
    }

    /// Whether nothing comes any more.
    pub fn is_over(&self) -> bool {
        self.state == State::Finished
    }

    /// The bytes before the next record that are still in the buffer: the record before it, at least.
    pub fn before(&self) -> &[u8] {
        &self.buffer[..self.start]
    }

    /// Frames of an input that stands at a record start, behind the bytes `begin.before`.
    pub fn resume(input: R, ends: E, limit_bytes: usize, begin: &Begin) -> Self {
        let mut frames = Frames { until: begin.until, ..Frames::whole(input, ends, limit_bytes) };
        let start = begin.before.len();
        frames.buffer.resize(frames.buffer.len().max(start), 0);
        frames.buffer[..start].copy_from_slice(&begin.before);
        (frames.start, frames.filled, frames.base) = (start, start, begin.offset - start as u64);
        if begin.offset >= begin.until {
            frames.state = State::Finished;
        } else if begin.offset > 0 {
            frames.state = State::Reading;
        }
        frames
    }

    /// Moves to the next record that starts in this range.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        match self.state {
            State::Reading => {}
            State::Finished => return Ok(None),
            State::AtFileStart => self.pass_byte_order_mark()?,
        }
        let offset = self.next_offset();
        let (len, ended) = match self.find_end()? {
            Some(found) => found,
            None => return Ok(None),
        };
        let from = self.start;
        self.consume(len + usize::from(ended));
        let bytes = &self.buffer[from..from + len];
        // A `\r` before the end of the input is data: only a `\n` makes it part of a line end.
        let bytes = if ended { bytes.strip_suffix(b"\r").unwrap_or(bytes) } else { bytes };
        if bytes.len() > self.limit_bytes {
            return Err(FrameError::TooLong { offset, in_quotes: false });
        }
        let open_quote = !ended && self.ends.in_quotes();
        Ok(Some(Frame { bytes, offset, quoted: self.ends.quoted(), open_quote }))
    }

    /// Length of the record at `start`, and whether a `\n` follows it. `None` at the end of input.
    #[inline]
    fn find_end(&mut self) -> Result<Option<(usize, bool)>, FrameError> {
        let mut seen = 0;
        loop {
            if let Some(at) = self.ends.find(&self.buffer[self.start + seen..self.filled]) {
                return Ok(Some((seen + at, true)));
            }
            seen = self.filled - self.start;
            // One byte more than the limit may still be the `\r` of the line end.
            if seen > self.limit_bytes.saturating_add(1) {
                return Err(self.pass_long_record());
            }
            if !self.fill()? {
                // Whatever it grows by from here on: the rest of a record that was given without its end is none.
                self.state = State::Finished;
                return Ok((seen > 0).then_some((seen, false)));
            }
        }
    }

    fn consume(&mut self, bytes: usize) {
        self.start += bytes;
        if self.next_offset() >= self.until {
            self.state = State::Finished;
        }
    }

    #[cold]
    fn pass_long_record(&mut self) -> FrameError {
        let (offset, in_quotes) = (self.next_offset(), self.ends.in_quotes());
        self.start = self.filled;
        match self.pass_end() {
            Ok(()) => FrameError::TooLong { offset, in_quotes },
            Err(error) => error,
        }
    }

    /// Drops everything up to and with the next end; the bytes in the buffer are unseen.
    fn pass_end(&mut self) -> Result<(), FrameError> {
        loop {
            if let Some(at) = self.ends.find(&self.buffer[self.start..self.filled]) {
                self.consume(at + 1);
                return Ok(());
            }
            self.start = self.filled;
            if !self.fill()? {
                self.state = State::Finished;
                return Ok(());
            }
        }
    }

    #[cold]
    fn pass_byte_order_mark(&mut self) -> Result<(), FrameError> {
        self.state = State::Reading;
        while self.filled < BYTE_ORDER_MARK.len() && self.fill()? {}
        if self.buffer[..self.filled].starts_with(BYTE_ORDER_MARK) {
            self.start = BYTE_ORDER_MARK.len();
        }
        Ok(())
    }

    /// Reads more behind `filled`, making room first. False at the end of the input.
    fn fill(&mut self) -> Result<bool, FrameError> {
        if self.filled == self.buffer.len() {
            self.make_room();
        }
        loop {
            match self.input.read(&mut self.buffer[self.filled..]) {
                Ok(read) => {
                    self.filled += read;
                    return Ok(read > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.state = State::Finished;
                    return Err(FrameError::Io(error));
                }
            }
        }
    }

    #[cold]
    fn make_room(&mut self) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.filled, 0);
            self.base += self.start as u64;
            self.filled -= self.start;
            self.start = 0;
        } else {
            // `find_end` has refused what is longer than the limit, so this stays below twice of it.
            let len = self.buffer.len().saturating_mul(2).min(self.limit_bytes.saturating_add(2));
            self.buffer.resize(len.max(self.filled + 1), 0);
        }
    }
}

impl<R: Read + Seek, E: Ends> Frames<R, E> {
    /// Frames of the records that start in `from..until`, wherever those cut the file.
    ///
    /// The byte before the range is read too: only it tells whether a record starts at `from`.
    /// `ends` must be in step there, so for CSV `from` has to be a record start or 0.
    pub fn range(mut input: R, ends: E, limit_bytes: usize, from: u64, until: u64) -> io::Result<Self> {
        if 0 < from && from < until {
            input.seek(SeekFrom::Start(from - 1))?;
        }
        let mut frames = Frames { until, ..Frames::whole(input, ends, limit_bytes) };
        if from >= until {
            (frames.base, frames.state) = (from, State::Finished);
        } else if from > 0 {
            frames.base = from - 1;
            frames.state = State::Reading;
            frames.pass_end().or_else(|error| match error {
                FrameError::Io(error) => Err(error),
                FrameError::TooLong { .. } => Ok(()),
            })?;
        }
        Ok(frames)
    }
}
