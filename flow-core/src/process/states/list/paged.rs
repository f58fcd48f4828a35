//! A list of which some elements are not in memory, or have been written to pages.
//!
//! Elements have numbers, from that of the first that there is. A page has a fixed count of them, `length`: page `p` those from
//! `p * length` on, as far as they are still there. What follows the last full page stands in the entry itself, with what is said of the
//! pages ([`Header`]). In memory they are neighbours all the same: nothing is looked for in pages but those that lie in the store, which
//! are one run, `stored`, with elements in memory before and behind it.

use super::Entry;
use crate::checkpoint::records::broken;
use crate::error::Result;
use crate::state::pages::Home;
use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;

/// What stands in an entry of pages: owner, number of the first element, page behind the last, elements of a page, then what the list knows of
/// the times of its elements: `oldest` and `mixed`.
pub(super) type Header = (u64, u64, u64, u64, i64, bool);

/// Reads a page.
pub(super) type ReadPage<T> = fn(&[u8]) -> Result<Vec<(T, i64)>>;

/// See the module.
pub(super) struct Paged<T> {
    pub home: Home,
    /// Elements of a page.
    pub length: u64,
    /// The number of the first element.
    pub first: u64,
    /// The elements before those in the store; they are all of one page.
    pub front: VecDeque<Entry<T>>,
    /// The pages in the store.
    pub stored: Range<u64>,
    /// Pages that are in the last checkpoint as they are in memory.
    pub clean: Range<u64>,
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
            front: VecDeque::new(),
            stored: none.clone(),
            clean: none,
            written: 0,
            read: None,
            left: false,
        }
    }

    /// The page of the first element.
    pub fn first_page(&self) -> u64 {
        self.first / self.length
    }

    /// The numbers of the elements of a page that are still there.
    pub fn numbers(&self, page: u64) -> Range<u64> {
        self.first.max(page * self.length)..(page + 1) * self.length
    }

    /// The number of the first element behind the store.
    pub fn behind(&self) -> u64 {
        if self.stored.is_empty() { self.first } else { self.stored.end * self.length }
    }

    /// How many elements lie in the store.
    fn in_store(&self) -> usize {
        if self.stored.is_empty() {
            return 0;
        }
        (self.stored.end * self.length - self.first.max(self.stored.start * self.length)) as usize
    }

    /// How many elements are not behind the store.
    pub fn others(&self) -> usize {
        self.front.len() + self.in_store()
    }

    /// A page that lies in the store.
    pub fn look(&self, page: u64) -> Result<Vec<(T, i64)>> {
        let read = self.read.ok_or_else(|| broken("nobody can read a page"))?;
        checked(read(&self.home.look(page)?)?, self.numbers(page))
    }

    /// Takes the page out of the store that is the first there, or else the last; whether it could be read.
    fn load(&mut self, first: bool, to: &mut VecDeque<Entry<T>>) -> bool {
        let page = if first { self.stored.start } else { self.stored.end - 1 };
        let elements = match self.look(page) {
            Ok(elements) => elements,
            Err(error) => {
                self.home.report(error);
                // The job ends; until then there are none.
                self.front.clear();
                (self.first, self.stored) = (self.behind(), 0..0);
                return false;
            }
        };
        self.home.forget(page..page + 1);
        if first {
            self.stored.start += 1;
            self.clean.start = self.clean.start.max(page + 1);
            to.extend(elements.into_iter().map(entry));
        } else {
            self.stored.end -= 1;
            self.clean.end = self.clean.end.min(page);
            elements.into_iter().rev().for_each(|element| to.push_front(entry(element)));
        }
        true
    }

    /// Everything is in memory, in `entries`.
    #[cold]
    pub fn load_all(&mut self, entries: &mut VecDeque<Entry<T>>) {
        while !self.stored.is_empty() && self.load(false, entries) {}
        self.join(entries);
    }

    /// What is before the store goes to what is behind it, where nothing is in it.
    fn join(&mut self, entries: &mut VecDeque<Entry<T>>) {
        if self.stored.is_empty() {
            self.front.drain(..).rev().for_each(|entry| entries.push_front(entry));
        }
    }

    /// The first element is in memory, if there is one: when it was written.
    pub fn first_written(&mut self, entries: &mut VecDeque<Entry<T>>) -> Option<i64> {
        if self.front.is_empty() && !self.stored.is_empty() {
            let mut front = std::mem::take(&mut self.front);
            self.load(true, &mut front);
            self.front = front;
            self.join(entries);
        }
        self.front.front().or_else(|| entries.front()).map(|first| first.1.get())
    }

    /// Takes the first element out.
    pub fn pop_front(&mut self, entries: &mut VecDeque<Entry<T>>) -> Option<T> {
        self.first_written(entries)?;
        let (value, _) = self.front.pop_front().or_else(|| entries.pop_front())?;
        let before = self.first_page();
        self.first += 1;
        let now = self.first_page();
        let changed = if self.first.is_multiple_of(self.length) { now } else { now + 1 };
        self.clean.start = self.clean.start.max(changed);
        if now > before && before < self.written {
            self.home.gone(before..now);
        }
        Some(value)
    }

    /// All elements are in memory, some have left from the midst of them, or their times have changed: there are `len` now.
    pub fn changed(&mut self, len: usize) {
        self.clean = 0..0;
        let end = ((self.first + len as u64) / self.length).max(self.first_page());
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
            if self.first_page() < self.written {
                self.home.gone(self.first_page()..self.written);
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
