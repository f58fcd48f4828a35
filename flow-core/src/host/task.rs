//! A stage instance with its incoming rings, and the step that every host takes.

use super::panics::guard;
use crate::batch::Batch;
use crate::channel::Receiver;
use crate::checkpoint::{Orders, Saves};
use crate::error::Result;
use crate::metrics::StageMetrics;
use crate::stage::alarm::Alarm;
use crate::stage::{OpenCx, Stage, Step};
use crate::time::Millis;
use std::time::{Duration, Instant};

/// What came of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Something happened; step it again.
    Made,
    /// It waits for a batch, for its waker, or for this tick of the clock.
    Idle(Option<i64>),
    /// It waits for room downstream, or for this tick of the clock.
    Blocked(Option<i64>),
    /// It is done and dropped.
    Done,
}

/// A stage instance as a host steps it.
pub struct Task {
    name: String,
    /// Dropped when it is done: its edges close.
    stage: Option<Box<dyn Stage>>,
    inputs: Vec<Receiver<Batch>>,
    /// The input to look at first, so that none starves.
    turn: usize,
    stop_told: bool,
    /// The tick since which it may have something buffered; none when it has been flushed since it last worked.
    unflushed: Option<i64>,
    /// For how many ticks it may have.
    max_delay: i64,
    metrics: StageMetrics,
    /// When there will be room although nobody makes some.
    alarm: Alarm,
    /// When it began to wait for room.
    blocked: Option<Instant>,
    /// The checkpoint that is asked for, and the last one that a source has begun.
    orders: Orders,
    barriers: u64,
    saves: Saves,
}

impl Task {
    pub(super) fn new(
        name: String,
        stage: Box<dyn Stage>,
        inputs: Vec<Receiver<Batch>>,
        cx: &OpenCx,
        max_delay: Millis,
    ) -> Self {
        Task {
            name,
            stage: Some(stage),
            inputs,
            turn: 0,
            stop_told: false,
            unflushed: None,
            max_delay: max_delay.0,
            metrics: cx.metrics().clone(),
            alarm: cx.alarm().clone(),
            blocked: None,
            orders: cx.orders.clone(),
            barriers: cx.checkpoint(),
            saves: cx.saves().clone(),
        }
    }

    /// The stage's name and the instance's number.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether its records come from outside the job.
    pub fn is_source(&self) -> bool {
        self.inputs.is_empty()
    }

    /// Whether it is done.
    pub fn is_done(&self) -> bool {
        self.stage.is_none()
    }

    /// Whether a ring has news for it: a batch, the end of a sender, or room.
    pub fn has_news(&mut self) -> bool {
        let Some(stage) = &mut self.stage else { return false };
        if (self.inputs.is_empty() || stage.takes_orders()) && self.orders.begun() > self.barriers {
            return true;
        }
        // It may have waited for room for what it saves.
        if stage.is_saving() && self.saves.has_room() {
            return true;
        }
        if self.blocked.is_some() && (stage.room() || !stage.listens()) {
            return stage.room();
        }
        self.inputs.iter().enumerate().any(|(i, ring)| stage.wants(i) && ring.is_ready())
    }

    /// Steps it once. `stop` asks a source to end.
    ///
    /// # Errors
    /// The stage's failure, a panic among them.
    pub fn step(&mut self, now: i64, stop: bool) -> Result<Progress> {
        guard(|| self.step_unguarded(now, stop)).map_err(|e| e.in_stage(self.name.clone()))
    }

    /// Puts a checkpoint barrier into a source's sequence: see [`Stage::barrier`].
    pub fn barrier(&mut self, id: u64) {
        if let Some(stage) = &mut self.stage {
            stage.barrier(id);
        }
    }

    /// Begins to write its keyed state: see [`Stage::begin_save`].
    ///
    /// # Errors
    /// The stage's.
    pub fn begin_save(&mut self, whole: bool, slice: usize) -> Result<()> {
        let done = |stage: &mut Box<dyn Stage>| stage.begin_save(whole, slice);
        self.stage.as_mut().map_or(Ok(()), done).map_err(|e| e.in_stage(self.name.clone()))
    }

    /// Whether steps go on with that.
    pub fn is_saving(&self) -> bool {
        self.stage.as_ref().is_some_and(|stage| stage.is_saving())
    }

    /// Whether they wait until the coordinator has taken what has been written.
    pub fn waits_to_save(&self) -> bool {
        self.is_saving() && !self.saves.has_room()
    }

    /// Writes the rest of it: see [`Stage::saved`].
    ///
    /// # Errors
    /// The stage's.
    pub fn saved(&mut self) -> Result<Vec<(usize, Vec<u8>)>> {
        let done = |stage: &mut Box<dyn Stage>| stage.saved();
        self.stage.as_mut().map_or(Ok(Vec::new()), done).map_err(|e| e.in_stage(self.name.clone()))
    }

    /// Takes over the state of one key group, before the first step: see [`Stage::restore`].
    ///
    /// # Errors
    /// The stage's.
    pub fn restore(&mut self, group: usize, history: &[Vec<u8>]) -> Result<()> {
        let done = |stage: &mut Box<dyn Stage>| stage.restore(group, history);
        self.stage.as_mut().map_or(Ok(()), done).map_err(|e| e.in_stage(self.name.clone()))
    }

    /// Drops it before it is done, because the job has failed.
    ///
    /// # Errors
    /// When a destructor panics.
    pub fn discard(self) -> Result<()> {
        let Task { name, stage, inputs, .. } = self;
        guard(|| {
            drop((stage, inputs));
            Ok(())
        })
        .map_err(|e| e.in_stage(name))
    }

    fn step_unguarded(&mut self, now: i64, stop: bool) -> Result<Progress> {
        let begun = Instant::now();
        let Some(stage) = &mut self.stage else { return Ok(Progress::Done) };
        self.alarm.begin(now);
        if stop && !std::mem::replace(&mut self.stop_told, true) {
            stage.stop();
        }
        let asked = self.orders.begun();
        if asked > self.barriers && (self.inputs.is_empty() || stage.takes_orders()) {
            self.barriers = asked;
            stage.barrier(asked);
            self.unflushed.get_or_insert(now);
        }
        let mut step = stage.step()?;
        let reads = step == Step::Hungry || (step == Step::Full && stage.listens());
        if reads && self.feed() {
            // A batch is worked on as soon as it is taken, while it is in the cache.
            step = self.stage.as_mut().map_or(Ok(Step::Done), |stage| stage.step())?;
        }
        // After its work, so that what it has just read counts. One that is always busy is told the time too: all it reads may be dropped
        // before an operator that waits for it.
        if matches!(step, Step::Hungry | Step::Wait(_) | Step::Worked) {
            self.tick(now);
        }
        let progress = match step {
            Step::Worked => self.worked(now),
            Step::Hungry => self.rest(None),
            Step::Full => {
                // It turns away from its inputs: whoever waits for room there shall have what there is.
                self.inputs.iter_mut().for_each(Receiver::relieve);
                Progress::Blocked([self.flush_at(), self.alarm.at()].into_iter().flatten().min())
            }
            Step::Wait(tick) => self.rest(tick),
            Step::Done => {
                self.stage = None;
                self.inputs.clear();
                self.saves.ended();
                Progress::Done
            }
        };
        if self.flush_at().is_some_and(|at| at <= now) {
            self.flush();
        }
        self.alarm.end();
        self.account(progress, begun);
        Ok(progress)
    }

    /// Tells the time to a stage that has done what there was to do: records that wait for a thread that was held up are not
    /// silence, so they come first.
    fn tick(&mut self, now: i64) {
        let Some(stage) = &mut self.stage else { return };
        if stage.deadline().is_some_and(|at| at <= now) {
            stage.tick(now);
            // It may have told a watermark.
            self.unflushed.get_or_insert(now);
        }
    }

    fn worked(&mut self, now: i64) -> Progress {
        self.unflushed.get_or_insert(now);
        if let Some(stage) = &mut self.stage {
            while let Some((input, batch)) = stage.spent() {
                self.inputs[input].recycle(batch);
            }
        }
        Progress::Made
    }

    /// Offers the next batch, from the input whose turn it is; whether there is one.
    fn feed(&mut self) -> bool {
        let inputs = self.inputs.len();
        for k in 0..inputs {
            let input = (self.turn + k) % inputs;
            let Some(stage) = &mut self.stage else { break };
            if !stage.wants(input) {
                self.inputs[input].relieve();
                continue;
            }
            if let Some(batch) = self.inputs[input].try_recv() {
                self.turn = input + 1;
                stage.offer(input, batch);
                return true;
            }
        }
        false
    }

    /// It is about to wait: what it has buffered goes out first.
    fn rest(&mut self, tick: Option<i64>) -> Progress {
        if self.unflushed.is_some() {
            self.flush();
            return Progress::Made;
        }
        let Some(stage) = &self.stage else { return Progress::Done };
        Progress::Idle([tick, stage.deadline()].into_iter().flatten().min())
    }

    /// The tick at which what it has buffered has waited long enough: a stage that never waits itself may fill its
    /// batches slowly.
    fn flush_at(&self) -> Option<i64> {
        self.unflushed.map(|since| since.saturating_add(self.max_delay))
    }

    fn flush(&mut self) {
        self.unflushed = None;
        if let Some(stage) = &mut self.stage {
            stage.flush();
        }
    }

    fn account(&mut self, progress: Progress, begun: Instant) {
        if matches!(progress, Progress::Blocked(_)) {
            self.blocked.get_or_insert(begun);
            return;
        }
        if let Some(since) = self.blocked.take() {
            self.metrics.blocked_ns.add(nanos(begun - since));
        }
        if progress == Progress::Made {
            self.metrics.busy_ns.add(nanos(begun.elapsed()));
        }
    }
}

fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}
