//! The stage that gives the workset of each superstep to the body of a loop.

mod kept;

use super::handed::Handed;
use super::number::{anew, end, is_last, watermark};
use super::turns::Turn;
use super::workset::{Giver, Workset};
use crate::batch::Mark;
use crate::error::{Error, ErrorKind, Result};
use crate::external::{Memory, Spill};
use crate::metrics::Counter;
use crate::stage::own::{Own, refuse_at_a_cut};
use crate::stage::{Faults, Fire, Head, Meta, OpenCx, Push, Stamp, Tail};
use crate::time::{Grid, Timestamp};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;
use std::vec::IntoIter;

/// Records given between two looks at the room for them.
const AT_ONCE: usize = 256;

/// The two ways from an entry.
pub(super) trait Ways<T: 'static>: Tail {
    /// Into the body.
    fn push(&mut self, record: T);
    /// Of the input.
    fn input(&mut self, record: T);
}

/// The input goes through the body.
pub(super) struct Through<N>(pub N);

impl<T: 'static, N: Push<T, ()>> Ways<T> for Through<N> {
    #[inline(always)]
    fn push(&mut self, record: T) {
        self.0.push(record, ());
    }
    #[inline(always)]
    fn input(&mut self, record: T) {
        self.0.push(record, ());
    }
}

impl<N: Tail> Tail for Through<N> {
    crate::stage::push::forward_tail!(0);
}

/// The head of the stage.
pub(super) struct Entry<T, W, S> {
    handed: Arc<Handed<T>>,
    instance: usize,
    state: State,
    /// What there is to give, the first last, and what is being given of it.
    sets: Vec<Workset<T>>,
    giver: Option<Giver<T>>,
    next: W,
    /// All input has come; of one in the body of another loop that of a superstep there. Its own superstep in which that is.
    ended: bool,
    begins: u64,
    entered: u64,
    /// The checkpoint that is asked for, and the last one whose barrier has passed.
    ordered: u64,
    barrier: u64,
    supersteps: Counter,
    at_bound: Counter,
    memory: Memory,
    records: Own,
    turn: Own,
    faults: Faults,
    meta: Meta,
    stamp: PhantomData<fn(S)>,
}

#[derive(Clone, Copy)]
enum State {
    /// The input comes.
    Input,
    /// All of this superstep has been given.
    Given(u64),
    /// This one is being given.
    Giving(u64),
}

impl<T: Spill, W: Ways<T>, S> Entry<T, W, S> {
    pub fn new(handed: Arc<Handed<T>>, next: W, meta: Meta) -> Self {
        Entry {
            begins: handed.first(),
            handed,
            instance: 0,
            state: State::Input,
            sets: Vec::new(),
            giver: None,
            next,
            ended: false,
            entered: 0,
            ordered: 0,
            barrier: 0,
            supersteps: Counter::default(),
            at_bound: Counter::default(),
            memory: Memory::default(),
            records: Own::part(meta, "workset"),
            turn: Own::part(meta, "turn"),
            faults: Faults::default(),
            meta,
            stamp: PhantomData,
        }
    }

    /// The superstep that it is in.
    fn number(&self) -> u64 {
        match self.state {
            State::Input => self.begins,
            State::Given(number) | State::Giving(number) => number,
        }
    }

    /// Whether a checkpoint is asked for that has not been taken.
    fn is_asked(&self) -> bool {
        self.ordered > self.barrier
    }

    /// All of superstep `number` has been given.
    fn given(&mut self, number: u64) {
        if is_last(number) {
            return self.too_long();
        }
        self.state = State::Given(number);
        self.next.mark(Mark::Watermark(watermark(number)));
        // Others wait for it.
        self.next.flush();
    }

    /// Gives some of the workset of superstep `number`.
    fn give(&mut self, number: u64) -> Result<()> {
        let Entry { giver, next, sets, .. } = self;
        if let Some(giving) = giver {
            if !giving.give(AT_ONCE, |record| next.push(record))? {
                *giver = None;
            }
        } else if let Some(set) = sets.pop() {
            *giver = Some(set.into_giver()?);
        } else {
            self.given(number);
        }
        Ok(())
    }

    /// All of the input has come, of one in the body of another loop that of a superstep there.
    fn begin(&mut self) {
        if !std::mem::replace(&mut self.ended, true) && !matches!(self.state, State::Input) {
            // It starts from a checkpoint: the input has entered.
            self.handed.turns.enter(0);
        }
    }

    /// The loop is over, whose last superstep was `last`: for good, or until more comes. A barrier that came meanwhile passes before that.
    fn over(&mut self, last: u64) -> Fire {
        if !self.handed.is_nested() {
            self.count();
            return Fire::Done;
        }
        self.next.mark(Mark::Watermark(watermark(end(last))));
        self.next.flush();
        self.begins = anew(last, self.handed.first());
        (self.state, self.entered, self.ended) = (State::Input, 0, false);
        if self.is_asked() { Fire::Barrier(self.ordered) } else { Fire::Done }
    }

    fn count(&mut self) {
        let turns = &self.handed.turns;
        self.supersteps.add(turns.supersteps());
        self.at_bound.add(turns.at_bound());
        (self.supersteps, self.at_bound) = (Counter::default(), Counter::default());
    }

    #[cold]
    fn too_long(&self) {
        let what = "a loop has come to its superstep 4,294,967,294, or one in another has begun 2,147,483,647 times: there are no more numbers";
        self.fail(Error::new(ErrorKind::Operator, what));
    }

    #[cold]
    fn fail(&self, error: Error) {
        self.faults.raise(error.in_stage(self.meta.id()).at(self.meta.at()));
    }
}

impl<T: Spill, W: Ways<T>, S: Stamp> Head<(T, S)> for Entry<T, W, S> {
    type Part = Infallible;

    fn tail(&mut self) -> &mut dyn Tail {
        self
    }

    fn tail_ref(&self) -> &dyn Tail {
        self
    }

    fn items(&mut self, _: usize, items: &mut IntoIter<(T, S)>, n: usize) {
        for (record, _) in items.by_ref().take(n) {
            self.entered += 1;
            self.next.input(record);
        }
    }

    fn watermark(&mut self, w: Timestamp) {
        if self.handed.is_nested() && w < Timestamp::MAX {
            self.handed.outer_is(w);
            self.begin();
        }
    }

    fn was_told(&mut self, w: Timestamp) {
        // Exits may not have passed it on.
        self.handed.outer_is(w);
    }

    fn stands_at(&self, told: Timestamp) -> Timestamp {
        // A loop that is under way begins when that is told again.
        if self.handed.is_nested() && self.ended { Timestamp(told.0 - 1) } else { told }
    }

    fn end(&mut self) {
        if self.handed.is_nested() {
            // The body has ended: that is told where it does. Else the outer loop is over, or has been cut short, where others may wait for this one: what it has is
            // nobody's then.
            if !self.next.enough() {
                if matches!(self.state, State::Input) && self.entered == 0 {
                    self.handed.turns.give_up();
                } else {
                    self.handed.turns.cut_short();
                }
            }
            return self.count();
        }
        self.begin();
    }

    fn takes_orders(&self) -> bool {
        // To one in the body of another loop barriers come from its entries.
        self.ended && !self.handed.is_nested()
    }

    fn listens(&self) -> bool {
        self.handed.is_nested() && matches!(self.state, State::Given(_))
    }

    fn order(&mut self, id: u64) {
        self.ordered = id;
    }

    fn stop(&mut self) {
        self.handed.turns.stop();
    }

    fn fire(&mut self) -> Fire {
        while self.ended {
            if self.is_asked() && self.handed.turns.asks(self.number(), self.ordered) {
                return Fire::Barrier(self.ordered);
            }
            match self.state {
                State::Input => {
                    self.handed.turns.enter(self.entered);
                    self.given(self.begins);
                }
                State::Given(last) => match self.handed.turns.after(last) {
                    Turn::Wait => return Fire::Paused,
                    Turn::Over => return self.over(last),
                    Turn::Begin(number) => {
                        self.sets = self.handed.take(self.instance);
                        self.sets.reverse();
                        self.state = State::Giving(number);
                    }
                },
                State::Giving(number) => {
                    if !self.next.room() {
                        return Fire::Paused;
                    }
                    if let Err(error) = self.give(number) {
                        self.fail(error);
                        return Fire::Paused;
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

/// What is behind the head: the body, which has no room while others have not seen all of a superstep.
impl<T: Spill, W: Ways<T>, S: Stamp> Tail for Entry<T, W, S> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        refuse_at_a_cut(&self.meta, cx, "supersteps")?;
        self.next.open(cx)?;
        self.instance = cx.context().instance();
        (self.memory, self.faults) = (cx.memory().clone(), cx.faults().clone());
        self.handed.turns.wakes(cx.context().signal());
        if self.instance == 0 {
            self.supersteps = cx.metrics().counter(&format!("{}.supersteps", self.meta.id()));
            self.at_bound = cx.metrics().counter(&format!("{}.at_bound", self.meta.id()));
        }
        self.take_back(cx)
    }

    fn mark(&mut self, mark: Mark) {
        match mark {
            // Time outside, and silence, are none of the body's business.
            Mark::Watermark(_) | Mark::Idle | Mark::Active => {}
            Mark::End => self.next.mark(mark),
            Mark::Barrier(id) => {
                self.barrier = id;
                // Also one that has come with the input: the loop may go on from a checkpoint.
                self.handed.turns.asks(self.number(), id);
                self.save(id);
                self.next.mark(mark);
                self.next.flush();
            }
        }
    }

    fn room(&mut self) -> bool {
        // What has overflowed goes on also where there is nothing to do: others wait for it.
        let room = self.next.room();
        let waits = match self.state {
            State::Given(last) => {
                self.handed.turns.after(last) == Turn::Wait && !self.is_asked() && !self.enough()
            }
            _ => false,
        };
        room && !waits
    }

    fn grid(&self) -> Grid {
        self.next.grid()
    }

    fn flush(&mut self) {
        self.next.flush();
    }

    fn enough(&self) -> bool {
        self.next.enough() || self.handed.turns.is_cut()
    }

    fn deadline(&self) -> Option<i64> {
        self.next.deadline()
    }

    fn tick(&mut self, now: i64) {
        self.next.tick(now);
    }
}
