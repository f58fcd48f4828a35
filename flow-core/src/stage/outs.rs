//! The sender's end of an edge: a buffer, an overflow and a ring for each receiver.
//!
//! A sender never waits. A batch that finds its ring full goes to the overflow, and [`Outs::pump`] says that there is
//! no room; the stage then stops at its cursor until there is. So the overflow holds what one cursor step emits at most.

use super::wires::{Wiring, wires};
use super::{EdgeId, OpenCx};
use crate::batch::{Batch, Mark};
use crate::checkpoint::Saves;
use crate::exchange::instance_of;
use std::any::TypeId;
use std::convert::Infallible;
use std::marker::PhantomData;

/// The sender's end of an edge that carries items of type `M`, and parts of type `P`, into which a sender has merged many.
pub struct Outs<M, P = Infallible> {
    /// What is being filled for each receiver.
    lanes: Vec<Vec<M>>,
    /// Items at which a buffer leaves.
    limit: usize,
    wires: Box<dyn Wiring>,
    parts: PhantomData<P>,
}

impl<M: Send + 'static, P: Send + 'static> Outs<M, P> {
    /// Not connected yet.
    pub fn new(edge: EdgeId) -> Self {
        let wires = wires(edge, TypeId::of::<Option<P>>());
        Outs { lanes: Vec::new(), limit: 0, wires, parts: PhantomData }
    }

    /// Connects it to the rings of its edge.
    pub fn open(&mut self, cx: &mut OpenCx) {
        let receivers = self.wires.open(cx, size_of::<M>());
        self.limit = self.wires.limit();
        while self.lanes.len() < receivers {
            self.lanes.push(Vec::with_capacity(self.limit));
        }
    }

    /// How many receivers there are.
    #[inline(always)]
    pub fn receivers(&self) -> usize {
        self.lanes.len()
    }

    /// The receiver of the key with this hash.
    #[inline(always)]
    pub fn of_key(&self, hash: u64) -> usize {
        if self.lanes.len() == 1 {
            return 0;
        }
        // A branch: with one receiver the place of an item must not wait for its hash, as it would in a conditional move.
        std::hint::cold_path();
        instance_of(hash, self.lanes.len())
    }

    /// Sends one item to receiver `to`.
    #[inline(always)]
    pub fn send(&mut self, to: usize, item: M) {
        let items = &mut self.lanes[to];
        items.push(item);
        if items.len() >= self.limit {
            self.flush_lane(to);
        }
    }

    /// Sends a part, into which so many `records` were merged, at least one, behind what is buffered for `to`.
    pub fn send_part(&mut self, to: usize, part: P, records: usize) {
        debug_assert!(records > 0, "a part stands for its records in the sequence of the edge");
        self.flush_lane(to);
        self.wires.ship_part(to, Batch::part(part, records));
    }

    /// A part that receiver `to` has emptied: its memory can be used again.
    pub fn emptied(&mut self, to: usize) -> Option<P> {
        self.wires.recycled_part(to)?.items.downcast_mut::<Option<P>>()?.take()
    }

    /// Puts a mark at this place of every receiver's sequence.
    pub fn mark(&mut self, mark: Mark) {
        for to in 0..self.lanes.len() {
            if self.wires.mark(to, self.lanes[to].len(), mark) {
                self.flush_lane(to);
            }
        }
    }

    /// Sends what is buffered.
    pub fn flush(&mut self) {
        for to in 0..self.lanes.len() {
            self.flush_lane(to);
        }
    }

    #[cold]
    #[inline(never)]
    fn flush_lane(&mut self, to: usize) {
        let items = &mut self.lanes[to];
        if items.is_empty() && !self.wires.has_marks(to) {
            return;
        }
        let mut batch = match self.wires.recycled(to) {
            Some(batch) => batch,
            None => Batch::new(Vec::<M>::new(), Vec::new()),
        };
        // The buffer of a batch that came back is filled next.
        if let Some(home) = batch.items.downcast_mut::<Vec<M>>() {
            std::mem::swap(home, items);
            batch.len = home.len();
        }
        items.reserve(self.limit);
        self.wires.ship(to, batch);
        self.limit = self.wires.limit();
    }

    /// Where what stands before it leaves what it keeps.
    pub(crate) fn saves(&self) -> &Saves {
        self.wires.saves()
    }

    /// Moves overflow into the rings; whether there is room for more.
    pub fn pump(&mut self) -> bool {
        self.wires.pump()
    }

    /// Whether every receiver is gone, so that nothing more is wanted.
    pub fn is_closed(&self) -> bool {
        self.wires.is_closed()
    }
}
