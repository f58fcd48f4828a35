//! The spans of the open panes, in order of time, without their tables: compiled here once, and not in every user's crate for
//! every key and accumulator.

use super::spec::Span;
use crate::time::{Millis, Timestamp};
use std::collections::VecDeque;
use std::ops::Range;

/// In the place of a pane that has been removed.
const GONE: usize = usize::MAX;

/// An open pane.
#[derive(Clone, Copy)]
pub struct Open {
    /// Its stretch of event time.
    pub span: Span,
    /// Where its table is.
    pub slot: usize,
    /// Whether the watermark has passed its end: an element that joins it has to be shown at once.
    pub fired: bool,
}

/// The open panes, by their ends.
pub struct Spans {
    open: VecDeque<Open>,
    /// The pane used last, [`GONE`] if there is none, and where its table is; its first instant, and how far its last one is
    /// from it: most records are for it, and one compare says so.
    current: usize,
    slot: usize,
    low: i64,
    reach: u64,
    /// So many at the front have fired.
    fired: usize,
    /// Slots that are free among the `slots` that there are.
    free: Vec<usize>,
    slots: usize,
}

impl Default for Spans {
    fn default() -> Self {
        let (open, free) = (VecDeque::new(), Vec::new());
        Spans { open, current: GONE, slot: GONE, low: 0, reach: 0, fired: 0, free, slots: 0 }
    }
}

impl Spans {
    /// Whether `t` is in the pane used last.
    #[inline]
    pub fn is_current(&self, t: Timestamp) -> bool {
        self.current != GONE && (t.0.wrapping_sub(self.low) as u64) <= self.reach
    }

    /// The pane used last; none if it is gone.
    pub fn current(&self) -> Option<Open> {
        self.open.get(self.current).copied()
    }

    /// Where the table of the pane used last is, its first instant and how far its last one is from it; none if it has fired.
    pub fn unfired(&self) -> Option<(usize, i64, u64)> {
        let open = self.open.get(self.current)?;
        (!open.fired).then_some((self.slot, self.low, self.reach))
    }

    /// Makes the open pane with `t` in it, if there is one, that used last; cheaper than asking for its span.
    pub fn turn_to(&mut self, t: Timestamp) -> bool {
        let at = self.open.partition_point(|p| p.span.end <= i128::from(t.0));
        match self.open.get(at).copied() {
            Some(open) if open.span.start <= i128::from(t.0) => {
                self.set_current(at, open);
                true
            }
            _ => false,
        }
    }

    /// Makes the pane of `span` the one used last, opened if need be, and then as one that has fired or not. Where its table is,
    /// and whether it is to be put there.
    pub fn select(&mut self, span: Span, fired: bool) -> (usize, bool) {
        let at = self.open.partition_point(|p| p.span < span);
        let known = self.open.get(at).copied().filter(|p| p.span == span);
        let open = known.unwrap_or_else(|| {
            let open = Open { span, slot: self.free_slot(), fired };
            self.open.insert(at, open);
            self.fired = if at > self.fired || (at == self.fired && !fired) {
                self.fired
            } else if fired {
                self.fired + 1
            } else {
                at
            };
            open
        });
        self.set_current(at, open);
        (open.slot, known.is_none())
    }

    fn free_slot(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        })
    }

    fn set_current(&mut self, at: usize, open: Open) {
        let (first, last) = (open.span.shown().0, open.span.due());
        self.current = at;
        self.slot = open.slot;
        self.low = first.0;
        self.reach = last.0.wrapping_sub(first.0) as u64;
    }

    /// The first pane that is due at `w`, and its place; where `unfired`, of those that have not fired. Panes are in the order of their
    /// starts, and those that have fired mostly come first: it looks at hardly more than one.
    pub fn due(&self, w: Timestamp, unfired: bool) -> Option<(usize, Open)> {
        let from = if unfired { self.fired } else { 0 };
        self.first(from, w, |p| p.span.is_passed(w) && !(unfired && p.fired))
    }

    /// The place of the first pane that has fired and that no element can join any more at watermark `w`.
    pub fn forgettable(&self, w: Timestamp, lateness: Millis) -> Option<usize> {
        // None that begins later can be late enough.
        let before = if w == Timestamp::MAX { w } else { w - lateness };
        self.first(0, before, |p| p.fired && p.span.late_by(w, lateness).is_some()).map(|(at, _)| at)
    }

    /// The first from a place on, of those that begin at `before` or earlier.
    fn first(&self, from: usize, before: Timestamp, wanted: impl Fn(&Open) -> bool) -> Option<(usize, Open)> {
        for at in from..self.open.len() {
            let open = self.open[at];
            if open.span.start > i128::from(before.0) {
                break;
            }
            if wanted(&open) {
                return Some((at, open));
            }
        }
        None
    }

    /// The pane at a place that [`Spans::due`] gave has fired.
    pub fn set_fired(&mut self, at: usize) {
        self.open[at].fired = true;
        self.count_fired();
    }

    fn count_fired(&mut self) {
        while self.open.get(self.fired).is_some_and(|p| p.fired) {
            self.fired += 1;
        }
    }

    /// Takes the pane at a place out. Where its table is.
    pub fn remove(&mut self, at: usize) -> Option<usize> {
        self.current = GONE;
        let slot = self.open.remove(at)?.slot;
        self.fired -= usize::from(at < self.fired);
        self.free.push(slot);
        Some(slot)
    }

    /// All open panes, by their ends.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Open> {
        self.open.iter()
    }

    /// The open panes that begin at `from` or later and before `until`, by their ends; of panes that do not overlap.
    pub fn within(&self, from: i128, until: i128) -> impl DoubleEndedIterator<Item = &Open> {
        self.open.range(self.places(from, until))
    }

    /// Says of the panes that begin there that they have fired.
    pub fn fire_within(&mut self, from: i128, until: i128) {
        let places = self.places(from, until);
        self.open.range_mut(places).for_each(|open| open.fired = true);
        self.count_fired();
    }

    fn places(&self, from: i128, until: i128) -> Range<usize> {
        let at = |t| self.open.partition_point(|p| p.span.start < t);
        let first = at(from);
        first..at(until).max(first)
    }
}
