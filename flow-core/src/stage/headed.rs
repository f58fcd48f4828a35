//! The stage object over a [`Head`]: it walks batches mark by mark, merges the watermarks of its inputs, aligns barriers, and
//! stops where there is no room downstream.

mod marks;
mod saves;

use super::head::{Typed, Work};
use super::kept::{Back, Kept, Saving};
use super::{Faults, Fire, Head, OpenCx, Stage, Step};
use crate::batch::{Batch, Mark};
use crate::checkpoint::in_group;
use crate::checkpoint::records::merge;
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::{Aligner, Coalescer};
use crate::metrics::StageMetrics;
use crate::time::Timestamp;
use std::collections::VecDeque;

/// Where a stage stands in a batch, whose items the head has.
struct Cursor {
    /// Items taken so far, and marks.
    taken: usize,
    marked: usize,
    batch: Batch,
}

/// The stage object over a [`Head`]. It knows no type of the user's: the head is called once for many items, so it may lie
/// behind a pointer, and the stage is compiled here instead of in every user's crate.
pub struct HeadStage {
    head: Box<dyn Work>,
    inputs: Vec<Option<Cursor>>,
    merge: Coalescer,
    align: Aligner,
    /// Marks of the whole that have not been acted on; `begun` says that the first has been told to the head.
    due: VecDeque<Mark>,
    begun: bool,
    /// The last watermark told to the head, and the last one passed on.
    told: Timestamp,
    passed: Timestamp,
    /// All inputs are idle, which has not been passed on: the head keeps elements that wait, or the clock has come to something.
    idle: bool,
    /// That all inputs are idle has been passed on, so that nothing may leave before [`Mark::Active`].
    silent: bool,
    /// The clock has come to something that has not been emitted whole.
    overdue: bool,
    ended: bool,
    /// The barrier has passed behind which only the end comes: see [`Saves::cut`](crate::checkpoint::Saves::cut).
    cut: bool,
    spent: Vec<(usize, Batch)>,
    faults: Faults,
    metrics: StageMetrics,
    kept: Kept,
    /// The checkpoint that is being written, and how many bytes had gone to the state backend when it began.
    saving: Option<Saving>,
    spilled: usize,
}

impl HeadStage {
    /// Over `head`, which takes items of type `M`.
    pub fn new<M: Send + 'static, H: Head<M>>(head: H) -> Self {
        Self::over(Box::new(Typed::<M, H>::new(head)))
    }

    fn over(head: Box<dyn Work>) -> Self {
        HeadStage {
            head,
            inputs: Vec::new(),
            merge: Coalescer::new(0),
            align: Aligner::new(0),
            due: VecDeque::new(),
            begun: false,
            told: Timestamp::MIN,
            passed: Timestamp::MIN,
            idle: false,
            silent: false,
            overdue: false,
            ended: false,
            cut: false,
            spent: Vec::new(),
            faults: Faults::default(),
            metrics: StageMetrics::default(),
            kept: Kept::default(),
            saving: None,
            spilled: 0,
        }
    }

    /// Takes items of `input` up to its next mark, a chunk or the end of its batch, whichever is first.
    fn advance(&mut self, input: usize) {
        let Some(cursor) = &mut self.inputs[input] else { return };
        let mark = cursor.batch.marks.get(cursor.marked).copied();
        let until = mark.map_or(cursor.batch.len, |m| m.0);
        let n = until - cursor.taken;
        if n > 0 {
            cursor.taken += self.head.take(input, n);
        } else if let Some((_, mark)) = mark {
            cursor.marked += 1;
            self.observe(input, mark);
        } else {
            self.finish_batch(input);
        }
    }

    /// Puts the emptied buffers back into the batch, which goes back to its sender.
    fn finish_batch(&mut self, input: usize) {
        let Some(Cursor { mut batch, .. }) = self.inputs[input].take() else { return };
        self.head.give_back(input, &mut batch);
        batch.marks.clear();
        batch.len = 0;
        self.spent.push((input, batch));
    }

    fn ready(&self) -> Option<usize> {
        (0..self.inputs.len()).find(|i| self.inputs[*i].is_some() && !self.align.holds(*i))
    }
}

impl Stage for HeadStage {
    fn schema(&self) -> Result<String> {
        self.head.schema()
    }

    fn tables(&self) -> usize {
        self.head.tables()
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        let inputs = cx.inputs();
        self.inputs = (0..inputs).map(|_| None).collect();
        (self.merge, self.align) = (Coalescer::new(inputs), Aligner::new(inputs));
        self.faults = cx.faults().clone();
        self.metrics = cx.metrics().clone();
        self.head.open(cx)?;
        self.head.tail().open(cx)?;
        self.kept = Kept::new(cx);
        if let Some(Back { watermark, passed, ended }) = self.kept.take_back(cx, self.head.as_mut())? {
            self.merge.go_on_from(watermark);
            (self.told, self.passed) = (watermark, passed);
            if passed > Timestamp::MIN {
                self.head.tail().mark(Mark::Watermark(passed));
            }
            self.ended = ended;
            if ended {
                self.head.tail().mark(Mark::End);
            }
        }
        Ok(())
    }

    fn wants(&self, input: usize) -> bool {
        self.inputs[input].is_none() && !self.align.holds(input) && !self.merge.has_ended(input)
    }

    fn offer(&mut self, input: usize, mut batch: Batch) {
        self.metrics.batches_in.add(1);
        self.metrics.records_in.add(batch.len as u64);
        if !self.head.unpack(input, &mut batch) {
            let what = "a batch of a foreign type arrived: a bug of an edge";
            return self.faults.raise(Error::new(ErrorKind::Stuck, what));
        }
        self.inputs[input] = Some(Cursor { taken: 0, marked: 0, batch });
    }

    fn spent(&mut self) -> Option<(usize, Batch)> {
        self.spent.pop()
    }

    fn step(&mut self) -> Result<Step> {
        // A slice of the checkpoint that is being written, and then more of what has arrived.
        let mut worked = self.may_save();
        if worked {
            self.save_some();
        }
        if self.is_ahead() {
            return Ok(if worked { Step::Worked } else { Step::Hungry });
        }
        self.overdue |= !self.ended && !self.cut && self.head.overdue();
        loop {
            self.faults.check()?;
            if !self.head.tail().room() {
                if self.listens()
                    && let Some(input) = self.ready()
                {
                    self.advance(input);
                    worked = true;
                    continue;
                }
                // What waits there may go on at once, as soon as the host has been heard.
                worked |= self.head.tail_ref().holds() && self.head.tail().is_clear();
                return Ok(if worked { Step::Worked } else { Step::Full });
            }
            if self.ended {
                // One that waits for room is not done.
                return Ok(match (worked || self.may_save(), self.is_saving()) {
                    (true, _) => Step::Worked,
                    (false, true) => Step::Hungry,
                    (false, false) => Step::Done,
                });
            } else if self.head.tail_ref().enough() {
                self.ended = true;
                self.head.tail().mark(Mark::End);
            } else if self.overdue {
                self.speak();
                self.overdue = self.fire() == Fire::Paused;
                if self.overdue {
                    return Ok(Step::Worked);
                }
                self.pass_idle();
            } else if let Some(mark) = self.due.front().copied() {
                if self.act(mark) != Fire::Done {
                    // It may have paused with room downstream, so that the host is heard.
                    return Ok(Step::Worked);
                }
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
        self.head.tail().is_clear()
    }

    fn flush(&mut self) {
        self.head.tail().flush();
    }

    fn deadline(&self) -> Option<i64> {
        self.head.deadline()
    }

    fn tick(&mut self, now: i64) {
        // The head has been asked in the step before.
        if self.head.tail_ref().deadline().is_some_and(|at| at <= now) {
            self.head.tail().tick(now);
        }
    }

    fn stop(&mut self) {
        self.head.stop();
    }

    fn takes_orders(&self) -> bool {
        !self.ended && self.head.takes_orders()
    }

    fn barrier(&mut self, id: u64) {
        self.head.order(id);
    }

    fn listens(&self) -> bool {
        !self.ended && self.head.listens()
    }

    fn begin_save(&mut self, whole: bool, slice: usize) -> Result<()> {
        self.saving = Some(Saving::in_memory(whole, slice, self.kept.had.clone(), self.head.as_mut())?);
        Ok(())
    }

    fn is_saving(&self) -> bool {
        self.saving.as_ref().is_some_and(Saving::goes_on)
    }

    fn saved(&mut self) -> Result<Vec<(usize, Vec<u8>)>> {
        self.saving.take().map_or(Ok(Vec::new()), |saving| saving.into_memory(self.head.as_mut()))
    }

    fn restore(&mut self, group: usize, history: &[Vec<u8>]) -> Result<()> {
        let bytes = merge(history)?;
        in_group(group, || self.head.restore(group, &bytes))
    }
}
