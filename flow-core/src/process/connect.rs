//! Two keyed streams before one process: `a.key_by(f).connect(b.key_by(g))`.
//!
//! Both edges end in the head of the process itself: the records of a key, of either stream, meet in one instance, and what comes of
//! one stream is in order. Between the streams there is no order.

use super::Process;
use super::block::{Answer, Closures, Does, DoesEach, Nothing};
use super::chain::{listens, noted};
use super::context::Context;
use super::declaring::{Declaring, Doing, Keyed};
use super::head::{ItemOf, ProcessHead};
use super::kinds::{EventTimers, TimerKinds, clock_in_loop};
use super::states::Declared;
use crate::join::joined::{Both, Detached, SameKey, SideEnds};
use crate::op::boxed::NoRoot;
use crate::op::key_fn::ByPair;
use crate::op::kind::refuse_in_loop;
use crate::op::operator::{OpError, Operator, Then};
use crate::op::rolling::{ByKeyGroup, Item};
use crate::op::{Chain, Either, Key, KeyFn, KeyTypes, KeyedStream, Kind, Proved, Stream, Terminal, Visit};
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, HeadStage, Meta, Push, Stamp};
use crate::state::{Keep, Mode};
use std::marker::PhantomData;

/// A record of either stream, with its key.
type Pair<Q, L, R> = (Q, Either<L, R>);
/// How its key is found.
type Of<Q, L, R> = ByPair<Q, Either<L, R>>;

/// Says of the records of a keyed stream which of both it is.
pub struct Tag<F, T> {
    key: F,
    tag: T,
}

impl<F: Clone, T: Clone> Clone for Tag<F, T> {
    fn clone(&self) -> Self {
        Tag { key: self.key.clone(), tag: self.tag.clone() }
    }
}

#[diagnostic::do_not_recommend]
impl<X: 'static, F: KeyFn<X>, L: 'static, R: 'static> Operator<X> for Tag<F, fn(F::Value) -> Either<L, R>> {
    type Out = (F::Key, Either<L, R>);
    const FALLIBLE: bool = false;
    fn name(&self) -> &'static str {
        "connect"
    }
    #[inline(always)]
    fn item<O: FnMut(Self::Out)>(&mut self, item: X, out: &mut O) -> Result<(), OpError> {
        let (_, route, rest) = self.key.split(item);
        let (key, value) = self.key.unite(route, rest);
        out((key, (self.tag)(value)));
        Ok(())
    }
}

/// The end of one of both streams.
pub struct ConnectEnd<Q, L, R, C> {
    prev: C,
    edge: EdgeRef,
    types: PhantomData<fn() -> (Q, L, R)>,
}

impl<Q, L, R, C: Clone> Clone for ConnectEnd<Q, L, R, C> {
    fn clone(&self) -> Self {
        ConnectEnd { prev: self.prev.clone(), edge: self.edge.clone(), types: PhantomData }
    }
}

impl<Q, L, R, C> Terminal for ConnectEnd<Q, L, R, C>
where
    Q: Key,
    L: Send + 'static,
    R: Send + 'static,
    C: Chain<Out = Pair<Q, L, R>>,
{
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V) {
        cx.out(&self.edge);
        self.prev.build(cx, ByKeyGroup::new(Of::<Q, L, R>::new(), self.edge), visit);
    }
}

/// Two streams with keys `Q` and records `L` and `R`, before a process. It is no stream yet.
#[must_use = "two connected streams do nothing until a process says what is done with them"]
pub struct Connected<Q, L, R, K, E> {
    edges: [EdgeRef; 2],
    ends: E,
    types: PhantomData<fn() -> (Q, L, R, K)>,
}

impl<Q: 'static, L: 'static, R: 'static, K: Kind, E> Keyed for Connected<Q, L, R, K, E> {
    type Key = Q;
    type Value = Either<L, R>;
    type Kind = K;
}

impl<Q, L, R, K, A, B> Connected<Q, L, R, K, Both<A, B>> {
    /// The ends of both streams, each of which belongs to what it hangs on, and the rest.
    pub fn apart(self) -> (A, B, Connected<Q, L, R, K, Detached>) {
        let (a, b) = self.ends.apart();
        (a, b, Connected { edges: self.edges, ends: Detached, types: PhantomData })
    }
}

/// The tagged chain of one side.
type Tagged<C, F, V, L, R> = Then<C, Tag<F, fn(V) -> Either<L, R>>>;

/// What [`KeyedStream::connect`] returns.
pub type ConnectOf<X, K, C, F, Y, J, D, G> = Proved<
    <<G as KeyTypes<Y>>::Key as SameKey<<F as KeyTypes<X>>::Key>>::Key,
    Connected<
        <F as KeyTypes<X>>::Key,
        <F as KeyTypes<X>>::Value,
        <G as KeyTypes<Y>>::Value,
        <K as Kind>::With<J>,
        Both<
            ConnectEnd<
                <F as KeyTypes<X>>::Key,
                <F as KeyTypes<X>>::Value,
                <G as KeyTypes<Y>>::Value,
                Tagged<C, F, <F as KeyTypes<X>>::Value, <F as KeyTypes<X>>::Value, <G as KeyTypes<Y>>::Value>,
            >,
            ConnectEnd<
                <F as KeyTypes<X>>::Key,
                <F as KeyTypes<X>>::Value,
                <G as KeyTypes<Y>>::Value,
                Tagged<D, G, <G as KeyTypes<Y>>::Value, <F as KeyTypes<X>>::Value, <G as KeyTypes<Y>>::Value>,
            >,
        >,
    >,
>;

impl<X: 'static, K: Kind, C, F: KeyTypes<X>> KeyedStream<X, K, C, F> {
    /// Two keyed streams for one process, whose states and timers they share: Flink's `connect`. By hand the process is one of
    /// records `Either<L, R>`.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// use flow_core::process::states::Plain;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let orders = source(from_vec(vec![(1, "tea"), (2, "rum")]));
    /// let paid = source(from_vec(vec![2, 1]));
    /// let both = orders.key_by(|o| o.0).connect(paid.key_by(|id| *id));
    /// let delivered = both
    ///     .declare((Plain(|| None), (Plain(|| false), ())))
    ///     .on_left(|(what, (paid, ())), order: (i32, &str), ctx| {
    ///         *what = Some(order.1);
    ///         if *paid {
    ///             ctx.emit(order.1);
    ///         }
    ///     })
    ///     .on_right(|(what, (paid, ())), _: i32, ctx| {
    ///         *paid = true;
    ///         if let Some(what) = what {
    ///             ctx.emit(*what);
    ///         }
    ///     })
    ///     .done();
    /// job.add(delivered.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// let mut all = out.take();
    /// all.sort();
    /// assert_eq!(all, ["rum", "tea"]);
    /// ```
    #[track_caller]
    pub fn connect<Y: 'static, J, D, G>(
        self,
        right: KeyedStream<Y, J, D, G>,
    ) -> ConnectOf<X, K, C, F, Y, J, D, G>
    where
        J: Kind<Stamp = K::Stamp, Mode = K::Mode>,
        G: KeyTypes<Y, Key: SameKey<F::Key>>,
    {
        let edges = [EdgeRef::fresh(), EdgeRef::fresh()];
        let meta = Meta::new("connect");
        let left = Tag { key: self.key, tag: Either::A as fn(F::Value) -> Either<F::Value, G::Value> };
        let left = Then::new(self.chain, left, meta);
        let tag = Tag { key: right.key, tag: Either::B as fn(G::Value) -> Either<F::Value, G::Value> };
        let right = Then::new(right.chain, tag, meta);
        let left = ConnectEnd { prev: left, edge: edges[0].clone(), types: PhantomData };
        let right = ConnectEnd { prev: right, edge: edges[1].clone(), types: PhantomData };
        Connected { edges, ends: Both::new(left, right), types: PhantomData }
    }
}

/// A stream that begins behind a process of two streams, in a pipeline of mode `M`.
pub struct CoProcessed<Q, L, R, S, P, E, M> {
    edges: [EdgeRef; 2],
    ends: E,
    process: P,
    meta: Meta,
    clock_in_loop: bool,
    types: PhantomData<fn() -> (Q, L, R, S, M)>,
}

impl<Q, L, R, S, P: Clone, E: Clone, M> Clone for CoProcessed<Q, L, R, S, P, E, M> {
    fn clone(&self) -> Self {
        let (edges, ends) = (self.edges.clone(), self.ends.clone());
        let (process, clock_in_loop) = (self.process.clone(), self.clock_in_loop);
        CoProcessed { edges, ends, process, meta: self.meta, clock_in_loop, types: PhantomData }
    }
}

impl<Q, L, R, S, P, E, M> Chain for CoProcessed<Q, L, R, S, P, E, M>
where
    Q: Key + Keep<M>,
    L: Send + 'static,
    R: Send + 'static,
    S: Stamp,
    P: Process<Q, Either<L, R>, S, State: Keep<M>>,
    E: SideEnds,
    M: Mode,
    ItemOf<Q, Either<L, R>, S, P>: Send + 'static,
{
    type Out = ItemOf<Q, Either<L, R>, S, P>;
    type Stamp = <P::Timers as TimerKinds>::Stamp<S>;
    type Root = NoRoot;
    fn build<N: Push<Self::Out, Self::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let note =
            noted("two streams share the state and timers of a key", |names| self.process.describe(names));
        let meta = cx.op(&self.meta, &note);
        refuse_in_loop(self.clock_in_loop, cx, &meta);
        for edge in &self.edges {
            edge.listen(listens::<S>(next.grid()));
        }
        let head = ProcessHead::<Pair<Q, L, R>, Of<Q, L, R>, P, S, N, M>::new(
            Of::<Q, L, R>::new(),
            self.process,
            next,
            meta,
        );
        let stage = HeadStage::new::<Item<Pair<Q, L, R>, Of<Q, L, R>, S>, _>(head);
        let edges = self.edges.map(|edge| (edge, EdgeKind::KeyBy));
        cx.head(&meta, Count::Parallelism, &edges, stage);
        self.ends.build(cx);
        visit.rooted(cx);
    }
}

/// What a process `P` of two streams emits.
type OutOf<Q, L, R, K, P> = ItemOf<Q, Either<L, R>, <K as Kind>::Stamp, P>;

/// The stream behind a process of two streams.
pub type CoProcessOf<Q, L, R, K, P, E> = Stream<
    OutOf<Q, L, R, K, P>,
    <<P as Process<Q, Either<L, R>, <K as Kind>::Stamp>>::Timers as TimerKinds>::Kind<K>,
    Proved<OutOf<Q, L, R, K, P>, CoProcessed<Q, L, R, <K as Kind>::Stamp, P, E, <K as Kind>::Mode>>,
>;

impl<Q: 'static, L: 'static, R: 'static, K: Kind, E> Connected<Q, L, R, K, E> {
    /// A process of the records of both streams.
    #[track_caller]
    pub fn process<P>(self, process: P) -> CoProcessOf<Q, L, R, K, P, E>
    where
        P: Process<Q, Either<L, R>, K::Stamp, State: Keep<K::Mode>>,
    {
        let (edges, ends, meta) = (self.edges, self.ends, Meta::new("process"));
        let clock_in_loop = clock_in_loop::<P::Timers, K>();
        Stream::of(CoProcessed { edges, ends, process, meta, clock_in_loop, types: PhantomData })
    }

    /// States that both streams share, as [`KeyedStream::declare`].
    pub fn declare<D: Declared>(self, states: D) -> Declaring<Self, D, EventTimers> {
        Declaring::new(self, states)
    }
}

/// [`Declaring`], with what is done with a record of the left stream.
#[must_use = "a process does nothing until `done()`"]
pub struct Half<U, D, P, O, A> {
    declaring: Declaring<U, D, P>,
    left: A,
    types: PhantomData<fn() -> O>,
}

impl<Q: 'static, L: 'static, R: 'static, K: Kind, E, D: Declared, P: TimerKinds>
    Declaring<Connected<Q, L, R, K, E>, D, P>
{
    /// What is done with a record of the left stream.
    pub fn on_left<O, G, T>(
        self,
        left: G,
    ) -> Proved<T::Fits, Half<Connected<Q, L, R, K, E>, D, P, O, Does<G>>>
    where
        G: Fn(D::View<'_>, L, &mut Context<'_, Q, O, K::Stamp, P>) -> T + Clone + Send + 'static,
        T: Answer,
    {
        Half { declaring: self, left: Does(left), types: PhantomData }
    }
}

impl<Q: 'static, L: 'static, R: 'static, K: Kind, E, D: Declared, P: TimerKinds, O, A>
    Half<Connected<Q, L, R, K, E>, D, P, O, A>
{
    /// What is done with a record of the right stream.
    pub fn on_right<G, T>(
        self,
        right: G,
    ) -> Proved<T::Fits, Doing<Connected<Q, L, R, K, E>, D, P, O, DoesEach<A, Does<G>>, Nothing, Nothing>>
    where
        G: Fn(D::View<'_>, R, &mut Context<'_, Q, O, K::Stamp, P>) -> T + Clone + Send + 'static,
        T: Answer,
    {
        self.declaring.doing(DoesEach(self.left, Does(right)))
    }
}

impl<Q: 'static, L: 'static, R: 'static, K: Kind, C, D, P, O, E, T, H>
    Doing<Connected<Q, L, R, K, C>, D, P, O, E, T, H>
{
    /// The stream of what it emits.
    #[track_caller]
    pub fn done(self) -> CoProcessOf<Q, L, R, K, Closures<D, P, O, E, T, H>, C>
    where
        Closures<D, P, O, E, T, H>: Process<Q, Either<L, R>, K::Stamp, State: Keep<K::Mode>>,
    {
        self.stream.process(self.closures)
    }
}
