//! The stage object over a [`Head`]: it walks batches mark by mark, merges the watermarks of its inputs, aligns barriers, and
//! stops where there is no room downstream.

use super::head::{Typed, Work};
use super::kept::{Back, Kept, Saving};
use super::{Faults, Fire, Head, OpenCx, Stage, Step};
use crate::batch::{Batch, Mark};
use crate::checkpoint::failpoint::point;
use crate::checkpoint::in_group;
use crate::checkpoint::records::merge;
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::{Aligner, Coalescer};
use crate::metrics::StageMetrics;
use crate::time::Timestamp;
use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;

/// Bytes that go to the state backend while a checkpoint is written, at most, before that alone goes on.
const AHEAD: usize = 1 << 20;

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

    /// Fires what is due; that is done when it has left.
    fn fire(&mut self) -> Fire {
        match self.head.fire() {
            Fire::Done if self.head.tail_ref().holds() => Fire::Paused,
            fire => fire,
        }
    }

    /// Acts on the first due mark; whether it is dealt with.
    fn act(&mut self, mark: Mark) -> Fire {
        if self.cut {
            // What would fire now fires where the stream goes on.
            return self.end_at_the_cut(mark);
        }
        if !std::mem::replace(&mut self.begun, true) {
            match mark {
                Mark::Barrier(id) if self.head.ends_at_a_cut() && self.is_cut(id) => {
                    self.speak();
                    self.head.end();
                }
                Mark::Watermark(w) => {
                    self.told = w;
                    self.head.watermark(w);
                }
                Mark::End => self.head.end(),
                Mark::Idle | Mark::Active | Mark::Barrier(_) => {}
            }
            if !matches!(mark, Mark::Idle | Mark::Barrier(_)) {
                // Where all that are left end, nobody has said that they speak again.
                self.speak();
                self.idle = false;
            }
        }
        let fire = self.fire();
        if let (Fire::Done, Mark::Barrier(id)) = (fire, mark)
            && self.is_cut(id)
            && !self.head.tail().room()
        {
            // No barrier passes what is held back: it would leave here, and once more where the stream goes on.
            return Fire::Paused;
        }
        if let Fire::Barrier(id) = fire {
            self.save(id);
        } else if fire == Fire::Done
            && let Mark::Barrier(id) = mark
        {
            self.begun = false;
            self.due.pop_front();
            self.save(id);
        } else if fire == Fire::Done {
            self.begun = false;
            self.pass_idle();
            self.ended |= mark == Mark::End;
            self.pass(mark);
            self.due.pop_front();
        }
        fire
    }

    /// Checkpoint `id` has come to here: what is kept is written down, in the head and, as the barrier passes, behind it. The head may
    /// have begun only; the stage goes on.
    #[cold]
    fn save(&mut self, id: u64) {
        if !self.kept.saves.is_on() {
            return self.head.tail().mark(Mark::Barrier(id));
        }
        self.cut = self.is_cut(id);
        if self.cut && self.head.ends_at_a_cut() {
            self.pass_idle();
            self.head.tail().mark(Mark::Barrier(id));
            if !self.faults.are_raised() {
                self.kept.saves.saved(id);
            }
            return;
        }
        self.save_all();
        let begun = self.kept.begin(id, self.head.as_mut(), self.told, self.passed);
        self.head.tail().mark(Mark::Barrier(id));
        point("P3");
        match begun {
            Ok(saving) => {
                self.spilled = self.kept.saves.spilled().load(Relaxed);
                self.saving = Some(saving);
            }
            Err(error) => self.faults.raise(error),
        }
        // There may be little to write.
        if self.may_save() {
            self.save_some();
        }
    }

    /// Whether behind barrier `id` only the end comes.
    fn is_cut(&self, id: u64) -> bool {
        self.kept.saves.cut() == Some(id)
    }

    #[cold]
    fn end_at_the_cut(&mut self, mark: Mark) -> Fire {
        self.due.pop_front();
        if mark == Mark::End {
            self.ended = true;
            self.head.tail().mark(Mark::End);
        }
        Fire::Done
    }

    /// Whether there is a checkpoint to go on with, and room for more of it.
    fn may_save(&self) -> bool {
        self.is_saving() && self.kept.saves.has_room()
    }

    /// Whether so much has gone to the state backend since the barrier that no more may before that is written: what the checkpoint reads is
    /// kept as it was, and what has come after it with it.
    fn is_ahead(&self) -> bool {
        self.is_saving() && self.kept.saves.spilled().load(Relaxed) - self.spilled > AHEAD
    }

    /// Goes on with the checkpoint that is being written.
    #[cold]
    fn save_some(&mut self) {
        let Some(saving) = &mut self.saving else { return };
        match saving.go_on(self.head.as_mut()) {
            Ok(None) => return,
            // Where something behind the head could not be saved or staged the checkpoint must not be complete.
            Ok(Some(_)) if self.faults.are_raised() => {}
            Ok(Some(id)) => self.kept.saves.saved(id),
            Err(error) => self.faults.raise(error),
        }
        self.saving = None;
    }

    /// Writes what is left of the checkpoint that is being written; nobody begins another before that is through, but by hand.
    fn save_all(&mut self) {
        while self.is_saving() {
            self.save_some();
        }
    }

    /// Passes a mark on; of a watermark what the head lets pass.
    fn pass(&mut self, mark: Mark) {
        let mark = match mark {
            Mark::Watermark(w) if w < Timestamp::MAX => {
                let passes = self.head.passes(w);
                if passes <= self.passed {
                    return;
                }
                self.passed = passes;
                Mark::Watermark(passes)
            }
            Mark::Idle => {
                self.idle = true;
                return self.pass_idle();
            }
            // It has been said before anything was fired.
            Mark::Active => return,
            mark => mark,
        };
        self.head.tail().mark(mark);
    }

    /// Passes on that all inputs are idle, if that has been held back and nothing waits any more.
    fn pass_idle(&mut self) {
        if self.idle && !self.head.waits() {
            (self.idle, self.silent) = (false, true);
            self.head.tail().mark(Mark::Idle);
        }
    }

    /// Something may leave: takes back that all inputs are idle, where it has been passed on; [`HeadStage::pass_idle`] says it again.
    fn speak(&mut self) {
        if std::mem::take(&mut self.silent) {
            self.idle = true;
            self.head.tail().mark(Mark::Active);
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

    fn observe(&mut self, input: usize, mark: Mark) {
        let aligned = match mark {
            Mark::Barrier(id) => self.align.barrier(input, id),
            Mark::End => self.align.end(input),
            _ => None,
        };
        if aligned.is_none() && matches!(mark, Mark::Barrier(_)) {
            point("P2");
        }
        if matches!(mark, Mark::Barrier(id) if self.is_cut(id)) {
            self.cut_off(input);
        }
        self.owe(aligned.map(Mark::Barrier));
        if mark == Mark::End && !self.cut {
            self.head.ended(input);
        }
        if !matches!(mark, Mark::Barrier(_)) {
            self.merged(input, mark);
        }
    }

    /// An input has come to the barrier behind which only its end comes: as one that has ended it holds back nobody.
    #[cold]
    fn cut_off(&mut self, input: usize) {
        if self.head.ends_at_a_cut() {
            self.head.ended(input);
        }
        self.merged(input, Mark::Idle);
    }

    /// What the whole has to say when an input has said something.
    fn merged(&mut self, input: usize, mark: Mark) {
        let [first, second] = self.merge.observe(input, mark);
        self.owe(first);
        self.owe(second);
    }

    /// Not `extend`: with an iterator over these marks that is 2,500 lines of LLVM's language.
    fn owe(&mut self, mark: Option<Mark>) {
        if let Some(mark) = mark {
            self.due.push_back(mark);
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
