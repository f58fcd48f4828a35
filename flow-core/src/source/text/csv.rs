//! CSV records as values of a type that serde can make.

use super::broken::{Cause, ReadError};
use super::fields::Fields;
use super::frame::{Frames, RECORD_LIMIT_BYTES};
use super::lines::{broken, read_error};
use super::position::{Begin, Place};
use super::record_ends::RecordEnds;
use super::wanted::field_names;
use csv::StringRecord;
use serde_core::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// How CSV is read.
#[derive(Debug, Clone)]
pub struct CsvOptions {
    /// What stands between two fields: an ASCII byte, `,` by default.
    pub delimiter: u8,
    /// Whether the first record names the columns (the default). Without a header fields go to the
    /// record type by position.
    pub header: bool,
    /// Replace invalid UTF-8 by U+FFFD instead of failing.
    pub lossy: bool,
    /// The longest record accepted, without its end.
    pub limit_bytes: usize,
    /// Fields with this text are read as if they were empty, and so as `None`.
    pub null: Option<String>,
}

impl Default for CsvOptions {
    fn default() -> Self {
        CsvOptions {
            delimiter: b',',
            header: true,
            lossy: false,
            limit_bytes: RECORD_LIMIT_BYTES,
            null: None,
        }
    }
}

/// A part of a CSV file that begins and ends at record starts, with what its reader has to know.
#[derive(Debug, Clone)]
pub struct CsvRange {
    /// The bytes whose records it holds.
    pub bytes: Range<u64>,
    /// How many data records stand before it in the file.
    pub records_before: u64,
    /// The header of the file, where it has one.
    pub header: Option<StringRecord>,
    /// Fields that each record should have: those of the header or, without one, of the file's first
    /// record. `None` when the file is empty.
    pub columns: Option<usize>,
}

/// Reads CSV records one at a time, reusing its buffers.
///
/// The header maps columns to the fields of the record type by name. Blank lines are passed over. A
/// record with more or fewer fields than the header is broken, and so is one whose fields do not make
/// a `T`; reading may go on behind it.
///
/// ```
/// use flow_core::source::text::{CsvOptions, CsvReader};
///
/// #[derive(serde::Deserialize)]
/// struct Person { name: String, age: Option<u32> }
///
/// let mut people = CsvReader::new("p.csv", &b"age,name\n42,Ann\n,Bob\n"[..], &CsvOptions::default());
/// let ann: Person = people.next_record().unwrap().unwrap();
/// let bob: Person = people.next_record().unwrap().unwrap();
/// assert_eq!((ann.name.as_str(), ann.age), ("Ann", Some(42)));
/// assert_eq!((bob.name.as_str(), bob.age), ("Bob", None));
/// ```
#[derive(Debug)]
pub struct CsvReader<R, T> {
    file: Arc<str>,
    frames: Frames<R, RecordEnds>,
    fields: Fields,
    /// The fields of the record last read; once `names` is set only those that `T` takes.
    record: StringRecord,
    /// The names of the fields of `record`, where they differ from the header.
    names: Option<StringRecord>,
    header: Option<StringRecord>,
    /// Whether the header still has to be read.
    header_due: bool,
    /// Fields of the header, or of the first record where there is none.
    columns: Option<usize>,
    /// Data records read so far, counted from the start of the file.
    records: u64,
    offset: u64,
    /// Whether it was tried to leave out what `T` does not take.
    narrowed: bool,
    made: PhantomData<fn() -> T>,
}

impl<R: Read, T: DeserializeOwned> CsvReader<R, T> {
    /// Reads a whole input; `file` is its name in errors.
    pub fn new(file: impl Into<Arc<str>>, input: R, options: &CsvOptions) -> Self {
        let frames = Frames::whole(input, RecordEnds::new(options.delimiter), options.limit_bytes);
        CsvReader { header_due: options.header, ..Self::over(file.into(), frames, options, 0) }
    }

    fn over(file: Arc<str>, frames: Frames<R, RecordEnds>, options: &CsvOptions, records: u64) -> Self {
        CsvReader {
            file,
            frames,
            fields: Fields::new(options.delimiter, options.lossy, options.null.clone()),
            record: StringRecord::new(),
            names: None,
            header: None,
            header_due: false,
            columns: None,
            records,
            offset: 0,
            narrowed: false,
            made: PhantomData,
        }
    }

    /// Where it stands.
    pub(super) fn place(&self) -> Place<'_> {
        let frames = &self.frames;
        Place {
            offset: frames.next_offset(),
            records: self.records,
            before: frames.before(),
            over: frames.is_over(),
        }
    }

    /// The next record, or `None` at the end. After [`ReadError::Broken`] reading may go on.
    ///
    /// # Errors
    /// When the record is broken, and when the input cannot be read.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<T>, ReadError> {
        self.read_header()?;
        if !self.next_fields()? {
            return Ok(None);
        }
        match self.record.deserialize(self.names.as_ref().or(self.header.as_ref())) {
            Ok(value) => {
                if !self.narrowed {
                    self.narrow();
                }
                Ok(Some(value))
            }
            Err(error) => Err(self.broken(self.fields_cause(&error))),
        }
    }

    /// Leaves the columns out that `T` does not take. Not before a record has made a `T`: a type that
    /// refuses unknown columns must have seen them.
    #[cold]
    fn narrow(&mut self) {
        self.narrowed = true;
        let (Some(header), Some(names)) = (&self.header, field_names::<T>()) else { return };
        let wanted: Vec<bool> = header.iter().map(|name| names.contains(&name)).collect();
        let taken = header.iter().zip(&wanted).filter(|(_, wanted)| **wanted);
        self.names = Some(taken.map(|(name, _)| name).collect());
        self.fields.only(wanted);
    }

    /// Reads the header, if the input has one that was not read yet, and returns it. `None` without a
    /// header or when the input is empty.
    ///
    /// # Errors
    /// When the header is not UTF-8 or too long, and when the input cannot be read.
    pub fn read_header(&mut self) -> Result<Option<&StringRecord>, ReadError> {
        if std::mem::take(&mut self.header_due) {
            let found = self.next_fields();
            // Records are counted without the header, which has number 0 in errors.
            self.records = 0;
            if found.map_err(as_header)? {
                self.header = Some(self.record.clone());
            }
        }
        Ok(self.header.as_ref())
    }

    /// Offset in the file of the record last read.
    pub fn offset_bytes(&self) -> u64 {
        self.offset
    }

    /// Where the record after the one last read starts.
    pub fn next_offset_bytes(&self) -> u64 {
        self.frames.next_offset()
    }

    /// Data records read so far, counted from the start of the file.
    pub fn records_read(&self) -> u64 {
        self.records
    }

    /// Records so far in which invalid UTF-8 was replaced.
    pub fn records_replaced(&self) -> u64 {
        self.fields.replaced()
    }

    /// Fields that each record should have, found by reading the first record if nothing was read.
    pub(super) fn columns(&mut self) -> Result<Option<usize>, ReadError> {
        while self.columns.is_none() {
            match self.next_fields() {
                Ok(true) | Err(ReadError::Broken(_)) => {}
                Ok(false) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(self.columns)
    }

    /// Fills `record` with the fields of the next record that is not blank.
    fn next_fields(&mut self) -> Result<bool, ReadError> {
        let limit_bytes = self.frames.limit_bytes();
        let result = loop {
            match self.frames.next() {
                Ok(Some(frame)) if frame.bytes.is_empty() => {}
                Ok(Some(frame)) => {
                    self.offset = frame.offset;
                    break self.fields.split(frame, &mut self.record);
                }
                Ok(None) => return Ok(false),
                Err(error) => {
                    self.records += 1;
                    return Err(read_error(&self.file, self.records, limit_bytes, error));
                }
            }
        };
        self.records += 1;
        match result {
            Ok(found) => match *self.columns.get_or_insert(found) {
                expected if expected == found => Ok(true),
                expected => Err(self.broken(Cause::FieldCount { expected, found })),
            },
            Err(cause) => Err(self.broken(cause)),
        }
    }

    #[cold]
    fn broken(&self, cause: Cause) -> ReadError {
        broken(&self.file, self.records, self.offset, cause)
    }

    #[cold]
    fn fields_cause(&self, error: &csv::Error) -> Cause {
        let csv::ErrorKind::Deserialize { err, .. } = error.kind() else {
            return Cause::Fields { column: None, text: None, message: error.to_string() };
        };
        let at = err.field().and_then(|at| usize::try_from(at).ok());
        let column =
            at.map(|at| match self.names.as_ref().or(self.header.as_ref()).and_then(|names| names.get(at)) {
                Some(name) => name.to_string(),
                None => (at + 1).to_string(),
            });
        let text = at.and_then(|at| self.record.get(at)).map(ToString::to_string);
        let mut message = err.kind().to_string();
        if let (None, Some(header)) = (at, &self.header) {
            let names: Vec<&str> = header.iter().collect();
            message.push_str(&format!("; the header is `{}`", names.join(",")));
        }
        Cause::Fields { column, text, message }
    }
}

impl<R: Read + Seek, T: DeserializeOwned> CsvReader<R, T> {
    /// Reads one of the ranges that [`csv_ranges`](super::csv_ranges) cut a file into.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub fn range(
        file: impl Into<Arc<str>>,
        input: R,
        options: &CsvOptions,
        range: CsvRange,
    ) -> io::Result<Self> {
        let ends = RecordEnds::new(options.delimiter);
        let frames = Frames::range(input, ends, options.limit_bytes, range.bytes.start, range.bytes.end)?;
        let mut reader = Self::over(file.into(), frames, options, range.records_before);
        reader.columns = range.columns;
        reader.header = range.header;
        Ok(reader)
    }
}

impl<T: DeserializeOwned> CsvReader<File, T> {
    /// Goes on in a file at a position. What was known of its columns there is read from its head again.
    pub(super) fn resume(
        name: Arc<str>,
        mut file: File,
        options: &CsvOptions,
        begin: &Begin,
    ) -> Result<Self, ReadError> {
        let (header, columns) =
            if begin.offset == 0 { (None, None) } else { head_of(&name, &mut file, options, begin.offset)? };
        let ends = RecordEnds::new(options.delimiter);
        let frames = Frames::resume(file, ends, options.limit_bytes, begin);
        let mut reader = Self::over(name, frames, options, begin.records);
        (reader.header, reader.columns) = (header, columns);
        reader.header_due = options.header && begin.offset == 0;
        Ok(reader)
    }
}

/// Header and number of columns as every reader of the file knows them that has come to `offset`, where the file stands again.
/// A broken header was a broken record there, and is none here. Nothing behind `offset` is looked at: a record that the file once ended
/// in, and that has been given as broken, may go on there by now.
fn head_of(
    name: &Arc<str>,
    file: &mut File,
    options: &CsvOptions,
    offset: u64,
) -> Result<(Option<StringRecord>, Option<usize>), ReadError> {
    let io_error = |source: io::Error| ReadError::Io { file: name.clone(), source: source.into() };
    file.rewind().map_err(io_error)?;
    let mut head: CsvReader<_, ()> = CsvReader::new(name.clone(), file.by_ref().take(offset), options);
    let header = match head.read_header() {
        Ok(header) => header.cloned(),
        Err(ReadError::Broken(_)) => None,
        Err(error) => return Err(error),
    };
    let columns = head.columns()?;
    file.seek(SeekFrom::Start(offset)).map_err(io_error)?;
    Ok((header, columns))
}

fn as_header(error: ReadError) -> ReadError {
    match error {
        ReadError::Broken(mut broken) => {
            broken.record = 0;
            ReadError::Broken(broken)
        }
        io => io,
    }
}
