//! The beginning of a stage behind an edge.
//!
//! [`Head`] is the typed part: an operator with state that takes runs of items, and fires. [`HeadStage`] is the stage
//! object over it: it walks batches mark by mark, merges the watermarks of its inputs, aligns barriers, and stops where
//! there is no room downstream.

use super::{Faults, OpenCx, Stage, Step, Tail};
use crate::batch::{Batch, Mark, emptied};
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::{Aligner, Coalescer};
use crate::metrics::StageMetrics;
use crate::time::Timestamp;
use std::collections::VecDeque;
use std::vec::IntoIter;

/// Items taken between two looks at the room downstream. It bounds what one step adds to the overflow.
const CHUNK: usize = 256;

/// Whether a firing is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fire {
    /// All that was due has been emitted.
    Done,
    /// There was no room; call again.
    Paused,
}

/// An operator at the beginning of a stage, taking items of type `M`.
pub trait Head<M>: Send + 'static {
    /// What a sender may have merged before sending; [`std::convert::Infallible`] where it never does.
    type Part: Send + 'static;

    /// What lies behind it.
    fn tail(&mut self) -> &mut dyn Tail;
    /// The same, to look at.
    fn tail_ref(&self) -> &dyn Tail;
    /// Opens it; what lies behind it is opened by the caller.
    ///
    /// # Errors
    /// What the operator reports.
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        let _ = cx;
        Ok(())
    }
    /// Takes the first `n` items.
    fn items(&mut self, input: usize, items: &mut IntoIter<M>, n: usize);
    /// Takes what a sender has merged; may give the part back, emptied, for its memory.
    fn part(&mut self, part: Self::Part) -> Option<Self::Part> {
        drop(part);
        None
    }
    /// The watermark has risen to `w`; [`Head::fire`] will be called until it is done, then the mark is passed on.
    fn watermark(&mut self, w: Timestamp) {
        let _ = w;
    }
    /// All input has arrived; [`Head::fire`] will be called until it is done.
    fn end(&mut self) {}
    /// Emits what is due, as far as there is room.
    fn fire(&mut self) -> Fire {
        Fire::Done
    }
    /// See [`Stage::snapshot`].
    ///
    /// # Errors
    /// See [`Stage::snapshot`].
    fn snapshot(&mut self, group: usize, out: &mut Vec<u8>) -> Result<()> {
        let _ = (group, out);
        Ok(())
    }
    /// See [`Stage::restore`].
    ///
    /// # Errors
    /// See [`Stage::restore`].
    fn restore(&mut self, group: usize, bytes: &[u8]) -> Result<()> {
        let _ = group;
        if bytes.is_empty() {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::State, "this operator keeps no state"))
        }
    }
}

/// Where a stage stands in a batch.
struct Cursor<M, P> {
    items: Items<M, P>,
    /// Items taken so far, and marks.
    taken: usize,
    marked: usize,
    batch: Batch,
}

enum Items<M, P> {
    Whole(IntoIter<M>),
    /// Taken as a whole.
    Part(Option<P>),
}

/// The stage object over a [`Head`].
pub struct HeadStage<M, H: Head<M>> {
    head: H,
    inputs: Vec<Option<Cursor<M, H::Part>>>,
    merge: Coalescer,
    align: Aligner,
    /// Marks of the whole that have not been acted on; `begun` says that the first has been told to the head.
    due: VecDeque<Mark>,
    begun: bool,
    ended: bool,
    spent: Vec<(usize, Batch)>,
    faults: Faults,
    metrics: StageMetrics,
}

impl<M: Send + 'static, H: Head<M>> HeadStage<M, H> {
    /// Over `head`.
    pub fn new(head: H) -> Self {
        HeadStage {
            head,
            inputs: Vec::new(),
            merge: Coalescer::new(0),
            align: Aligner::new(0),
            due: VecDeque::new(),
            begun: false,
            ended: false,
            spent: Vec::new(),
            faults: Faults::default(),
            metrics: StageMetrics::default(),
        }
    }

    /// Acts on the first due mark; whether it is dealt with.
    fn act(&mut self, mark: Mark) -> Fire {
        if !std::mem::replace(&mut self.begun, true) {
            match mark {
                Mark::Watermark(w) => self.head.watermark(w),
                Mark::End => self.head.end(),
                Mark::Idle | Mark::Active | Mark::Barrier(_) => {}
            }
        }
        let fire = self.head.fire();
        if fire == Fire::Done {
            self.begun = false;
            self.ended |= mark == Mark::End;
            self.head.tail().mark(mark);
            self.due.pop_front();
        }
        fire
    }

    /// Takes items of `input` up to its next mark, a chunk or the end of its batch, whichever is first.
    fn advance(&mut self, input: usize) {
        let Some(cursor) = &mut self.inputs[input] else { return };
        let mark = cursor.batch.marks.get(cursor.marked).copied();
        let until = mark.map_or(cursor.batch.len, |m| m.0);
        let n = until - cursor.taken;
        if n > 0 {
            cursor.taken += match &mut cursor.items {
                Items::Whole(items) => {
                    self.head.items(input, items, n.min(CHUNK));
                    n.min(CHUNK)
                }
                Items::Part(part) => {
                    *part = part.take().and_then(|part| self.head.part(part));
                    n
                }
            };
        } else if let Some((_, mark)) = mark {
            cursor.marked += 1;
            self.observe(input, mark);
        } else {
            self.finish_batch(input);
        }
    }

    fn observe(&mut self, input: usize, mark: Mark) {
        let aligned = match mark {
            Mark::Barrier(id) => self.align.barrier(input, id),
            Mark::End => self.align.end(input),
            _ => None,
        };
        self.due.extend(aligned.map(Mark::Barrier));
        if !matches!(mark, Mark::Barrier(_)) {
            self.due.extend(self.merge.observe(input, mark).into_iter().flatten());
        }
    }

    /// Puts the emptied buffers back into the batch, which goes back to its sender.
    fn finish_batch(&mut self, input: usize) {
        let Some(cursor) = self.inputs[input].take() else { return };
        let Cursor { items, mut batch, .. } = cursor;
        match items {
            Items::Whole(empty) => {
                batch.items.downcast_mut::<Vec<M>>().map(|home| std::mem::replace(home, emptied(empty)));
            }
            Items::Part(empty) => {
                batch.items.downcast_mut::<Option<H::Part>>().map(|home| std::mem::replace(home, empty));
            }
        }
        batch.marks.clear();
        batch.len = 0;
        self.spent.push((input, batch));
    }

    fn ready(&self) -> Option<usize> {
        (0..self.inputs.len()).find(|i| self.inputs[*i].is_some() && !self.align.holds(*i))
    }
}

impl<M: Send + 'static, H: Head<M>> Stage for HeadStage<M, H> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        let inputs = cx.inputs();
        self.inputs = (0..inputs).map(|_| None).collect();
        (self.merge, self.align) = (Coalescer::new(inputs), Aligner::new(inputs));
        self.faults = cx.faults().clone();
        self.metrics = cx.metrics().clone();
        self.head.open(cx)?;
        self.head.tail().open(cx)
    }

    fn wants(&self, input: usize) -> bool {
        self.inputs[input].is_none() && !self.align.holds(input) && !self.merge.has_ended(input)
    }

    fn offer(&mut self, input: usize, mut batch: Batch) {
        self.metrics.batches_in.add(1);
        self.metrics.records_in.add(batch.len as u64);
        let items = if let Some(items) = batch.items.downcast_mut::<Vec<M>>() {
            Items::Whole(std::mem::take(items).into_iter())
        } else if let Some(part) = batch.items.downcast_mut::<Option<H::Part>>() {
            Items::Part(part.take())
        } else {
            self.faults
                .raise(Error::new(ErrorKind::Stuck, "a batch of a foreign type arrived: a bug of an edge"));
            return;
        };
        self.inputs[input] = Some(Cursor { items, taken: 0, marked: 0, batch });
    }

    fn spent(&mut self) -> Option<(usize, Batch)> {
        self.spent.pop()
    }

    fn step(&mut self) -> Result<Step> {
        let mut worked = false;
        loop {
            self.faults.check()?;
            if !self.head.tail().room() {
                return Ok(if worked { Step::Worked } else { Step::Full });
            }
            if self.ended {
                return Ok(if worked { Step::Worked } else { Step::Done });
            } else if self.head.tail_ref().enough() {
                self.ended = true;
                self.head.tail().mark(Mark::End);
            } else if let Some(mark) = self.due.front().copied() {
                self.act(mark);
            } else if let Some(input) = self.ready() {
                self.advance(input);
                if self.inputs[input].is_none() && self.due.is_empty() {
                    return Ok(Step::Worked);
                }
            } else {
                return Ok(if worked { Step::Worked } else { Step::Hungry });
            }
            worked = true;
        }
    }

    fn room(&mut self) -> bool {
        self.head.tail().room()
    }

    fn flush(&mut self) {
        self.head.tail().flush();
    }

    fn deadline(&self) -> Option<i64> {
        self.head.tail_ref().deadline()
    }

    fn tick(&mut self, now: i64) {
        self.head.tail().tick(now);
    }

    fn stop(&mut self) {}

    fn barrier(&mut self, _: u64) {}

    fn snapshot(&mut self, group: usize, out: &mut Vec<u8>) -> Result<()> {
        self.head.snapshot(group, out)
    }

    fn restore(&mut self, group: usize, bytes: &[u8]) -> Result<()> {
        self.head.restore(group, bytes)
    }
}
