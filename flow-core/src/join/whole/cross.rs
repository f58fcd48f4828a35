//! `cross`: every pair of two streams that end.
//!
//! ```text
//! left ───── in turn ────► instance: its part of the left × all of the right
//! right ──── to all ─────►
//! ```

use super::head::{Hash, WholeHead};
use crate::batch::Mark;
use crate::error::Result;
use crate::external::Spill;
use crate::join::form::Inner;
use crate::join::joined::{Both, Detached, SideEnds};
use crate::join::side::Crossing;
use crate::op::boxed::NoRoot;
use crate::op::edges::sender_tail;
use crate::op::kind::{BeginsAnew, Ends};
use crate::op::sort::SpillOf;
use crate::op::{Chain, Either, Kind, Proved, Stream, Terminal, Visit};
use crate::stage::push::forward_tail;
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, HeadStage, Meta, OpenCx, Outs, Push, Stamp, Tail};
use crate::time::{Grid, Timestamp};
use std::marker::PhantomData;

/// The end of the left side, where the right one has records `R`.
#[derive(Clone)]
pub struct CrossLeft<C, R> {
    prev: C,
    edge: EdgeRef,
    right: PhantomData<fn() -> R>,
}

/// The end of the right side, where the left one has records `L`.
#[derive(Clone)]
pub struct CrossRight<C, L> {
    prev: C,
    edge: EdgeRef,
    left: PhantomData<fn() -> L>,
}

/// All have one key.
fn item<L, R>(load: Either<L, R>) -> Crossing<(), L, R> {
    Crossing { hash: 0, time: Timestamp::MIN, route: (), load }
}

/// Sends the left side, in turn.
struct SendLeft<L, R> {
    outs: Outs<Crossing<(), L, R>>,
    edge: EdgeRef,
    to: usize,
}

impl<L: Send + 'static, R: Send + 'static, S: Stamp> Push<L, S> for SendLeft<L, R> {
    #[inline(always)]
    fn push(&mut self, left: L, _: S) {
        let to = self.to % self.outs.receivers();
        self.to = to + 1;
        self.outs.send(to, item(Either::A(left)));
    }
}

impl<L: Send + 'static, R: Send + 'static> Tail for SendLeft<L, R> {
    // Each sender begins with another receiver.
    sender_tail!(cx, self, self.to = cx.context().instance());
}

/// Sends the right side, to all.
struct SendRight<L, R> {
    outs: Outs<Crossing<(), L, R>>,
    edge: EdgeRef,
}

impl<L: Send + 'static, R: Clone + Send + 'static, S: Stamp> Push<R, S> for SendRight<L, R> {
    #[inline(always)]
    fn push(&mut self, right: R, _: S) {
        for to in 1..self.outs.receivers() {
            self.outs.send(to, item(Either::B(right.clone())));
        }
        self.outs.send(0, item(Either::B(right)));
    }
}

impl<L: Send + 'static, R: Send + 'static> Tail for SendRight<L, R> {
    sender_tail!(cx, self);
}

impl<L: Send + 'static, C: Chain<Out = L>, R: Clone + Send + 'static> Terminal for CrossLeft<C, R> {
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V) {
        cx.out(&self.edge);
        let outs = Outs::<Crossing<(), L, R>>::new(self.edge.id);
        self.prev.build(cx, SendLeft { outs, edge: self.edge, to: 0 }, visit);
    }
}

impl<R: Clone + Send + 'static, C: Chain<Out = R>, L: Clone + Send + 'static> Terminal for CrossRight<C, L> {
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V) {
        cx.out(&self.edge);
        let outs = Outs::<Crossing<(), L, R>>::new(self.edge.id);
        self.prev.build(cx, SendRight { outs, edge: self.edge }, visit);
    }
}

/// The beginning of the stream of pairs, with the ends of both sides or without.
pub struct Crossed<L, R, E> {
    edges: [EdgeRef; 2],
    ends: E,
    meta: Meta,
    types: PhantomData<fn() -> (L, R)>,
}

impl<L, R, E: Clone> Clone for Crossed<L, R, E> {
    fn clone(&self) -> Self {
        Crossed { edges: self.edges.clone(), ends: self.ends.clone(), meta: self.meta, types: PhantomData }
    }
}

impl<L: Clone + Spill, R: Clone + Spill, E: SideEnds> Chain for Crossed<L, R, E> {
    type Out = (L, R);
    type Stamp = ();
    type Root = NoRoot;
    fn build<N: Push<(L, R), ()>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let meta = cx.op(&self.meta, "all pairs of two sides that end: the right side goes to all instances");
        // Event time ends here.
        self.edges.iter().for_each(|edge| edge.listen(Grid::none()));
        let head = WholeHead::<(), L, R, Inner, Hash, _>::new(Pairs(next), meta);
        let [left, right] = self.edges;
        let inputs = [(left, EdgeKind::Rebalance), (right, EdgeKind::Broadcast)];
        cx.head(&meta, Count::Parallelism, &inputs, HeadStage::new::<Crossing<(), L, R>, _>(head));
        self.ends.build(cx);
        visit.rooted(cx);
    }
}

/// Takes off the key.
struct Pairs<N>(N);

impl<T: 'static, N: Push<T, ()>> Push<((), T), ()> for Pairs<N> {
    #[inline(always)]
    fn push(&mut self, ((), pair): ((), T), (): ()) {
        self.0.push(pair, ());
    }
}

impl<N: Tail> Tail for Pairs<N> {
    forward_tail!(0);
}

/// The kind of both together, without event time.
type Together<K, J> = <<K as Kind>::Untimed as Kind>::With<<J as Kind>::Untimed>;

/// The stream of pairs, where the records of both sides can leave the memory.
type PairsOf<T, U, K, J, E, P, O> = Stream<(T, U), Together<K, J>, Proved<P, Proved<O, Crossed<T, U, E>>>>;

/// What [`Stream::cross_ends`] returns.
pub type CrossEnds<T, U, K, J, C, D, P, O> =
    (CrossLeft<C, U>, CrossRight<D, T>, PairsOf<T, U, K, J, Detached, P, O>);

impl<T: Clone + 'static, K: Kind, C> Stream<T, K, C> {
    /// Every pair of a record of this stream and one of `other`, both of which have to end. Pairs leave at the end, in no order, without event time.
    ///
    /// `other` goes to all instances, so it should be the smaller one; each makes the pairs of its part of this stream. Beyond the job's [`memory`](crate::Job::memory) both lie on the disk, and
    /// of the right side a block after the other is taken. `spilled` counts the records that were written.
    ///
    /// Flink's DataSet API had it as `cross`, polars has it as `join(how="cross")`. Where a condition follows that compares a field of both, a join by that field finds the same pairs without
    /// making all of them.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let sizes = source(from_vec(vec!["S", "M"])).batch().map(str::to_owned);
    /// let colours = source(from_vec(vec!["red", "blue"])).batch().map(str::to_owned);
    /// job.add(sizes.cross(colours).map(|(size, colour)| format!("{colour} {size}")).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// let mut shirts = out.take();
    /// shirts.sort();
    /// assert_eq!(shirts, ["blue M", "blue S", "red M", "red S"]);
    /// ```
    #[track_caller]
    pub fn cross<U, J, D, P, O>(
        self,
        other: Stream<U, J, D>,
    ) -> PairsOf<T, U, K, J, Both<CrossLeft<C, U>, CrossRight<D, T>>, P, O>
    where
        K: Ends + BeginsAnew,
        J: Ends + Kind<Mode = K::Mode>,
        T: SpillOf<P>,
        U: SpillOf<O> + Clone + 'static,
    {
        let meta = Meta::new("cross");
        let (left, right, edges) = ends(self, other);
        Stream::of(Crossed { edges, ends: Both::new(left, right), meta, types: PhantomData })
    }

    /// `cross` in its pieces: the ends of both sides, each of which belongs to what it hangs on, and the stream behind.
    #[track_caller]
    pub fn cross_ends<U, J, D, P, O>(self, other: Stream<U, J, D>) -> CrossEnds<T, U, K, J, C, D, P, O>
    where
        K: Ends + BeginsAnew,
        J: Ends + Kind<Mode = K::Mode>,
        T: SpillOf<P>,
        U: SpillOf<O> + Clone + 'static,
    {
        let meta = Meta::new("cross");
        let (left, right, edges) = ends(self, other);
        (left, right, Stream::of(Crossed { edges, ends: Detached, meta, types: PhantomData }))
    }
}

fn ends<T, K, C, U, J, D>(
    left: Stream<T, K, C>,
    right: Stream<U, J, D>,
) -> (CrossLeft<C, U>, CrossRight<D, T>, [EdgeRef; 2]) {
    let edges = [EdgeRef::fresh(), EdgeRef::fresh()];
    let left = CrossLeft { prev: left.chain, edge: edges[0].clone(), right: PhantomData };
    let right = CrossRight { prev: right.chain, edge: edges[1].clone(), left: PhantomData };
    (left, right, edges)
}
