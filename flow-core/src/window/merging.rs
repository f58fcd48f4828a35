//! Local pre-aggregation: what a window's sender merges instead of sending it.
//!
//! The sender keeps panes of its own, and merges elements that are on time: no watermark it has shown passes their pane.
//! It sends a pane before the mark that passes its end, and all of them before every other mark and at a size limit, which
//! bounds what one mark sends. So no merged pane is late (the merged watermark is at most the sender's), and the sender has nothing to snapshot.
//!
//! To a single receiver a pane travels as it is, table and all, and becomes the receiver's: with one sender nothing is
//! merged twice. To several its entries travel in parts: tables that go from core to core cost more than they save (workload W4 at
//! parallelism 2: 0.154 s against 0.11 s). What the receiver has emptied comes back.

use super::base::Item;
use super::panes::Panes;
use super::spans::Open;
use super::spec::Span;
use crate::aggregate::Overflow;
use crate::stage::{BatchSize, Outs};
use crate::state::Pane;
use crate::time::Timestamp;
use std::vec::IntoIter;

/// Bytes of the entries that a sender keeps at most, over all panes, as far as `size_of` knows.
const BYTES_MAX: usize = 1 << 21;
/// Elements after which it is judged whether merging reduces.
const TRIAL: usize = 1 << 14;

/// What crosses for elements that their sender has merged.
pub enum Merged<K, A> {
    /// A pane.
    Whole(Span, Pane<K, A>),
    /// Entries of a pane, with the hashes of their keys.
    Part(Span, Vec<(u64, K, A)>),
}

/// What a sender has merged and not sent.
pub struct Merging<K, A> {
    panes: Panes<K, A>,
    watermark: Timestamp,
    /// For each receiver: entries that travel next.
    parts: Vec<Vec<(u64, K, A)>>,
    limits: Limits,
    /// Elements taken since it was last asked how many entries there are.
    unasked: usize,
    taken: usize,
    sent: usize,
}

/// Under simulation they are small, and differ.
struct Limits {
    /// Entries that are kept.
    kept: usize,
    /// Entries that travel together.
    part: usize,
    /// Elements after which it is judged whether merging reduces.
    trial: usize,
}

/// What merging asks of its window, whose elements carry a load `L` and the route `R` of their key `K`.
pub trait Merge<R, L, K, A> {
    /// Adds items as long as they are for open panes.
    ///
    /// # Errors
    /// When the aggregate leaves its range.
    fn add_run(&self, panes: &mut Panes<K, A>, items: &mut IntoIter<Item<R, L>>) -> Result<(), Overflow>;
    /// The pane of an element.
    fn span(&self, time: Timestamp) -> Span;
    /// The hash of a key.
    fn hash(&self, key: &K) -> u64;
}

/// The sender's end of a window's edge.
type Edge<R, L, K, A> = Outs<Item<R, L>, Merged<K, A>>;

impl<K: Send + 'static, A: Send + 'static> Merging<K, A> {
    /// For so many receivers.
    pub fn new(receivers: usize, mut size: BatchSize) -> Self {
        let entry = size_of::<(u64, K, A)>();
        let kept = size.or_few((BYTES_MAX / entry.max(1)).max(1));
        let limits = Limits { kept, part: size.for_items_of(entry).next(), trial: size.or_few(TRIAL) };
        let mut parts = Vec::with_capacity(receivers);
        for _ in 0..receivers {
            parts.push(Vec::new());
        }
        let (panes, watermark) = (Panes::default(), Timestamp::MIN);
        Merging { panes, watermark, parts, limits, unasked: 0, taken: 0, sent: 0 }
    }

    /// The sender has shown watermark `w`.
    pub fn watermark(&mut self, w: Timestamp) {
        self.watermark = w;
    }

    /// Merges elements. Those that are not on time are sent as they are, and the receiver judges them.
    ///
    /// # Errors
    /// When the aggregate leaves its range.
    pub fn take<R: Send + 'static, L: Send + 'static>(
        &mut self,
        items: &mut IntoIter<Item<R, L>>,
        outs: &mut Edge<R, L, K, A>,
        how: &impl Merge<R, L, K, A>,
    ) -> Result<(), Overflow> {
        self.taken = self.taken.saturating_add(items.len());
        self.unasked += items.len();
        loop {
            // Only panes that no watermark has passed are open here.
            how.add_run(&mut self.panes, items)?;
            let Some(item) = items.as_slice().first() else { break };
            let span = how.span(item.time);
            // A pane that does not hold its element is a mistake of the user's `Assign`, and no reason to turn in circles.
            if !span.is_passed(self.watermark) && span.holds(item.time) {
                self.panes.select(span, false);
            } else if let Some(item) = items.next() {
                let to = outs.of_key(item.hash);
                outs.send(to, item);
            }
        }
        if self.unasked >= self.limits.kept {
            self.unasked = 0;
            if self.panes.entries() >= self.limits.kept {
                self.send_due(Timestamp::MAX, outs, how);
            }
        }
        Ok(())
    }

    /// Sends the panes that are due at `until`, by their ends.
    pub fn send_due<R: Send + 'static, L: Send + 'static>(
        &mut self,
        until: Timestamp,
        outs: &mut Edge<R, L, K, A>,
        how: &impl Merge<R, L, K, A>,
    ) {
        while let Some((at, Open { span, .. })) = self.panes.spans.due(until, false) {
            let Some(table) = self.panes.remove(at) else { break };
            let entries = table.len();
            self.sent = self.sent.saturating_add(entries);
            if outs.receivers() == 1 {
                outs.send_part(0, Merged::Whole(span, table), entries);
            } else {
                self.send_entries(span, table, outs, |key| how.hash(key));
            }
        }
        if outs.receivers() == 1 {
            while let Some(Merged::Whole(_, table)) = outs.emptied(0) {
                self.panes.reuse(table);
            }
        }
    }

    fn send_entries<R: Send + 'static, L: Send + 'static>(
        &mut self,
        span: Span,
        mut table: Pane<K, A>,
        outs: &mut Edge<R, L, K, A>,
        hash_of: impl Fn(&K) -> u64,
    ) {
        while let Some((key, acc)) = table.pop() {
            let hash = hash_of(&key);
            let to = outs.of_key(hash);
            let part = &mut self.parts[to];
            part.push((hash, key, acc));
            if part.len() >= self.limits.part {
                send_part(span, part, to, outs);
            }
        }
        self.panes.reuse(table);
        for to in 0..self.parts.len() {
            let part = &mut self.parts[to];
            if !part.is_empty() {
                send_part(span, part, to, outs);
            }
        }
    }

    /// Whether it has turned out that merging does not reduce: two elements an entry are the least.
    pub fn is_in_vain(&self) -> bool {
        self.taken > self.limits.trial && self.taken / 2 < self.sent
    }
}

#[inline(never)]
fn send_part<R, L, K, A>(span: Span, part: &mut Vec<(u64, K, A)>, to: usize, outs: &mut Edge<R, L, K, A>)
where
    R: Send + 'static,
    L: Send + 'static,
    K: Send + 'static,
    A: Send + 'static,
{
    let empty = match outs.emptied(to) {
        Some(Merged::Part(_, empty)) => empty,
        _ => Vec::new(),
    };
    let entries = part.len();
    outs.send_part(to, Merged::Part(span, std::mem::replace(part, empty)), entries);
}
