//! From a keyed stream back to a plain one: the records of a key stay together, the key itself is dropped.

use super::boxed::Boxed;
use super::edges::{Exchange, Forward};
use super::key_fn::{KeyFn, KeyTypes};
use super::keyed::KeyedStream;
use super::rolling::{ByKeyGroup, Item};
use super::{Chain, Flow, Kind, Proved, Stream, Visit};
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, Head, HeadStage, Meta, Push, Stamp, Tail};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::vec::IntoIter;

/// A chain whose records are with the others of their key.
#[derive(Clone)]
pub struct Unkeyed<C, F> {
    prev: C,
    key: F,
    edge: EdgeRef,
    meta: Meta,
}

impl<C: Chain, F: KeyFn<C::Out>> Chain for Unkeyed<C, F> {
    type Out = F::Value;
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: Push<F::Value, C::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let meta = cx.op(&self.meta, "the records of a key in one instance, no state");
        self.edge.listen(next.grid());
        let head = UnkeyedHead { key: self.key.clone(), next, record: PhantomData::<fn(C::Out)> };
        let stage = HeadStage::new::<Item<C::Out, F, C::Stamp>, _>(head);
        cx.head(&meta, Count::Parallelism, &[(self.edge.clone(), EdgeKind::KeyBy)], stage);
        cx.out(&self.edge);
        self.prev.build(cx, ByKeyGroup::new(self.key, self.edge), visit);
    }
}

/// Puts together what the exchange took apart.
struct UnkeyedHead<X, F, N> {
    key: F,
    next: N,
    record: PhantomData<fn(X)>,
}

impl<X, F, N, S> Head<Item<X, F, S>> for UnkeyedHead<X, F, N>
where
    X: 'static,
    F: KeyFn<X>,
    S: Stamp,
    N: Push<F::Value, S>,
{
    type Part = Infallible;
    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.next
    }
    fn tail_ref(&self) -> &dyn Tail {
        &self.next
    }
    fn items(&mut self, _: usize, items: &mut IntoIter<Item<X, F, S>>, n: usize) {
        for (_, route, rest, stamp) in items.by_ref().take(n) {
            self.next.push(self.key.unite(route, rest).1, stamp);
        }
    }
}

impl<X: 'static, K: Kind, C, F: KeyTypes<X>> KeyedStream<X, K, C, F> {
    /// Drops the key: the records go to the instances that own their keys, and on as a plain stream. `dataflow!` puts it
    /// in where an operator of plain streams, such as `map` or a sink, stands behind a key.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let words = source(from_vec(vec!["a", "b", "a"]));
    /// job.add(words.key_by(|w| *w).unkeyed().map(str::len).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [1, 1, 1]);
    /// ```
    #[track_caller]
    pub fn unkeyed(self) -> Stream<F::Value, K, Proved<C, Unkeyed<C, F>>> {
        let (edge, meta) = (EdgeRef::fresh(), Meta::new("unkeyed"));
        Stream::of(Unkeyed { prev: self.chain, key: self.key, edge, meta })
    }

    /// What follows runs in a stage of its own; the key stays.
    #[track_caller]
    pub fn boundary(self) -> KeyedStream<X, K, Proved<C, Exchange<C, Forward>>, F>
    where
        X: Send,
    {
        KeyedStream::of(Stream::<X, K, C>::of(self.chain).boundary().chain, self.key)
    }

    /// Ends the growth of the type, as [`Stream::boxed`]; the key stays.
    pub fn boxed(self) -> KeyedStream<X, K, Boxed<X, K::Stamp, C::Root>, F>
    where
        X: Send,
        C: Flow<X, K>,
    {
        KeyedStream::of(Stream::<X, K, C>::of(self.chain).boxed().chain, self.key)
    }

    /// Hands the stream to a sub-pipeline that takes a keyed one.
    pub fn through<R>(self, f: impl FnOnce(Self) -> R) -> R {
        f(self)
    }
}
