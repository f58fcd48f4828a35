//! What sessions and count windows do before the exchange: each element is lifted and travels by itself.

use super::base::Item;
use crate::batch::Mark;
use crate::error::Result;
use crate::op::KeyFn;
use crate::op::edges::sender_tail;
use crate::op::operator::{OpError, operator_error};
use crate::stage::{EdgeRef, Faults, Meta, OpenCx, Outs, Push, Stamp, Tail};
use crate::time::{Grid, Timestamp};
use std::marker::PhantomData;

/// What crosses of an element beside its key and time.
pub trait Pack<X, F: KeyFn<X>>: Send + 'static {
    /// It.
    type Load: Send + 'static;
    /// Takes it from the element.
    ///
    /// # Errors
    /// Ends the job.
    fn pack(&self, key: &F, route: &F::Route, rest: F::Rest, time: Timestamp) -> Result<Self::Load, OpError>;
}

/// The end of the stage before a window.
pub struct Singly<X, F: KeyFn<X>, B: Pack<X, F>> {
    key: F,
    pack: B,
    outs: Outs<Item<F::Route, B::Load>>,
    edge: EdgeRef,
    meta: Meta,
    faults: Faults,
    record: PhantomData<fn(X)>,
}

impl<X, F: KeyFn<X>, B: Pack<X, F>> Singly<X, F, B> {
    pub fn new(key: F, pack: B, edge: EdgeRef, meta: Meta) -> Self {
        let outs = Outs::new(edge.id);
        Singly { key, pack, outs, edge, meta, faults: Faults::default(), record: PhantomData }
    }

    #[cold]
    #[inline(never)]
    fn fail(&self, error: &OpError) {
        self.faults.raise(operator_error(&self.meta, error));
    }
}

impl<X: 'static, F: KeyFn<X>, B: Pack<X, F>, S: Stamp> Push<X, S> for Singly<X, F, B> {
    #[inline(always)]
    fn push(&mut self, item: X, stamp: S) {
        let (hash, route, rest) = self.key.split(item);
        let time = stamp.time();
        match self.pack.pack(&self.key, &route, rest, time) {
            Ok(load) => {
                let to = self.outs.of_key(hash);
                self.outs.send(to, Item { hash, time, route, load });
            }
            Err(error) => self.fail(&error),
        }
    }
}

impl<X: 'static, F: KeyFn<X>, B: Pack<X, F>> Tail for Singly<X, F, B> {
    sender_tail!(cx, self, self.faults = cx.faults().clone());
}
