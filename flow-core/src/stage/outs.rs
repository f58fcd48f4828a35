//! The sender's end of an edge: a buffer, an overflow and a ring for each receiver.
//!
//! A sender never waits. A batch that finds its ring full goes to the overflow, and [`Outs::pump`] says that there is
//! no room; the stage then stops at its cursor until there is. So the overflow holds what one cursor step emits at most.

use super::{BatchSize, EdgeId, OpenCx};
use crate::batch::{Batch, Mark};
use crate::channel::{Sender, TrySendError};
use crate::exchange::instance_of;
use crate::metrics::Counter;
use crate::time::Timestamp;
use std::collections::VecDeque;
use std::convert::Infallible;

/// Marks a buffer may hold before it leaves although it is not full, so that a receiver whose keys are rare hears of
/// the watermark too.
const MARKS_MAX: usize = 64;

/// The ring to one receiver, and what did not fit into it.
pub struct Wire {
    ring: Sender<Batch>,
    overflow: VecDeque<Batch>,
}

impl Wire {
    /// Over the sending end of a ring.
    pub fn new(ring: Sender<Batch>) -> Self {
        Wire { ring, overflow: VecDeque::new() }
    }

    fn ship(&mut self, batch: Batch) {
        if self.overflow.is_empty() {
            match self.ring.try_send(batch) {
                // A receiver that is gone wants nothing more: `take` has enough.
                Ok(()) | Err(TrySendError::Closed(_)) => {}
                Err(TrySendError::Full(batch)) => self.overflow.push_back(batch),
            }
        } else {
            self.overflow.push_back(batch);
        }
    }

    /// Moves what it can from the overflow to the ring; whether nothing is left over. A ring that has refused is tried
    /// again when its receiver has said so: half a ring at once costs fewer wake-ups, and a host that looks for news
    /// before it sleeps sees only what a wake-up follows.
    fn pump(&mut self) -> bool {
        if !self.overflow.is_empty() && !self.ring.is_ready() {
            return false;
        }
        while let Some(batch) = self.overflow.pop_front() {
            if let Err(TrySendError::Full(batch)) = self.ring.try_send(batch) {
                self.overflow.push_front(batch);
                return false;
            }
        }
        true
    }
}

/// What is being filled for one receiver.
struct Lane<M, P> {
    items: Vec<M>,
    marks: Vec<(usize, Mark)>,
    wire: Wire,
    /// What came back and waits to be used again: parts, and batches of items.
    parts: Vec<P>,
    spare: Vec<Batch>,
}

impl<M, P: Send + 'static> Lane<M, P> {
    /// A batch of items that came back; parts that came back are put aside.
    fn recycled(&mut self) -> Option<Batch> {
        if let Some(batch) = self.spare.pop() {
            return Some(batch);
        }
        loop {
            let mut batch = self.wire.ring.recycled()?;
            match batch.items.downcast_mut::<Option<P>>() {
                Some(part) => self.parts.extend(part.take()),
                None => return Some(batch),
            }
        }
    }
}

/// The sender's end of an edge that carries items of type `M`, and parts of type `P`, into which a sender has merged many.
pub struct Outs<M, P = Infallible> {
    edge: EdgeId,
    lanes: Vec<Lane<M, P>>,
    /// Items at which a buffer leaves; drawn anew for each batch under simulation.
    limit: usize,
    size: BatchSize,
    sent: Counter,
}

impl<M: Send + 'static, P: Send + 'static> Outs<M, P> {
    /// Not connected yet.
    pub fn new(edge: EdgeId) -> Self {
        Outs { edge, lanes: Vec::new(), limit: 0, size: BatchSize::default(), sent: Counter::default() }
    }

    /// Connects it to the rings of its edge.
    pub fn open(&mut self, cx: &mut OpenCx) {
        self.size = cx.batch_size().for_items_of(size_of::<M>());
        self.limit = self.size.next();
        self.sent = cx.metrics().records_out.clone();
        let limit = self.limit;
        let lane = |wire| Lane {
            items: Vec::with_capacity(limit),
            marks: Vec::new(),
            wire,
            parts: Vec::new(),
            spare: Vec::new(),
        };
        self.lanes = cx.take_wires(self.edge).into_iter().map(lane).collect();
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
        let lane = &mut self.lanes[to];
        lane.items.push(item);
        if lane.items.len() >= self.limit {
            self.flush_lane(to);
        }
    }

    /// Sends a part, into which so many `records` were merged, at least one, behind what is buffered for `to`.
    pub fn send_part(&mut self, to: usize, part: P, records: usize) {
        debug_assert!(records > 0, "a part stands for its records in the sequence of the edge");
        self.flush_lane(to);
        self.sent.add(records as u64);
        let lane = &mut self.lanes[to];
        lane.wire.ship(Batch::part(part, records));
    }

    /// A part that receiver `to` has emptied: its memory can be used again.
    pub fn emptied(&mut self, to: usize) -> Option<P> {
        let lane = &mut self.lanes[to];
        if lane.parts.is_empty()
            && let Some(batch) = lane.recycled()
        {
            lane.spare.push(batch);
        }
        lane.parts.pop()
    }

    /// Puts a mark at this place of every receiver's sequence.
    pub fn mark(&mut self, mark: Mark) {
        for to in 0..self.lanes.len() {
            let lane = &mut self.lanes[to];
            let at = lane.items.len();
            match (lane.marks.last_mut(), mark) {
                // Nothing between two watermarks: the later one says it all. But for the last of all: what was held back
                // until then leaves before it, and meets the one that was before.
                (Some((last, Mark::Watermark(w))), Mark::Watermark(new))
                    if *last == at && new < Timestamp::MAX =>
                {
                    *w = new;
                }
                _ => lane.marks.push((at, mark)),
            }
            if lane.marks.len() >= MARKS_MAX || !matches!(mark, Mark::Watermark(_)) {
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
        let lane = &mut self.lanes[to];
        if lane.items.is_empty() && lane.marks.is_empty() {
            return;
        }
        let mut batch = lane.recycled().unwrap_or_else(|| Batch::new(Vec::<M>::new(), Vec::new()));
        // The buffers of a batch that came back are filled next.
        let mut fresh = batch.items.downcast_mut::<Vec<M>>().map(std::mem::take).unwrap_or_default();
        fresh.reserve(self.limit);
        let items = std::mem::replace(&mut lane.items, fresh);
        std::mem::swap(&mut lane.marks, &mut batch.marks);
        self.sent.add(items.len() as u64);
        batch.refill(items);
        lane.wire.ship(batch);
        self.limit = self.size.next();
    }

    /// Moves overflow into the rings; whether there is room for more.
    pub fn pump(&mut self) -> bool {
        self.lanes.iter_mut().fold(true, |room, lane| lane.wire.pump() & room)
    }

    /// Whether every receiver is gone, so that nothing more is wanted.
    pub fn is_closed(&self) -> bool {
        !self.lanes.is_empty() && self.lanes.iter().all(|lane| lane.wire.ring.is_closed())
    }
}
