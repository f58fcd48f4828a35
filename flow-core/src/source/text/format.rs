//! What lines and CSV have in common as formats of a text source.

use super::broken::ReadError;
use super::csv::{CsvOptions, CsvRange, CsvReader};
use super::cut::{csv_ranges, line_ranges};
use super::inputs::{Input, Inputs};
use super::lines::{LineOptions, LineReader};
use super::part::{Opened, Part, open, parts, reopen};
use super::position::{Begin, Position};
use super::pump::{Bytes, ForStage, Pumped, pump};
use super::reading::{Next, Reads, Records, Recount};
use crate::error::Result;
use serde_core::de::DeserializeOwned;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// How bytes become records of type `T`.
///
/// [`parts`](Format::parts) and [`open`](Format::open) are the same for all formats, and still required: what `lines` needs of
/// them is compiled here, and not again with every pipeline that reads lines.
pub trait Format<T>: Clone + Send + Sync + 'static {
    /// A part of a file.
    type Cut: Clone + Send + Sync + 'static;
    /// The reader of a file's records.
    type Records: Records<T> + Send + 'static;
    /// The reader of a partition.
    type Opened: Reads<T>;

    /// The name of a source of this format.
    fn name(&self) -> &'static str;

    /// Cuts a file into `n` parts.
    ///
    /// # Errors
    /// When the file cannot be read, or its beginning is broken.
    fn cut(&self, path: &Path, n: usize) -> Result<Vec<Self::Cut>, ReadError>;

    /// Which bytes of the file a part is.
    fn bytes(&self, cut: &Self::Cut) -> Range<u64>;

    /// A reader of a whole file, called `name` in errors.
    fn whole(&self, name: Arc<str>, file: File) -> Self::Records;

    /// A reader of a part of a file.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn part(&self, name: Arc<str>, file: File, cut: Self::Cut) -> io::Result<Self::Records>;

    /// A reader that goes on in a file, which stands at a position.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn resume(&self, name: Arc<str>, file: File, begin: &Begin) -> Result<Self::Records, ReadError>;

    /// A reader of what may keep it waiting, on a thread of its own.
    ///
    /// # Errors
    /// When the system gives no thread.
    fn pumped(&self, name: Arc<str>, input: Bytes, stage: ForStage) -> io::Result<Pumped<T>>;

    /// How broken records of a part get their number in the file, where the reader does not know it.
    fn recount(&self, path: &Path) -> Option<Recount>;

    /// Finds and cuts the inputs.
    ///
    /// # Errors
    /// When there is nothing to read, or it cannot be opened.
    fn parts(&self, inputs: &Inputs, splits: usize) -> Result<Vec<Part<Self::Cut>>, ReadError>;

    /// Opens a partition.
    ///
    /// # Errors
    /// When it cannot be opened.
    fn open(&self, part: Part<Self::Cut>, stage: ForStage) -> Result<Self::Opened, ReadError>;

    /// Opens a partition where its reader stood.
    ///
    /// # Errors
    /// When it cannot be opened, or is another one.
    fn reopen(&self, position: &Position, stage: ForStage) -> Result<Self::Opened>;
}

/// An opened partition of lines; its methods are compiled here.
pub struct OpenLines(Opened<String, LineReader<File>>);

impl OpenLines {
    /// Over what a thread reads.
    pub(super) fn pumped(pumped: Pumped<String>) -> Self {
        OpenLines(Opened::Pumped(pumped))
    }
}

impl Reads<String> for OpenLines {
    fn next(&mut self) -> Result<Next<String>> {
        self.0.next()
    }

    fn position(&self) -> Option<Vec<u8>> {
        self.0.position()
    }
}

impl Format<String> for LineOptions {
    type Cut = Range<u64>;
    type Records = LineReader<File>;
    type Opened = OpenLines;

    fn name(&self) -> &'static str {
        "lines"
    }

    fn cut(&self, path: &Path, n: usize) -> Result<Vec<Range<u64>>, ReadError> {
        let (_, len) = Input::open(path)?;
        Ok(line_ranges(len, n))
    }

    fn bytes(&self, cut: &Range<u64>) -> Range<u64> {
        cut.clone()
    }

    fn whole(&self, name: Arc<str>, file: File) -> LineReader<File> {
        LineReader::new(name, file, self)
    }

    fn part(&self, name: Arc<str>, file: File, cut: Range<u64>) -> io::Result<LineReader<File>> {
        LineReader::range(name, file, self, cut)
    }

    fn resume(&self, name: Arc<str>, file: File, begin: &Begin) -> Result<LineReader<File>, ReadError> {
        Ok(LineReader::resume(name, file, self, begin))
    }

    fn pumped(&self, name: Arc<str>, input: Bytes, stage: ForStage) -> io::Result<Pumped<String>> {
        let options = self.clone();
        pump(input, move |bytes| LineReader::new(name, bytes, &options), None, stage)
    }

    fn recount(&self, path: &Path) -> Option<Recount> {
        Some(Recount::new(path.to_path_buf()))
    }

    fn parts(&self, inputs: &Inputs, splits: usize) -> Result<Vec<Part<Range<u64>>>, ReadError> {
        parts(self, inputs, splits)
    }

    fn open(&self, part: Part<Range<u64>>, stage: ForStage) -> Result<OpenLines, ReadError> {
        Ok(OpenLines(open(self, part, stage)?))
    }

    fn reopen(&self, position: &Position, stage: ForStage) -> Result<OpenLines> {
        Ok(OpenLines(reopen(self, position, stage)?))
    }
}

/// What `csv` can make: whatever serde can.
///
/// It is asked for where the stream begins and not by `csv` itself, so that it is missed once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from CSV: it is not `serde::Deserialize`",
    label = "records of type `{Self}` cannot be made",
    note = "write `#[derive(serde::Deserialize)]` above `{Self}`; its fields are named as the columns are"
)]
pub trait CsvRecord: DeserializeOwned + 'static {}
#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + 'static> CsvRecord for T {}

impl<T: CsvRecord + Send> Format<T> for CsvOptions {
    type Cut = CsvRange;
    type Records = CsvReader<File, T>;
    type Opened = Opened<T, CsvReader<File, T>>;

    fn name(&self) -> &'static str {
        "csv"
    }

    fn cut(&self, path: &Path, n: usize) -> Result<Vec<CsvRange>, ReadError> {
        let (file, len) = Input::open(path)?;
        csv_ranges(&path.display().to_string().into(), file, self, len, n)
    }

    fn bytes(&self, cut: &CsvRange) -> Range<u64> {
        cut.bytes.clone()
    }

    fn whole(&self, name: Arc<str>, file: File) -> CsvReader<File, T> {
        CsvReader::new(name, file, self)
    }

    fn part(&self, name: Arc<str>, file: File, cut: CsvRange) -> io::Result<CsvReader<File, T>> {
        CsvReader::range(name, file, self, cut)
    }

    fn resume(&self, name: Arc<str>, file: File, begin: &Begin) -> Result<CsvReader<File, T>, ReadError> {
        CsvReader::resume(name, file, self, begin)
    }

    fn pumped(&self, name: Arc<str>, input: Bytes, stage: ForStage) -> io::Result<Pumped<T>> {
        let options = self.clone();
        pump(input, move |bytes| CsvReader::new(name, bytes, &options), None, stage)
    }

    fn recount(&self, _: &Path) -> Option<Recount> {
        None
    }

    fn parts(&self, inputs: &Inputs, splits: usize) -> Result<Vec<Part<CsvRange>>, ReadError> {
        parts::<T, Self>(self, inputs, splits)
    }

    fn open(&self, part: Part<CsvRange>, stage: ForStage) -> Result<Self::Opened, ReadError> {
        open(self, part, stage)
    }

    fn reopen(&self, position: &Position, stage: ForStage) -> Result<Self::Opened> {
        reopen(self, position, stage)
    }
}
