//! A list of a key: Flink's `ListState`.

mod paged;
#[cfg(test)]
mod tests;
mod write;

use super::Entries;
use super::ttl::{Now, Ttl, UNSTAMPED};
use paged::Paged;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// A value and when it was written.
type Entry<T> = (T, Cell<i64>);

/// A list of `T` in the state of a key. With a time to live each entry has its own; entries that are there in the beginning live
/// from the first use of their key. When the last has gone the state of the key begins anew.
///
/// A long list is kept in pages: of a checkpoint of changes, and on the way to a state backend, only those are written that have changed. [`push`](Self::push) and
/// [`pop_front`](Self::pop_front) cost the same however long it is, and touch a page only now and then; [`iter`](Self::iter) and [`retain`](Self::retain) load all of it.
///
/// ```
/// use flow_core::process::ListState;
/// let mut last = ListState::new();
/// last.push(1);
/// last.push(2);
/// assert_eq!((last.iter().sum::<i32>(), last.pop_front(), last.len()), (3, Some(1), 1));
/// ```
pub struct ListState<T> {
    /// Those in memory. In a call none has expired: [`Entries::at`] stands before it.
    entries: VecDeque<Entry<T>>,
    /// What there is of pages, once there are some.
    paged: RefCell<Option<Box<Paged<T>>>>,
    /// None was written before that.
    oldest: i64,
    /// Whether the first may not be the oldest: one behind it was written before the first watermark, or the first was read.
    mixed: Cell<bool>,
    ttl: Option<Ttl>,
    now: Now,
    watched: i64,
}

impl<T> Default for ListState<T> {
    fn default() -> Self {
        let (entries, mixed) = (VecDeque::new(), Cell::new(false));
        let paged = RefCell::new(None);
        ListState { entries, paged, oldest: i64::MAX, mixed, ttl: None, now: UNSTAMPED, watched: i64::MAX }
    }
}

impl<T> ListState<T> {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `value` at the end.
    pub fn push(&mut self, value: T) {
        let written = self.now.write;
        if self.entries.back().is_some_and(|last| last.1.get() > written) {
            self.mixed.set(true);
        }
        self.oldest = self.oldest.min(written);
        self.entries.push_back((value, Cell::new(written)));
    }

    /// Takes the first out.
    pub fn pop_front(&mut self) -> Option<T> {
        match self.paged.get_mut() {
            None => self.entries.pop_front().map(|first| first.0),
            Some(paged) => paged.pop_front(&mut self.entries),
        }
    }

    /// The values, from the first. All of them are loaded, where they are not in memory.
    pub fn iter(&mut self) -> impl DoubleEndedIterator<Item = &T> {
        let renews = self.ttl.is_some_and(|ttl| ttl.renews);
        self.load_all();
        if renews {
            self.changed();
        }
        let (now, mixed) = (self.now, &self.mixed);
        self.entries.iter().map(move |(value, written)| {
            if renews {
                written.set(now.write.max(written.get()));
                mixed.set(true);
            }
            value
        })
    }

    /// Keeps those for which `keep` says so. All are loaded, where they are not in memory.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.load_all();
        let before = self.entries.len();
        self.entries.retain(|entry| keep(&entry.0));
        if self.entries.len() < before {
            self.changed();
        }
    }

    /// All elements are in memory.
    fn load_all(&mut self) {
        if let Some(paged) = self.paged.get_mut() {
            paged.load_all(&mut self.entries);
        }
    }

    /// All elements are in memory, and are not what they were.
    fn changed(&mut self) {
        if let Some(paged) = self.paged.get_mut() {
            paged.changed(self.entries.len());
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len() + self.paged.borrow().as_ref().map_or(0, |paged| paged.in_store())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self.paged.get_mut() = None;
        self.entries.clear();
    }

    /// When the first was written.
    fn first_written(&mut self) -> Option<i64> {
        match self.paged.get_mut() {
            None => self.entries.front().map(|first| first.1.get()),
            Some(paged) => paged.first_written(&mut self.entries),
        }
    }

    /// Takes out what has expired, wherever it stands.
    fn expire(&mut self, ttl: Ttl, now: i64) {
        if self.mixed.get() {
            self.retain_entries(|written| !ttl.is_over(written, now));
            let times = || self.entries.iter().map(|entry| entry.1.get());
            self.mixed.set(!times().is_sorted());
            self.oldest = times().min().unwrap_or(i64::MAX);
            return;
        }
        let mut first = self.first_written();
        while first.is_some_and(|written| ttl.is_over(written, now)) && self.pop_front().is_some() {
            first = self.first_written();
        }
        self.oldest = first.unwrap_or(i64::MAX);
    }

    fn retain_entries(&mut self, keep: impl Fn(i64) -> bool) {
        self.load_all();
        let before = self.entries.len();
        self.entries.retain(|entry| keep(entry.1.get()));
        if self.entries.len() < before {
            self.changed();
        }
    }

    /// What is there was written before anybody said that it expires: in its beginning, in this call, or before it was restored.
    fn stamp(&mut self, now: Now) {
        // Where some lie in a store it is known of all when they were written.
        if self.paged.get_mut().is_some() && self.oldest != UNSTAMPED.write {
            return;
        }
        self.load_all();
        let mut changed = false;
        for (_, written) in &self.entries {
            if written.get() == UNSTAMPED.write {
                written.set(now.write);
                changed = true;
            }
        }
        if changed {
            self.changed();
        }
        (self.oldest, self.mixed) = (UNSTAMPED.write, Cell::new(true));
    }
}

impl<T: Send + 'static> Entries for ListState<T> {
    fn at(&mut self, ttl: Ttl, now: Now) -> u64 {
        if self.ttl.replace(ttl).is_none() {
            self.stamp(now);
        }
        self.now = now;
        let before = self.len();
        if self.oldest == UNSTAMPED.write || ttl.is_over(self.oldest, now.read) {
            self.expire(ttl, now.read);
        }
        (before - self.len()) as u64
    }

    fn first(&self) -> Option<i64> {
        if self.is_empty() {
            return None;
        }
        Some(self.ttl?.end(self.oldest).unwrap_or(i64::MAX))
    }

    fn watched(&mut self) -> &mut i64 {
        &mut self.watched
    }
}
