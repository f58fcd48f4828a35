//! The sources `lines` and `csv`.

use super::csv::CsvOptions;
use super::format::Format;
use super::inputs::Inputs;
use super::lines::LineOptions;
use super::part::Part;
use super::pump::ForStage;
use super::reading::{Fail, OnBroken, Results, TextReader};
use super::reopen::{again, of_part};
use crate::error::Result;
use crate::op::kind::{Bounded, Once, Replay, Replayable};
use crate::source::{Source, once};
use crate::stage::OpenCx;
use std::marker::PhantomData;

/// A source of text files: [`lines`] or [`csv()`].
///
/// Each file is a partition, or, with [`splits`](TextFiles::splits), several. Standard input and other
/// files that may keep a reader waiting are read on a thread of their own, and never cut.
#[derive(Debug)]
pub struct TextFiles<T, F, B = Fail, R = Replayable> {
    pub(super) inputs: Inputs,
    pub(super) format: F,
    pub(super) splits: usize,
    types: PhantomData<fn() -> (T, B, R)>,
}

impl<T, F: Clone, B, R> Clone for TextFiles<T, F, B, R> {
    fn clone(&self) -> Self {
        let (inputs, format) = (self.inputs.clone(), self.format.clone());
        TextFiles { inputs, format, splits: self.splits, types: PhantomData }
    }
}

/// The source made by [`lines`].
pub type Lines<B = Fail, R = Replayable> = TextFiles<String, LineOptions, B, R>;

/// The source made by [`csv()`].
pub type Csv<T, B = Fail> = TextFiles<T, CsvOptions, B>;

/// The lines of a file, of the files in a folder or matched by a glob, or of several of these.
///
/// A line ends at `\n`, before which one `\r` is dropped; the last one needs no end. A line that is not
/// UTF-8 or longer than 1 MiB ends the job with an error that names the file, the line and its offset, unless
/// the source says otherwise.
///
/// ```
/// # use flow_core::prelude::*;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("poem.txt");
/// std::fs::write(&path, "to be,\r\nor not").unwrap();
/// let out = Collected::new();
/// let job = Job::build("doc", |job| job.add(source(lines(&path)).collect(&out)));
/// job.run().unwrap();
/// assert_eq!(out.take(), ["to be,", "or not"]);
/// ```
pub fn lines(inputs: impl Into<Inputs>) -> Lines {
    TextFiles::new(inputs.into(), LineOptions::default())
}

/// The lines of standard input. What has been read of it is gone: a checkpointed pipeline refuses it.
pub fn stdin_lines() -> Lines<Fail, Once> {
    TextFiles::new(Inputs::stdin(), LineOptions::default())
}

/// The records of CSV files, as values of `T`; the inputs are named as for [`lines`].
///
/// `T` is a [`CsvRecord`](super::CsvRecord). The first line of each file names its columns. A record that does not fit them or does not make a `T`
/// ends the job with an error that names the file, the number of the record (from 1, without the header)
/// and its offset, unless the source says otherwise.
///
/// ```
/// # use flow_core::prelude::*;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("flights.csv");
/// #[derive(serde::Deserialize)]
/// struct Flight { origin: String, delay: Option<i32> }
///
/// std::fs::write(&path, "delay,origin\n-2,JFK\nNA,LGA\n").unwrap();
/// let out = Collected::new();
/// let job = Job::build("doc", |job| {
///     let flights = source(csv::<Flight>(&path).null("NA"));
///     job.add(flights.map(|f| (f.origin, f.delay)).collect(&out));
/// });
/// job.run().unwrap();
/// assert_eq!(out.take(), [("JFK".to_string(), Some(-2)), ("LGA".to_string(), None)]);
/// ```
pub fn csv<T>(inputs: impl Into<Inputs>) -> Csv<T> {
    TextFiles::new(inputs.into(), CsvOptions::default())
}

impl<T, F, R> TextFiles<T, F, Fail, R> {
    pub(super) fn new(inputs: Inputs, format: F) -> Self {
        TextFiles { inputs, format, splits: 1, types: PhantomData }
    }

    /// Gives `Result<T, Broken>` records: a broken record is an `Err`, and reading goes on behind it.
    #[must_use]
    pub fn results(self) -> TextFiles<T, F, Results, R> {
        TextFiles { inputs: self.inputs, format: self.format, splits: self.splits, types: PhantomData }
    }
}

impl<T, F, B, R> TextFiles<T, F, B, R> {
    /// Cuts each file into `n` partitions of about the same size, which are read side by side. There is
    /// no order between them.
    ///
    /// Lines are cut by size alone. For CSV each file is read once more before, since only all the quotes
    /// before a line end tell whether a record ends there.
    ///
    /// A job that goes on from a checkpoint keeps the partitions it had.
    #[must_use]
    pub fn splits(mut self, n: usize) -> Self {
        self.splits = n.max(1);
        self
    }
}

impl<B, R> Lines<B, R> {
    /// Replaces invalid UTF-8 by U+FFFD instead of failing, and counts the lines in `invalid`.
    #[must_use]
    pub fn lossy(mut self) -> Self {
        self.format.lossy = true;
        self
    }

    /// The longest line accepted, instead of 1 MiB.
    #[must_use]
    pub fn line_limit(mut self, bytes: usize) -> Self {
        self.format.limit_bytes = bytes;
        self
    }
}

impl<T, B> Csv<T, B> {
    /// Replaces invalid UTF-8 by U+FFFD instead of failing, and counts the records in `invalid`.
    #[must_use]
    pub fn lossy(mut self) -> Self {
        self.format.lossy = true;
        self
    }

    /// The longest record accepted, instead of 1 MiB.
    #[must_use]
    pub fn line_limit(mut self, bytes: usize) -> Self {
        self.format.limit_bytes = bytes;
        self
    }

    /// There is no header: fields go to `T` by position.
    #[must_use]
    pub fn no_header(mut self) -> Self {
        self.format.header = false;
        self
    }

    /// What stands between two fields, instead of a comma.
    ///
    /// # Panics
    /// When it is not ASCII, or is a quote or a line end.
    #[must_use]
    pub fn delimiter(mut self, delimiter: u8) -> Self {
        assert!(
            delimiter.is_ascii() && !b"\"\r\n".contains(&delimiter),
            "a CSV delimiter is an ASCII byte other than a quote or a line end"
        );
        self.format.delimiter = delimiter;
        self
    }

    /// Reads fields that say `text` (`NA`, for instance) as if they were empty, and so as `None`.
    #[must_use]
    pub fn null(mut self, text: impl Into<String>) -> Self {
        self.format.null = Some(text.into());
        self
    }
}

impl<T: Send + 'static, F: Format<T>, B: OnBroken<T>, R: Replay> Source for TextFiles<T, F, B, R> {
    type Item = B::Item;
    type Split = Part<F::Cut>;
    type Reader = TextReader<T, B, F::Opened>;
    type Bounds = Bounded;
    type Replay = R;

    fn name(&self) -> &'static str {
        self.format.name()
    }

    fn splits(&self) -> Result<Vec<Part<F::Cut>>> {
        Ok(self.format.parts(&self.inputs, self.splits)?)
    }

    fn open(&self, part: Part<F::Cut>, cx: &mut OpenCx) -> Result<Self::Reader> {
        if !part.is_replayable() {
            once(cx, &part.input().name())?;
        }
        Ok(TextReader::new(self.format.open(part, ForStage::of(cx))?))
    }

    fn splits_at(&self, positions: &[Vec<u8>]) -> Result<Vec<Part<F::Cut>>> {
        Ok(again(&self.inputs, positions)?.into_iter().map(Part::Again).collect())
    }

    fn resume(&self, part: Part<F::Cut>, position: &[u8], cx: &mut OpenCx) -> Result<Self::Reader> {
        let position = of_part(&part.input(), position, cx)?;
        Ok(TextReader::new(self.format.reopen(&position, ForStage::of(cx))?))
    }
}
