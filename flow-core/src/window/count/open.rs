//! The count windows of one key. Pure: no edges, no clock.

use crate::time::Timestamp;
use crate::window::spec::Span;
use std::collections::VecDeque;

/// A window that is not full yet: when its first element happened, and what its elements have become.
pub type Open<A> = (Timestamp, A);

/// The open windows of a key, in the order in which they began, which is that in which they fill.
pub struct Windows<A> {
    pub open: VecDeque<Open<A>>,
    /// How many elements there have been,
    pub seen: u64,
    /// … how many when a window was last shown,
    pub shown: u64,
    /// … and how many there will be when the next one is full.
    pub full: u64,
    /// When the last one happened.
    pub last: Timestamp,
    /// How many keys came before this one: what is left over at the end leaves in that order.
    pub born: u64,
}

impl<A> Windows<A> {
    /// Of a key that is new, before which so many came.
    pub fn new(size: u64, born: u64) -> Self {
        Windows { open: VecDeque::new(), seen: 0, shown: 0, full: size, last: Timestamp::MIN, born }
    }

    /// One more element, which may begin a window; gives the accumulators of those that hold it.
    #[inline]
    pub fn arrive(
        &mut self,
        time: Timestamp,
        every: u64,
        start: impl FnOnce() -> A,
    ) -> impl Iterator<Item = &mut A> {
        if self.seen.is_multiple_of(every) {
            self.open.push_back((time, start()));
        }
        self.seen += 1;
        self.last = time;
        self.open.iter_mut().map(|(_, acc)| acc)
    }

    /// The window that the last element has filled.
    #[inline]
    pub fn filled(&mut self, every: u64) -> Option<(Span, A)> {
        if self.seen < self.full {
            return None;
        }
        self.shown = self.seen;
        // Windows so far apart that no more fill than can be counted.
        self.full = self.full.saturating_add(every);
        self.first()
    }

    /// At the end of the input: the window next to fill, if it holds an element that has not been shown.
    pub fn left_over(&mut self) -> Option<(Span, A)> {
        if self.seen > self.shown { self.first() } else { None }
    }

    fn first(&mut self) -> Option<(Span, A)> {
        let (start, acc) = self.open.pop_front()?;
        Some((Span { start: start.0.into(), end: self.last.0.into() }, acc))
    }
}
