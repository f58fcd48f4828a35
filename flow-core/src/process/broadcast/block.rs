//! A process of closures beside a stream for all: what `.process({ … })` is behind `connect_broadcast` in `dataflow!`.

use super::{BroadcastContext, BroadcastProcess};
use crate::op::operator::OpError;
use crate::process::block::{Answer, Does, Nothing, view};
use crate::process::context::Context;
use crate::process::kinds::TimerKinds;
use crate::process::states::{Declared, Moment, On};
use crate::stage::Stamp;
use crate::time::Timestamp;
use std::marker::PhantomData;

/// What is done with a record `V` of a key, with what all instances have, `H`.
pub trait OnEventBeside<V, K, O, D: Declared, H, S: Stamp, P: TimerKinds>: Clone + Send + 'static {
    /// Does it.
    ///
    /// # Errors
    /// The user's.
    fn event(
        &self,
        states: D::View<'_>,
        shared: &H,
        event: V,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError>;
}

impl<V, K, O, D, H, S, P, G, R: Answer> OnEventBeside<V, K, O, D, H, S, P> for Does<G>
where
    D: Declared,
    S: Stamp,
    P: TimerKinds,
    G: Fn(D::View<'_>, &H, V, &mut Context<'_, K, O, S, P>) -> R + Clone + Send + 'static,
{
    #[inline(always)]
    fn event(
        &self,
        states: D::View<'_>,
        shared: &H,
        event: V,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        (self.0)(states, shared, event, ctx).outcome()
    }
}

/// What is done with a record `B` that all instances get.
pub trait OnBroadcast<B, H, S: Stamp>: Clone + Send + 'static {
    /// Does it.
    ///
    /// # Errors
    /// The user's.
    fn broadcast(&self, shared: &mut H, record: B, ctx: &BroadcastContext<S>) -> Result<(), OpError>;
}

impl<B, H, S: Stamp, G, R: Answer> OnBroadcast<B, H, S> for Does<G>
where
    G: Fn(&mut H, B, &BroadcastContext<S>) -> R + Clone + Send + 'static,
{
    fn broadcast(&self, shared: &mut H, record: B, ctx: &BroadcastContext<S>) -> Result<(), OpError> {
        (self.0)(shared, record, ctx).outcome()
    }
}

/// What is done when a timer fires, with what all instances have.
pub trait OnTimerBeside<K, O, D: Declared, H, S: Stamp, P: TimerKinds>: Clone + Send + 'static {
    /// Does it.
    ///
    /// # Errors
    /// The user's.
    fn fire(
        &self,
        states: D::View<'_>,
        shared: &H,
        at: Timestamp,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError>;
}

impl<K, O, D: Declared, H, S: Stamp, P: TimerKinds> OnTimerBeside<K, O, D, H, S, P> for Nothing {
    fn fire(
        &self,
        _: D::View<'_>,
        _: &H,
        _: Timestamp,
        _: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        Ok(())
    }
}

impl<K, O, D: Declared, H, S: Stamp, P: TimerKinds, G, R: Answer> OnTimerBeside<K, O, D, H, S, P> for Does<G>
where
    G: Fn(D::View<'_>, &H, Timestamp, &mut Context<'_, K, O, S, P>) -> R + Clone + Send + 'static,
{
    fn fire(
        &self,
        states: D::View<'_>,
        shared: &H,
        at: Timestamp,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        (self.0)(states, shared, at, ctx).outcome()
    }
}

/// A process of closures over states `D` and what `I` makes, emitting `O`, with timers of kind `P`.
pub struct ClosuresBeside<D, I, P, O, E, A, T, W> {
    pub(super) states: D,
    pub(super) shared: I,
    pub(super) event: E,
    pub(super) all: A,
    pub(super) timer: T,
    pub(super) processing: W,
    pub(super) types: PhantomData<fn() -> (P, O)>,
}

impl<D: Clone, I: Clone, P, O, E: Clone, A: Clone, T: Clone, W: Clone> Clone
    for ClosuresBeside<D, I, P, O, E, A, T, W>
{
    fn clone(&self) -> Self {
        ClosuresBeside {
            states: self.states.clone(),
            shared: self.shared.clone(),
            event: self.event.clone(),
            all: self.all.clone(),
            timer: self.timer.clone(),
            processing: self.processing.clone(),
            types: PhantomData,
        }
    }
}

#[diagnostic::do_not_recommend]
impl<K, V, B, S, D, I, H, P, O, E, A, T, W> BroadcastProcess<K, V, B, S>
    for ClosuresBeside<D, I, P, O, E, A, T, W>
where
    S: Stamp,
    D: Declared,
    I: Fn() -> H + Clone + Send + 'static,
    H: Send + 'static,
    P: TimerKinds<Item<O> = O>,
    O: Send + 'static,
    E: OnEventBeside<V, K, O, D, H, S, P>,
    A: OnBroadcast<B, H, S>,
    T: OnTimerBeside<K, O, D, H, S, P>,
    W: OnTimerBeside<K, O, D, H, S, P>,
{
    type State = D::Stored;
    type Shared = H;
    type Out = O;
    type Timers = P;
    const LIVES: bool = D::LIVES;

    fn state(&self) -> D::Stored {
        self.states.fresh()
    }

    fn describe(&self, names: &mut Vec<String>) {
        self.states.describe(names);
    }

    fn shared(&self) -> H {
        (self.shared)()
    }

    fn open(&mut self, _: &crate::stage::Context) -> Result<(), OpError> {
        let timed = S::of(Timestamp::MAX).time() == Timestamp::MAX;
        self.states.check(timed).map_err(Into::into)
    }

    #[inline(always)]
    fn event(
        &mut self,
        event: V,
        state: &mut D::Stored,
        shared: &H,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        let states = view(&self.states, state, ctx);
        self.event.event(states, shared, event, ctx)
    }

    fn broadcast(&mut self, record: B, shared: &mut H, ctx: &BroadcastContext<S>) -> Result<(), OpError> {
        self.all.broadcast(shared, record, ctx)
    }

    fn timer(
        &mut self,
        at: Timestamp,
        state: &mut D::Stored,
        shared: &H,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        let states = view(&self.states, state, ctx);
        self.timer.fire(states, shared, at, ctx)
    }

    fn processing_timer(
        &mut self,
        at: Timestamp,
        state: &mut D::Stored,
        shared: &H,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        let states = view(&self.states, state, ctx);
        self.processing.fire(states, shared, at, ctx)
    }

    fn settle(
        &self,
        state: &mut D::Stored,
        now: Moment,
        expired: &mut u64,
        watch: &mut dyn FnMut(On, i64),
    ) -> bool {
        self.states.settle(state, now, expired, watch)
    }
}
