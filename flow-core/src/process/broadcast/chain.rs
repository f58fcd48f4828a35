//! How both streams are put before one process.

use super::BroadcastProcess;
use super::head::{BroadcastHead, Crossing, ItemOf};
use crate::batch::Mark;
use crate::error::Result;
use crate::join::joined::{Both, Detached, SideEnds};
use crate::op::boxed::NoRoot;
use crate::op::edges::sender_tail;
use crate::op::kind::refuse_in_loop;
use crate::op::{Chain, Either, Key, KeyFn, KeyTypes, KeyedStream, Kind, Proved, Stream, Terminal, Visit};
use crate::process::chain::{listens, noted};
use crate::process::kinds::{TimerKinds, clock_in_loop};
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, HeadStage, Meta, OpenCx, Outs, Push, Stamp, Tail};
use crate::state::{Keep, Mode};
use crate::time::Grid;
use std::marker::PhantomData;

/// The end of the keyed stream, beside broadcast records `B`.
pub struct KeyedEnd<C, F, B> {
    prev: C,
    key: F,
    edge: EdgeRef,
    types: PhantomData<fn() -> B>,
}

impl<C: Clone, F: Clone, B> Clone for KeyedEnd<C, F, B> {
    fn clone(&self) -> Self {
        let (prev, key, edge) = (self.prev.clone(), self.key.clone(), self.edge.clone());
        KeyedEnd { prev, key, edge, types: PhantomData }
    }
}

impl<C: Chain, F: KeyFn<C::Out, Value: Send>, B: Send + 'static> Terminal for KeyedEnd<C, F, B> {
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V) {
        cx.out(&self.edge);
        let KeyedEnd { prev, key, edge, .. } = self;
        let outs = Outs::new(edge.id);
        let send = KeyedSend::<C::Out, F, B, C::Stamp> { key, outs, edge, record: PhantomData };
        prev.build(cx, send, visit);
    }
}

/// Sends each record to the instance that has its key.
struct KeyedSend<X, F: KeyFn<X>, B, S> {
    key: F,
    outs: Outs<Crossing<F::Key, F::Value, B, S>>,
    edge: EdgeRef,
    record: PhantomData<fn(X)>,
}

impl<X: 'static, F: KeyFn<X, Value: Send>, B: Send + 'static, S: Stamp> Push<X, S> for KeyedSend<X, F, B, S> {
    #[inline(always)]
    fn push(&mut self, item: X, stamp: S) {
        let (hash, route, rest) = self.key.split(item);
        let (key, value) = self.key.unite(route, rest);
        let to = self.outs.of_key(hash);
        self.outs.send(to, (stamp, Either::A((hash, key, value))));
    }
}

impl<X: 'static, F: KeyFn<X, Value: Send>, B: Send + 'static, S: Stamp> Tail for KeyedSend<X, F, B, S> {
    sender_tail!(cx, self);
}

/// The end of the stream that every instance reads, beside records `L` with keys `Q`.
pub struct AllEnd<C, Q, L> {
    prev: C,
    edge: EdgeRef,
    types: PhantomData<fn() -> (Q, L)>,
}

impl<C: Clone, Q, L> Clone for AllEnd<C, Q, L> {
    fn clone(&self) -> Self {
        AllEnd { prev: self.prev.clone(), edge: self.edge.clone(), types: PhantomData }
    }
}

impl<C, Q, L> Terminal for AllEnd<C, Q, L>
where
    C: Chain<Out: Clone + Send>,
    Q: Send + 'static,
    L: Send + 'static,
{
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V) {
        cx.out(&self.edge);
        let outs = Outs::<Crossing<Q, L, C::Out, C::Stamp>>::new(self.edge.id);
        self.prev.build(cx, AllSend { outs, edge: self.edge }, visit);
    }
}

/// Sends each record to every instance.
struct AllSend<M> {
    outs: Outs<M>,
    edge: EdgeRef,
}

impl<Q, L, B, S> Push<B, S> for AllSend<Crossing<Q, L, B, S>>
where
    Q: Send + 'static,
    L: Send + 'static,
    B: Clone + Send + 'static,
    S: Stamp,
{
    fn push(&mut self, item: B, stamp: S) {
        let last = self.outs.receivers() - 1;
        for to in 0..last {
            self.outs.send(to, (stamp, Either::B(item.clone())));
        }
        self.outs.send(last, (stamp, Either::B(item)));
    }
}

impl<M: Send + 'static> Tail for AllSend<M> {
    sender_tail!(cx, self);
}

/// A stream of records `L` with keys `Q`, and one of records `B` that every instance reads, before a process. It is no stream yet.
#[must_use = "two connected streams do nothing until a process says what is done with them"]
pub struct ConnectedBroadcast<Q, L, B, K, E> {
    edges: [EdgeRef; 2],
    ends: E,
    types: PhantomData<fn() -> (Q, L, B, K)>,
}

impl<Q, L, B, K, X, Y> ConnectedBroadcast<Q, L, B, K, Both<X, Y>> {
    /// The ends of both streams, each of which belongs to what it hangs on, and the rest.
    pub fn apart(self) -> (X, Y, ConnectedBroadcast<Q, L, B, K, Detached>) {
        let (keyed, all) = self.ends.apart();
        (keyed, all, ConnectedBroadcast { edges: self.edges, ends: Detached, types: PhantomData })
    }
}

/// What [`KeyedStream::connect_broadcast`] returns.
pub type ConnectedBroadcastOf<X, K, C, F, B, D> = ConnectedBroadcast<
    <F as KeyTypes<X>>::Key,
    <F as KeyTypes<X>>::Value,
    B,
    K,
    Both<KeyedEnd<C, F, B>, AllEnd<D, <F as KeyTypes<X>>::Key, <F as KeyTypes<X>>::Value>>,
>;

impl<X: 'static, K: Kind, C, F: KeyTypes<X>> KeyedStream<X, K, C, F> {
    /// This stream, and beside it one of which every instance gets every record: for one process, a [`BroadcastProcess`].
    pub fn connect_broadcast<B: Clone + 'static, J, D>(
        self,
        all: Stream<B, J, D>,
    ) -> ConnectedBroadcastOf<X, K, C, F, B, D>
    where
        J: Kind<Stamp = K::Stamp, Mode = K::Mode>,
    {
        let edges = [EdgeRef::fresh(), EdgeRef::fresh()];
        let keyed = KeyedEnd { prev: self.chain, key: self.key, edge: edges[0].clone(), types: PhantomData };
        let all = AllEnd { prev: all.chain, edge: edges[1].clone(), types: PhantomData };
        ConnectedBroadcast { edges, ends: Both::new(keyed, all), types: PhantomData }
    }
}

/// A stream that begins behind such a process, in a pipeline of mode `M`.
pub struct Broadcasted<Q, L, B, S, P, E, M> {
    edges: [EdgeRef; 2],
    ends: E,
    process: P,
    meta: Meta,
    clock_in_loop: bool,
    types: PhantomData<fn() -> (Q, L, B, S, M)>,
}

impl<Q, L, B, S, P: Clone, E: Clone, M> Clone for Broadcasted<Q, L, B, S, P, E, M> {
    fn clone(&self) -> Self {
        let (edges, ends) = (self.edges.clone(), self.ends.clone());
        let (process, clock_in_loop) = (self.process.clone(), self.clock_in_loop);
        Broadcasted { edges, ends, process, meta: self.meta, clock_in_loop, types: PhantomData }
    }
}

impl<Q, L, B, S, P, E, M> Chain for Broadcasted<Q, L, B, S, P, E, M>
where
    Q: Key + Keep<M>,
    L: Send + 'static,
    B: Send + 'static,
    S: Stamp,
    P: BroadcastProcess<Q, L, B, S, State: Keep<M>, Shared: Keep<M>>,
    E: SideEnds,
    M: Mode,
    ItemOf<Q, L, B, S, P>: Send + 'static,
{
    type Out = ItemOf<Q, L, B, S, P>;
    type Stamp = <P::Timers as TimerKinds>::Stamp<S>;
    type Root = NoRoot;
    fn build<N: Push<Self::Out, Self::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let what = "state and timers of a key, beside a value that every instance has";
        let meta = cx.op(&self.meta, &noted(what, |names| self.process.describe(names)));
        refuse_in_loop(self.clock_in_loop, cx, &meta);
        for edge in &self.edges {
            edge.listen(listens::<S>(next.grid()));
        }
        let head = BroadcastHead::<Q, L, B, P, S, N, M>::new(self.process, next, meta);
        let [keyed, all] = self.edges;
        let edges = [(keyed, EdgeKind::KeyBy), (all, EdgeKind::Broadcast)];
        cx.head(&meta, Count::Parallelism, &edges, HeadStage::new::<Crossing<Q, L, B, S>, _>(head));
        self.ends.build(cx);
        visit.rooted(cx);
    }
}

/// What a process `P` emits.
type OutOf<Q, L, B, K, P> = ItemOf<Q, L, B, <K as Kind>::Stamp, P>;

/// The stream behind such a process.
pub type BroadcastOf<Q, L, B, K, P, E> = Stream<
    OutOf<Q, L, B, K, P>,
    <<P as BroadcastProcess<Q, L, B, <K as Kind>::Stamp>>::Timers as TimerKinds>::Kind<K>,
    Proved<OutOf<Q, L, B, K, P>, Broadcasted<Q, L, B, <K as Kind>::Stamp, P, E, <K as Kind>::Mode>>,
>;

impl<Q: 'static, L: 'static, B: 'static, K: Kind, E> ConnectedBroadcast<Q, L, B, K, E> {
    /// A process of the records of a key, which sees what has been made of those that every instance gets.
    #[track_caller]
    pub fn process<P>(self, process: P) -> BroadcastOf<Q, L, B, K, P, E>
    where
        P: BroadcastProcess<Q, L, B, K::Stamp, State: Keep<K::Mode>, Shared: Keep<K::Mode>>,
    {
        let (edges, ends, meta) = (self.edges, self.ends, Meta::new("process"));
        let clock_in_loop = clock_in_loop::<P::Timers, K>();
        Stream::of(Broadcasted { edges, ends, process, meta, clock_in_loop, types: PhantomData })
    }
}
