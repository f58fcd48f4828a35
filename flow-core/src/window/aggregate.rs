//! `window(…).aggregate(…)`: the streams' methods, and the chain behind them.

use super::base::{Base, Row};
use super::clocked::OnWatermark;
use super::evict::{Evicting, EvictsOf};
use super::late::{DropLate, Lateness, Lates, Policy};
use super::sender::WindowSend;
use super::spec::{Assign, Can, Closes, Over};
use super::trigger::{FiresOn, TakesTrigger, Trigger, Triggered};
use super::windowing::{Adds, Parts, Suits, Windowing, instances};
use crate::aggregate::{Agg, Aggregate, Algebra};
use crate::error::{Error, ErrorKind};
use crate::op::key_fn::NoKey;
use crate::op::kind::Bounds;
use crate::op::{Chain, KeyFn, KeyTypes, KeyedStream, Kind, Proved, Stream, Visit};
use crate::stage::{BuildCx, EdgeRef, Meta, Push};
use crate::state::{Keep, Mode};
use crate::time::{IntoMillis, Millis};
use std::any::TypeId;
use std::marker::PhantomData;

/// A stream cut into windows: `.lateness(…)`, `.late(…)`, then `.aggregate(…)`.
#[must_use = "a window does nothing until it is aggregated"]
pub struct WindowedStream<X, K, C, F, W, P> {
    chain: C,
    pub(super) key: F,
    assign: W,
    lateness: Lateness<P>,
    typed: PhantomData<fn() -> (X, K)>,
}

impl<X: 'static, K: Kind, C, F> KeyedStream<X, K, C, F> {
    /// Cuts the records of each key into windows.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let sales = source(from_vec(vec![(1, "tea", 3), (4, "tea", 5), (12, "tea", 7)]));
    /// let per_window = sales
    ///     .event_time(|s| s.0)
    ///     .disorder(Millis(0))
    ///     .key_by(|s| s.1)
    ///     .window(tumbling(Millis(10)))
    ///     .aggregate(|a| (a.count(), a.sum(|s| s.2)));
    /// job.add(per_window.map(|w| (w.key, w.start.0, w.value)).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [("tea", 0, (2, 8)), ("tea", 10, (1, 7))]);
    /// ```
    pub fn window<W: Over<K>>(self, window: W) -> WindowedStream<X, K, C, F, W, DropLate> {
        WindowedStream::new(self.chain, self.key, window)
    }

    /// `window` with a description that has a closure over the records, whose type need not be written: `dataflow!`
    /// makes this of `.window(session_by(|e| …))`.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let visits = source(from_vec(vec![("a", 0, 5), ("a", 5, 1), ("a", 7, 1)])).event_time(|v| v.1);
    /// let visits = visits.disorder(Millis(0)).key_by(|v| v.0);
    /// let sessions = visits.window_of(|records| session_by(records.each(|v| Millis(v.2)))).count();
    /// job.add(sessions.map(|w| (w.start.0, w.end.0, w.value)).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [(0, 6, 2), (7, 8, 1)]);
    /// ```
    pub fn window_of<W: Over<K>>(
        self,
        describe: impl FnOnce(Records<F::Value>) -> W,
    ) -> WindowedStream<X, K, C, F, W, DropLate>
    where
        F: KeyTypes<X>,
    {
        self.window(describe(Records(PhantomData)))
    }
}

/// The type of the records of a stream, for closures over them.
pub struct Records<T>(PhantomData<fn(T)>);

impl<T> Records<T> {
    /// A closure over such a record.
    pub fn each<R, G: Fn(&T) -> R>(self, closure: G) -> G {
        closure
    }
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// Cuts all records into windows, in a single instance; the key of the results is `()`.
    pub fn window<W: Over<K>>(self, window: W) -> WindowedStream<T, K, C, NoKey, W, DropLate> {
        WindowedStream::new(self.chain, NoKey, window)
    }

    /// See [`KeyedStream::window_of`].
    pub fn window_of<W: Over<K>>(
        self,
        describe: impl FnOnce(Records<T>) -> W,
    ) -> WindowedStream<T, K, C, NoKey, W, DropLate> {
        self.window(describe(Records(PhantomData)))
    }
}

impl<X, K, C, F, W> WindowedStream<X, K, C, F, W, DropLate> {
    fn new(chain: C, key: F, assign: W) -> Self {
        let lateness = Lateness { allowed: Millis(0), policy: DropLate };
        WindowedStream { chain, key, assign, lateness, typed: PhantomData }
    }

    /// What becomes of late elements: [`drop_late`], [`side`] or [`fail`]. In `dataflow!`: `late = drop`, `late = side`, `late = fail`.
    pub fn late<P>(self, policy: P) -> WindowedStream<X, K, C, F, W, P>
    where
        W: Lates,
    {
        let lateness = Lateness { allowed: self.lateness.allowed, policy };
        WindowedStream { chain: self.chain, key: self.key, assign: self.assign, lateness, typed: PhantomData }
    }
}

/// Late elements are counted and dropped.
#[expect(non_upper_case_globals, reason = "written as a word in a pipeline")]
pub const drop_late: DropLate = DropLate;
/// Late elements are counted and go to a side stream.
#[expect(non_upper_case_globals, reason = "written as a word in a pipeline")]
pub const side: super::late::SideLate = super::late::SideLate;
/// A late element ends the job.
#[expect(non_upper_case_globals, reason = "written as a word in a pipeline")]
pub const fail: super::late::FailLate = super::late::FailLate;

impl<X, K, C, F, W, P> WindowedStream<X, K, C, F, W, P> {
    /// For so long after its end a window takes elements; it fires again for each, for that element's key, with the
    /// updated result.
    pub fn lateness(mut self, lateness: impl IntoMillis) -> Self
    where
        W: Lates,
    {
        self.lateness.allowed = lateness.into_millis();
        self
    }
}

impl<X: 'static, K: Kind, C, F, W: Windowing, P> WindowedStream<X, K, C, F, W, P> {
    /// Keeps of each window's records the [`last`](super::last) ones only, by number or by time; what is made of the window sees
    /// no others. Those that leave are counted, as `evicted`.
    pub fn evict<E: EvictsOf<W::Kind<K>>>(
        self,
        evictor: E,
    ) -> WindowedStream<X, K, C, F, Proved<E::Holds, Evicting<W, E>>, P> {
        let WindowedStream { chain, key, assign, lateness, typed } = self;
        WindowedStream { chain, key, assign: Evicting { window: assign, evictor }, lateness, typed }
    }
}

impl<X: 'static, K: Kind, C, F: KeyTypes<X>, W: Windowing, P> WindowedStream<X, K, C, F, W, P> {
    /// Fires windows before their end, too: at times, after so many elements, or where an element says so; see
    /// [`Trigger`]. At its end a window fires anyway. A trigger makes a result of `global()` windows on input without an end. In a
    /// [batch](crate::op::Stream::batch) each window has one row, at its end, whatever the trigger says; a purging one is refused there.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let sales = source(from_vec(vec![(1, 3), (2, 5), (3, 1), (4, 9)])).event_time(|s| s.0).disorder(Millis(0));
    /// let so_far = sales.window(tumbling(Millis(10))).trigger(|t| t.count(2).when(|s| s.1 > 8)).sum(|s| s.1);
    /// job.add(so_far.map(|w| w.value).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [8, 18, 18]);
    /// ```
    pub fn trigger<G, B, Z>(
        self,
        make: impl FnOnce(Trigger<F::Value>) -> Trigger<F::Value, G, B>,
    ) -> WindowedStream<X, K, C, F, Proved<Z, Triggered<W, G>>, P>
    where
        W: TakesTrigger<Z, F::Value>,
        B: FiresOn<K>,
    {
        let WindowedStream { chain, key, assign: window, lateness, typed } = self;
        let Trigger { mut rules, when, .. } = make(Trigger::new());
        rules.whole = K::Bounds::IS_BATCH;
        WindowedStream { chain, key, assign: Triggered { window, rules, when }, lateness, typed }
    }
}

/// The chain behind an aggregated window.
pub type WindowChain<X, K, C, F, W, A, P, Z> = Proved<
    Z,
    Proved<
        C,
        Proved<
            <A as Aggregate<<F as KeyTypes<X>>::Value>>::Out,
            <W as Windowing>::Chain<X, C, F, A, P, <K as Kind>::Mode>,
        >,
    >,
>;

impl<X: 'static, K: Kind, C, F: KeyTypes<X>, W: Windowing, P> WindowedStream<X, K, C, F, W, P> {
    /// One result for each window and key: what the aggregate makes of its records.
    #[track_caller]
    pub fn aggregate<A, Z>(
        self,
        make: impl FnOnce(Agg<F::Value>) -> A,
    ) -> P::Output<W::Kind<K>, WindowChain<X, K, C, F, W, A, P, Z>>
    where
        W: Closes<Z, K>,
        A: Aggregate<F::Value, Acc: Keep<K::Mode>> + Suits<F::Value, W::Needs>,
        P: Policy<Row<X, F, A>, F::Value>,
    {
        self.aggregate_as("aggregate", make)
    }

    /// `aggregate` under the name of the method that asked for it.
    #[track_caller]
    pub(super) fn aggregate_as<A, Z>(
        self,
        op: &'static str,
        make: impl FnOnce(Agg<F::Value>) -> A,
    ) -> P::Output<W::Kind<K>, WindowChain<X, K, C, F, W, A, P, Z>>
    where
        W: Closes<Z, K>,
        A: Aggregate<F::Value, Acc: Keep<K::Mode>>,
        P: Policy<Row<X, F, A>, F::Value>,
    {
        P::output(Stream::of(self.closed(op, make)))
    }

    /// The chain of `aggregate`.
    #[track_caller]
    pub(super) fn closed<A>(
        self,
        op: &'static str,
        make: impl FnOnce(Agg<F::Value>) -> A,
    ) -> W::Chain<X, C, F, A, P, K::Mode> {
        let parts = Parts {
            prev: self.chain,
            key: self.key,
            aggregate: make(Agg::new()),
            lateness: self.lateness,
            edge: EdgeRef::fresh(),
            meta: Meta::new(op),
            looped: K::Bounds::IS_LOOPED,
        };
        self.assign.chain(parts)
    }
}

#[diagnostic::do_not_recommend]
impl<W: Assign> Lates for W {}

#[diagnostic::do_not_recommend]
impl<W: Assign> Windowing for W {
    type Needs = Adds;
    type Kind<K: Kind> = K;
    type Chain<X, C, F, A, P, M> = WindowAgg<X, C, F, W, A, P, M>;
    fn chain<X, C, F, A, P, M>(self, parts: Parts<C, F, A, P>) -> WindowAgg<X, C, F, W, A, P, M> {
        let Parts { prev, key, aggregate, lateness, edge, meta, .. } = parts;
        WindowAgg { prev, key, assign: self, aggregate, lateness, edge, meta, types: PhantomData }
    }
}

/// A chain with an aggregated window behind it.
pub struct WindowAgg<X, C, F, W, A, P, M> {
    prev: C,
    key: F,
    assign: W,
    aggregate: A,
    lateness: Lateness<P>,
    edge: EdgeRef,
    meta: Meta,
    types: PhantomData<fn(X) -> M>,
}

impl<X, C: Clone, F: Clone, W: Clone, A: Clone, P: Copy, M> Clone for WindowAgg<X, C, F, W, A, P, M> {
    fn clone(&self) -> Self {
        WindowAgg {
            prev: self.prev.clone(),
            key: self.key.clone(),
            assign: self.assign.clone(),
            aggregate: self.aggregate.clone(),
            lateness: self.lateness,
            edge: self.edge.clone(),
            meta: self.meta,
            types: PhantomData,
        }
    }
}

impl<X, C, F, W, A, P, M> Chain for WindowAgg<X, C, F, W, A, P, M>
where
    X: 'static,
    C: Chain<Out = X>,
    F: KeyFn<X, Key: Keep<M>>,
    W: Assign,
    A: Aggregate<F::Value, Acc: Keep<M>>,
    P: Policy<Row<X, F, A>, F::Value>,
    M: Mode,
{
    type Out = P::Emit;
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: Push<P::Emit, C::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let can =
            Can { merge: A::Algebra::MERGES, commute: A::Algebra::COMMUTES, invert: A::Algebra::INVERTS };
        let (window, how) = (self.assign.describe(), self.assign.algorithm(can));
        let note = explain(window, how, self.aggregate.name(), can.commute);
        let meta = cx.op(&self.meta, &note);
        if !fits(cx, &meta, self.lateness.allowed, self.assign.check().and(self.aggregate.check())) {
            // What follows computes with the description.
            return;
        }
        let (count, kind) = instances(TypeId::of::<F>() == TypeId::of::<NoKey>());
        let own = self.assign.grid(self.lateness.allowed);
        let own = if P::REPORTS { own.with_exact_late() } else { own };
        self.edge.listen(own.and(&next.grid()));
        let (key, assign, aggregate) = (self.key.clone(), self.assign.clone(), self.aggregate.clone());
        let base = Base::<X, F, A, P, C::Stamp, N>::new(key, aggregate, self.lateness, next, meta);
        let stage = assign.stage::<X, F, A, P, C::Stamp, N, M, _>(base, OnWatermark);
        cx.head(&meta, count, &[(self.edge.clone(), kind)], stage);
        cx.out(&self.edge);
        let send = WindowSend::<X, F, W, A, P>::new(self.key, self.assign, self.aggregate, self.edge, meta);
        self.prev.build(cx, send, visit);
    }
}

/// Whether the description makes sense; if not, the job cannot start.
pub(crate) fn fits(
    cx: &mut BuildCx,
    meta: &Meta,
    lateness: Millis,
    window: crate::error::Result<()>,
) -> bool {
    let lateness = if lateness.0 < 0 {
        let what = format!("a lateness of {lateness}: it cannot be negative");
        Err(Error::new(ErrorKind::Plan, what))
    } else {
        Ok(())
    };
    let checked = lateness.and(window);
    let fits = checked.is_ok();
    if let Err(error) = checked {
        cx.fail(error.in_stage(meta.id()).at(meta.at()));
    }
    fits
}

/// What was decided about a window and an aggregate.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the strings are dropped here, and not in every user's crate"
)]
fn explain(window: String, how: String, aggregate: String, commutes: bool) -> String {
    let before = if commutes {
        "merged before the exchange, since the aggregate commutes"
    } else {
        "not merged before the exchange, since the order of records matters to the aggregate"
    };
    format!("{window}: {how}; [{aggregate}]; {before}")
}
