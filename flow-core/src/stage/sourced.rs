//! The stage object over a source: it polls a reader into what is fused behind it.
//!
//! In checkpoints stands the reader's position under the source's id, and under `ID (end)` a byte: whether it has come to its end, 1.
//!
//! Where the only checkpoint is that of the end of the input, [`Saves::cut`], its barrier stands right before the end, as soon as nothing behind the
//! reader is held back; positions are not kept, since a stream goes on from there with its own.

use super::{Faults, Meta, OpenCx, Push, Stage, Step, Tail};
use crate::batch::{Batch, Mark};
use crate::checkpoint::failpoint::point;
use crate::checkpoint::{Saves, cut_short};
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::Counter;
use crate::stage::BatchSize;
use std::marker::PhantomData;

/// Records a source is asked for at once, at most: it bounds what one step adds to the overflow.
const BUDGET_MAX: usize = 1024;

/// What a reader answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Poll {
    /// There is more; poll again.
    More,
    /// There is nothing before this tick of the clock.
    WaitUntil(i64),
    /// There is nothing before the stage's signal is woken.
    Wait,
    /// Nothing will come any more.
    End,
}

/// Reads one partition of a source. It never blocks: a reader that has to owns a thread and wakes the stage.
pub trait Reader<T>: Send + 'static {
    /// Gives at most `budget` records to `out`, in order.
    ///
    /// # Errors
    /// What ends the job: an I/O error, a broken record. It says where, down to record and byte.
    fn poll<O: FnMut(T)>(&mut self, out: &mut O, budget: usize) -> Result<Poll>;
    /// Where it stands: what [`Source::resume`](crate::source::Source::resume) needs to go on behind the last record it has given.
    /// `None` when it cannot.
    fn position(&self) -> Option<Vec<u8>> {
        None
    }
}

/// Opens the reader when the stage opens.
pub type OpenReader<R> = Box<dyn FnOnce(&mut OpenCx) -> Result<R> + Send>;

/// The stage object over a source.
pub struct SourceStage<T, R, N> {
    make: Option<OpenReader<R>>,
    reader: Option<R>,
    next: Option<N>,
    pace: Pace,
    record: PhantomData<fn() -> T>,
}

/// What of a source's stage has nothing to do with its types, so that it is compiled once.
struct Pace {
    meta: Meta,
    size: BatchSize,
    /// How many records it asks for between two looks at the room downstream.
    budget: usize,
    ended: bool,
    stopped: bool,
    /// The input has ended, and the checkpoint that is taken there has its barrier yet to come.
    cut: Option<u64>,
    /// The checkpoint before which the reader had come to its end, where the job starts from one. Nothing more may come.
    over: Option<u64>,
    wait: Option<i64>,
    faults: Faults,
    read: Counter,
    saves: Saves,
}

/// What a step does.
enum Turn {
    Answer(Step),
    /// Nothing more is wanted: the end, without asking the reader.
    Over,
    Poll(usize),
}

impl Pace {
    fn new(meta: Meta) -> Self {
        Pace {
            meta,
            size: BatchSize::default(),
            budget: BUDGET_MAX,
            ended: false,
            stopped: false,
            cut: None,
            over: None,
            wait: None,
            faults: Faults::default(),
            read: Counter::default(),
            saves: Saves::default(),
        }
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        let over = cx.take_back(&self.end())?.iter().any(|end| end[..] == [1]);
        self.over = over.then(|| cx.checkpoint());
        self.faults = cx.faults().clone();
        self.read = cx.metrics().records_in.clone();
        self.saves = cx.saves().clone();
        self.size = cx.batch_size();
        Ok(())
    }

    /// Under which it is kept that the reader has come to its end.
    fn end(&self) -> String {
        format!("{} (end)", self.meta.id())
    }

    /// The reader had come to its end, and gives more: who is behind it has been told that nothing will come, and would not look at it.
    #[cold]
    fn goes_on(&self, checkpoint: u64) -> Error {
        let what = format!("it had come to its end at checkpoint {checkpoint}, and has more records now");
        let note = "what is behind it has fired all windows and ended: begin anew with another folder of checkpoints; for input that grows stop the job before its end, or watch a folder";
        self.named(Error::new(ErrorKind::State, what).note(note))
    }

    /// Leaves the reader's position: at checkpoint `id`, or for good when it has ended.
    #[cold]
    fn save(&mut self, id: Option<u64>, position: Option<Vec<u8>>) {
        match (id, position) {
            (Some(id), Some(position)) => {
                self.saves.operator(id, &self.meta.id(), position);
                // It may end before the checkpoint is complete, which is not true of this one.
                self.saves.operator(id, &self.end(), vec![0]);
            }
            (None, Some(position)) => self.saves.last(&self.meta.id(), position),
            (_, None) => {
                let what = "this source cannot say where it stands, so no checkpoint can be taken";
                let error = Error::new(ErrorKind::State, what);
                self.faults.raise(self.named(error.note("its reader has to implement `Reader::position`")));
            }
        }
    }

    /// The barrier has passed through the stage. Where something could not be saved or staged the checkpoint must not be complete.
    #[cold]
    fn saved(&self, id: u64) {
        if !self.faults.are_raised() {
            self.saves.saved(id);
        }
    }

    /// An error of the reader, with who it is.
    #[cold]
    fn named(&self, error: Error) -> Error {
        error.in_stage(self.meta.id()).at(self.meta.at())
    }

    fn turn(&mut self, next: &mut dyn Tail) -> Result<Turn> {
        self.faults.check()?;
        if !next.room() {
            return Ok(Turn::Answer(Step::Full));
        }
        if let Some(id) = self.cut.take() {
            next.mark(Mark::Barrier(id));
            self.saved(id);
            next.mark(Mark::End);
            return Ok(Turn::Answer(Step::Worked));
        }
        if self.ended {
            return Ok(Turn::Answer(Step::Done));
        }
        if self.stopped && self.saves.cut().is_some() {
            return Err(self.named(cut_short()));
        }
        // One that had come to its end is asked whatever is behind it, which may have ended as well.
        let over = self.stopped || (next.enough() && self.over.is_none());
        let budget = self.size.next().min(self.budget);
        Ok(if over { Turn::Over } else { Turn::Poll(budget) })
    }

    /// What the step came to; at the end of the input the mark is the caller's to pass on.
    fn polled(&mut self, next: &mut dyn Tail, poll: Poll, read: u64) -> Result<Step> {
        // Records that become many: fewer of them at once.
        self.budget = if next.room() { (self.budget * 2).min(BUDGET_MAX) } else { (self.budget / 2).max(1) };
        self.faults.check()?;
        if let Some(checkpoint) = self.over.filter(|_| read > 0) {
            return Err(self.goes_on(checkpoint));
        }
        self.wait = None;
        Ok(match poll {
            Poll::More => Step::Worked,
            // What it gave has to be sent before it waits, and may not fit into the ring: it is asked again.
            Poll::WaitUntil(_) | Poll::Wait if read > 0 => Step::Worked,
            Poll::WaitUntil(tick) => {
                self.wait = Some(tick);
                Step::Wait(Some(tick))
            }
            Poll::Wait => Step::Wait(None),
            Poll::End => {
                self.ended = true;
                Step::Worked
            }
        })
    }

    fn deadline(&self, next: &dyn Tail) -> Option<i64> {
        match (self.wait, next.deadline()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The input has come to its end.
    fn end_of_input(&mut self, next: &mut dyn Tail, position: impl FnOnce() -> Option<Vec<u8>>, asked: bool) {
        self.cut = self.saves.cut();
        if self.cut.is_some() {
            return;
        }
        if self.saves.is_on() {
            self.save(None, position());
            if asked || self.over.is_some() {
                self.saves.last(&self.end(), vec![1]);
            }
        }
        next.mark(Mark::End);
    }

    fn offered(&self) {
        self.faults.raise(Error::new(ErrorKind::Stuck, "a source was offered a batch: a bug of the host"));
    }
}

impl<T: 'static, R: Reader<T>, N: Push<T, ()>> SourceStage<T, R, N> {
    /// A stage that opens its reader with `make` and pushes into `next`; errors of the reader name `meta`.
    pub fn new(meta: Meta, make: OpenReader<R>, next: N) -> Self {
        let pace = Pace::new(meta);
        SourceStage { make: Some(make), reader: None, next: Some(next), pace, record: PhantomData }
    }

    /// What is fused behind the reader. It is only away while [`SourceStage::poll`] runs.
    fn next(&mut self) -> &mut N {
        behind(&mut self.next)
    }

    /// The tight loop of a source stage: everything fused behind the reader is inlined into it. How many records it gave.
    ///
    /// What is behind lies on the stack meanwhile: only there may the compiler keep an accumulator in a register that is
    /// not changed by every record (W2 0.352 s → 0.243 s).
    #[inline(never)]
    fn poll(&mut self, budget: usize) -> Result<(Poll, u64)> {
        let SourceStage { reader, next: home, pace, .. } = self;
        let (Some(reader), Some(mut next)) = (reader.as_mut(), home.take()) else {
            return Ok((Poll::End, 0));
        };
        let mut n = 0u64;
        let poll = reader.poll(
            &mut |item| {
                n += 1;
                next.push(item, ());
            },
            budget,
        );
        *home = Some(next);
        pace.read.add(n);
        match poll {
            Ok(poll) => Ok((poll, n)),
            Err(error) => Err(pace.named(error)),
        }
    }
}

fn behind<N>(next: &mut Option<N>) -> &mut N {
    next.as_mut().expect("a source is not stepped again after a panic")
}

impl<T: 'static, R: Reader<T>, N: Push<T, ()>> Stage for SourceStage<T, R, N> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.pace.open(cx)?;
        self.next().open(cx)?;
        let Some(make) = self.make.take() else { return Ok(()) };
        match make(cx) {
            Ok(reader) => self.reader = Some(reader),
            Err(error) => return Err(self.pace.named(error)),
        }
        Ok(())
    }

    fn wants(&self, _: usize) -> bool {
        false
    }

    fn offer(&mut self, _: usize, _: Batch) {
        self.pace.offered();
    }

    fn spent(&mut self) -> Option<(usize, Batch)> {
        None
    }

    fn step(&mut self) -> Result<Step> {
        let turn = self.pace.turn(behind::<N>(&mut self.next))?;
        let (poll, read) = match turn {
            Turn::Answer(step) => return Ok(step),
            Turn::Over => (Poll::End, 0),
            Turn::Poll(budget) => self.poll(budget)?,
        };
        let step = self.pace.polled(behind::<N>(&mut self.next), poll, read)?;
        if self.pace.ended {
            let reader = self.reader.take();
            let position = || reader.as_ref().and_then(Reader::position);
            self.pace.end_of_input(behind::<N>(&mut self.next), position, !matches!(turn, Turn::Over));
        }
        Ok(step)
    }

    fn room(&mut self) -> bool {
        self.next().room()
    }

    fn flush(&mut self) {
        self.next().flush();
    }

    fn deadline(&self) -> Option<i64> {
        self.next.as_ref().map_or(self.pace.wait, |next| self.pace.deadline(next))
    }

    fn tick(&mut self, now: i64) {
        self.next().tick(now);
    }

    fn stop(&mut self) {
        self.pace.stopped = true;
    }

    fn barrier(&mut self, id: u64) {
        if !self.pace.ended {
            if self.pace.saves.is_on() {
                let position = self.reader.as_ref().and_then(Reader::position);
                self.pace.save(Some(id), position);
                point("P1");
            }
            self.next().mark(Mark::Barrier(id));
            self.pace.saved(id);
        }
    }

    fn begin_save(&mut self, _: bool, _: usize) -> Result<()> {
        Ok(())
    }

    fn saved(&mut self) -> Result<Vec<(usize, Vec<u8>)>> {
        Ok(Vec::new())
    }

    fn restore(&mut self, _: usize, history: &[Vec<u8>]) -> Result<()> {
        no_state(history)
    }
}

fn no_state(history: &[Vec<u8>]) -> Result<()> {
    if history.iter().all(Vec::is_empty) {
        Ok(())
    } else {
        Err(Error::new(ErrorKind::State, "a source keeps no keyed state"))
    }
}
