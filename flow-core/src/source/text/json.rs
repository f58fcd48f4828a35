//! JSON lines as values of a type that serde can make.

use super::broken::{Cause, ReadError};
use super::cut::line_ranges;
use super::files::TextFiles;
use super::format::Format;
use super::inputs::{Input, Inputs};
use super::lines::{LineOptions, LineReader};
use super::part::{Opened, Part, open, parts, reopen};
use super::position::{Begin, Place, Position};
use super::pump::{Bytes, ForStage, Pumped, pump};
use super::reading::{Fail, Records, Recount};
use crate::error::Result;
use serde_core::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// How JSON lines are read: as lines are.
#[derive(Debug, Clone, Default)]
pub struct JsonOptions(LineOptions);

/// The source made by [`json_lines`].
pub type JsonLines<T, B = Fail> = TextFiles<T, JsonOptions, B>;

/// The records of files with a JSON value a line, as values of `T`; the inputs are named as for [`lines`](super::lines).
///
/// `T` is a [`JsonRecord`]. Lines end as those of [`lines`](super::lines) do; blank ones are passed over. A line that is no JSON or does not make a `T` ends the
/// job with an error that names the file, the number of the line and its offset, unless the source says otherwise. Needs the
/// feature `json`.
///
/// ```
/// # use flow_core::prelude::*;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("rides.jsonl");
/// #[derive(serde::Deserialize)]
/// struct Ride { city: String, fare: Option<f64> }
///
/// std::fs::write(&path, "{\"city\": \"Oslo\", \"fare\": 12.5}\n\n{\"city\": \"Rome\"}\n").unwrap();
/// let out = Collected::new();
/// let job = Job::build("doc", |job| {
///     job.add(source(json_lines::<Ride>(&path)).map(|r| (r.city, r.fare)).collect(&out));
/// });
/// job.run().unwrap();
/// assert_eq!(out.take(), [("Oslo".to_string(), Some(12.5)), ("Rome".to_string(), None)]);
/// ```
pub fn json_lines<T>(inputs: impl Into<Inputs>) -> JsonLines<T> {
    TextFiles::new(inputs.into(), JsonOptions::default())
}

impl<T, B> JsonLines<T, B> {
    /// Replaces invalid UTF-8 by U+FFFD instead of failing, and counts the lines in `invalid`.
    #[must_use]
    pub fn lossy(mut self) -> Self {
        self.format.0.lossy = true;
        self
    }

    /// The longest line accepted, instead of 1 MiB.
    #[must_use]
    pub fn line_limit(mut self, bytes: usize) -> Self {
        self.format.0.limit_bytes = bytes;
        self
    }
}

/// Reads the values of JSON lines one at a time.
///
/// ```
/// use flow_core::source::text::{JsonOptions, JsonReader};
///
/// let mut numbers = JsonReader::new("a.jsonl", &b"[1, 2]\n\n[3]\n"[..], &JsonOptions::default());
/// assert_eq!(numbers.next_value().unwrap(), Some(vec![1, 2]));
/// assert_eq!(numbers.next_value().unwrap(), Some(vec![3]));
/// assert_eq!(numbers.next_value().unwrap(), None);
/// ```
#[derive(Debug)]
pub struct JsonReader<R, T> {
    lines: LineReader<R>,
    made: PhantomData<fn() -> T>,
}

impl<R: Read, T: DeserializeOwned> JsonReader<R, T> {
    /// Reads a whole input; `file` is its name in errors.
    pub fn new(file: impl Into<Arc<str>>, input: R, options: &JsonOptions) -> Self {
        Self::over(LineReader::new(file, input, &options.0))
    }

    fn over(lines: LineReader<R>) -> Self {
        JsonReader { lines, made: PhantomData }
    }

    fn resume(file: Arc<str>, input: R, options: &JsonOptions, begin: &Begin) -> Self {
        Self::over(LineReader::resume(file, input, &options.0, begin))
    }

    /// The next value, or `None` at the end. After [`ReadError::Broken`] reading may go on.
    ///
    /// # Errors
    /// When the line is not a `T`, too long or not UTF-8, and when the input cannot be read.
    pub fn next_value(&mut self) -> Result<Option<T>, ReadError> {
        loop {
            let Some(line) = self.lines.next_line()? else { return Ok(None) };
            if line.bytes().all(|byte| byte.is_ascii_whitespace()) {
                continue;
            }
            let value = serde_json::from_str(&line);
            return value.map(Some).map_err(|error| self.lines.broken(cause(&error)));
        }
    }
}

/// Of a place in the text, which is one line, only the column is of use.
#[cold]
fn cause(error: &serde_json::Error) -> Cause {
    let message = error.to_string().replace(" at line 1 column ", " at column ");
    Cause::Fields { column: None, text: None, message }
}

impl<T: DeserializeOwned, R: Read> Records<T> for JsonReader<R, T> {
    #[inline]
    fn next(&mut self) -> Result<Option<T>, ReadError> {
        self.next_value()
    }

    fn replaced(&self) -> u64 {
        self.lines.lines_replaced()
    }

    fn place(&self) -> Place<'_> {
        self.lines.place()
    }
}

/// What `json_lines` can make: whatever serde can. Asked for where the stream begins, as for
/// [`CsvRecord`](super::CsvRecord).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from JSON: it is not `serde::Deserialize`",
    label = "records of type `{Self}` cannot be made",
    note = "write `#[derive(serde::Deserialize)]` above `{Self}`; its fields are named as those of the JSON objects are"
)]
pub trait JsonRecord: DeserializeOwned + 'static {}
#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + 'static> JsonRecord for T {}

impl<T: JsonRecord + Send> Format<T> for JsonOptions {
    type Cut = Range<u64>;
    type Records = JsonReader<File, T>;
    type Opened = Opened<T, JsonReader<File, T>>;

    fn name(&self) -> &'static str {
        "json_lines"
    }

    fn cut(&self, path: &Path, n: usize) -> Result<Vec<Range<u64>>, ReadError> {
        Ok(line_ranges(Input::open(path)?.1, n))
    }

    fn bytes(&self, cut: &Range<u64>) -> Range<u64> {
        cut.clone()
    }

    fn whole(&self, name: Arc<str>, file: File) -> JsonReader<File, T> {
        JsonReader::new(name, file, self)
    }

    fn part(&self, name: Arc<str>, file: File, cut: Range<u64>) -> io::Result<JsonReader<File, T>> {
        Ok(JsonReader::over(LineReader::range(name, file, &self.0, cut)?))
    }

    fn resume(&self, name: Arc<str>, file: File, begin: &Begin) -> Result<JsonReader<File, T>, ReadError> {
        Ok(JsonReader::resume(name, file, self, begin))
    }

    fn pumped(&self, name: Arc<str>, input: Bytes, stage: ForStage) -> io::Result<Pumped<T>> {
        let options = self.clone();
        pump(input, move |bytes| JsonReader::new(name, bytes, &options), None, stage)
    }

    fn recount(&self, path: &Path) -> Option<Recount> {
        Some(Recount::new(path.to_path_buf()))
    }

    fn parts(&self, inputs: &Inputs, splits: usize) -> Result<Vec<Part<Range<u64>>>, ReadError> {
        parts::<T, Self>(self, inputs, splits)
    }

    fn open(&self, part: Part<Range<u64>>, stage: ForStage) -> Result<Self::Opened, ReadError> {
        open(self, part, stage)
    }

    fn reopen(&self, position: &Position, stage: ForStage) -> Result<Self::Opened> {
        reopen(self, position, stage)
    }
}
