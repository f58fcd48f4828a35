//! The sinks `text_files`, `csv_files` and `json_files`, and their options.

#[cfg(feature = "json")]
use super::encoders::Json;
use super::encoders::{Csv, Format, Lines};
use super::names::is_extension;
use super::partitioning::{By, Whole};
use super::place::Place;
use crate::error::{Error, ErrorKind, Result};
use crate::sink::text::rows::Header;
use crate::time::Millis;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many files an instance has open, unless said otherwise.
const OPEN_MAX: usize = 64;

/// A sink that writes files of a folder, each of which appears when its checkpoint is complete; made by [`text_files`], [`csv_files`] and
/// `json_files`.
#[derive(Debug, Clone)]
pub struct Files<F, P = Whole> {
    pub(super) place: Arc<Place>,
    pub(super) options: Options,
    pub(super) format: F,
    pub(super) partition: P,
}

/// When a file ends, and how it is called.
#[derive(Debug, Clone)]
pub(super) struct Options {
    pub roll_bytes: Option<u64>,
    pub roll_every: Option<Millis>,
    pub max_open: usize,
    pub extension: String,
}

/// Writes one record a line, as its `Display` says, into files of a folder.
///
/// Each parallel instance writes files of its own. In a pipeline with checkpoints a file gets its name,
/// `part-CHECKPOINT-INSTANCE-NUMBER.txt`, when its checkpoint is complete, and so each record stands there once, whatever kills the
/// process and how often. Before, it has a hidden name that ends in `.staged`. In a job without checkpoints all files appear together, when it
/// has ended well.
///
/// The folder is made where it is missing. It belongs to this sink alone, and a job that starts from the beginning wants it without
/// results: there is an error before anything is read if not. The file `.lock` in it stays.
///
/// ```
/// # use flow_core::prelude::*;
/// # let parent = tempfile::tempdir().unwrap();
/// # let folder = parent.path().join("words");
/// let job = Job::build("words", |job| {
///     job.add(source(from_vec(vec!["one", "two"])).sink(text_files(&folder)));
/// });
/// job.run().unwrap();
/// let written = std::fs::read_to_string(folder.join("part-0000000000-000-00000.txt")).unwrap();
/// assert_eq!(written, "one\ntwo\n");
/// ```
///
/// With checkpoints:
///
/// ```
/// # use flow_core::prelude::*;
/// # let parent = tempfile::tempdir().unwrap();
/// # let (folder, state) = (parent.path().join("words"), parent.path().join("state"));
/// let job = Job::build("words", |job| {
///     job.add(source(from_iter(0..3)).durable().sink(text_files(&folder)));
/// });
/// job.checkpoints(Checkpoints::to(state)).run().unwrap();
/// let written = std::fs::read_to_string(folder.join("part-0000000001-000-00000.txt")).unwrap();
/// assert_eq!(written, "0\n1\n2\n");
/// ```
pub fn text_files(folder: impl Into<PathBuf>) -> Files<Lines> {
    Files::new(folder.into(), Lines::default())
}

/// Writes records as rows of CSV into files of a folder, which appear as for [`text_files`]. Rows and headers are those of
/// [`csv_file`](crate::sink::csv_file); each file has the header.
///
/// ```
/// # use flow_core::prelude::*;
/// # let parent = tempfile::tempdir().unwrap();
/// # let folder = parent.path().join("sales");
/// #[derive(serde::Serialize)]
/// struct Sale { region: &'static str, cents: u64 }
///
/// let job = Job::build("sales", |job| {
///     let sales = source(from_vec(vec![("north", 5), ("south", 7), ("north", 2)]));
///     let sales = sales.map(|(region, cents)| Sale { region, cents });
///     job.add(sales.sink(csv_files(&folder).partition_by(|sale: &Sale| sale.region)));
/// });
/// job.run().unwrap();
/// let north = std::fs::read_to_string(folder.join("north/part-0000000000-000-00000.csv")).unwrap();
/// assert_eq!(north, "region,cents\nnorth,5\nnorth,2\n");
/// ```
pub fn csv_files(folder: impl Into<PathBuf>) -> Files<Csv> {
    Files::new(folder.into(), Csv { header: Header::Fields })
}

/// Writes each record as a line of JSON into files of a folder, which appear as for [`text_files`]; lines are those of
/// [`json_file`](crate::sink::json_file). Needs the feature `json`.
///
/// ```
/// # use flow_core::prelude::*;
/// # let parent = tempfile::tempdir().unwrap();
/// # let folder = parent.path().join("sales");
/// let job = Job::build("sales", |job| {
///     let sales = source(from_vec(vec![("north", 5), ("south", 7)]));
///     job.add(sales.sink(json_files(&folder).roll_bytes(10)));
/// });
/// job.run().unwrap();
/// let first = std::fs::read_to_string(folder.join("part-0000000000-000-00000.jsonl")).unwrap();
/// let second = std::fs::read_to_string(folder.join("part-0000000000-000-00001.jsonl")).unwrap();
/// assert_eq!((first.as_str(), second.as_str()), ("[\"north\",5]\n", "[\"south\",7]\n"));
/// ```
#[cfg(feature = "json")]
pub fn json_files(folder: impl Into<PathBuf>) -> Files<Json> {
    Files::new(folder.into(), Json::default())
}

impl<F: Format> Files<F> {
    fn new(folder: PathBuf, format: F) -> Self {
        let extension = F::EXTENSION.to_owned();
        let options = Options { roll_bytes: None, roll_every: None, max_open: OPEN_MAX, extension };
        Files { place: Arc::new(Place::new(folder)), options, format, partition: Whole::default() }
    }

    /// Writes into a sub-folder for each value that `f` gives, by its `Display`: of a key, or of a time.
    ///
    /// What a name of a folder cannot hold is written as `%2F`, the empty text as `%empty`: no two values share a folder, and none
    /// leaves this one. Each instance that has records of a value writes a file for it: many values make many small files.
    #[must_use]
    pub fn partition_by<T, D: Display, G: Fn(&T) -> D + Clone + Send + 'static>(
        self,
        f: G,
    ) -> Files<F, By<G>> {
        let Files { place, options, format, .. } = self;
        Files { place, options, format, partition: By(f) }
    }
}

impl<F, P> Files<F, P> {
    /// Closes a file that has so many bytes, and begins the next; at least 1. It appears with its checkpoint none the less.
    #[must_use]
    pub fn roll_bytes(mut self, bytes: u64) -> Self {
        self.options.roll_bytes = Some(bytes);
        self
    }

    /// Puts a record that comes `every` or more after its file was begun, by the host's clock, into the next file. Both appear with
    /// their checkpoint.
    #[must_use]
    pub fn roll_every(mut self, every: impl Into<Millis>) -> Self {
        self.options.roll_every = Some(every.into());
        self
    }

    /// What the names of files end in, behind the dot.
    #[must_use]
    pub fn extension(mut self, extension: impl Into<String>) -> Self {
        self.options.extension = extension.into();
        self
    }

    /// How many files an instance may have open at once; at least 1. With more partitions it closes and opens them in turn.
    #[must_use]
    pub fn max_open(mut self, files: usize) -> Self {
        self.options.max_open = files;
        self
    }
}

impl<P> Files<Lines, P> {
    /// Each file begins with this line.
    #[must_use]
    pub fn header(mut self, line: impl Into<String>) -> Self {
        self.format.header = Some(line.into());
        self
    }
}

impl<P> Files<Csv, P> {
    /// Names the columns.
    #[must_use]
    pub fn header<S: AsRef<str>>(mut self, names: &[S]) -> Self {
        self.format.header = Header::Given(names.iter().map(|name| name.as_ref().to_string()).collect());
        self
    }

    /// Writes no header.
    #[must_use]
    pub fn no_header(mut self) -> Self {
        self.format.header = Header::None;
        self
    }
}

impl Options {
    /// # Errors
    /// When one cannot be meant.
    pub fn check(&self, folder: &Path) -> Result<()> {
        let wrong = if self.roll_bytes == Some(0) {
            "`roll_bytes(0)`: a file has at least 1 byte".to_owned()
        } else if self.roll_every.is_some_and(|every| every.0 < 1) {
            "`roll_every`: it has to be at least 1 ms".to_owned()
        } else if self.max_open == 0 {
            "`max_open(0)`: at least 1 file is open".to_owned()
        } else if !is_extension(&self.extension) {
            format!(
                "`extension({:?})`: it is made of letters, digits, `.`, `-` and `_`, as \"csv\" is, and is not `staged`",
                self.extension
            )
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Plan, format!("{}: {wrong}", folder.display())))
    }
}
