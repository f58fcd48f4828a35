//! The half of a sender's end that need not know what it sends: rings, overflow, marks and what came back. It is compiled
//! here once, and not in every user's crate for every edge; it lies behind a pointer to `Wiring` so that this is true of
//! dropping it, too.

use super::{BatchSize, EdgeId, OpenCx};
use crate::batch::{Batch, Mark};
use crate::channel::{Sender, TrySendError};
use crate::checkpoint::Saves;
use crate::metrics::Counter;
use crate::time::Timestamp;
use std::any::TypeId;
use std::collections::VecDeque;

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

/// What is kept for one receiver beside the items that are being filled.
struct Lane {
    /// Nothing follows the end: what ended early in a stage that goes on sees the barriers of all checkpoints to come.
    ended: bool,
    marks: Vec<(usize, Mark)>,
    wire: Wire,
    /// What came back and waits to be used again: batches of parts, and of items.
    parts: Vec<Batch>,
    spare: Vec<Batch>,
}

/// What [`Outs`](super::Outs) asks of its wires, once a batch or less.
pub(super) trait Wiring: Send {
    /// Connects them to the rings of their edge, for items of so many bytes. How many there are.
    fn open(&mut self, cx: &mut OpenCx, bytes: usize) -> usize;
    /// Items at which a buffer leaves, to be asked for anew after each batch.
    fn limit(&self) -> usize;
    /// A batch of items that came back from receiver `to`; parts that came back are put aside.
    fn recycled(&mut self, to: usize) -> Option<Batch>;
    /// A batch of a part that came back from receiver `to`.
    fn recycled_part(&mut self, to: usize) -> Option<Batch>;
    /// Puts a mark behind the `at` items that are buffered for `to`; whether they have to be sent now.
    fn mark(&mut self, to: usize, at: usize, mark: Mark) -> bool;
    /// Whether there are marks to be sent to `to`.
    fn has_marks(&self, to: usize) -> bool;
    /// Sends a batch of items with the marks that are buffered for `to`.
    fn ship(&mut self, to: usize, batch: Batch);
    /// Sends a batch that is a part.
    fn ship_part(&mut self, to: usize, batch: Batch);
    /// Moves overflow into the rings; whether there is room for more.
    fn pump(&mut self) -> bool;
    /// Whether every receiver is gone, so that nothing more is wanted.
    fn is_closed(&self) -> bool;
    /// The way to the coordinator.
    fn saves(&self) -> &Saves;
}

/// Wires of `edge`, not connected yet, for batches of items and batches of parts, whose type is `part`.
pub(super) fn wires(edge: EdgeId, part: TypeId) -> Box<dyn Wiring> {
    let (size, sent) = (BatchSize::default(), Counter::default());
    Box::new(Wires { edge, lanes: Vec::new(), part, limit: 0, size, sent, saves: Saves::default() })
}

/// The wires of an edge.
struct Wires {
    edge: EdgeId,
    lanes: Vec<Lane>,
    part: TypeId,
    /// Drawn anew for each batch under simulation.
    limit: usize,
    size: BatchSize,
    sent: Counter,
    saves: Saves,
}

impl Wiring for Wires {
    fn open(&mut self, cx: &mut OpenCx, bytes: usize) -> usize {
        self.size = cx.batch_size().for_items_of(bytes);
        self.limit = self.size.next();
        self.sent = cx.metrics().records_out.clone();
        self.saves = cx.saves().clone();
        let lane =
            |wire| Lane { ended: false, marks: Vec::new(), wire, parts: Vec::new(), spare: Vec::new() };
        self.lanes = cx.take_wires(self.edge).into_iter().map(lane).collect();
        self.lanes.len()
    }

    fn limit(&self) -> usize {
        self.limit
    }

    fn recycled(&mut self, to: usize) -> Option<Batch> {
        let lane = &mut self.lanes[to];
        if let Some(batch) = lane.spare.pop() {
            return Some(batch);
        }
        loop {
            let batch = lane.wire.ring.recycled()?;
            if (*batch.items).type_id() != self.part {
                return Some(batch);
            }
            lane.parts.push(batch);
        }
    }

    fn recycled_part(&mut self, to: usize) -> Option<Batch> {
        let Lane { parts, spare, wire, .. } = &mut self.lanes[to];
        while parts.is_empty() {
            let batch = wire.ring.recycled()?;
            let home = if (*batch.items).type_id() == self.part { &mut *parts } else { &mut *spare };
            home.push(batch);
        }
        parts.pop()
    }

    fn mark(&mut self, to: usize, at: usize, mark: Mark) -> bool {
        let Lane { ended, marks, .. } = &mut self.lanes[to];
        if std::mem::replace(ended, *ended || mark == Mark::End) {
            return false;
        }
        match (marks.last_mut(), mark) {
            // Nothing between two watermarks: the later one says it all. But for the last of all: what was held back
            // until then leaves before it, and meets the one that was before.
            (Some((last, Mark::Watermark(w))), Mark::Watermark(new))
                if *last == at && new < Timestamp::MAX =>
            {
                *w = new;
            }
            _ => marks.push((at, mark)),
        }
        marks.len() >= MARKS_MAX || !matches!(mark, Mark::Watermark(_))
    }

    fn has_marks(&self, to: usize) -> bool {
        !self.lanes[to].marks.is_empty()
    }

    fn ship(&mut self, to: usize, mut batch: Batch) {
        let lane = &mut self.lanes[to];
        std::mem::swap(&mut lane.marks, &mut batch.marks);
        self.sent.add(batch.len as u64);
        lane.wire.ship(batch);
        self.limit = self.size.next();
    }

    fn ship_part(&mut self, to: usize, batch: Batch) {
        self.sent.add(batch.len as u64);
        self.lanes[to].wire.ship(batch);
    }

    fn pump(&mut self) -> bool {
        self.lanes.iter_mut().fold(true, |room, lane| lane.wire.pump() & room)
    }

    fn saves(&self) -> &Saves {
        &self.saves
    }

    fn is_closed(&self) -> bool {
        !self.lanes.is_empty() && self.lanes.iter().all(|lane| lane.wire.ring.is_closed())
    }
}
