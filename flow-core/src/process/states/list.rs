//! A list of a key: Flink's `ListState`.

use super::Entries;
use super::ttl::{Now, Ttl};
use serde_core::de::Deserializer;
use serde_core::ser::Serializer;
use serde_core::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::VecDeque;

/// A list of `T` in the state of a key. With a time to live each entry has its own.
///
/// ```
/// use flow_core::process::ListState;
/// let mut last = ListState::new();
/// last.push(1);
/// last.push(2);
/// assert_eq!((last.iter().sum::<i32>(), last.pop_front(), last.len()), (3, Some(1), 1));
/// ```
pub struct ListState<T> {
    /// Values and when each was written: the first is the oldest, but for what was written before the first watermark.
    entries: VecDeque<(T, Cell<i64>)>,
    ttl: Option<Ttl>,
    now: Now,
    watched: i64,
}

impl<T> Default for ListState<T> {
    fn default() -> Self {
        ListState { entries: VecDeque::new(), ttl: None, now: Now { read: 0, write: 0 }, watched: i64::MAX }
    }
}

impl<T> ListState<T> {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `value` at the end.
    pub fn push(&mut self, value: T) {
        self.entries.push_back((value, Cell::new(self.now.write)));
    }

    /// Takes the first out.
    pub fn pop_front(&mut self) -> Option<T> {
        loop {
            let (value, written) = self.entries.pop_front()?;
            if self.is_live(&written) {
                return Some(value);
            }
        }
    }

    /// The values, from the first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        let renews = self.ttl.is_some_and(|ttl| ttl.renews);
        self.entries.iter().filter(|entry| self.is_live(&entry.1)).map(move |(value, written)| {
            if renews {
                written.set(self.now.write);
            }
            value
        })
    }

    /// Keeps those for which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.entries.retain(|entry| keep(&entry.0));
    }

    fn is_live(&self, written: &Cell<i64>) -> bool {
        !self.ttl.is_some_and(|ttl| ttl.is_over(written.get(), self.now.read))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.iter().filter(|entry| self.is_live(&entry.1)).count()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

impl<T: Send + 'static> Entries for ListState<T> {
    fn at(&mut self, ttl: Ttl, now: Now) -> u64 {
        (self.ttl, self.now) = (Some(ttl), now);
        let mut gone = 0;
        while self.entries.front().is_some_and(|first| ttl.is_over(first.1.get(), now.read)) {
            self.entries.pop_front();
            gone += 1;
        }
        gone
    }

    fn first(&self) -> Option<i64> {
        let (_, written) = self.entries.front()?;
        Some(self.ttl?.end(written.get()).unwrap_or(i64::MAX))
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
