//! The sinks `text_file` and `csv_file`.

use super::rows::Header;
use super::writers::{LineWriter, RowWriter};
use crate::error::Result;
use crate::sink::Sink;
use crate::stage::OpenCx;
use serde_core::Serialize;
use std::fmt::Display;
use std::path::PathBuf;

/// A sink that writes one `Display` a line; made by [`text_file`].
#[derive(Debug, Clone)]
pub struct TextFile {
    path: PathBuf,
    header: Option<String>,
}

/// A sink that writes records as CSV; made by [`csv_file`].
#[derive(Debug, Clone)]
pub struct CsvFile {
    path: PathBuf,
    header: Header,
}

/// Writes one record a line, as its `Display` says, into a file.
///
/// It is written beside, under a name that ends in `.part-…`, and gets its own when the job has ended well; an
/// existing file is replaced then. There is one file whatever the parallelism: all records go to one writer.
/// The path `-` is standard output, written directly.
///
/// ```
/// # use flow_core::prelude::*;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("words.txt");
/// let job = Job::build("words", |job| {
///     job.add(source(from_vec(vec!["one", "two"])).sink(text_file(&path)));
/// });
/// job.run().unwrap();
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
/// ```
pub fn text_file(path: impl Into<PathBuf>) -> TextFile {
    TextFile { path: path.into(), header: None }
}

/// Writes records as rows of a CSV file, with LF line ends; the file appears as for [`text_file`].
///
/// Structs and tuples within the record are flattened. The first line names the fields of the record type;
/// a type without names, such as a tuple, has no first line unless [`header`](CsvFile::header) gives one. Field
/// names are known with the first record: without one, only a given header is written.
///
/// ```
/// # use flow_core::prelude::*;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("counts.csv");
/// #[derive(serde::Serialize)]
/// struct Count { word: &'static str, n: u64 }
///
/// let job = Job::build("counts", |job| {
///     let words = source(from_vec(vec!["one", "two, three"]));
///     job.add(words.map(|word| Count { word, n: word.len() as u64 }).sink(csv_file(&path)));
/// });
/// job.run().unwrap();
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "word,n\none,3\n\"two, three\",10\n");
/// ```
pub fn csv_file(path: impl Into<PathBuf>) -> CsvFile {
    CsvFile { path: path.into(), header: Header::Fields }
}

impl TextFile {
    /// Writes this line first.
    #[must_use]
    pub fn header(mut self, line: impl Into<String>) -> Self {
        self.header = Some(line.into());
        self
    }
}

impl CsvFile {
    /// Names the columns, also when there is no record.
    #[must_use]
    pub fn header<S: AsRef<str>>(mut self, names: &[S]) -> Self {
        self.header = Header::Given(names.iter().map(|name| name.as_ref().to_string()).collect());
        self
    }

    /// Writes no header.
    #[must_use]
    pub fn no_header(mut self) -> Self {
        self.header = Header::None;
        self
    }
}

#[diagnostic::do_not_recommend]
impl<T: Display + 'static> Sink<T> for TextFile {
    type Writer = LineWriter;
    const SINGLE: bool = true;
    const AT_THE_END: bool = true;

    fn name(&self) -> &'static str {
        "text_file"
    }

    fn open(&self, cx: &mut OpenCx) -> Result<LineWriter> {
        LineWriter::create(&self.path, self.header.as_deref(), cx.metrics().counter("bytes"))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + 'static> Sink<T> for CsvFile {
    type Writer = RowWriter;
    const SINGLE: bool = true;
    const AT_THE_END: bool = true;

    fn name(&self) -> &'static str {
        "csv_file"
    }

    fn open(&self, cx: &mut OpenCx) -> Result<RowWriter> {
        RowWriter::create(&self.path, self.header.clone(), cx.metrics().counter("bytes"))
    }
}
