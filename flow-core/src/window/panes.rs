//! The open panes of a window operator, in order of time. Pure: no edges, no clock.

use super::spec::Span;
use crate::state::Pane;
use crate::time::Timestamp;
use std::collections::VecDeque;

/// In the place of a pane that has been removed.
const GONE: usize = usize::MAX;

/// A pane with its table.
pub struct Open<K, A> {
    /// Its stretch of event time.
    pub span: Span,
    /// Its keys.
    pub table: Pane<K, A>,
    /// Whether the watermark has passed its end: an element that joins it has to be shown at once.
    pub fired: bool,
}

/// The open panes, by their ends.
pub struct Panes<K, A> {
    open: VecDeque<Open<K, A>>,
    /// The pane used last, [`GONE`] if there is none; its first instant, and how far its last one is from it: most records are
    /// for it, and one compare says so.
    current: usize,
    low: i64,
    reach: u64,
    /// Emptied tables, to be used again.
    spare: Vec<Pane<K, A>>,
}

impl<K, A> Default for Panes<K, A> {
    fn default() -> Self {
        Panes { open: VecDeque::new(), current: GONE, low: 0, reach: 0, spare: Vec::new() }
    }
}

impl<K, A> Panes<K, A> {
    /// Whether `t` is in the pane used last.
    #[inline(always)]
    pub fn is_current(&self, t: Timestamp) -> bool {
        self.current != GONE && (t.0.wrapping_sub(self.low) as u64) <= self.reach
    }

    /// The pane used last; none if it is gone.
    #[inline(always)]
    pub fn current(&mut self) -> Option<&mut Open<K, A>> {
        self.open.get_mut(self.current)
    }

    /// The pane used last, with its first instant and how far its last one is from it.
    #[inline(always)]
    pub fn last(&mut self) -> Option<(&mut Open<K, A>, i64, u64)> {
        Some((self.open.get_mut(self.current)?, self.low, self.reach))
    }

    /// Makes the open pane with `t` in it, if there is one, that used last; cheaper than asking for its span.
    pub fn turn_to(&mut self, t: Timestamp) -> bool {
        let at = self.open.partition_point(|p| p.span.end <= i128::from(t.0));
        match self.open.get(at).map(|p| p.span) {
            Some(span) if span.start <= i128::from(t.0) => {
                self.set_current(at, span);
                true
            }
            _ => false,
        }
    }

    /// The pane of `span`, opened if need be, and then as one that has fired or not.
    #[inline(never)]
    pub fn select(&mut self, span: Span, fired: bool) -> &mut Open<K, A> {
        let at = self.open.partition_point(|p| p.span < span);
        if self.open.get(at).is_none_or(|p| p.span != span) {
            let table = self.spare();
            self.open.insert(at, Open { span, table, fired });
        }
        self.set_current(at, span);
        &mut self.open[at]
    }

    fn set_current(&mut self, at: usize, span: Span) {
        let (first, last) = (span.shown().0, span.due());
        self.current = at;
        self.low = first.0;
        self.reach = last.0.wrapping_sub(first.0) as u64;
    }

    /// The first pane, by its end, for which `wanted`.
    pub fn first(&self, wanted: impl Fn(&Open<K, A>) -> bool) -> Option<usize> {
        self.open.iter().position(wanted)
    }

    /// The pane at a place that [`Panes::first`] gave.
    pub fn get(&mut self, at: usize) -> Option<&mut Open<K, A>> {
        self.open.get_mut(at)
    }

    /// Takes a pane out; give its table back with [`Panes::reuse`].
    pub fn remove(&mut self, at: usize) -> Option<Open<K, A>> {
        self.current = GONE;
        self.open.remove(at)
    }

    /// Keeps an emptied table for the next pane.
    pub fn reuse(&mut self, mut table: Pane<K, A>) {
        table.clear();
        self.spare.push(table);
    }

    /// All open panes, by their ends.
    pub fn iter(&self) -> impl Iterator<Item = &Open<K, A>> {
        self.open.iter()
    }

    /// The open panes that begin at `from` or later and before `until`, by their ends.
    pub fn within(&self, from: i128, until: i128) -> impl DoubleEndedIterator<Item = &Open<K, A>> {
        let at = |t| self.open.partition_point(|p| p.span.start < t);
        self.open.range(at(from)..at(until).max(at(from)))
    }

    /// Says of the panes that begin there that they have fired.
    pub fn fire_within(&mut self, from: i128, until: i128) {
        let at = |t| self.open.partition_point(|p| p.span.start < t);
        let range = at(from)..at(until).max(at(from));
        self.open.range_mut(range).for_each(|pane| pane.fired = true);
    }

    /// An emptied table.
    pub fn spare(&mut self) -> Pane<K, A> {
        self.spare.pop().unwrap_or_default()
    }

    /// How many entries all panes hold.
    pub fn entries(&self) -> usize {
        self.open.iter().map(|p| p.table.len()).sum()
    }
}
