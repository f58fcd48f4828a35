//! Lines of text, from any reader or from a byte range of a file.

use super::broken::{Broken, Cause, ReadError};
use super::frame::{FrameError, Frames, LineEnds, RECORD_LIMIT_BYTES};
use super::position::{Begin, Place};
use std::borrow::Cow;
use std::io::{self, Read, Seek};
use std::ops::Range;
use std::sync::Arc;

/// How lines are read.
#[derive(Debug, Clone)]
pub struct LineOptions {
    /// Replace invalid UTF-8 by U+FFFD instead of failing.
    pub lossy: bool,
    /// The longest line accepted, without its end.
    pub limit_bytes: usize,
}

impl Default for LineOptions {
    fn default() -> Self {
        LineOptions { lossy: false, limit_bytes: RECORD_LIMIT_BYTES }
    }
}

/// Reads lines one at a time into a buffer of its own.
///
/// A line ends at `\n`; one `\r` before it is dropped; the last line needs no end; a byte order mark
/// is dropped at the start of the file only.
///
/// ```
/// use flow_core::source::text::{LineOptions, LineReader};
///
/// let mut lines = LineReader::new("a.txt", &b"one\r\ntwo"[..], &LineOptions::default());
/// assert_eq!(lines.next_line().unwrap().as_deref(), Some("one"));
/// assert_eq!(lines.next_line().unwrap().as_deref(), Some("two"));
/// assert_eq!(lines.next_line().unwrap(), None);
/// ```
#[derive(Debug)]
pub struct LineReader<R> {
    file: Arc<str>,
    frames: Frames<R, LineEnds>,
    lossy: bool,
    /// Lines read so far, counted from the start of the range.
    lines: u64,
    offset: u64,
    replaced: u64,
}

impl<R: Read> LineReader<R> {
    /// Reads a whole input; `file` is its name in errors.
    pub fn new(file: impl Into<Arc<str>>, input: R, options: &LineOptions) -> Self {
        Self::over(file.into(), Frames::whole(input, LineEnds, options.limit_bytes), options)
    }

    fn over(file: Arc<str>, frames: Frames<R, LineEnds>, options: &LineOptions) -> Self {
        LineReader { file, frames, lossy: options.lossy, lines: 0, offset: 0, replaced: 0 }
    }

    /// Goes on in an input that stands at a position.
    pub(super) fn resume(file: Arc<str>, input: R, options: &LineOptions, begin: &Begin) -> Self {
        let frames = Frames::resume(input, LineEnds, options.limit_bytes, begin);
        LineReader { lines: begin.records, ..Self::over(file, frames, options) }
    }

    /// Where it stands.
    pub(super) fn place(&self) -> Place<'_> {
        let frames = &self.frames;
        Place {
            offset: frames.next_offset(),
            records: self.lines,
            before: frames.before(),
            over: frames.is_over(),
        }
    }

    /// The next line, or `None` at the end. After [`ReadError::Broken`] reading may go on.
    ///
    /// # Errors
    /// When the line is too long or not UTF-8, and when the input cannot be read.
    #[inline]
    pub fn next_line(&mut self) -> Result<Option<Cow<'_, str>>, ReadError> {
        self.lines += 1;
        // Field by field, so that the line may keep borrowing the buffer.
        let LineReader { file, frames, lossy, lines, offset, replaced } = self;
        let limit_bytes = frames.limit_bytes();
        let frame = match frames.next() {
            Ok(Some(frame)) => frame,
            Ok(None) => return Ok(None),
            Err(error) => return Err(read_error(file, *lines, limit_bytes, error)),
        };
        *offset = frame.offset;
        match std::str::from_utf8(frame.bytes) {
            Ok(text) => Ok(Some(Cow::Borrowed(text))),
            Err(_) if *lossy => {
                *replaced += 1;
                Ok(Some(String::from_utf8_lossy(frame.bytes)))
            }
            Err(_) => Err(broken(file, *lines, frame.offset, Cause::NotUtf8)),
        }
    }

    /// The line last read, as a broken record.
    #[cfg(feature = "json")]
    #[cold]
    pub(super) fn broken(&self, cause: Cause) -> ReadError {
        broken(&self.file, self.lines, self.offset, cause)
    }

    /// Lines so far in which invalid UTF-8 was replaced.
    pub fn lines_replaced(&self) -> u64 {
        self.replaced
    }

    /// Offset in the file of the line last read.
    pub fn offset_bytes(&self) -> u64 {
        self.offset
    }

    /// Where the line after the one last read starts: reading resumes there with
    /// [`LineReader::range`].
    pub fn next_offset_bytes(&self) -> u64 {
        self.frames.next_offset()
    }
}

impl<R: Read + Seek> LineReader<R> {
    /// Reads the lines that start in a byte range of a file, wherever the range cuts it: ranges that
    /// cover the file without overlap give each line exactly once.
    ///
    /// Numbers of broken records count from the start of the range.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub fn range(
        file: impl Into<Arc<str>>,
        input: R,
        options: &LineOptions,
        bytes: Range<u64>,
    ) -> io::Result<Self> {
        let frames = Frames::range(input, LineEnds, options.limit_bytes, bytes.start, bytes.end)?;
        Ok(Self::over(file.into(), frames, options))
    }
}

#[cold]
pub(super) fn broken(file: &Arc<str>, record: u64, offset_bytes: u64, cause: Cause) -> ReadError {
    ReadError::Broken(Broken { file: file.clone(), record, offset_bytes, cause })
}

#[cold]
pub(super) fn read_error(file: &Arc<str>, record: u64, limit_bytes: usize, error: FrameError) -> ReadError {
    match error {
        FrameError::TooLong { offset, in_quotes } => {
            broken(file, record, offset, Cause::TooLong { limit_bytes, in_quotes })
        }
        FrameError::Io(source) => ReadError::Io { file: file.clone(), source: source.into() },
    }
}
