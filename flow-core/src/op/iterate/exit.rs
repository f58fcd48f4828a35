//! The stage that takes what the body of a bulk loop returns.

use super::back::Back;
use super::number::{Told, told};
use super::returns::Leaves;
use super::until::Until;
use super::workset::Giver;
use crate::batch::Mark;
use crate::error::{Error, Result};
use crate::external::Spill;
use crate::metrics::Counter;
use crate::op::fork::Either;
use crate::stage::push::forward_tail;
use crate::stage::{Fire, Head, OpenCx, Push, Stamp, Tail};
use crate::time::Timestamp;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::vec::IntoIter;

/// Results that leave between two looks at the room for them.
const AT_ONCE: usize = 256;

/// The head of the stage.
pub(super) struct Exit<X, R: Leaves<X>, N, S, U: Until<R::Again>> {
    back: Back<R::Again, U>,
    /// The result, when the loop is over.
    result: Option<Giver<R::Again>>,
    next: N,
    /// Records that were in the loop at its bound, where what leaves says so itself.
    unfinished: Counter,
    id: String,
    types: PhantomData<fn(X, S)>,
}

impl<X, R, N, S, U> Exit<X, R, N, S, U>
where
    R: Leaves<X, Again: Spill>,
    N: Push<R::Out, ()>,
    U: Until<R::Again>,
{
    pub fn new(back: Back<R::Again, U>, next: N, id: String) -> Self {
        Exit { back, result: None, next, unfinished: Counter::default(), id, types: PhantomData }
    }

    /// Emits as much of the result as there is room for.
    fn emit(&mut self) -> Result<Fire> {
        let Exit { result, next, unfinished, .. } = self;
        let Some(giver) = result else { return Ok(Fire::Done) };
        loop {
            if next.enough() {
                *result = None;
                return Ok(Fire::Done);
            }
            if !next.room() {
                return Ok(Fire::Paused);
            }
            let more = giver.give(AT_ONCE, |record| match R::at_the_end(record) {
                Some(record) => next.push(record, ()),
                None => unfinished.add(1),
            })?;
            if !more {
                *result = None;
                return Ok(Fire::Done);
            }
        }
    }

    /// The result is what came back last.
    fn finish(&mut self) {
        match self.back.last() {
            Ok(result) => self.result = Some(result),
            Err(error) => self.fail(error),
        }
    }

    #[cold]
    fn fail(&mut self, error: Error) {
        self.result = None;
        self.back.fail(error);
    }
}

impl<X, R, N, S, U> Head<(X, S)> for Exit<X, R, N, S, U>
where
    X: 'static,
    R: Leaves<X, Again: Spill>,
    N: Push<R::Out, ()>,
    S: Stamp,
    U: Until<R::Again>,
{
    type Part = Infallible;

    fn tail(&mut self) -> &mut dyn Tail {
        self
    }

    fn tail_ref(&self) -> &dyn Tail {
        self
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        if R::SAYS {
            self.unfinished = cx.metrics().counter(&format!("{}.unfinished", self.id));
        }
        self.back.open(cx)
    }

    fn items(&mut self, _: usize, items: &mut IntoIter<(X, S)>, n: usize) {
        for (record, _) in items.by_ref().take(n) {
            match R::leaves(record) {
                Either::A(again) => self.back.push(again),
                Either::B(done) => self.next.push(done, ()),
            }
        }
    }

    fn watermark(&mut self, w: Timestamp) {
        match told(w) {
            Told::Superstep(number) => self.back.end_of(number),
            Told::End => {
                self.finish();
                self.back.over();
            }
            Told::Nothing => {}
        }
    }

    fn was_told(&mut self, _: Timestamp) {}

    fn end(&mut self) {
        self.back.end();
        self.finish();
    }

    fn fire(&mut self) -> Fire {
        self.emit().unwrap_or_else(|error| {
            self.fail(error);
            Fire::Done
        })
    }

    fn passes(&self, w: Timestamp) -> Timestamp {
        self.back.passes(w)
    }
}

/// What is behind the head: barriers pass by what is kept.
impl<X, R, N, S, U> Tail for Exit<X, R, N, S, U>
where
    X: 'static,
    R: Leaves<X, Again: Spill>,
    N: Push<R::Out, ()>,
    S: Stamp,
    U: Until<R::Again>,
{
    fn mark(&mut self, mark: Mark) {
        self.next.mark(mark);
        if let Mark::Barrier(id) = mark {
            self.back.save(id);
        }
    }
    fn room(&mut self) -> bool {
        self.back.hears(self.next.enough());
        self.next.room()
    }
    fn enough(&self) -> bool {
        // It has to see the end of each superstep, whoever is behind it.
        false
    }
    forward_tail!(next: open grid flush deadline tick);
}
