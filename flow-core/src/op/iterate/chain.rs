//! How a loop is put around its body.

use super::back::{Back, Known};
use super::entry::{Entry, Through};
use super::exit::Exit;
use super::handed::Handed;
use super::returns::{Body, Leaves};
use super::until::{Never, Until, When};
use crate::aggregate::{Agg, Mergeable};
use crate::error::{Error, ErrorKind};
use crate::external::Spill;
use crate::op::edges::{EdgePush, Forward, InTurn};
use crate::op::kind::{Bounds, EndsOrSteps, InBody, Loops};
use crate::op::{Chain, Kind, Stream, Visit};
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, HeadStage, Meta, Push};
use crate::time::Grid;
use std::marker::PhantomData;
use std::sync::Arc;

/// The kind of the stream in the body: each superstep is a batch.
pub type InLoop<K> = <<K as Kind>::Untimed as Kind>::Looped;

/// The bounds of the streams there.
pub type BodyBounds<K> = <InLoop<K> as Kind>::Bounds;

/// The beginning of the body of a loop over what `C` gives.
pub struct LoopStart<C, T> {
    prev: C,
    of: Arc<Handed<T>>,
    edge: EdgeRef,
    meta: Meta,
}

impl<C: Clone, T> Clone for LoopStart<C, T> {
    fn clone(&self) -> Self {
        let (prev, of, edge) = (self.prev.clone(), Arc::clone(&self.of), self.edge.clone());
        LoopStart { prev, of, edge, meta: self.meta }
    }
}

impl<C: Chain<Out: Spill>> Chain for LoopStart<C, C::Out> {
    type Out = C::Out;
    type Stamp = ();
    type Root = C::Root;
    fn build<N: Push<C::Out, ()>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let handed = self.of.of_run(cx);
        let meta = describe(cx, &self.meta, handed.rounds());
        self.edge.listen(Grid::none());
        let entry = Entry::<C::Out, _, C::Stamp>::new(handed, Through(next), meta);
        let stage = HeadStage::new::<(C::Out, C::Stamp), _>(entry);
        cx.head(&meta, Count::Parallelism, &[(self.edge.clone(), EdgeKind::Rebalance)], stage);
        cx.out(&self.edge);
        self.prev.build(cx, EdgePush::new(&self.edge, InTurn::default(), Some(meta)), visit);
    }
}

/// Says what the loop is that begins here.
#[cold]
pub(super) fn describe(cx: &mut BuildCx, meta: &Meta, rounds: u64) -> Meta {
    let meta = match rounds {
        u64::MAX => cx.op(meta, "supersteps until nothing comes back"),
        rounds => cx.op(meta, &format!("at most {rounds} supersteps")),
    };
    if rounds == 0 {
        let what = "a loop of 0 supersteps: each record goes through the body once at least";
        cx.fail(Error::new(ErrorKind::Plan, what).in_stage(meta.id()).at(meta.at()));
    }
    meta
}

/// A loop with the body `B`, which gives records `X`; what is done with them says `R`.
pub struct Iterated<B, X, R: Leaves<X>, U: Until<R::Again> = Never> {
    body: B,
    of: Arc<Handed<R::Again>>,
    until: U,
    known: Known<U::Acc>,
    edge: EdgeRef,
    meta: Meta,
    record: PhantomData<fn(X)>,
}

impl<B: Clone, X, R: Leaves<X>, U: Until<R::Again>> Clone for Iterated<B, X, R, U> {
    fn clone(&self) -> Self {
        Iterated {
            body: self.body.clone(),
            of: Arc::clone(&self.of),
            until: self.until.clone(),
            known: Arc::clone(&self.known),
            edge: self.edge.clone(),
            meta: self.meta,
            record: PhantomData,
        }
    }
}

impl<B, R, U> Chain for Iterated<B, B::Out, R, U>
where
    B: Chain<Out: Send>,
    R: Leaves<B::Out, Again: Spill>,
    U: Until<R::Again>,
{
    type Out = R::Out;
    type Stamp = ();
    type Root = B::Root;
    fn build<N: Push<R::Out, ()>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let meta = cx.op(&self.meta, "what the body gives");
        self.edge.listen(Grid::every());
        let handed = self.of.begin_run(cx, self.of.rounds());
        let known = cx.of_run().of(&self.known, Default::default);
        let back = Back::new(handed, self.until, known, meta);
        let exit = Exit::<B::Out, R, N, B::Stamp, U>::new(back, next, meta.id());
        let stage = HeadStage::new::<(B::Out, B::Stamp), _>(exit);
        cx.head(&meta, Count::Upstream, &[(self.edge.clone(), EdgeKind::Forward)], stage);
        cx.out(&self.edge);
        self.body.build(cx, EdgePush::new(&self.edge, Forward, None), visit);
    }
}

/// What `iterate` returns, around a body `B`.
pub type Loop<T, B> = Iterated<<B as Body<T>>::Chain, <B as Body<T>>::Record, <B as Body<T>>::Rule>;

/// What leaves a loop around a body `B`.
pub type Left<T, B> = <<B as Body<T>>::Rule as Leaves<<B as Body<T>>::Record>>::Out;

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// Runs the records through `body` again and again, `rounds` times at most: what it gives is the workset of the next superstep; after the last it is the
    /// result. A loop without records is over; `rounds` of `u64::MAX` waits for that.
    ///
    /// A superstep is a batch of its own: `sum`, `fold` and whatever else gives one row for each key gives it at the end of each superstep, and begins anew. Streams
    /// from outside may be looked up in: `body` owns what it names.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let numbers = source(from_vec(vec![1u64, 5]));
    /// job.add(numbers.iterate(3, |n| n.map(|n| n * 2)).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [8, 40]);
    /// ```
    ///
    /// A body that gives `Either`s says of each record whether it goes on: `Either::B` leaves the loop at once. Those that have not when the loop has come to its
    /// bound are counted in `unfinished`.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let numbers = source(from_vec(vec![1u64, 3]));
    /// let grown = numbers.iterate(10, |n| n.map(|n| if n + 1 < 4 { Either::A(n + 1) } else { Either::B(n + 1) }));
    /// job.add(grown.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [4, 4]);
    /// ```
    /// Clusters of points, by k-means: each superstep all centres meet under one key, and each point looks for the nearest.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// type Point = (f64, f64);
    /// fn nearest(centres: &[(usize, Point)], p: Point) -> usize {
    ///     let far = |c: &(usize, Point)| (c.1.0 - p.0).powi(2) + (c.1.1 - p.1).powi(2);
    ///     centres.iter().min_by(|a, b| far(a).total_cmp(&far(b)).then(a.0.cmp(&b.0))).unwrap().0
    /// }
    ///
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let points = source(from_vec(vec![(0.0, 0.0), (0.0, 2.0), (9.0, 9.0), (11.0, 9.0)])).key_by(|_: &Point| ());
    /// let centres = source(from_vec(vec![(0, (0.0, 0.0)), (1, (1.0, 1.0))]));
    /// let centres = centres.iterate(10, |centres| {
    ///     let all = centres.key_by(|_| ()).fold(Vec::new(), |all, c| all.push(c));
    ///     let near = all.key_by(|_| ()).join(points).lookup();
    ///     let near = near.map(|(_, ((_, centres), p))| (nearest(&centres, p), p));
    ///     let sums = near.key_by(|n| n.0).fold((0.0, 0.0, 0.0), |sum, (_, (x, y))| {
    ///         *sum = (sum.0 + x, sum.1 + y, sum.2 + 1.0);
    ///     });
    ///     sums.map(|(cluster, (x, y, n))| (cluster, (x / n, y / n)))
    /// });
    /// job.add(centres.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// let mut centres = out.take();
    /// centres.sort_by_key(|c| c.0);
    /// assert_eq!(centres, [(0, (0.0, 1.0)), (1, (10.0, 9.0))]);
    /// ```
    #[track_caller]
    pub fn iterate<B: Body<T>>(
        self,
        rounds: u64,
        body: impl FnOnce(Stream<T, InLoop<K>, LoopStart<C, T>>) -> B,
    ) -> Stream<Left<T, B>, K::Untimed, Loop<T, B>>
    where
        K: EndsOrSteps + Loops,
        B::Kind: InBody<BodyBounds<K>>,
        T: Spill,
    {
        let of = Arc::new(Handed::new(1, rounds, <K::Bounds as Bounds>::IS_LOOPED));
        let (edge, meta, back) = (EdgeRef::fresh(), Meta::new("iterate"), Meta::new("iterated"));
        let start = LoopStart { prev: self.chain, of: Arc::clone(&of), edge, meta };
        let body = body(Stream::of(start)).chain();
        let edge = EdgeRef::fresh();
        Stream::of(Iterated {
            body,
            of,
            until: Never,
            known: Known::default(),
            edge,
            meta: back,
            record: PhantomData,
        })
    }
}

impl<T: 'static, K: Kind, B, X, R: Leaves<X>> Stream<T, K, Iterated<B, X, R>> {
    /// The loop behind which it stands is over as soon as `condition` holds of what the aggregate makes of all records that came back in a superstep.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let numbers = source(from_vec(vec![1u64, 5]));
    /// let grown = numbers.iterate(100, |n| n.map(|n| n * 2)).until(|a| a.max(|n| *n), |most| *most > 50);
    /// job.add(grown.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [16, 80]);
    /// ```
    pub fn until<A, F>(
        self,
        make: impl FnOnce(Agg<R::Again>) -> A,
        condition: F,
    ) -> Stream<T, K, Iterated<B, X, R, When<R::Again, A, F>>>
    where
        A: Mergeable<R::Again>,
        F: Fn(&A::Out) -> bool + Clone + Send + 'static,
    {
        let Iterated { body, of, edge, meta, .. } = self.chain;
        let until = When::new(make(Agg::new()), condition);
        Stream::of(Iterated { body, of, until, known: Known::default(), edge, meta, record: PhantomData })
    }
}
