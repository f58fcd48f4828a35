//! A list of which some elements are not in memory, or have been written to pages.
//!
//! Elements have numbers, from that of the first that there is. A page has a fixed count of them, `length`: page `p` those from
//! `p * length` on. What has no page stands in the entry itself, with what is said of the pages ([`Header`]): what follows the last full
//! page, and what is before the first. So a push writes a page when as many have been pushed as one has, `pop_front` reads one when as many have
//! been taken, and else neither touches any.
//!
//! In memory they are neighbours all the same: nothing is looked for in pages but those that lie in the store, which are one run, `stored`,
//! with elements in memory before and behind it.

use super::Entry;
use crate::checkpoint::records::broken;
use crate::error::Result;
use crate::state::pages::Home;
use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;

/// What stands in an entry of pages: owner, number of the first element, page behind the last, elements of a page and, from bit 16 on, how many
/// elements in the entry are before the pages; then what the list knows of the times of its elements: `oldest` and `mixed`. Where none is
/// before them the first page may lack elements that have been taken out, as all first pages did once.
pub(super) type Header = (u64, u64, u64, u64, i64, bool);

/// See [`Header`]: elements of a page, and how many are before the first.
pub(super) fn packed(length: u64, front: u64) -> u64 {
    front << 16 | length
}

/// What [`packed`] has made.
pub(super) fn unpacked(packed: u64) -> (u64, u64) {
    (packed & 0xffff, packed >> 16)
}

/// Reads a page.
pub(super) type ReadPage<T> = fn(&[u8]) -> Result<Vec<(T, i64)>>;

/// See the module.
pub(super) struct Paged<T> {
    pub home: Home,
    /// Elements of a page.
    pub length: u64,
    /// The number of the first element.
    pub first: u64,
    /// Where pages are in the store: how many elements in memory are before them.
    pub front: usize,
    /// The pages in the store.
    pub stored: Range<u64>,
    /// Pages that are in the last checkpoint as they are in memory.
    pub clean: Range<u64>,
    /// No page before this one is in a checkpoint, nor will be.
    pub begin: u64,
    /// Pages before this one may be in a checkpoint.
    pub written: u64,
    /// None where no page can be in the store.
    pub read: Option<ReadPage<T>>,
    /// It goes on in the store, and its pages with it.
    pub left: bool,
}

impl<T> Paged<T> {
    /// Of a list that had none.
    pub fn new(home: Home, length: u64) -> Self {
        let none = 0..0;
        Paged {
            home,
            length,
            first: 0,
            front: 0,
            stored: none.clone(),
            clean: none,
            begin: 0,
            written: 0,
            read: None,
            left: false,
        }
    }

    /// The first page that there is to be, where elements before it stand in the entry.
    pub fn first_page(&self) -> u64 {
        if self.stored.is_empty() {
            self.begin.max(self.first.div_ceil(self.length))
        } else {
            self.stored.start
        }
    }

    /// The numbers of the elements of a page that are still there.
    pub fn numbers(&self, page: u64) -> Range<u64> {
        self.first.max(page * self.length)..(page + 1) * self.length
    }

    /// How many elements in memory are before those in the store, and the number of the first that is behind.
    pub fn behind(&self) -> (usize, u64) {
        if self.stored.is_empty() { (0, self.first) } else { (self.front, self.stored.end * self.length) }
    }

    /// How many elements lie in the store.
    pub fn in_store(&self) -> usize {
        if self.stored.is_empty() {
            return 0;
        }
        (self.stored.end * self.length - self.first) as usize - self.front
    }

    fn read(&self, bytes: &[u8], page: u64) -> Result<Vec<(T, i64)>> {
        let read = self.read.ok_or_else(|| broken("nobody can read a page"))?;
        checked(read(bytes)?, self.numbers(page))
    }

    /// A page that lies in the store.
    pub fn look(&self, page: u64) -> Result<Vec<(T, i64)>> {
        self.read(&self.home.look(page)?, page)
    }

    /// The job ends, as a page could not be read; until then there are none.
    #[cold]
    fn lost(&mut self, error: crate::error::Error) {
        self.home.report(error);
        self.first = self.stored.end * self.length - self.front as u64;
        (self.front, self.stored) = (0, 0..0);
    }

    /// The first element is in memory, if there is one.
    fn bring_first(&mut self, entries: &mut VecDeque<Entry<T>>) {
        if self.front == 0 && !self.stored.is_empty() {
            self.bring_page(entries);
        }
    }

    /// Takes the first page out of the store.
    #[cold]
    #[inline(never)]
    fn bring_page(&mut self, entries: &mut VecDeque<Entry<T>>) {
        let page = self.stored.start;
        let elements = match self.home.take(self.stored.clone()).and_then(|bytes| self.read(&bytes, page)) {
            Ok(elements) => elements,
            Err(error) => return self.lost(error),
        };
        self.stored.start += 1;
        self.clean.start = self.clean.start.max(self.stored.start);
        self.front = if self.stored.is_empty() { 0 } else { elements.len() };
        entries.reserve(elements.len());
        elements.into_iter().rev().for_each(|element| entries.push_front(entry(element)));
    }

    /// Everything is in memory.
    #[cold]
    pub fn load_all(&mut self, entries: &mut VecDeque<Entry<T>>) {
        if self.stored.is_empty() {
            return;
        }
        let behind = entries.split_off(self.front);
        for page in self.stored.clone() {
            match self.home.take(page..self.stored.end).and_then(|bytes| self.read(&bytes, page)) {
                Ok(elements) => entries.extend(elements.into_iter().map(entry)),
                Err(error) => {
                    entries.truncate(self.front);
                    self.lost(error);
                    break;
                }
            }
        }
        entries.extend(behind);
        self.clean.end = self.clean.end.min(self.stored.start);
        (self.front, self.stored) = (0, 0..0);
    }

    /// The first element is in memory, if there is one: when it was written.
    pub fn first_written(&mut self, entries: &mut VecDeque<Entry<T>>) -> Option<i64> {
        self.bring_first(entries);
        entries.front().map(|first| first.1.get())
    }

    /// Takes the first element out.
    pub fn pop_front(&mut self, entries: &mut VecDeque<Entry<T>>) -> Option<T> {
        self.bring_first(entries);
        let (value, _) = entries.pop_front()?;
        self.first += 1;
        self.front = self.front.saturating_sub(1);
        Some(value)
    }

    /// All elements are in memory, some have left from the midst of them, or their times have changed: there are `len` now.
    pub fn changed(&mut self, len: usize) {
        self.clean = 0..0;
        let end = ((self.first + len as u64) / self.length).max(self.begin);
        if end < self.written {
            self.home.gone(end..self.written);
            self.written = end;
        }
    }
}

impl<T> Drop for Paged<T> {
    fn drop(&mut self) {
        if !self.left {
            if !self.stored.is_empty() {
                self.home.forget(self.stored.clone());
            }
            if self.begin < self.written {
                self.home.gone(self.begin..self.written);
            }
        }
    }
}

/// An element as it is kept.
pub(super) fn entry<T>((value, written): (T, i64)) -> Entry<T> {
    (value, Cell::new(written))
}

/// The elements of a page, where they are as many as they should be.
pub(super) fn checked<T>(elements: Vec<(T, i64)>, numbers: Range<u64>) -> Result<Vec<(T, i64)>> {
    if elements.len() as u64 == numbers.end - numbers.start {
        return Ok(elements);
    }
    Err(broken("a page has more or fewer elements than its list says"))
}
