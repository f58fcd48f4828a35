//! The sinks `text_file` and `csv_file`.

use super::rows::{Header, Rows};
use super::staged::StagedFile;
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::Counter;
use crate::stage::{Commit, OpenCx};
use serde::Serialize;
use std::fmt::Display;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 64 * 1024;

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
/// existing file is replaced then. Several instances of the sink write a file each: `words.txt`,
/// `words-1.txt`, …
pub fn text_file(path: impl Into<PathBuf>) -> TextFile {
    TextFile { path: path.into(), header: None }
}

/// Writes records as rows of a CSV file, with LF line ends; the file appears as for [`text_file`].
///
/// Structs and tuples within the record are flattened. The first line names the fields of the record type;
/// a type without names, such as a tuple, has no first line unless [`header`](CsvFile::header) gives one. Field
/// names are known with the first record: without one, only a given header is written.
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

/// The file of one instance: the first has the name asked for, the others a number before the extension.
fn instance_path(path: &Path, instance: usize) -> PathBuf {
    let Some(stem) = path.file_stem().filter(|_| instance > 0) else { return path.to_path_buf() };
    let mut name = stem.to_os_string();
    name.push(format!("-{instance}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_instance_has_a_name_of_its_own() {
        let path = |instance| instance_path(Path::new("out/hourly.tar.csv"), instance);
        assert_eq!(path(0), Path::new("out/hourly.tar.csv"));
        assert_eq!(path(2), Path::new("out/hourly.tar-2.csv"));
        assert_eq!(instance_path(Path::new("words"), 1), Path::new("words-1"));
    }
}
