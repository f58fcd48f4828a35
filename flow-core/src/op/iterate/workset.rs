//! The records of a superstep, on their way from an exit to the body: in memory, and beyond the job's memory in a file.
//!
//! In checkpoints: the codec's bytes of the records, one after the other.

use crate::error::Result;
use crate::external::{Memory, Reading, Share, Size, Spill, Writing};
use crate::state::{Durable, Keep};
use std::vec::IntoIter;

/// Records of a chunk, at most and at least: a list that grew would be moved.
const CHUNK: usize = 4096;
const LEAST: usize = 16;
/// Bytes of a chunk, where that many records do not take more.
const BYTES: usize = 1 << 18;
/// Records of the first chunk, where a record may own memory: it is not known how much.
const FIRST: usize = 64;
/// Bytes that are written to a checkpoint together.
const PIECE: usize = 1 << 16;

/// What has come back.
pub(super) struct Workset<T> {
    chunk: Vec<T>,
    chunks: Vec<Vec<T>>,
    /// What is too much for the memory, behind the chunks.
    file: Option<Writing<T>>,
    share: Option<Share>,
    size: Size,
    len: u64,
    spilled: u64,
}

impl<T> Default for Workset<T> {
    fn default() -> Self {
        let (chunk, chunks, size) = (Vec::new(), Vec::new(), Size::default());
        Workset { chunk, chunks, file: None, share: None, size, len: 0, spilled: 0 }
    }
}

impl<T: Spill> Workset<T> {
    /// How many records.
    pub fn len(&self) -> u64 {
        self.len + self.chunk.len() as u64
    }

    /// How many of them are on the disk.
    pub fn spilled(&self) -> u64 {
        self.spilled
    }

    /// Adds one.
    ///
    /// # Errors
    /// When the disk is full.
    #[inline]
    pub fn push(&mut self, record: T, memory: &Memory) -> Result<()> {
        if self.chunk.len() == self.chunk.capacity() {
            self.next_chunk(memory)?;
        }
        self.size.look(&record)?;
        self.chunk.push(record);
        Ok(())
    }

    /// What a record takes.
    fn each(&self) -> usize {
        (size_of::<T>() + self.size.each()).max(1)
    }

    /// Records of a chunk.
    fn at_once(&self) -> usize {
        let most = if std::mem::needs_drop::<T>() && self.size.each() == 0 { FIRST } else { CHUNK };
        (BYTES / self.each()).clamp(LEAST, most)
    }

    /// Puts the full chunk away, where there is room for it, and begins another.
    #[cold]
    #[inline(never)]
    fn next_chunk(&mut self, memory: &Memory) -> Result<()> {
        self.len += self.chunk.len() as u64;
        let (each, at_once) = (self.each(), self.at_once());
        let share = self.share.get_or_insert_with(|| memory.share());
        // Without a file all of it is in memory.
        let bytes =
            usize::try_from(self.len).unwrap_or(usize::MAX).saturating_add(at_once).saturating_mul(each);
        if self.file.is_none() && (self.chunk.is_empty() || share.reaches(bytes)) {
            let full = std::mem::replace(&mut self.chunk, Vec::with_capacity(at_once));
            if !full.is_empty() {
                self.chunks.push(full);
            }
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(Writing::begin(memory.folder())?),
        };
        self.spilled += self.chunk.len() as u64;
        for record in self.chunk.drain(..) {
            file.push(&record)?;
        }
        if self.chunk.capacity() > 2 * at_once {
            self.chunk = Vec::with_capacity(at_once);
        }
        Ok(())
    }

    /// To be given to the body.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn into_giver(mut self) -> Result<Giver<T>> {
        let (file, at_once) = (self.file.take().map(Writing::finish).transpose()?, self.at_once());
        let last = std::mem::take(&mut self.chunk);
        Ok(Giver {
            chunk: Vec::new().into_iter(),
            chunks: self.chunks.into_iter(),
            file,
            at_once,
            last: Some(last),
            share: self.share,
        })
    }

    /// Writes it down, in pieces.
    ///
    /// # Errors
    /// When a record cannot be written.
    pub fn save(&mut self, memory: &Memory, out: &mut dyn FnMut(Vec<u8>)) -> Result<()> {
        let mut pieces = Pieces { bytes: Vec::new(), out };
        self.chunks.iter().flatten().try_for_each(|record| pieces.put(record))?;
        if let Some(file) = self.file.take() {
            self.file = Some(pieces.file(file.finish()?, memory)?);
        }
        self.chunk.iter().try_for_each(|record| pieces.put(record))?;
        pieces.end();
        Ok(())
    }

    /// Takes back what [`Workset::save`] has written.
    ///
    /// # Errors
    /// When the bytes are not what it writes.
    pub fn restore(&mut self, bytes: &mut &[u8], memory: &Memory) -> Result<()> {
        while !bytes.is_empty() {
            self.push(Keep::<Durable>::read(bytes)?, memory)?;
        }
        Ok(())
    }
}

/// What of a superstep has not been given to the body.
pub(super) struct Giver<T> {
    chunk: IntoIter<T>,
    chunks: IntoIter<Vec<T>>,
    file: Option<Reading<T>>,
    /// Records that are read from it at once.
    at_once: usize,
    last: Option<Vec<T>>,
    /// Held until all of it has been given.
    share: Option<Share>,
}

impl<T: Spill> Giver<T> {
    /// Gives up to `n` records; whether there may be more.
    ///
    /// # Errors
    /// When the disk cannot be read.
    #[inline]
    pub fn give(&mut self, n: usize, mut each: impl FnMut(T)) -> Result<bool> {
        for record in self.chunk.by_ref().take(n) {
            each(record);
        }
        if self.chunk.len() == 0 { self.next_chunk() } else { Ok(true) }
    }

    #[cold]
    #[inline(never)]
    fn next_chunk(&mut self) -> Result<bool> {
        if let Some(next) = self.chunks.next() {
            self.chunk = next.into_iter();
            return Ok(true);
        }
        if let Some(file) = &mut self.file {
            let mut next = Vec::new();
            while next.len() < self.at_once
                && let Some(record) = file.next()?
            {
                next.push(record);
            }
            if next.is_empty() {
                self.file = None;
            }
            self.chunk = next.into_iter();
            return Ok(true);
        }
        self.share = None;
        let last = self.last.take();
        let more = last.is_some();
        self.chunk = last.unwrap_or_default().into_iter();
        Ok(more)
    }

    /// Writes down what there is.
    ///
    /// # Errors
    /// When a record cannot be written.
    pub fn save(&mut self, memory: &Memory, out: &mut dyn FnMut(Vec<u8>)) -> Result<()> {
        let mut pieces = Pieces { bytes: Vec::new(), out };
        let chunks = self.chunks.as_slice().iter().flatten();
        self.chunk.as_slice().iter().chain(chunks).try_for_each(|record| pieces.put(record))?;
        if let Some(file) = self.file.take() {
            self.file = Some(pieces.file(file, memory)?.finish()?);
        }
        self.last.iter().flatten().try_for_each(|record| pieces.put(record))?;
        pieces.end();
        Ok(())
    }
}

/// Records as bytes, in pieces.
struct Pieces<'a> {
    bytes: Vec<u8>,
    out: &'a mut dyn FnMut(Vec<u8>),
}

impl Pieces<'_> {
    fn put<T: Spill>(&mut self, record: &T) -> Result<()> {
        Keep::<Durable>::write(record, &mut self.bytes)?;
        if self.bytes.len() >= PIECE {
            (self.out)(std::mem::take(&mut self.bytes));
        }
        Ok(())
    }

    /// All of a file, which can be read once: the same again is returned.
    fn file<T: Spill>(&mut self, mut file: Reading<T>, memory: &Memory) -> Result<Writing<T>> {
        let mut again = Writing::begin(memory.folder())?;
        while let Some(record) = file.next()? {
            self.put(&record)?;
            again.push(&record)?;
        }
        Ok(again)
    }

    /// There is a piece also of nothing: so it is known that the instance has been there.
    fn end(self) {
        (self.out)(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut giver: Giver<u64>) -> Vec<u64> {
        let mut all = Vec::new();
        while giver.give(100, |n| all.push(n)).unwrap() {}
        all
    }

    /// In memory and beyond it, whole and half given: what is given, and what is written down and taken back, is what was put in, in order.
    #[test]
    fn what_comes_back_is_given() {
        for (limit, n) in [(1 << 30, 10_000u64), (0, 300_000), (0, 5), (0, 0)] {
            let memory = Memory::new(limit, std::env::temp_dir());
            let mut set = Workset::default();
            for i in 0..n {
                set.push(i, &memory).unwrap();
            }
            assert_eq!(set.len(), n);
            assert_eq!(set.spilled() > 0, n == 300_000);
            let mut bytes = Vec::new();
            set.save(&memory, &mut |piece| bytes.extend(piece)).unwrap();
            let mut back = Workset::default();
            back.restore(&mut &bytes[..], &memory).unwrap();
            assert_eq!(all(back.into_giver().unwrap()), (0..n).collect::<Vec<_>>());
            let (mut giver, mut first) = (set.into_giver().unwrap(), Vec::new());
            while (first.len() as u64) < n * 2 / 3 {
                giver.give(100, |n| first.push(n)).unwrap();
            }
            let mut rest = Vec::new();
            giver.save(&memory, &mut |piece| rest.extend(piece)).unwrap();
            let mut back = Workset::default();
            back.restore(&mut &rest[..], &memory).unwrap();
            let (rest, back) = (all(giver), all(back.into_giver().unwrap()));
            assert_eq!(rest, back);
            first.extend(rest);
            assert_eq!(first, (0..n).collect::<Vec<_>>());
        }
    }

    /// Records that own much: what is in memory stays below the limit, and what is read again at once does too.
    #[test]
    fn what_records_own_counts() {
        let memory = Memory::new(8 << 20, std::env::temp_dir());
        let (mut set, text) = (Workset::default(), "x".repeat(10_000));
        for _ in 0..4_000 {
            set.push(text.clone(), &memory).unwrap();
        }
        let here = set.chunk.capacity() + set.chunks.iter().map(Vec::len).sum::<usize>();
        assert!(here * text.len() < 10 << 20, "{here} of 4,000 records of 10 KB are in memory");
        assert!(set.spilled() > 3_000, "{}", set.spilled());
        let (mut giver, mut n) = (set.into_giver().unwrap(), 0);
        while giver.give(8, |record: String| n += usize::from(record == text)).unwrap() {
            assert!(giver.chunk.len() <= 64, "{} are read at once", giver.chunk.len());
        }
        assert_eq!(n, 4_000);
    }
}
