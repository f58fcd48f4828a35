//! In how many instances what follows an exchange runs: `.parallelism(n)`.

use super::edges::{Broadcast, Exchange};
use super::{Chain, KeyedStream, Stream, Visit};
use crate::stage::{BuildCx, Meta, Push};

/// A chain before an exchange to so many instances, whatever operators stand between.
#[derive(Clone)]
pub struct Wide<C> {
    prev: C,
    n: usize,
    meta: Meta,
}

impl<C: Chain> Chain for Wide<C> {
    type Out = C::Out;
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: Push<C::Out, C::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        cx.receivers(&self.meta, self.n);
        self.prev.build(cx, next, visit);
    }
}

impl<X, K, C, F> KeyedStream<X, K, C, F> {
    /// What keeps state by this key runs in `n` instances, instead of as many as the job's parallelism.
    ///
    /// In `dataflow!`: `.key_by(|w| *w, parallelism = 2)`.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let words = source(from_vec(vec!["a", "b", "a"]));
    /// let places = words.key_by(|w| *w).parallelism(2).count();
    /// job.add(places.map_init(|cx| cx.parallelism(), |n, _| *n).collect(&out));
    /// # });
    /// # job.parallelism(4).run().unwrap();
    /// assert_eq!(out.take(), [2, 2, 2]);
    /// ```
    #[track_caller]
    pub fn parallelism(self, n: usize) -> KeyedStream<X, K, Wide<C>, F> {
        KeyedStream::of(Wide { prev: self.chain, n, meta: Meta::new("key_by") }, self.key)
    }
}

impl<T, K, C, P> Stream<T, K, Exchange<C, P>> {
    /// What follows this exchange runs in `n` instances, up to the next one, instead of as many as the job's parallelism. For
    /// `rebalance`, `shuffle` and `partition_by`; `global` and `boundary` have a number of their own, and the job does not start.
    ///
    /// In `dataflow!`: `.rebalance(parallelism = 2)`.
    pub fn parallelism(mut self, n: usize) -> Self {
        self.chain.set_parallelism(n);
        self
    }
}

impl<T, K, C> Stream<T, K, Broadcast<C>> {
    /// So many instances of what follows get every record, instead of as many as the job's parallelism.
    pub fn parallelism(mut self, n: usize) -> Self {
        self.chain.set_parallelism(n);
        self
    }
}
