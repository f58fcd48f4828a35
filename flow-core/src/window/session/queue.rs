//! When which session is looked at next.
//!
//! A session has one entry that counts, for a time at which it may be due, or before: an element that makes it longer leaves the
//! entry as it is, and whoever finds a session before its time puts it back. So most elements leave the queue alone. An entry of a
//! session that has been taken in by another, or has since been queued for an earlier time, says nothing.

use crate::time::Timestamp;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A session and when to look at it. The order is that in which sessions fire: by their ends, and of equal ones by who holds the
/// element that arrived first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry<I = ()> {
    /// When.
    pub time: i128,
    /// Which session.
    pub born: u64,
    /// The slot of its key.
    pub slot: u32,
    /// What else says where it is among those of its key, if the time does not.
    pub inside: I,
}

/// The entries, the earliest first.
pub struct Queue<I = ()>(BinaryHeap<Reverse<Entry<I>>>);

impl<I: Ord> Default for Queue<I> {
    fn default() -> Self {
        Queue(BinaryHeap::new())
    }
}

impl<I: Ord + Copy> Queue<I> {
    /// Adds an entry.
    pub fn push(&mut self, entry: Entry<I>) {
        self.0.push(Reverse(entry));
    }

    /// The time of the first entry.
    pub fn first(&self) -> Option<i128> {
        self.0.peek().map(|first| first.0.time)
    }

    /// Takes the first entry, if it is due at watermark `w`. What is beyond the range of timestamps is due at the last of them.
    pub fn pop(&mut self, w: Timestamp) -> Option<Entry<I>> {
        let Reverse(first) = *self.0.peek()?;
        is_due(first.time, w).then(|| self.0.pop())?.map(|entry| entry.0)
    }
}

/// Whether watermark `w` has come to `time`.
pub fn is_due(time: i128, w: Timestamp) -> bool {
    time.min(i64::MAX.into()) <= w.0.into()
}
