//! What lines and CSV have in common as formats of a text source.

use super::broken::ReadError;
use super::csv::{CsvOptions, CsvRange, CsvReader};
use super::cut::{csv_ranges, line_ranges};
use super::inputs::Input;
use super::lines::{LineOptions, LineReader};
use super::reading::{Records, Recount};
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// How bytes become records of type `T`.
pub trait Format<T>: Clone + Send + Sync + 'static {
    /// A part of a file.
    type Cut: Clone + Send + Sync + 'static;
    /// The reader of records.
    type Records<R: Read>: Records<T>;

    /// The name of a source of this format.
    fn name(&self) -> &'static str;

    /// Cuts a file into `n` parts.
    ///
    /// # Errors
    /// When the file cannot be read, or its beginning is broken.
    fn cut(&self, path: &Path, n: usize) -> Result<Vec<Self::Cut>, ReadError>;

    /// A reader of a whole input, called `name` in errors.
    fn whole<R: Read>(&self, name: Arc<str>, input: R) -> Self::Records<R>;

    /// A reader of a part of a file.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn part(&self, name: Arc<str>, file: File, cut: Self::Cut) -> io::Result<Self::Records<File>>;

    /// How broken records of a part get their number in the file, where the reader does not know it.
    fn recount(&self, path: &Path) -> Option<Recount>;
}

impl Format<String> for LineOptions {
    type Cut = Range<u64>;
    type Records<R: Read> = LineReader<R>;

    fn name(&self) -> &'static str {
        "lines"
    }

    fn cut(&self, path: &Path, n: usize) -> Result<Vec<Range<u64>>, ReadError> {
        let (_, len) = Input::open(path)?;
        Ok(line_ranges(len, n))
    }

    fn whole<R: Read>(&self, name: Arc<str>, input: R) -> LineReader<R> {
        LineReader::new(name, input, self)
    }

    fn part(&self, name: Arc<str>, file: File, cut: Range<u64>) -> io::Result<LineReader<File>> {
        LineReader::range(name, file, self, cut)
    }

    fn recount(&self, path: &Path) -> Option<Recount> {
        Some(Recount::new(path.to_path_buf()))
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

impl<T: CsvRecord> Format<T> for CsvOptions {
    type Cut = CsvRange;
    type Records<R: Read> = CsvReader<R, T>;

    fn name(&self) -> &'static str {
        "csv"
    }

    fn cut(&self, path: &Path, n: usize) -> Result<Vec<CsvRange>, ReadError> {
        let (file, len) = Input::open(path)?;
        csv_ranges(&path.display().to_string().into(), file, self, len, n)
    }

    fn whole<R: Read>(&self, name: Arc<str>, input: R) -> CsvReader<R, T> {
        CsvReader::new(name, input, self)
    }

    fn part(&self, name: Arc<str>, file: File, cut: CsvRange) -> io::Result<CsvReader<File, T>> {
        CsvReader::range(name, file, self, cut)
    }

    fn recount(&self, _: &Path) -> Option<Recount> {
        None
    }
}
