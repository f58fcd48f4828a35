//! The stage object over a source: it polls a reader into what is fused behind it.

use super::{Faults, Meta, OpenCx, Push, Stage, Step};
use crate::batch::{Batch, Mark};
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
}

/// Opens the reader when the stage opens.
pub type OpenReader<R> = Box<dyn FnOnce(&mut OpenCx) -> Result<R> + Send>;

/// The stage object over a source.
pub struct SourceStage<T, R, N> {
    meta: Meta,
    make: Option<OpenReader<R>>,
    reader: Option<R>,
    next: Option<N>,
    size: BatchSize,
    /// How many records it asks for between two looks at the room downstream.
    budget: usize,
    ended: bool,
    stopped: bool,
    wait: Option<i64>,
    faults: Faults,
    read: Counter,
    record: PhantomData<fn() -> T>,
}

impl<T: 'static, R: Reader<T>, N: Push<T, ()>> SourceStage<T, R, N> {
    /// A stage that opens its reader with `make` and pushes into `next`; errors of the reader name `meta`.
    pub fn new(meta: Meta, make: OpenReader<R>, next: N) -> Self {
        SourceStage {
            meta,
            make: Some(make),
            reader: None,
            next: Some(next),
            size: BatchSize::default(),
            budget: BUDGET_MAX,
            ended: false,
            stopped: false,
            wait: None,
            faults: Faults::default(),
            read: Counter::default(),
            record: PhantomData,
        }
    }

    /// What is fused behind the reader. It is only away while [`SourceStage::poll`] runs.
    fn next(&mut self) -> &mut N {
        self.next.as_mut().expect("a source is not stepped again after a panic")
    }

    /// The tight loop of a source stage: everything fused behind the reader is inlined into it. How many records it gave.
    ///
    /// What is behind lies on the stack meanwhile: only there may the compiler keep an accumulator in a register that is
    /// not changed by every record (W2 0.352 s → 0.243 s).
    #[inline(never)]
    fn poll(&mut self, budget: usize) -> Result<(Poll, u64)> {
        let SourceStage { reader, next: home, read, meta, .. } = self;
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
        read.add(n);
        Ok((poll.map_err(|e| e.in_stage(meta.id()).at(meta.at()))?, n))
    }
}

impl<T: 'static, R: Reader<T>, N: Push<T, ()>> Stage for SourceStage<T, R, N> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        let stage = self;
        (stage.faults, stage.read, stage.size) =
            (cx.faults().clone(), cx.metrics().records_in.clone(), cx.batch_size());
        stage.next().open(cx)?;
        let reader = stage.make.take().map(|make| make(cx)).transpose();
        stage.reader = reader.map_err(|e| e.in_stage(stage.meta.id()).at(stage.meta.at()))?;
        Ok(())
    }

    fn wants(&self, _: usize) -> bool {
        false
    }

    fn offer(&mut self, _: usize, _: Batch) {
        self.faults.raise(Error::new(ErrorKind::Stuck, "a source was offered a batch: a bug of the host"));
    }

    fn spent(&mut self) -> Option<(usize, Batch)> {
        None
    }

    fn step(&mut self) -> Result<Step> {
        self.faults.check()?;
        if !self.next().room() {
            return Ok(Step::Full);
        }
        if self.ended {
            return Ok(Step::Done);
        }
        let over = self.stopped || self.next().enough();
        let budget = self.size.next().min(self.budget);
        let (poll, read) = if over { (Poll::End, 0) } else { self.poll(budget)? };
        // Records that become many: fewer of them at once.
        self.budget =
            if self.next().room() { (self.budget * 2).min(BUDGET_MAX) } else { (self.budget / 2).max(1) };
        self.faults.check()?;
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
                self.reader = None;
                self.next().mark(Mark::End);
                Step::Worked
            }
        })
    }

    fn room(&mut self) -> bool {
        self.next().room()
    }

    fn flush(&mut self) {
        self.next().flush();
    }

    fn deadline(&self) -> Option<i64> {
        [self.wait, self.next.as_ref().and_then(|next| next.deadline())].into_iter().flatten().min()
    }

    fn tick(&mut self, now: i64) {
        self.next().tick(now);
    }

    fn stop(&mut self) {
        self.stopped = true;
    }

    fn barrier(&mut self, id: u64) {
        if !self.ended {
            self.next().mark(Mark::Barrier(id));
        }
    }

    fn snapshot(&mut self, _: usize, _: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }

    fn restore(&mut self, _: usize, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::State, "a source keeps no keyed state"))
        }
    }
}
