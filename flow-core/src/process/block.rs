//! A process of closures: what `.process({ … })` is in `dataflow!`.

use super::context::Context;
use super::kinds::{EventTimers, ProcessingTimers, TimerKinds};
use super::states::{Declared, Moment, On};
use super::{Process, ProcessOf};
use crate::op::operator::OpError;
use crate::op::{Either, KeyTypes, KeyedStream, Kind, Proved};
use crate::stage::Stamp;
use crate::state::Keep;
use crate::time::Timestamp;
use std::marker::PhantomData;

/// What a closure of a process may return: nothing, or a `Result` whose error ends the job.
#[diagnostic::on_unimplemented(
    message = "a closure of `process` returns nothing, or a `Result<(), E>` whose error ends the job; not `{Self}`",
    label = "this closure returns `{Self}`",
    note = "end it with a `;`, and pass results on with `ctx.emit(x)`"
)]
pub trait Answer {
    /// Something. Behind a closure that returns something else nothing has a known type, so that this is the only error.
    type Fits;
    /// Whether it went well.
    ///
    /// # Errors
    /// The user's.
    fn outcome(self) -> Result<(), OpError>;
}

#[diagnostic::do_not_recommend]
impl Answer for () {
    type Fits = ();
    #[inline(always)]
    fn outcome(self) -> Result<(), OpError> {
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<E: Into<OpError>> Answer for Result<(), E> {
    type Fits = ();
    #[inline(always)]
    fn outcome(self) -> Result<(), OpError> {
        self.map_err(Into::into)
    }
}

/// No closure for these timers: they do nothing.
#[derive(Clone)]
pub struct Nothing;

/// A closure.
#[derive(Clone)]
pub struct Does<G>(pub(super) G);

/// A closure for the records of each of two streams.
#[derive(Clone)]
pub struct DoesEach<A, B>(pub(super) A, pub(super) B);

/// What is done with a record `V`.
pub trait OnEvent<V, K, O, D: Declared, S: Stamp, P: TimerKinds>: Clone + Send + 'static {
    /// Does it.
    ///
    /// # Errors
    /// The user's.
    fn event(&self, states: D::View<'_>, event: V, ctx: &mut Context<'_, K, O, S, P>) -> Result<(), OpError>;
}

impl<V, K, O, D: Declared, S: Stamp, P: TimerKinds, G, R: Answer> OnEvent<V, K, O, D, S, P> for Does<G>
where
    G: Fn(D::View<'_>, V, &mut Context<'_, K, O, S, P>) -> R + Clone + Send + 'static,
{
    #[inline(always)]
    fn event(&self, states: D::View<'_>, event: V, ctx: &mut Context<'_, K, O, S, P>) -> Result<(), OpError> {
        (self.0)(states, event, ctx).outcome()
    }
}

impl<L, R, K, O, D, S, P, A, B> OnEvent<Either<L, R>, K, O, D, S, P> for DoesEach<A, B>
where
    D: Declared,
    S: Stamp,
    P: TimerKinds,
    A: OnEvent<L, K, O, D, S, P>,
    B: OnEvent<R, K, O, D, S, P>,
{
    #[inline(always)]
    fn event(
        &self,
        states: D::View<'_>,
        event: Either<L, R>,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        match event {
            Either::A(left) => self.0.event(states, left, ctx),
            Either::B(right) => self.1.event(states, right, ctx),
        }
    }
}

/// What is done when a timer fires.
pub trait OnTimer<K, O, D: Declared, S: Stamp, P: TimerKinds>: Clone + Send + 'static {
    /// Does it.
    ///
    /// # Errors
    /// The user's.
    fn fire(
        &self,
        states: D::View<'_>,
        at: Timestamp,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError>;
}

impl<K, O, D: Declared, S: Stamp, P: TimerKinds> OnTimer<K, O, D, S, P> for Nothing {
    fn fire(&self, _: D::View<'_>, _: Timestamp, _: &mut Context<'_, K, O, S, P>) -> Result<(), OpError> {
        Ok(())
    }
}

impl<K, O, D: Declared, S: Stamp, P: TimerKinds, G, R: Answer> OnTimer<K, O, D, S, P> for Does<G>
where
    G: Fn(D::View<'_>, Timestamp, &mut Context<'_, K, O, S, P>) -> R + Clone + Send + 'static,
{
    fn fire(
        &self,
        states: D::View<'_>,
        at: Timestamp,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        (self.0)(states, at, ctx).outcome()
    }
}

/// A process of closures over states `D`, emitting `O`, with timers of kind `P`.
pub struct Closures<D, P, O, E, T, Q> {
    states: D,
    event: E,
    timer: T,
    processing: Q,
    types: PhantomData<fn() -> (P, O)>,
}

impl<D: Clone, P, O, E: Clone, T: Clone, Q: Clone> Clone for Closures<D, P, O, E, T, Q> {
    fn clone(&self) -> Self {
        let (states, event) = (self.states.clone(), self.event.clone());
        let (timer, processing) = (self.timer.clone(), self.processing.clone());
        Closures { states, event, timer, processing, types: PhantomData }
    }
}

/// What the closures see of the states of a key.
#[inline(always)]
pub(super) fn view<'a, D: Declared, K, O, S: Stamp, P: TimerKinds>(
    states: &D,
    stored: &'a mut D::Stored,
    ctx: &mut Context<'_, K, O, S, P>,
) -> D::View<'a> {
    let mut expired = 0;
    let now = if D::LIVES { ctx.moment() } else { Moment::NONE };
    let seen = states.view(stored, now, &mut expired);
    ctx.count_expired(expired);
    seen
}

#[diagnostic::do_not_recommend]
impl<K, V, S, D, P, O, E, T, Q> Process<K, V, S> for Closures<D, P, O, E, T, Q>
where
    S: Stamp,
    D: Declared,
    P: TimerKinds,
    O: Send + 'static,
    E: OnEvent<V, K, O, D, S, P>,
    T: OnTimer<K, O, D, S, P>,
    Q: OnTimer<K, O, D, S, P>,
{
    type State = D::Stored;
    type Out = O;
    type Timers = P;
    const LIVES: bool = D::LIVES;

    fn state(&self) -> D::Stored {
        self.states.fresh()
    }

    fn describe(&self, names: &mut Vec<String>) {
        self.states.describe(names);
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
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        let states = view(&self.states, state, ctx);
        self.event.event(states, event, ctx)
    }

    fn timer(
        &mut self,
        at: Timestamp,
        state: &mut D::Stored,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        let states = view(&self.states, state, ctx);
        self.timer.fire(states, at, ctx)
    }

    fn processing_timer(
        &mut self,
        at: Timestamp,
        state: &mut D::Stored,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        let states = view(&self.states, state, ctx);
        self.processing.fire(states, at, ctx)
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

/// What a process stands behind: one keyed stream, or two.
pub trait Keyed {
    /// Its keys.
    type Key: 'static;
    /// Its records.
    type Value: 'static;
    /// Its kind.
    type Kind: Kind;
}

impl<X, K: Kind, C, F: KeyTypes<X>> Keyed for KeyedStream<X, K, C, F> {
    type Key = F::Key;
    type Value = F::Value;
    type Kind = K;
}

/// What the records of a stream carry.
pub(super) type StampOf<U> = <<U as Keyed>::Kind as Kind>::Stamp;

/// A process that is being put together: states, then what is done with a record, then with timers.
#[must_use = "a process does nothing until `done()`"]
pub struct Declaring<U, D, P> {
    pub(super) stream: U,
    pub(super) states: D,
    types: PhantomData<fn() -> P>,
}

/// [`Declaring`], with what is done with a record.
#[must_use = "a process does nothing until `done()`"]
pub struct Doing<U, D, P, O, E, T, Q> {
    pub(super) stream: U,
    pub(super) closures: Closures<D, P, O, E, T, Q>,
}

impl<X: 'static, K: Kind, C, F: KeyTypes<X>> KeyedStream<X, K, C, F> {
    /// State and timers of a key in closures: what `dataflow!` writes for `.process({ … })`. The states are pairs in pairs.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// use flow_core::process::states::Plain;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let numbers = source(from_vec(vec![3, 8, 5, 1])).key_by(|n| n % 2);
    /// let steps = numbers
    ///     .declare((Plain(|| None::<i64>), ()))
    ///     .on_event(|(last, ()), n: i64, ctx| {
    ///         if let Some(before) = last.replace(n) {
    ///             ctx.emit(n - before);
    ///         }
    ///     })
    ///     .done();
    /// job.add(steps.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [2, -4]);
    /// ```
    pub fn declare<D: Declared>(self, states: D) -> Declaring<Self, D, EventTimers> {
        Declaring::new(self, states)
    }
}

impl<U, D, P> Declaring<U, D, P> {
    pub(super) fn new(stream: U, states: D) -> Self {
        Declaring { stream, states, types: PhantomData }
    }

    /// There will be timers of the host's clock: see [`ProcessingTimers`].
    pub fn on_the_clock(self) -> Declaring<U, D, ProcessingTimers> {
        Declaring::new(self.stream, self.states)
    }

    pub(super) fn doing<O, E>(self, event: E) -> Doing<U, D, P, O, E, Nothing, Nothing> {
        let Declaring { stream, states, .. } = self;
        let closures = Closures { states, event, timer: Nothing, processing: Nothing, types: PhantomData };
        Doing { stream, closures }
    }
}

impl<X: 'static, K: Kind, C, F: KeyTypes<X>, D: Declared, P: TimerKinds>
    Declaring<KeyedStream<X, K, C, F>, D, P>
{
    /// What is done with a record.
    pub fn on_event<O, E, R>(
        self,
        event: E,
    ) -> Proved<R::Fits, Doing<KeyedStream<X, K, C, F>, D, P, O, Does<E>, Nothing, Nothing>>
    where
        E: Fn(D::View<'_>, F::Value, &mut Context<'_, F::Key, O, K::Stamp, P>) -> R + Clone + Send + 'static,
        R: Answer,
    {
        self.doing(Does(event))
    }
}

impl<U: Keyed, D: Declared, P: TimerKinds, O, E, T, Q> Doing<U, D, P, O, E, T, Q> {
    /// What is done when a timer in event time fires.
    pub fn on_timer<G, R>(self, timer: G) -> Proved<R::Fits, Doing<U, D, P, O, E, Does<G>, Q>>
    where
        G: Fn(D::View<'_>, Timestamp, &mut Context<'_, U::Key, O, StampOf<U>, P>) -> R
            + Clone
            + Send
            + 'static,
        R: Answer,
    {
        let Closures { states, event, processing, types, .. } = self.closures;
        let closures = Closures { states, event, timer: Does(timer), processing, types };
        Doing { stream: self.stream, closures }
    }

    /// What is done when a timer of the clock fires.
    pub fn on_processing_timer<G, R>(self, then: G) -> Proved<R::Fits, Doing<U, D, P, O, E, T, Does<G>>>
    where
        G: Fn(D::View<'_>, Timestamp, &mut Context<'_, U::Key, O, StampOf<U>, P>) -> R
            + Clone
            + Send
            + 'static,
        R: Answer,
    {
        let Closures { states, event, timer, types, .. } = self.closures;
        let closures = Closures { states, event, timer, processing: Does(then), types };
        Doing { stream: self.stream, closures }
    }
}

impl<X: 'static, K: Kind, C, F: KeyTypes<X>, D, P, O, E, T, Q>
    Doing<KeyedStream<X, K, C, F>, D, P, O, E, T, Q>
{
    /// The stream of what it emits.
    #[track_caller]
    pub fn done(self) -> ProcessOf<X, K, C, F, Closures<D, P, O, E, T, Q>>
    where
        Closures<D, P, O, E, T, Q>: Process<F::Key, F::Value, K::Stamp, State: Keep<K::Mode>>,
    {
        self.stream.process(self.closures)
    }
}
