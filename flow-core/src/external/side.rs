//! Records in memory up to a limit that somebody else watches, and in a file beyond it.

use super::file::{Reading, Writing};
use super::size::Size;
use super::{Memory, Spill};
use crate::error::Result;

/// Records that are in memory, or in a file, or, where they have left it since, in both: those in the file came first.
pub(crate) struct Side<T> {
    here: Vec<T>,
    file: Option<Writing<T>>,
    size: Size,
    bytes: usize,
}

impl<T> Default for Side<T> {
    fn default() -> Self {
        Side { here: Vec::new(), file: None, size: Size::default(), bytes: 0 }
    }
}

impl<T: Spill> Side<T> {
    /// What those in memory take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What each owns beside its place.
    pub fn each(&self) -> usize {
        self.size.each()
    }

    /// How much memory this one more takes, and how much while the place for it is made.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn more(&mut self, record: &T) -> Result<(usize, usize)> {
        self.size.look(record)?;
        let grows = self.here.len() == self.here.capacity();
        let places = if grows { self.here.capacity().max(16) } else { 0 } * size_of::<T>();
        Ok((places + self.size.each(), if grows { self.here.capacity() * size_of::<T>() } else { 0 }))
    }

    /// Takes one into memory, which takes so much of it.
    pub fn keep(&mut self, record: T, bytes: usize) {
        if self.here.len() == self.here.capacity() {
            self.here.reserve_exact(self.here.capacity().max(16));
        }
        self.bytes += bytes;
        self.here.push(record);
    }

    /// Begins the file, if it has not begun.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn begin(&mut self, memory: &Memory) -> Result<()> {
        if self.file.is_none() {
            self.file = Some(Writing::begin(memory.folder())?);
        }
        Ok(())
    }

    /// Puts one into the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&mut self, record: &T, memory: &Memory) -> Result<()> {
        self.begin(memory)?;
        self.file.as_mut().map_or(Ok(0), |file| file.push(record)).map(drop)
    }

    /// Puts all that are in memory into the file; how many.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn spill(&mut self, memory: &Memory) -> Result<u64> {
        let here = std::mem::take(&mut self.here);
        self.bytes = 0;
        here.iter().try_for_each(|record| self.put(record, memory))?;
        Ok(here.len() as u64)
    }

    /// Those in the file, and those in memory.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn finish(self) -> Result<(Option<Reading<T>>, Vec<T>)> {
        Ok((self.file.map(Writing::finish).transpose()?, self.here))
    }
}
