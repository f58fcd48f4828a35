//! Fan-in: every stream with several inputs begins a new stage behind edges.
//!
//! The inputs end in [`EdgeEnd`]s, which belong to whatever they hang on; the stream goes on with [`Merge`], which begins
//! anew. So a diamond (both inputs from one stream) is two branches of a tee, and nothing is built twice.

use super::boxed::NoRoot;
use super::chain::Whole;
use super::edges::{EdgePush, Forward};
use super::{Chain, Kind, Stream, Terminal, Visit};
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, Head, HeadStage, Meta, Push, Stamp, Tail};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::vec::IntoIter;

/// The end of a stream in an edge.
#[derive(Clone)]
pub struct EdgeEnd<C> {
    prev: C,
    edge: EdgeRef,
}

impl<C: Chain<Out: Send>> Terminal for EdgeEnd<C> {
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V) {
        cx.out(&self.edge);
        self.prev.build(cx, EdgePush::new(&self.edge, Forward, None), visit);
    }
}

/// The beginning of a stream behind one or more edges.
pub struct Merge<T, S> {
    edges: Vec<EdgeRef>,
    meta: Meta,
    record: PhantomData<fn() -> (T, S)>,
}

impl<T, S> Clone for Merge<T, S> {
    fn clone(&self) -> Self {
        Merge { edges: self.edges.clone(), meta: self.meta, record: PhantomData }
    }
}

impl<T: Send + 'static, S: Stamp> Chain for Merge<T, S> {
    type Out = T;
    type Stamp = S;
    type Root = NoRoot;
    fn build<N: Push<T, S>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let edges: Vec<_> = self.edges.into_iter().map(|e| (e, EdgeKind::Forward)).collect();
        receive(cx, &self.meta, Count::Upstream, &edges, next);
        visit.rooted(cx);
    }
}

/// An operator that begins a stage and passes on what comes over `edges`.
pub(crate) fn receive<T: Send + 'static, S: Stamp, N: Push<T, S>>(
    cx: &mut BuildCx,
    meta: &Meta,
    count: Count,
    edges: &[(EdgeRef, EdgeKind)],
    next: N,
) -> Meta {
    let meta = cx.op(meta, "begins a stage: records arrive over an edge");
    arrive(cx, &meta, count, edges, next);
    meta
}

/// A stage begins here, with the operator `meta`, which has described itself.
pub(crate) fn arrive<T: Send + 'static, S: Stamp, N: Push<T, S>>(
    cx: &mut BuildCx,
    meta: &Meta,
    count: Count,
    edges: &[(EdgeRef, EdgeKind)],
    next: N,
) {
    for (edge, _) in edges {
        edge.listen(next.grid());
    }
    let head = Arrive { next, record: PhantomData::<fn() -> (T, S)> };
    cx.head(meta, count, edges, HeadStage::new::<(T, S), _>(head));
}

/// Passes on what arrives.
struct Arrive<T, S, N> {
    next: N,
    record: PhantomData<fn() -> (T, S)>,
}

impl<T: Send + 'static, S: Stamp, N: Push<T, S>> Head<(T, S)> for Arrive<T, S, N> {
    type Part = Infallible;
    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.next
    }
    fn tail_ref(&self) -> &dyn Tail {
        &self.next
    }
    fn items(&mut self, _: usize, items: &mut IntoIter<(T, S)>, n: usize) {
        for (item, stamp) in items.by_ref().take(n) {
            self.next.push(item, stamp);
        }
    }
}

/// Two streams as one, owning both: `union` written by hand.
#[derive(Clone)]
pub struct Union<A, B, M> {
    a: EdgeEnd<A>,
    b: EdgeEnd<B>,
    merge: M,
}

impl<A, B, T, S> Chain for Union<A, B, Merge<T, S>>
where
    T: Send + 'static,
    S: Stamp,
    A: Chain<Out = T, Stamp = S>,
    B: Chain<Out = T, Stamp = S>,
{
    type Out = T;
    type Stamp = S;
    type Root = NoRoot;
    fn build<N: Push<T, S>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        self.merge.build(cx, next, Whole);
        self.a.build_end(cx, Whole);
        self.b.build_end(cx, Whole);
        visit.rooted(cx);
    }
}

/// The kind of two streams together.
type Together<K, L> = <K as Kind>::With<L>;

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// The records of both streams. The order of each is kept; the watermark is the smaller of both.
    ///
    /// Both streams must begin at sources of their own; `dataflow!` also takes branches of one stream.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// job.add(source(from_iter(0..2)).union(source(from_iter(5..7))).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// let mut all = out.take();
    /// all.sort();
    /// assert_eq!(all, [0, 1, 5, 6]);
    /// ```
    #[track_caller]
    pub fn union<L, D>(
        self,
        other: Stream<T, L, D>,
    ) -> Stream<T, Together<K, L>, Union<C, D, Merge<T, K::Stamp>>>
    where
        L: Kind<Stamp = K::Stamp, Mode = K::Mode>,
    {
        let (a, b, merged) = self.union_ends(other);
        Stream::of(Union { a, b, merge: merged.chain })
    }

    /// `union` in its pieces: the ends of both inputs, each of which belongs to what it hangs on, and the stream behind.
    #[track_caller]
    pub fn union_ends<L, D>(self, other: Stream<T, L, D>) -> UnionEnds<T, Together<K, L>, K::Stamp, C, D>
    where
        L: Kind<Stamp = K::Stamp, Mode = K::Mode>,
    {
        let meta = Meta::new("union");
        let edges = vec![EdgeRef::fresh(), EdgeRef::fresh()];
        let a = EdgeEnd { prev: self.chain, edge: edges[0].clone() };
        let b = EdgeEnd { prev: other.chain, edge: edges[1].clone() };
        (a, b, Stream::of(Merge { edges, meta, record: PhantomData }))
    }

    /// Cuts the stream at an edge: its end, and the stream behind.
    #[track_caller]
    pub fn cut(self) -> (EdgeEnd<C>, Stream<T, K, Merge<T, K::Stamp>>) {
        let meta = Meta::new("boundary");
        let edge = EdgeRef::fresh();
        let end = EdgeEnd { prev: self.chain, edge: edge.clone() };
        (end, Stream::of(Merge { edges: vec![edge], meta, record: PhantomData }))
    }
}

/// What [`Stream::union_ends`] returns.
pub type UnionEnds<T, K, S, C, D> = (EdgeEnd<C>, EdgeEnd<D>, Stream<T, K, Merge<T, S>>);
