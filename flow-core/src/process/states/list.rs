//! A list of a key: Flink's `ListState`.

use super::Entries;
use super::ttl::{Now, Ttl, UNSTAMPED};
use serde_core::de::Deserializer;
use serde_core::ser::Serializer;
use serde_core::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::VecDeque;

/// A list of `T` in the state of a key. With a time to live each entry has its own; entries that are there in the beginning live
/// from the first use of their key. When the last has gone the state of the key begins anew.
///
/// ```
/// use flow_core::process::ListState;
/// let mut last = ListState::new();
/// last.push(1);
/// last.push(2);
/// assert_eq!((last.iter().sum::<i32>(), last.pop_front(), last.len()), (3, Some(1), 1));
/// ```
pub struct ListState<T> {
    /// Values and when each was written. In a call none has expired: [`Entries::at`] stands before it.
    entries: VecDeque<(T, Cell<i64>)>,
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
        ListState { entries, oldest: i64::MAX, mixed, ttl: None, now: UNSTAMPED, watched: i64::MAX }
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
        self.entries.pop_front().map(|first| first.0)
    }

    /// The values, from the first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        let renews = self.ttl.is_some_and(|ttl| ttl.renews);
        self.entries.iter().map(move |(value, written)| {
            if renews {
                written.set(self.now.write.max(written.get()));
                self.mixed.set(true);
            }
            value
        })
    }

    /// Keeps those for which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.entries.retain(|entry| keep(&entry.0));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Takes out what has expired, wherever it stands.
    fn expire(&mut self, ttl: Ttl, now: i64) {
        if self.mixed.get() {
            self.entries.retain(|entry| !ttl.is_over(entry.1.get(), now));
            let times = || self.entries.iter().map(|entry| entry.1.get());
            self.mixed.set(!times().is_sorted());
            self.oldest = times().min().unwrap_or(i64::MAX);
            return;
        }
        while self.entries.front().is_some_and(|first| ttl.is_over(first.1.get(), now)) {
            self.entries.pop_front();
        }
        self.oldest = self.entries.front().map_or(i64::MAX, |first| first.1.get());
    }
}

impl<T: Send + 'static> Entries for ListState<T> {
    fn at(&mut self, ttl: Ttl, now: Now) -> u64 {
        if self.ttl.replace(ttl).is_none() {
            for (_, written) in &self.entries {
                if written.get() == UNSTAMPED.write {
                    written.set(now.write);
                }
            }
            (self.oldest, self.mixed) = (UNSTAMPED.write, Cell::new(true));
        }
        self.now = now;
        let before = self.entries.len();
        if self.oldest == UNSTAMPED.write || ttl.is_over(self.oldest, now.read) {
            self.expire(ttl, now.read);
        }
        (before - self.entries.len()) as u64
    }

    fn first(&self) -> Option<i64> {
        self.entries.front()?;
        Some(self.ttl?.end(self.oldest).unwrap_or(i64::MAX))
    }

    fn watched(&mut self) -> &mut i64 {
        &mut self.watched
    }
}

impl<T: Serialize> Serialize for ListState<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.entries.iter().map(|(value, written)| (value, written.get())))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ListState<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let entries = Vec::<(T, i64)>::deserialize(from)?;
        let entries = entries.into_iter().map(|(value, written)| (value, Cell::new(written))).collect();
        Ok(ListState { entries, ..ListState::default() })
    }
}
