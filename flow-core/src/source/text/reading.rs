//! Text readers as source readers: what is made of a broken record, what is counted.

use super::broken::{Broken, ReadError};
use super::csv::CsvReader;
use super::cut::lines_before;
use super::inputs::Input;
use super::lines::LineReader;
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::Counter;
use crate::source::{Poll, Reader};
use serde::de::DeserializeOwned;
use std::io::Read;
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
}

impl<R: Read> Records<String> for LineReader<R> {
    #[inline]
    fn next(&mut self) -> Result<Option<String>, ReadError> {
        Ok(self.next_line()?.map(Into::into))
    }

    fn replaced(&self) -> u64 {
        self.lines_replaced()
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

/// The source reader over a [`Records`] whose input does not keep it waiting.
pub struct Reading<T, B, X> {
    records: X,
    recount: Option<Recount>,
    invalid: Counter,
    /// Of `records.replaced()`, how many are in `invalid`.
    counted: u64,
    types: std::marker::PhantomData<fn() -> (T, B)>,
}

impl<T, B, X: Records<T>> Reading<T, B, X> {
    /// Reads `records`, counting those that are not as they should be in `invalid`.
    pub fn new(records: X, recount: Option<Recount>, invalid: Counter) -> Self {
        Reading { records, recount, invalid, counted: 0, types: std::marker::PhantomData }
    }

    #[inline]
    fn read<O: FnMut(B::Item)>(&mut self, out: &mut O, budget: usize) -> Result<Poll>
    where
        B: OnBroken<T>,
    {
        for _ in 0..budget {
            match self.records.next() {
                Ok(Some(record)) => out(B::whole(record)),
                Ok(None) => return Ok(Poll::End),
                Err(ReadError::Broken(broken)) => out(self.broken(broken)?),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Poll::More)
    }

    #[cold]
    fn broken(&mut self, mut broken: Broken) -> Result<B::Item>
    where
        B: OnBroken<T>,
    {
        self.invalid.add(1);
        if let Some(recount) = &mut self.recount {
            recount.number(&mut broken)?;
        }
        B::broken(broken)
    }
}

impl<T: 'static, B: OnBroken<T>, X: Records<T> + Send + 'static> Reader<B::Item> for Reading<T, B, X> {
    #[inline]
    fn poll<O: FnMut(B::Item)>(&mut self, out: &mut O, budget: usize) -> Result<Poll> {
        let poll = self.read(out, budget);
        let replaced = self.records.replaced();
        self.invalid.add(replaced - self.counted);
        self.counted = replaced;
        poll
    }
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
                    .map_err(|source| ReadError::Io { file: broken.file.clone(), source })?;
                *self.before.insert(before + 1 - broken.record)
            }
        };
        broken.record += before;
        Ok(())
    }
}
