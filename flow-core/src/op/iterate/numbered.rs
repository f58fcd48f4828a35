//! `superstep`: the number of the superstep beside each record.

use super::number::{Told, superstep, told};
use crate::batch::Mark;
use crate::op::kind::InSupersteps;
use crate::op::{Chain, Kind, Stream, Visit};
use crate::stage::push::forward_tail;
use crate::stage::{BuildCx, Meta, Push, Stamp, Tail};

/// A chain with `superstep` behind it.
#[derive(Clone)]
pub struct Numbered<C> {
    prev: C,
    meta: Meta,
}

impl<C: Chain> Chain for Numbered<C> {
    type Out = (u64, C::Out);
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: Push<(u64, C::Out), C::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        cx.op(&self.meta, "");
        self.prev.build(cx, NumberedPush { number: 1, next }, visit);
    }
}

/// What it becomes.
struct NumberedPush<N> {
    number: u64,
    next: N,
}

impl<T: 'static, S: Stamp, N: Push<(u64, T), S>> Push<T, S> for NumberedPush<N> {
    #[inline(always)]
    fn push(&mut self, item: T, stamp: S) {
        self.next.push((self.number, item), stamp);
    }
}

impl<N: Tail> Tail for NumberedPush<N> {
    fn mark(&mut self, mark: Mark) {
        // Inside of a loop it says which superstep is over.
        if let Mark::Watermark(w) = mark {
            match told(w) {
                Told::Superstep(over) => self.number = superstep(over) + 1,
                Told::End => self.number = 1,
                Told::Nothing => {}
            }
        }
        self.next.mark(mark);
    }
    forward_tail!(next: open grid room flush enough deadline tick);
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// In the body of a loop: each record with the number of its superstep, from 1.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let numbers = source(from_vec(vec![10u64]));
    /// job.add(numbers.iterate(3, |n| n.superstep().map(|(step, n)| n + step)).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [16]);
    /// ```
    #[track_caller]
    pub fn superstep(self) -> Stream<(u64, T), K, Numbered<C>>
    where
        K: InSupersteps,
    {
        Stream::of(Numbered { prev: self.chain, meta: Meta::new("superstep") })
    }
}
