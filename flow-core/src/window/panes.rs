//! The open panes of a window operator, in order of time. Pure: no edges, no clock.

use super::spans::{Open, Spans};
use super::spec::Span;
use crate::state::Pane;
use crate::time::Timestamp;

/// The open panes, by their ends.
pub struct Panes<K, A> {
    /// What is open, and in which of the `tables`.
    pub spans: Spans,
    /// A slot is empty when its pane has been removed.
    tables: Vec<Option<Pane<K, A>>>,
    /// Emptied tables, to be used again.
    spare: Vec<Pane<K, A>>,
}

impl<K, A> Default for Panes<K, A> {
    fn default() -> Self {
        Panes { spans: Spans::default(), tables: Vec::new(), spare: Vec::new() }
    }
}

/// Emptied tables that are kept, and their bytes.
const SPARE_MAX: usize = 16;
const SPARE_BYTES_MAX: usize = 1 << 22;

impl<K, A> Panes<K, A> {
    /// The table at a slot that the spans gave.
    #[inline]
    pub fn table(&mut self, slot: usize) -> Option<&mut Pane<K, A>> {
        self.tables.get_mut(slot)?.as_mut()
    }

    /// Whether there is an open pane with `t` in it, which is then that used last.
    pub fn finds(&mut self, t: Timestamp) -> bool {
        self.spans.is_current(t) || self.spans.turn_to(t)
    }

    /// The table of the pane of `span`, opened if need be, and then as one that has fired or not.
    #[inline(never)]
    pub fn select(&mut self, span: Span, fired: bool) -> &mut Pane<K, A> {
        let (slot, new) = self.spans.select(span, fired);
        if slot == self.tables.len() {
            self.tables.push(None);
        }
        if new {
            self.tables[slot] = self.spare.pop();
        }
        match &mut self.tables[slot] {
            Some(table) => table,
            empty => empty.insert(Pane::default()),
        }
    }

    /// Takes a pane out; give its table back with [`Panes::reuse`].
    pub fn remove(&mut self, at: usize) -> Option<Pane<K, A>> {
        let slot = self.spans.remove(at)?;
        self.tables[slot].take()
    }

    /// Takes a pane out, and keeps its table for the next.
    pub fn forget(&mut self, at: usize) {
        if let Some(table) = self.remove(at) {
            self.reuse(table);
        }
    }

    /// Keeps an emptied table for the next pane, unless that would keep much memory for what may never come.
    pub fn reuse(&mut self, mut table: Pane<K, A>) {
        table.clear();
        let spare: usize = self.spare.iter().map(Pane::bytes).sum();
        if self.spare.is_empty() || (self.spare.len() < SPARE_MAX && spare + table.bytes() <= SPARE_BYTES_MAX)
        {
            self.spare.push(table);
        }
    }

    /// All open panes, by their ends.
    pub fn iter(&self) -> impl Iterator<Item = (&Open, &Pane<K, A>)> {
        self.with_tables(self.spans.iter())
    }

    /// The open panes that begin at `from` or later and before `until`, by their ends.
    pub fn within(&self, from: i128, until: i128) -> impl DoubleEndedIterator<Item = (&Open, &Pane<K, A>)> {
        self.with_tables(self.spans.within(from, until))
    }

    fn with_tables<'a>(
        &'a self,
        spans: impl DoubleEndedIterator<Item = &'a Open>,
    ) -> impl DoubleEndedIterator<Item = (&'a Open, &'a Pane<K, A>)> {
        spans.filter_map(|open| Some((open, self.tables[open.slot].as_ref()?)))
    }

    /// Says of the panes that begin there that they have fired.
    pub fn fire_within(&mut self, from: i128, until: i128) {
        self.spans.fire_within(from, until);
    }

    /// How many entries all panes hold.
    pub fn entries(&self) -> usize {
        let mut entries = 0;
        for table in &self.tables {
            entries += table.as_ref().map_or(0, Pane::len);
        }
        entries
    }
}
