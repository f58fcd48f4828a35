//! How a delta loop is put around its body.
//!
//! ```text
//! input ─► entry ───────────► solution ─► result
//!            ├──► body ─────────┘ │
//!            └── what has changed ┘
//! ```
//!
//! The input is in superstep 0: it goes to the solution, all of it has changed, and that is the workset of superstep 1.

use super::back::{Back, Known};
use super::chain::{BodyBounds, InLoop, describe};
use super::entry::{Entry, Ways};
use super::handed::Handed;
use super::solution::Solution;
use super::until::{Never, Until, When};
use crate::aggregate::{Agg, Mergeable};
use crate::batch::Mark;
use crate::error::Result;
use crate::external::Spill;
use crate::op::edges::{EdgePush, InTurn};
use crate::op::key_fn::ByPair;
use crate::op::kind::{Bounds, EndsOrSteps, InBody, Loops};
use crate::op::rolling::{ByKeyGroup, Item};
use crate::op::tee::both_tails;
use crate::op::{Chain, Key, Kind, Stream, Visit};
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, HeadStage, Meta, OpenCx, Push, Tail};
use crate::state::{Keep, Mode};
use crate::time::Grid;
use std::marker::PhantomData;
use std::sync::Arc;

/// Sends records to the solution.
type ToSolution<Q, V, S> = ByKeyGroup<(Q, V), ByPair<Q, V>, Item<(Q, V), ByPair<Q, V>, S>>;

/// The input goes to the solution, the worksets into the body.
struct Apart<N, E> {
    body: N,
    solution: E,
}

impl<T: 'static, N: Push<T, ()>, E: Push<T, ()>> Ways<T> for Apart<N, E> {
    #[inline(always)]
    fn push(&mut self, record: T) {
        self.body.push(record, ());
    }
    #[inline(always)]
    fn input(&mut self, record: T) {
        self.solution.push(record, ());
    }
}

impl<N: Tail, E: Tail> Tail for Apart<N, E> {
    both_tails!(body, solution; enough);
    fn enough(&self) -> bool {
        // Without its body nothing comes to the solution.
        self.body.enough() || self.solution.enough()
    }
}

/// The beginning of the body of a delta loop over what `C` gives.
pub struct DeltaStart<C, T> {
    prev: C,
    of: Arc<Handed<T>>,
    edge: EdgeRef,
    /// From the entry to the solution.
    straight: EdgeRef,
    meta: Meta,
}

impl<C: Clone, T> Clone for DeltaStart<C, T> {
    fn clone(&self) -> Self {
        let (prev, of, edge) = (self.prev.clone(), Arc::clone(&self.of), self.edge.clone());
        DeltaStart { prev, of, edge, straight: self.straight.clone(), meta: self.meta }
    }
}

impl<C, Q, V> Chain for DeltaStart<C, (Q, V)>
where
    C: Chain<Out = (Q, V)>,
    Q: Key + Spill,
    V: Spill,
{
    type Out = (Q, V);
    type Stamp = ();
    type Root = C::Root;
    fn build<N: Push<(Q, V), ()>, W: Visit>(self, cx: &mut BuildCx, next: N, visit: W) {
        let handed = self.of.of_run(cx);
        let meta = describe(cx, &self.meta, handed.rounds());
        self.edge.listen(Grid::none());
        cx.out(&self.straight);
        let solution = ToSolution::<Q, V, ()>::new(ByPair::new(), self.straight);
        let entry = Entry::<(Q, V), _, C::Stamp>::new(handed, Apart { body: next, solution }, meta);
        let stage = HeadStage::new::<((Q, V), C::Stamp), _>(entry);
        cx.head(&meta, Count::Parallelism, &[(self.edge.clone(), EdgeKind::Rebalance)], stage);
        cx.out(&self.edge);
        self.prev.build(cx, EdgePush::new(&self.edge, InTurn::default(), Some(meta)), visit);
    }
}

/// A delta loop with the body `B`, whose solution the closure `F` changes.
pub struct DeltaIterated<B, Q, V, F, M, U: Until<(Q, V)> = Never> {
    body: B,
    of: Arc<Handed<(Q, V)>>,
    rounds: u64,
    update: F,
    until: U,
    known: Known<U::Acc>,
    edge: EdgeRef,
    straight: EdgeRef,
    meta: Meta,
    mode: PhantomData<fn() -> M>,
}

impl<B: Clone, Q, V, F: Clone, M, U: Until<(Q, V)>> Clone for DeltaIterated<B, Q, V, F, M, U> {
    fn clone(&self) -> Self {
        DeltaIterated {
            body: self.body.clone(),
            of: Arc::clone(&self.of),
            rounds: self.rounds,
            update: self.update.clone(),
            until: self.until.clone(),
            known: Arc::clone(&self.known),
            edge: self.edge.clone(),
            straight: self.straight.clone(),
            meta: self.meta,
            mode: PhantomData,
        }
    }
}

impl<B, Q, V, F, M, U> Chain for DeltaIterated<B, Q, V, F, M, U>
where
    B: Chain<Out = (Q, V), Stamp = ()>,
    Q: Key + Spill + Keep<M>,
    V: Clone + Spill + Keep<M>,
    (V, bool): Keep<M>,
    F: Fn(&mut V, V) -> bool + Clone + Send + 'static,
    M: Mode,
    U: Until<(Q, V)>,
{
    type Out = (Q, V);
    type Stamp = ();
    type Root = B::Root;
    fn build<N: Push<(Q, V), ()>, W: Visit>(self, cx: &mut BuildCx, next: N, visit: W) {
        let meta = cx.op(&self.meta, "a table of the solution; what changes in it is the next workset");
        self.edge.listen(Grid::every());
        self.straight.listen(Grid::every());
        let handed = self.of.begin_run(cx, self.rounds);
        let known = cx.of_run().of(&self.known, Default::default);
        let back = Back::new(handed, self.until, known, meta);
        let solution = Solution::<Q, V, F, N, (), M, U>::new(back, self.update, next, meta);
        let stage = HeadStage::new::<(u64, Q, V, ()), _>(solution);
        let inputs = [(self.straight, EdgeKind::KeyBy), (self.edge.clone(), EdgeKind::KeyBy)];
        cx.head(&meta, Count::Parallelism, &inputs, stage);
        cx.out(&self.edge);
        self.body.build(cx, ToSolution::<Q, V, ()>::new(ByPair::new(), self.edge), visit);
    }
}

/// What the body of a delta loop over pairs `(Q, V)` returns: a stream of such pairs.
#[diagnostic::on_unimplemented(
    message = "the body of this loop does not give what it takes: pairs `({Q}, {V})`",
    label = "the solution takes `({Q}, {V})`",
    note = "end the body in a stream of `({Q}, {V})`, as it begins: the key of what changes, and what comes to it"
)]
pub trait DeltaBody<Q, V> {
    /// The kind of the stream.
    type Kind: Kind;
    /// What it is made of.
    type Chain;
    /// The chain.
    fn chain(self) -> Self::Chain;
}

#[diagnostic::do_not_recommend]
impl<Q: 'static, V: 'static, L: Kind<Stamp = ()>, B> DeltaBody<Q, V> for Stream<(Q, V), L, B> {
    type Kind = L;
    type Chain = B;
    fn chain(self) -> B {
        self.chain
    }
}

/// What `iterate_delta` returns.
pub type DeltaLoop<Q, V, F, B, K> = DeltaIterated<<B as DeltaBody<Q, V>>::Chain, Q, V, F, <K as Kind>::Mode>;

impl<Q: 'static, V: 'static, K: Kind, C> Stream<(Q, V), K, C> {
    /// A loop around a *solution set*, of one value for each key, of which each superstep sees what the one before has changed.
    ///
    /// The input is the solution to begin with, and all of it has changed. In each superstep `body` gets what has changed, each key once, and gives what comes to which
    /// keys. `update` takes that into the value of the key, and says whether it has changed; a key that is new has. When nothing has changed, or after as many
    /// supersteps as `.rounds(n)` behind it says, the loop is over, and the solution is its result: of each key the value, in the order in which keys came to it.
    ///
    /// What comes to a key in one superstep comes in no certain order from several senders: `update` should not depend on it.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// // The smallest vertex that each is connected with.
    /// let vertices = source(from_iter(1..5u64)).map(|v| (v, v));
    /// let edges = source(from_vec(vec![(1u64, 2u64), (2, 1), (2, 3), (3, 2)])).key_by(|e| e.0);
    /// let smaller = |label: &mut u64, came: u64| {
    ///     let less = came < *label;
    ///     *label = came.min(*label);
    ///     less
    /// };
    /// let labels = vertices.iterate_delta(smaller, |changed| {
    ///     changed.key_by(|c| c.0).join(edges).lookup().map(|(_, ((_, label), edge))| (edge.1, label))
    /// });
    /// job.add(labels.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [(1, 1), (2, 1), (3, 1), (4, 4)]);
    /// ```
    ///
    /// Single-source shortest paths:
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let roads = source(from_vec(vec![("a", "b", 4u64), ("a", "c", 1), ("c", "b", 2)]));
    /// let roads = roads.map(|(from, to, km)| (from.to_owned(), (to.to_owned(), km))).key_by(|road| road.0.clone());
    /// let start = source(from_vec(vec![("a".to_owned(), 0u64)]));
    /// let shorter = |km: &mut u64, came: u64| {
    ///     let less = came < *km;
    ///     *km = came.min(*km);
    ///     less
    /// };
    /// let distances = start.iterate_delta(shorter, |changed| {
    ///     let there = changed.key_by(|place| place.0.clone()).join(roads).lookup();
    ///     there.map(|(_, ((_, km), (_, (to, more))))| (to, km + more))
    /// });
    /// job.add(distances.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// let mut distances = out.take();
    /// distances.sort();
    /// assert_eq!(distances, [("a".into(), 0), ("b".into(), 3), ("c".into(), 1)]);
    /// ```
    #[track_caller]
    pub fn iterate_delta<F, B: DeltaBody<Q, V>>(
        self,
        update: F,
        body: impl FnOnce(Stream<(Q, V), InLoop<K>, DeltaStart<C, (Q, V)>>) -> B,
    ) -> Stream<(Q, V), K::Untimed, DeltaLoop<Q, V, F, B, K>>
    where
        K: EndsOrSteps + Loops,
        B::Kind: InBody<BodyBounds<K>>,
        Q: Key + Spill,
        V: Clone + Spill,
        F: Fn(&mut V, V) -> bool + Clone + Send + 'static,
    {
        let of = Arc::new(Handed::new(0, u64::MAX, <K::Bounds as Bounds>::IS_LOOPED));
        let (edge, straight) = (EdgeRef::fresh(), EdgeRef::fresh());
        let (meta, back) = (Meta::new("iterate_delta"), Meta::new("solution"));
        let (of_start, to) = (Arc::clone(&of), straight.clone());
        let start = DeltaStart { prev: self.chain, of: of_start, edge, straight: to, meta };
        let body = body(Stream::of(start)).chain();
        Stream::of(DeltaIterated {
            body,
            of,
            rounds: u64::MAX,
            update,
            until: Never,
            known: Known::default(),
            edge: EdgeRef::fresh(),
            straight,
            meta: back,
            mode: PhantomData,
        })
    }
}

impl<Q: Spill, V: Spill, K: Kind, B, F, M, U: Until<(Q, V)>>
    Stream<(Q, V), K, DeltaIterated<B, Q, V, F, M, U>>
{
    /// The loop behind which it stands has `n` supersteps at most.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let start = source(from_vec(vec![(0u64, ())]));
    /// let reached = start.iterate_delta(|(), ()| false, |new| new.map(|(n, ())| (n + 1, ()))).rounds(3);
    /// job.add(reached.map(|(n, ())| n).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [0, 1, 2, 3]);
    /// ```
    pub fn rounds(mut self, n: u64) -> Self {
        self.chain.rounds = n;
        self
    }
}

impl<Q: Spill, V: Spill, K: Kind, B, F, M> Stream<(Q, V), K, DeltaIterated<B, Q, V, F, M>> {
    /// The loop behind which it stands is over as soon as `condition` holds of what the aggregate makes of all that has changed in a superstep.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let sums = source(from_vec(vec![("a", 1u64)])).map(|(k, n)| (k.to_owned(), n));
    /// let add = |sum: &mut u64, n: u64| {
    ///     *sum += n;
    ///     true
    /// };
    /// let grown = sums.iterate_delta(add, |changed| changed.map(|c| c)).until(|a| a.max(|s| s.1), |n| *n > 50);
    /// job.add(grown.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [("a".to_owned(), 64)]);
    /// ```
    pub fn until<A, G>(
        self,
        make: impl FnOnce(Agg<(Q, V)>) -> A,
        condition: G,
    ) -> Stream<(Q, V), K, DeltaIterated<B, Q, V, F, M, When<(Q, V), A, G>>>
    where
        A: Mergeable<(Q, V)>,
        G: Fn(&A::Out) -> bool + Clone + Send + 'static,
    {
        let DeltaIterated { body, of, rounds, update, edge, straight, meta, mode, .. } = self.chain;
        let until = When::new(make(Agg::new()), condition);
        let known = Known::default();
        Stream::of(DeltaIterated { body, of, rounds, update, until, known, edge, straight, meta, mode })
    }
}
