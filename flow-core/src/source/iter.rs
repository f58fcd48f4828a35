//! Records from an iterator or a vector.
//!
//! A position is the number of records given (of a vector: the index of the next, and how many records it has), each in 8 bytes, little-endian.

use super::unpack::{Unpack, foreign};
use super::{Poll, Reader, Source};
use crate::error::{Error, ErrorKind, Result};
use crate::op::kind::{Bounded, Replayable};
use crate::stage::OpenCx;
use std::sync::Arc;

/// See [`from_iter`].
#[derive(Clone)]
pub struct FromIter<I>(I);

/// The records of an iterator, in one partition. A clone of the untouched iterator is read. It should be finite; an endless one
/// is for [`generate`](super::generate()).
pub fn from_iter<I: IntoIterator<IntoIter: Clone + Send + 'static>>(iter: I) -> FromIter<I::IntoIter> {
    FromIter(iter.into_iter())
}

#[diagnostic::do_not_recommend]
impl<I: Iterator<Item: 'static> + Clone + Send + 'static> Source for FromIter<I> {
    type Item = I::Item;
    type Split = ();
    type Reader = IterReader<I>;
    type Bounds = Bounded;
    type Replay = Replayable;
    fn name(&self) -> &'static str {
        "from_iter"
    }
    fn splits(&self) -> Result<Vec<()>> {
        Ok(vec![()])
    }
    fn open(&self, (): (), _: &mut OpenCx) -> Result<IterReader<I>> {
        Ok(IterReader { iter: self.0.clone(), given: 0 })
    }
    fn resume(&self, (): (), position: &[u8], _: &mut OpenCx) -> Result<IterReader<I>> {
        let given = Unpack::all(position, |bytes| usize::try_from(bytes.u64()?).ok()).ok_or_else(wrong)?;
        let mut iter = self.0.clone();
        let there = iter.by_ref().take(given).count();
        if there < given {
            let what =
                format!("the iterator had given {given} records at the checkpoint, and has {there} now");
            return Err(Error::new(ErrorKind::State, what).note("a source goes on only in the input it had"));
        }
        Ok(IterReader { iter, given })
    }
}

/// Reads an iterator.
pub struct IterReader<I> {
    iter: I,
    /// Records given so far.
    given: usize,
}

#[cold]
fn wrong() -> Error {
    foreign("a position that no source of this kind has written")
}

impl<I: Iterator<Item: 'static> + Send + 'static> Reader<I::Item> for IterReader<I> {
    #[inline(always)]
    fn poll<O: FnMut(I::Item)>(&mut self, out: &mut O, budget: usize) -> Result<Poll> {
        for n in 0..budget {
            match self.iter.next() {
                Some(item) => out(item),
                None => {
                    self.given += n;
                    return Ok(Poll::End);
                }
            }
        }
        self.given += budget;
        Ok(Poll::More)
    }
    fn position(&self) -> Option<Vec<u8>> {
        Some((self.given as u64).to_le_bytes().to_vec())
    }
}

/// See [`from_vec`].
#[derive(Clone)]
pub struct FromVec<T> {
    items: Arc<Vec<T>>,
    splits: usize,
}

/// The records of a vector, in one partition; they are cloned as they are read.
pub fn from_vec<T: Clone + Send + Sync + 'static>(items: Vec<T>) -> FromVec<T> {
    FromVec { items: Arc::new(items), splits: 1 }
}

impl<T> FromVec<T> {
    /// Cuts it into `n` partitions of neighbours.
    #[must_use]
    pub fn splits(self, n: usize) -> Self {
        FromVec { splits: n.max(1), ..self }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> Source for FromVec<T> {
    type Item = T;
    type Split = usize;
    type Reader = VecReader<T>;
    type Bounds = Bounded;
    type Replay = Replayable;
    fn name(&self) -> &'static str {
        "from_vec"
    }
    fn splits(&self) -> Result<Vec<usize>> {
        Ok((0..self.splits).collect())
    }
    fn open(&self, split: usize, _: &mut OpenCx) -> Result<VecReader<T>> {
        let bound = |i: usize| self.items.len() * i / self.splits;
        Ok(VecReader { items: Arc::clone(&self.items), at: bound(split), end: bound(split + 1) })
    }
    fn resume(&self, split: usize, position: &[u8], cx: &mut OpenCx) -> Result<VecReader<T>> {
        let reader = self.open(split, cx)?;
        let read = |bytes: &mut Unpack<'_>| Some((usize::try_from(bytes.u64()?).ok()?, bytes.u64()?));
        let (at, len) = Unpack::all(position, read).ok_or_else(wrong)?;
        if len != self.items.len() as u64 {
            let what =
                format!("the vector had {len} records at the checkpoint, and has {} now", self.items.len());
            return Err(Error::new(ErrorKind::State, what).note("a source goes on only in the input it had"));
        }
        if at < reader.at || at > reader.end {
            return Err(wrong());
        }
        Ok(VecReader { at, ..reader })
    }
}

/// Reads a part of a vector.
pub struct VecReader<T> {
    items: Arc<Vec<T>>,
    at: usize,
    end: usize,
}

impl<T: Clone + Send + Sync + 'static> Reader<T> for VecReader<T> {
    #[inline(always)]
    fn poll<O: FnMut(T)>(&mut self, out: &mut O, budget: usize) -> Result<Poll> {
        let until = self.end.min(self.at + budget);
        for item in &self.items[self.at..until] {
            out(item.clone());
        }
        self.at = until;
        Ok(if until == self.end { Poll::End } else { Poll::More })
    }
    fn position(&self) -> Option<Vec<u8>> {
        Some([self.at as u64, self.items.len() as u64].map(u64::to_le_bytes).concat())
    }
}
