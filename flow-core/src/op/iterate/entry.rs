//! The stage that gives the workset of each superstep to the body of a loop.

use super::chain::Handed;
use super::turns::Turn;
use crate::batch::Mark;
use crate::error::Result;
use crate::metrics::Counter;
use crate::stage::push::forward_tail;
use crate::stage::{Fire, Head, Meta, OpenCx, Push, Stamp, Tail};
use crate::time::Timestamp;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;
use std::vec::IntoIter;

/// Records given between two looks at the room for them.
const AT_ONCE: usize = 256;

/// The head of the stage. The first superstep is the input, as it comes.
pub(super) struct Entry<T, N, S> {
    handed: Arc<Handed<T>>,
    instance: usize,
    state: State<T>,
    gate: Gate<T, N>,
    /// All input has come.
    ended: bool,
    entered: u64,
    supersteps: Counter,
    meta: Meta,
    stamp: PhantomData<fn(S)>,
}

enum State<T> {
    /// The input comes.
    First,
    /// All of this superstep has been given.
    Given(u64),
    Giving(u64, IntoIter<Vec<T>>, IntoIter<T>),
}

/// The body, which has no room while others have not seen all of a superstep.
struct Gate<T, N> {
    handed: Arc<Handed<T>>,
    /// The superstep that has been given.
    waits: Option<u64>,
    next: N,
}

impl<T: Send + 'static, N: Tail> Gate<T, N> {
    fn is_open(&self) -> bool {
        self.waits.is_none_or(|given| self.handed.turns.after(given) != Turn::Wait)
    }
}

impl<T: Send + 'static, N: Tail> Tail for Gate<T, N> {
    fn room(&mut self) -> bool {
        // What has overflowed goes on also where the gate is closed: others wait for it.
        let room = self.next.room();
        room && self.is_open()
    }
    forward_tail!(next: open mark grid flush enough deadline tick);
}

impl<T: Send + 'static, N: Push<T, ()>, S> Entry<T, N, S> {
    pub fn new(handed: Arc<Handed<T>>, next: N, meta: Meta) -> Self {
        let gate = Gate { handed: Arc::clone(&handed), waits: None, next };
        Entry {
            handed,
            instance: 0,
            state: State::First,
            gate,
            ended: false,
            entered: 0,
            supersteps: Counter::default(),
            meta,
            stamp: PhantomData,
        }
    }

    /// All of superstep `number` has been given.
    fn given(&mut self, number: u64) {
        self.gate.waits = Some(number);
        self.state = State::Given(number);
        let watermark = Timestamp(i64::try_from(number).unwrap_or(i64::MAX - 1));
        self.gate.next.mark(Mark::Watermark(watermark));
        // Others wait for it.
        self.gate.next.flush();
    }
}

impl<T: Send + 'static, N: Push<T, ()>, S: Stamp> Head<(T, S)> for Entry<T, N, S> {
    type Part = Infallible;

    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.gate
    }

    fn tail_ref(&self) -> &dyn Tail {
        &self.gate
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.instance = cx.context().instance();
        self.handed.turns.wakes(cx.context().signal());
        if self.instance == 0 {
            self.supersteps = cx.metrics().counter(&format!("{}.supersteps", self.meta.id()));
        }
        Ok(())
    }

    fn items(&mut self, _: usize, items: &mut IntoIter<(T, S)>, n: usize) {
        for (record, _) in items.by_ref().take(n) {
            self.entered += 1;
            self.gate.next.push(record, ());
        }
    }

    fn watermark(&mut self, w: Timestamp) {
        self.ended |= w == Timestamp::MAX;
    }

    fn end(&mut self) {
        self.ended = true;
    }

    fn fire(&mut self) -> Fire {
        while self.ended {
            match &mut self.state {
                State::First => {
                    self.handed.turns.enter(self.entered);
                    self.given(1);
                }
                State::Given(last) => match self.handed.turns.after(*last) {
                    Turn::Wait => return Fire::Paused,
                    Turn::Over => {
                        self.supersteps.add(self.handed.turns.supersteps());
                        self.supersteps = Counter::default();
                        return Fire::Done;
                    }
                    Turn::Begin(number) => {
                        let workset = self.handed.take(self.instance);
                        self.state = State::Giving(number, workset.into_iter(), Vec::new().into_iter());
                        self.gate.waits = None;
                    }
                },
                State::Giving(number, chunks, chunk) => {
                    if !self.gate.next.room() {
                        return Fire::Paused;
                    }
                    for record in chunk.by_ref().take(AT_ONCE) {
                        self.gate.next.push(record, ());
                    }
                    if chunk.len() == 0 {
                        match chunks.next() {
                            Some(next) => *chunk = next.into_iter(),
                            None => {
                                let number = *number;
                                self.given(number);
                            }
                        }
                    }
                }
            }
        }
        Fire::Done
    }

    fn passes(&self, _: Timestamp) -> Timestamp {
        // Outside of the loop there is another time than in it.
        Timestamp::MIN
    }
}
