//! Text readers as source readers: what is made of a broken record, what is counted.

use super::broken::{Broken, ReadError};
use super::csv::CsvReader;
use super::cut::lines_before;
use super::inputs::Input;
use super::lines::LineReader;
use super::position::{Origin, Place, Position};
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::Counter;
use crate::source::{Poll, Reader};
use serde_core::de::DeserializeOwned;
use std::io::Read;
use std::marker::PhantomData;
use std::path::PathBuf;

/// A text reader that gives one record after the other.
pub trait Records<T> {
    /// The next record, or `None` at the end. After [`ReadError::Broken`] reading may go on.
    ///
    /// # Errors
    /// When the record is broken, and when the input cannot be read.
    fn next(&mut self) -> Result<Option<T>, ReadError>;

    /// Records so far in which invalid UTF-8 was replaced.
    fn replaced(&self) -> u64;

    /// Where it stands: behind the last record that it gave.
    fn place(&self) -> Place<'_>;
}

impl<R: Read> Records<String> for LineReader<R> {
    #[inline]
    fn next(&mut self) -> Result<Option<String>, ReadError> {
        Ok(self.next_line()?.map(Into::into))
    }

    fn replaced(&self) -> u64 {
        self.lines_replaced()
    }

    fn place(&self) -> Place<'_> {
        LineReader::place(self)
    }
}

impl<T: DeserializeOwned, R: Read> Records<T> for CsvReader<R, T> {
    #[inline]
    fn next(&mut self) -> Result<Option<T>, ReadError> {
        self.next_record()
    }

    fn replaced(&self) -> u64 {
        self.records_replaced()
    }

    fn place(&self) -> Place<'_> {
        CsvReader::place(self)
    }
}

/// What an opened partition has to give next.
pub enum Next<T> {
    /// A record.
    Record(T),
    /// A broken one, which is counted. It is boxed so that whole ones do not move its room about.
    Broken(Box<Broken>),
    /// Nothing before the stage's signal is woken.
    Wait,
    /// Nothing will come any more.
    End,
}

/// An opened partition. Each record is a call of it: for lines not generic, and so not compiled again by every user.
pub trait Reads<T>: Send + 'static {
    /// What comes next.
    ///
    /// # Errors
    /// When the input cannot be read.
    fn next(&mut self) -> Result<Next<T>>;

    /// Where it stands, where it can be read again from there.
    fn position(&self) -> Option<Vec<u8>>;
}

/// What a source makes of broken records.
pub trait OnBroken<T>: Clone + Send + Sync + 'static {
    /// The record type of the source.
    type Item: Send + 'static;

    /// A record that is whole.
    fn whole(record: T) -> Self::Item;

    /// A record that is broken.
    ///
    /// # Errors
    /// When it ends the job.
    fn broken(broken: Broken) -> Result<Self::Item>;
}

/// A broken record ends the job: the default.
#[derive(Debug, Clone, Copy)]
pub struct Fail;

/// A broken record is an `Err` record: what `.results()` asks for.
#[derive(Debug, Clone, Copy)]
pub struct Results;

impl<T: Send + 'static> OnBroken<T> for Fail {
    type Item = T;

    #[inline]
    fn whole(record: T) -> T {
        record
    }

    fn broken(broken: Broken) -> Result<T> {
        Err(ReadError::Broken(broken).into())
    }
}

impl<T: Send + 'static> OnBroken<T> for Results {
    type Item = Result<T, Broken>;

    #[inline]
    fn whole(record: T) -> Result<T, Broken> {
        Ok(record)
    }

    fn broken(broken: Broken) -> Result<Result<T, Broken>> {
        Ok(Err(broken))
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        Error::new(ErrorKind::Source, error.to_string())
    }
}

/// The source reader over an opened partition.
pub struct TextReader<T, B, X> {
    opened: X,
    types: PhantomData<fn() -> (T, B)>,
}

impl<T, B, X> TextReader<T, B, X> {
    /// Over `opened`.
    pub(super) fn new(opened: X) -> Self {
        TextReader { opened, types: PhantomData }
    }
}

impl<T: 'static, B: OnBroken<T>, X: Reads<T>> Reader<B::Item> for TextReader<T, B, X> {
    #[inline]
    fn poll<O: FnMut(B::Item)>(&mut self, out: &mut O, budget: usize) -> Result<Poll> {
        for _ in 0..budget {
            let record = match self.opened.next()? {
                Next::Record(record) => B::whole(record),
                Next::Broken(broken) => B::broken(*broken)?,
                Next::Wait => return Ok(Poll::Wait),
                Next::End => return Ok(Poll::End),
            };
            // The only call: everything that is fused behind the source is inlined into it.
            out(record);
        }
        Ok(Poll::More)
    }

    fn position(&self) -> Option<Vec<u8>> {
        self.opened.position()
    }
}

/// Reads a [`Records`] whose input does not keep it waiting.
pub struct Reading<T, X> {
    records: X,
    recount: Option<Recount>,
    invalid: Counter,
    /// Of `records.replaced()`, how many are in `invalid`.
    counted: u64,
    /// What it takes to say where it stands, in a job that asks.
    origin: Option<Origin>,
    record: PhantomData<fn() -> T>,
}

impl<T, X: Records<T>> Reading<T, X> {
    /// Reads `records`, counting those that are not as they should be in `invalid`.
    pub fn new(records: X, recount: Option<Recount>, invalid: Counter) -> Self {
        Reading { records, recount, invalid, counted: 0, origin: None, record: PhantomData }
    }

    /// The same, able to say where it stands.
    #[must_use]
    pub(super) fn from(self, origin: Option<Origin>) -> Self {
        Reading { origin, ..self }
    }

    /// Where it stands.
    pub(super) fn position(&self) -> Option<Position> {
        self.origin.as_ref().map(|origin| origin.position(self.records.place()))
    }

    /// What comes next.
    ///
    /// # Errors
    /// When the input cannot be read.
    #[inline]
    pub fn next(&mut self) -> Result<Next<T>> {
        let next = self.records.next();
        let replaced = self.records.replaced();
        if replaced != self.counted {
            self.invalid.add(replaced - self.counted);
            self.counted = replaced;
        }
        match next {
            Ok(Some(record)) => Ok(Next::Record(record)),
            Ok(None) => Ok(Next::End),
            Err(error) => Ok(Next::Broken(Box::new(numbered(error, &mut self.recount, &self.invalid)?))),
        }
    }
}

/// A broken record with its number in the file, counted; any other error is one.
#[cold]
fn numbered(error: ReadError, recount: &mut Option<Recount>, invalid: &Counter) -> Result<Broken> {
    let ReadError::Broken(mut broken) = error else { return Err(error.into()) };
    invalid.add(1);
    if let Some(recount) = recount {
        recount.number(&mut broken)?;
    }
    Ok(broken)
}

/// Turns line numbers of a range into those of the file. The lines before are counted only when a broken
/// one has to be named.
#[derive(Debug)]
pub struct Recount {
    path: PathBuf,
    before: Option<u64>,
}

impl Recount {
    /// For a range of this file.
    pub fn new(path: PathBuf) -> Self {
        Recount { path, before: None }
    }

    fn number(&mut self, broken: &mut Broken) -> Result<(), ReadError> {
        let before = match self.before {
            Some(before) => before,
            None => {
                let (file, _) = Input::open(&self.path)?;
                let before = lines_before(file, broken.offset_bytes)
                    .map_err(|source| ReadError::Io { file: broken.file.clone(), source: source.into() })?;
                *self.before.insert(before + 1 - broken.record)
            }
        };
        broken.record += before;
        Ok(())
    }
}
