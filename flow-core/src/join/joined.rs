//! Two keyed streams together, and the methods of streams that begin a join.

use super::form::{Anti, CoGroup, Full, Inner, LeftOuter, RightOuter, Semi};
use super::side::{OnLeft, OnRight, SideEnd};
use crate::op::boxed::NoRoot;
use crate::op::chain::Whole;
use crate::op::{Chain, KeyTypes, KeyedStream, Kind, Proved, Terminal, Visit};
use crate::stage::{BuildCx, EdgeRef, Push, Stamp};
use std::marker::PhantomData;

/// Two streams of keys `Q`, with records `L` and `R` and of kinds `K` and `J`: what `join` and its like return. It is no stream
/// yet: say which elements belong together, with [`window`](Joined::window).
#[must_use = "a join does nothing until it says which elements belong together: `.window(…)`"]
pub struct Joined<Q, L, R, K, J, F, E> {
    pub(super) edges: [EdgeRef; 2],
    pub(super) ends: E,
    types: PhantomData<fn() -> (Q, L, R, K, J, F)>,
}

/// The ends of both sides, where they belong to the join: what a join written by hand has.
#[derive(Clone)]
pub struct Both<A, B>(A, B);

impl<A, B> Both<A, B> {
    pub(crate) fn new(a: A, b: B) -> Self {
        Both(a, b)
    }

    pub(crate) fn apart(self) -> (A, B) {
        (self.0, self.1)
    }
}

/// The ends of both sides are elsewhere: `dataflow!` hangs them where their streams branch.
#[derive(Clone)]
pub struct Detached;

/// Where the ends of both sides are.
pub trait SideEnds: Clone + Send + 'static {
    /// Builds them, if they belong to the join.
    fn build(self, cx: &mut BuildCx);
}

impl<A: Terminal, B: Terminal> SideEnds for Both<A, B> {
    fn build(self, cx: &mut BuildCx) {
        self.0.build_end(cx, Whole);
        self.1.build_end(cx, Whole);
    }
}

impl SideEnds for Detached {
    fn build(self, _: &mut BuildCx) {}
}

impl<Q, L, R, K, J, F, A, B> Joined<Q, L, R, K, J, F, Both<A, B>> {
    /// The ends of both sides, each of which belongs to what it hangs on, and the join without them.
    pub fn apart(self) -> (A, B, Joined<Q, L, R, K, J, F, Detached>) {
        let Both(a, b) = self.ends;
        (a, b, Joined { edges: self.edges, ends: Detached, types: PhantomData })
    }
}

/// The keys of both sides of a join have one type.
#[diagnostic::on_unimplemented(
    message = "the two streams have different keys: `{Q}` on the left, `{Self}` on the right",
    label = "the keys of this side are `{Self}`, those of the other `{Q}`",
    note = "give both `key_by` closures one type: `.clone()` or `.to_owned()` for a borrowed one, `u64::from(…)` for a shorter number"
)]
pub trait SameKey<Q> {
    /// It.
    type Key;
}
#[diagnostic::do_not_recommend]
impl<Q> SameKey<Q> for Q {
    type Key = Q;
}

/// What a join of two keyed streams is.
pub type JoinOf<X, K, C, F, Y, J, D, G, M> = Proved<
    <<G as KeyTypes<Y>>::Key as SameKey<<F as KeyTypes<X>>::Key>>::Key,
    Joined<
        <F as KeyTypes<X>>::Key,
        <F as KeyTypes<X>>::Value,
        <G as KeyTypes<Y>>::Value,
        K,
        J,
        M,
        Both<
            SideEnd<X, C, F, OnLeft<<G as KeyTypes<Y>>::Value>>,
            SideEnd<Y, D, G, OnRight<<F as KeyTypes<X>>::Value>>,
        >,
    >,
>;

/// A join of two streams, made of their parts.
fn joined<X, K, C, F, Y, J, D, G, M>(
    left: KeyedStream<X, K, C, F>,
    right: KeyedStream<Y, J, D, G>,
) -> JoinOf<X, K, C, F, Y, J, D, G, M>
where
    F: KeyTypes<X>,
    G: KeyTypes<Y, Key: SameKey<F::Key>>,
{
    let edges = [EdgeRef::fresh(), EdgeRef::fresh()];
    let left = SideEnd::new(left.chain, left.key, edges[0].clone());
    let right = SideEnd::new(right.chain, right.key, edges[1].clone());
    Joined { edges, ends: Both(left, right), types: PhantomData }
}

impl<X: 'static, K: Kind, C, F: KeyTypes<X>> KeyedStream<X, K, C, F> {
    /// The elements of both streams that match: with one key, and as what follows says, such as in one window.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let rides = source(from_vec(vec![(1, "ann", 12), (14, "bob", 9)])).event_time(|r| r.0).disorder(Millis(0));
    /// let fares = source(from_vec(vec![("ann", 3), ("ann", 8), ("bob", 31)])).event_time(|f| f.1).disorder(Millis(0));
    /// let both = rides.key_by(|r| r.1).join(fares.key_by(|f| f.0)).window(tumbling(Millis(10)));
    /// job.add(both.map(|w| (w.key, w.value.0.2, w.value.1.1)).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [("ann", 12, 3), ("ann", 12, 8)]);
    /// ```
    pub fn join<Y: 'static, J, D, G>(
        self,
        right: KeyedStream<Y, J, D, G>,
    ) -> JoinOf<X, K, C, F, Y, J, D, G, Inner>
    where
        J: Kind<Mode = K::Mode>,
        G: KeyTypes<Y, Key: SameKey<F::Key>>,
    {
        joined(self, right)
    }

    /// As `join`, and the left elements that match nothing: `(L, Option<R>)`.
    pub fn left_join<Y: 'static, J, D, G>(
        self,
        right: KeyedStream<Y, J, D, G>,
    ) -> JoinOf<X, K, C, F, Y, J, D, G, LeftOuter>
    where
        J: Kind<Mode = K::Mode>,
        G: KeyTypes<Y, Key: SameKey<F::Key>>,
    {
        joined(self, right)
    }

    /// As `join`, and the right elements that match nothing: `(Option<L>, R)`.
    pub fn right_join<Y: 'static, J, D, G>(
        self,
        right: KeyedStream<Y, J, D, G>,
    ) -> JoinOf<X, K, C, F, Y, J, D, G, RightOuter>
    where
        J: Kind<Mode = K::Mode>,
        G: KeyTypes<Y, Key: SameKey<F::Key>>,
    {
        joined(self, right)
    }

    /// As `join`, and the elements of both sides that match nothing: `(Option<L>, Option<R>)`.
    pub fn full_join<Y: 'static, J, D, G>(
        self,
        right: KeyedStream<Y, J, D, G>,
    ) -> JoinOf<X, K, C, F, Y, J, D, G, Full>
    where
        J: Kind<Mode = K::Mode>,
        G: KeyTypes<Y, Key: SameKey<F::Key>>,
    {
        joined(self, right)
    }

    /// The left elements of which there is one of their key on the right, each once: `L`. What stands behind it is
    /// [`hash`](Joined::hash) or [`sort_merge`](Joined::sort_merge).
    pub fn semi_join<Y: 'static, J, D, G>(
        self,
        right: KeyedStream<Y, J, D, G>,
    ) -> JoinOf<X, K, C, F, Y, J, D, G, Semi>
    where
        J: Kind<Mode = K::Mode>,
        G: KeyTypes<Y, Key: SameKey<F::Key>>,
    {
        joined(self, right)
    }

    /// The left elements of which there is none of their key on the right: `L`. What stands behind it is
    /// [`hash`](Joined::hash) or [`sort_merge`](Joined::sort_merge).
    pub fn anti_join<Y: 'static, J, D, G>(
        self,
        right: KeyedStream<Y, J, D, G>,
    ) -> JoinOf<X, K, C, F, Y, J, D, G, Anti>
    where
        J: Kind<Mode = K::Mode>,
        G: KeyTypes<Y, Key: SameKey<F::Key>>,
    {
        joined(self, right)
    }

    /// The elements of both streams, those of a key and window together: `(Vec<L>, Vec<R>)`.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let asked = source(from_vec(vec![("tea", 1), ("tea", 2), ("rum", 3)])).event_time(|x| x.1).disorder(Millis(0));
    /// let sold = source(from_vec(vec![("tea", 5)])).event_time(|x| x.1).disorder(Millis(0));
    /// let both = asked.key_by(|x| x.0).co_group(sold.key_by(|x| x.0)).window(tumbling(Millis(10)));
    /// job.add(both.map(|w| (w.key, w.value.0.len(), w.value.1.len())).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// let mut rows = out.take();
    /// rows.sort();
    /// assert_eq!(rows, [("rum", 1, 0), ("tea", 2, 1)]);
    /// ```
    pub fn co_group<Y: 'static, J, D, G>(
        self,
        right: KeyedStream<Y, J, D, G>,
    ) -> JoinOf<X, K, C, F, Y, J, D, G, CoGroup>
    where
        J: Kind<Mode = K::Mode>,
        G: KeyTypes<Y, Key: SameKey<F::Key>>,
    {
        joined(self, right)
    }
}

/// How elements that belong together are found: the head of the stage behind both edges.
pub trait JoinOp<Q, L, R>: Clone + Send + 'static {
    /// A row.
    type Out: 'static;
    /// What it carries.
    type Stamp: Stamp;
    /// Builds the stage behind both edges.
    fn build<N: Push<Self::Out, Self::Stamp>>(self, cx: &mut BuildCx, edges: [EdgeRef; 2], next: N);
}

/// A stream that begins behind a join.
pub struct JoinChain<Q, L, R, O, E> {
    pub(super) op: O,
    edges: [EdgeRef; 2],
    ends: E,
    types: PhantomData<fn() -> (Q, L, R)>,
}

impl<Q, L, R, O, E> JoinChain<Q, L, R, O, E> {
    pub(super) fn of<K, J, F>(joined: Joined<Q, L, R, K, J, F, E>, op: O) -> Self {
        JoinChain { op, edges: joined.edges, ends: joined.ends, types: PhantomData }
    }

    /// The same join, found in another way.
    pub(super) fn with<P>(self, change: impl FnOnce(O) -> P) -> JoinChain<Q, L, R, P, E> {
        JoinChain { op: change(self.op), edges: self.edges, ends: self.ends, types: PhantomData }
    }
}

impl<Q, L, R, O: Clone, E: Clone> Clone for JoinChain<Q, L, R, O, E> {
    fn clone(&self) -> Self {
        let (op, edges, ends) = (self.op.clone(), self.edges.clone(), self.ends.clone());
        JoinChain { op, edges, ends, types: PhantomData }
    }
}

impl<Q: 'static, L: 'static, R: 'static, O: JoinOp<Q, L, R>, E: SideEnds> Chain for JoinChain<Q, L, R, O, E> {
    type Out = O::Out;
    type Stamp = O::Stamp;
    type Root = NoRoot;
    fn build<N: Push<O::Out, O::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        self.op.build(cx, self.edges, next);
        self.ends.build(cx);
        visit.rooted(cx);
    }
}
