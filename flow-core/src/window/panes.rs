//! The open panes of a window operator, in order of time. Pure: no edges, no clock.

use super::saved::Notes;
use super::spans::{Open, Spans};
use super::spec::Span;
use crate::error::Result;
use crate::state::{Beyond, Keep, Mode, Only, Pane, Space, Volatile};
use crate::time::Timestamp;

/// The open panes, by their ends, in a pipeline of mode `M`.
pub struct Panes<K, A, M: Mode = Volatile> {
    /// What is open, and in which of the `tables`.
    pub spans: Spans,
    /// A slot is empty when its pane has been removed.
    pub(super) tables: Vec<Option<Pane<K, A, M>>>,
    /// Emptied tables, to be used again.
    spare: Vec<Pane<K, A, M>>,
    /// What the checkpoints say.
    pub(super) notes: M::Only<Notes>,
    /// Where entries go that are too many for the memory.
    beyond: M::Only<Beyond<K, A>>,
}

impl<K, A, M: Mode> Default for Panes<K, A, M> {
    fn default() -> Self {
        let (tables, spare, notes) = (Vec::new(), Vec::new(), <M::Only<Notes>>::default());
        Panes { spans: Spans::default(), tables, spare, notes, beyond: Default::default() }
    }
}

/// Emptied tables that are kept, and their bytes.
const SPARE_MAX: usize = 16;
const SPARE_BYTES_MAX: usize = 1 << 22;

impl<K, A, M: Mode> Panes<K, A, M> {
    /// Where the job has a state backend: entries that are too many for the memory go to `space`. To be called before anything else. They are
    /// given out by [`Pane::pop`], and shown by [`Pane::show`]; no other way to look at all of them may be used.
    ///
    /// # Errors
    /// When the mode keeps no state.
    pub(crate) fn spill(
        &mut self,
        space: Option<Space>,
        hash_of: impl Fn(&K) -> u64 + Clone + Send + 'static,
    ) -> Result<()>
    where
        K: Keep<M>,
        A: Keep<M>,
    {
        let Some(space) = space else { return Ok(()) };
        K::kept(|| {
            if let Some(beyond) = self.beyond.get() {
                beyond.open::<M>(space, hash_of);
            }
            Ok(())
        })
    }

    /// The memory is divided among the open panes.
    #[inline(always)]
    fn divide(&mut self, new: Option<usize>) {
        let Panes { beyond, tables, .. } = self;
        let Some(beyond) = beyond.get().filter(|beyond| beyond.is_open()) else { return };
        if let Some(Some(table)) = new.and_then(|slot| tables.get_mut(slot)) {
            table.spill(beyond);
            table.set_share(beyond.each());
        }
        if let Some(share) = beyond.divide(tables.iter().flatten().count()) {
            tables.iter_mut().flatten().for_each(|table| table.set_share(share));
        }
    }

    /// The table at a slot that the spans gave.
    #[inline]
    pub fn table(&mut self, slot: usize) -> Option<&mut Pane<K, A, M>> {
        self.tables.get_mut(slot)?.as_mut()
    }

    /// The same, to look at.
    pub fn slice(&self, slot: usize) -> Option<&Pane<K, A, M>> {
        self.tables.get(slot)?.as_ref()
    }

    /// Whether there is an open pane with `t` in it, which is then that used last.
    pub fn finds(&mut self, t: Timestamp) -> bool {
        self.spans.is_current(t) || self.spans.turn_to(t)
    }

    /// The table of the pane of `span`, opened if need be, and then as one that has fired or not.
    #[inline(never)]
    pub fn select(&mut self, span: Span, fired: bool) -> &mut Pane<K, A, M> {
        let (slot, new) = self.spans.select(span, fired);
        if slot == self.tables.len() {
            self.tables.push(None);
        }
        if new {
            self.tables[slot] = Some(self.spare.pop().unwrap_or_default());
            self.divide(Some(slot));
        }
        match &mut self.tables[slot] {
            Some(table) => table,
            empty => empty.insert(Pane::default()),
        }
    }

    /// Takes a pane out; give its table back with [`Panes::reuse`].
    pub fn remove(&mut self, at: usize) -> Option<Pane<K, A, M>> {
        if let Some(notes) = self.notes.get()
            && let Some(open) = self.spans.iter().nth(at)
        {
            notes.removed(open.span);
        }
        let slot = self.spans.remove(at)?;
        let mut pane = self.tables[slot].take()?;
        pane.finish_save();
        self.divide(None);
        Some(pane)
    }

    /// Takes a pane out, and keeps its table for the next.
    pub fn forget(&mut self, at: usize) {
        if let Some(table) = self.remove(at) {
            self.reuse(table);
        }
    }

    /// Keeps an emptied table for the next pane, unless that would keep much memory for what may never come.
    pub fn reuse(&mut self, mut table: Pane<K, A, M>) {
        table.clear();
        let spare: usize = self.spare.iter().map(Pane::bytes).sum();
        if self.spare.is_empty() || (self.spare.len() < SPARE_MAX && spare + table.bytes() <= SPARE_BYTES_MAX)
        {
            self.spare.push(table);
        }
    }

    /// All open panes, by their ends.
    pub fn iter(&self) -> impl Iterator<Item = (&Open, &Pane<K, A, M>)> {
        self.with_tables(self.spans.iter())
    }

    /// The open panes that begin at `from` or later and before `until`, by their ends.
    pub fn within(
        &self,
        from: i128,
        until: i128,
    ) -> impl DoubleEndedIterator<Item = (&Open, &Pane<K, A, M>)> {
        self.with_tables(self.spans.within(from, until))
    }

    fn with_tables<'a>(
        &'a self,
        spans: impl DoubleEndedIterator<Item = &'a Open>,
    ) -> impl DoubleEndedIterator<Item = (&'a Open, &'a Pane<K, A, M>)> {
        spans.filter_map(|open| Some((open, self.tables[open.slot].as_ref()?)))
    }

    /// Where the job has a state backend: whether entries of the panes that begin there have left the memory.
    #[inline(always)]
    pub(crate) fn scattered_within(&self, from: i128, until: i128) -> bool {
        self.beyond.look().is_some_and(Beyond::is_open)
            && self.within(from, until).any(|(_, table)| table.is_scattered())
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
