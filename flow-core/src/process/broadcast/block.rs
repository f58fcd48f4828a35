//! A process of closures beside a stream for all: what `.process({ … })` is behind `connect_broadcast` in `dataflow!`. What its
//! closures see are the states of a key and what every instance has.

use super::{BroadcastContext, BroadcastOf, BroadcastProcess, ConnectedBroadcast};
use crate::op::operator::OpError;
use crate::op::{Kind, Proved};
use crate::process::block::{Answer, Closures, Does, OnEvent, OnTimer, Sees, view};
use crate::process::context::Context;
use crate::process::declaring::{Declaring, Doing, Keyed, OfOneKeyed};
use crate::process::kinds::{EventTimers, TimerKinds};
use crate::process::states::{Declared, Moment, On};
use crate::stage::Stamp;
use crate::state::Keep;
use crate::time::Timestamp;
use std::marker::PhantomData;

/// States `D` of a key, beside a value `H` that every instance has: `I` makes it, `A` is what is done with a record that all get.
pub struct Beside<D, H, I, A> {
    states: D,
    make: I,
    all: A,
    value: PhantomData<fn() -> H>,
}

impl<D: Clone, H, I: Clone, A: Clone> Clone for Beside<D, H, I, A> {
    fn clone(&self) -> Self {
        let (states, make, all) = (self.states.clone(), self.make.clone(), self.all.clone());
        Beside { states, make, all, value: PhantomData }
    }
}

impl<D, H, I, A> Sees for Beside<D, H, I, A>
where
    D: Declared,
    H: 'static,
    I: Clone + Send + 'static,
    A: Clone + Send + 'static,
{
    type Seen<'a> = (D::View<'a>, &'a H);
}

/// [`Doing::on_broadcast`] has not been called yet.
#[derive(Debug, Clone, Copy)]
pub struct NoOnBroadcast;

/// What is done with a record `B` that all instances get.
pub trait OnBroadcast<B, H, S: Stamp>: Clone + Send + 'static {
    /// Does it.
    ///
    /// # Errors
    /// The user's.
    fn broadcast(&self, shared: &mut H, record: B, ctx: &BroadcastContext<S>) -> Result<(), OpError>;
}

#[diagnostic::do_not_recommend]
impl<B, H, S: Stamp, G, R: Answer> OnBroadcast<B, H, S> for Does<G>
where
    G: Fn(&mut H, B, &BroadcastContext<S>) -> R + Clone + Send + 'static,
{
    fn broadcast(&self, shared: &mut H, record: B, ctx: &BroadcastContext<S>) -> Result<(), OpError> {
        (self.0)(shared, record, ctx).outcome()
    }
}

#[diagnostic::do_not_recommend]
impl<K, V, B, S, D, H, I, A, P, O, E, T, Q> BroadcastProcess<K, V, B, S>
    for Closures<Beside<D, H, I, A>, P, O, E, T, Q>
where
    S: Stamp,
    D: Declared,
    H: Send + 'static,
    I: Fn() -> H + Clone + Send + 'static,
    A: OnBroadcast<B, H, S>,
    P: TimerKinds,
    O: Send + 'static,
    E: OnEvent<V, K, O, Beside<D, H, I, A>, S, P>,
    T: OnTimer<K, O, Beside<D, H, I, A>, S, P>,
    Q: OnTimer<K, O, Beside<D, H, I, A>, S, P>,
{
    type State = D::Stored;
    type Shared = H;
    type Out = O;
    type Timers = P;
    const LIVES: bool = D::LIVES;

    fn state(&self) -> D::Stored {
        self.seen.states.fresh()
    }

    fn describe(&self, names: &mut Vec<String>) {
        self.seen.states.describe(names);
    }

    fn shared(&self) -> H {
        (self.seen.make)()
    }

    fn open(&mut self, _: &crate::stage::Context) -> Result<(), OpError> {
        let timed = S::of(Timestamp::MAX).time() == Timestamp::MAX;
        self.seen.states.check(timed).map_err(Into::into)
    }

    #[inline(always)]
    fn event(
        &mut self,
        event: V,
        state: &mut D::Stored,
        shared: &H,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        let states = view(&self.seen.states, state, ctx);
        self.event.event((states, shared), event, ctx)
    }

    fn broadcast(&mut self, record: B, shared: &mut H, ctx: &BroadcastContext<S>) -> Result<(), OpError> {
        self.seen.all.broadcast(shared, record, ctx)
    }

    fn timer(
        &mut self,
        at: Timestamp,
        state: &mut D::Stored,
        shared: &H,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        let states = view(&self.seen.states, state, ctx);
        self.timer.fire((states, shared), at, ctx)
    }

    fn processing_timer(
        &mut self,
        at: Timestamp,
        state: &mut D::Stored,
        shared: &H,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        let states = view(&self.seen.states, state, ctx);
        self.processing.fire((states, shared), at, ctx)
    }

    fn settle(
        &self,
        state: &mut D::Stored,
        now: Moment,
        expired: &mut u64,
        watch: &mut dyn FnMut(On, i64),
    ) -> bool {
        self.seen.states.settle(state, now, expired, watch)
    }
}

impl<Q: 'static, L: 'static, B, K: Kind, C> Keyed for ConnectedBroadcast<Q, L, B, K, C> {
    type Key = Q;
    type Value = L;
    type Kind = K;
}

impl<Q: 'static, L: 'static, B, K: Kind, C> OfOneKeyed for ConnectedBroadcast<Q, L, B, K, C> {}

impl<Q: 'static, L: 'static, B: 'static, K: Kind, C> ConnectedBroadcast<Q, L, B, K, C> {
    /// States of a key, as [`KeyedStream::declare`](crate::op::KeyedStream::declare), and `shared`, which makes the value that every
    /// instance has: what `dataflow!` writes for `.process({ … })` behind `connect_broadcast`. Closures see both, as a pair.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// use flow_core::process::states::Plain;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let calls = source(from_vec(vec![("ann", 1), ("bob", 1)])).event_time(|c| c.1).disorder(Millis(0));
    /// let towns = source(from_vec(vec!["Rome", "Oslo"])).event_time(|_| 0).disorder(Millis(0));
    /// let both = calls.key_by(|c| c.0).connect_broadcast(towns);
    /// let known = both
    ///     .declare_beside((Plain(|| 0u32), ()), Vec::new)
    ///     .on_event(|((calls, ()), _), call: (&str, i64), ctx| {
    ///         *calls += 1;
    ///         ctx.set_timer(Timestamp(call.1));
    ///     })
    ///     .on_broadcast(|towns, town: &str, _| towns.push(town))
    ///     .on_timer(|((calls, ()), towns), _, ctx| ctx.emit((*ctx.key(), *calls, towns.len())))
    ///     .done();
    /// job.add(known.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [("ann", 1, 2), ("bob", 1, 2)]);
    /// ```
    pub fn declare_beside<D: Declared, H, I: Fn() -> H>(
        self,
        states: D,
        shared: I,
    ) -> Declaring<Self, Beside<D, H, I, NoOnBroadcast>, EventTimers> {
        let seen = Beside { states, make: shared, all: NoOnBroadcast, value: PhantomData };
        Declaring::new(self, seen)
    }
}

impl<Q: 'static, L: 'static, B: 'static, K: Kind, C, D, H, I, P, O, E, T, X>
    Doing<ConnectedBroadcast<Q, L, B, K, C>, Beside<D, H, I, NoOnBroadcast>, P, O, E, T, X>
{
    /// What is done with a record that every instance gets.
    pub fn on_broadcast<G, R>(
        self,
        all: G,
    ) -> Proved<R::Fits, Doing<ConnectedBroadcast<Q, L, B, K, C>, Beside<D, H, I, Does<G>>, P, O, E, T, X>>
    where
        G: Fn(&mut H, B, &BroadcastContext<K::Stamp>) -> R + Clone + Send + 'static,
        R: Answer,
    {
        let Closures { seen, event, timer, processing, types } = self.closures;
        let Beside { states, make, value, .. } = seen;
        let seen = Beside { states, make, all: Does(all), value };
        Doing { stream: self.stream, closures: Closures { seen, event, timer, processing, types } }
    }
}

impl<Q: 'static, L: 'static, B: 'static, K: Kind, C, D, H, I, A, P, O, E, T, X>
    Doing<ConnectedBroadcast<Q, L, B, K, C>, Beside<D, H, I, A>, P, O, E, T, X>
{
    /// The stream of what it emits.
    #[track_caller]
    pub fn done(self) -> BroadcastOf<Q, L, B, K, Closures<Beside<D, H, I, A>, P, O, E, T, X>, C>
    where
        Closures<Beside<D, H, I, A>, P, O, E, T, X>:
            BroadcastProcess<Q, L, B, K::Stamp, State: Keep<K::Mode>, Shared: Keep<K::Mode>>,
    {
        self.stream.process(self.closures)
    }
}
