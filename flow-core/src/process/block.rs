//! A process of closures: what `.process({ … })` is in `dataflow!`.

use super::context::Context;
use super::kinds::{EventTimers, ProcessingTimers, TimerKinds};
use super::states::{Declared, Moment, On};
use super::{Process, ProcessOf};
use crate::op::operator::OpError;
use crate::op::{KeyTypes, KeyedStream, Kind, Proved};
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
pub trait Outcome {
    /// Something. Behind a closure that returns something else nothing has a known type, so that this is the only error.
    type Fits;
    /// Whether it went well.
    ///
    /// # Errors
    /// The user's.
    fn outcome(self) -> Result<(), OpError>;
}

#[diagnostic::do_not_recommend]
impl Outcome for () {
    type Fits = ();
    #[inline(always)]
    fn outcome(self) -> Result<(), OpError> {
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<E: Into<OpError>> Outcome for Result<(), E> {
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
pub struct Does<G>(G);

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

impl<K, O, D: Declared, S: Stamp, P: TimerKinds, G, R: Outcome> OnTimer<K, O, D, S, P> for Does<G>
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

/// What a call has of time, where its states ask.
#[inline(always)]
fn moment<D: Declared, K, O, S: Stamp, P: TimerKinds>(ctx: &mut Context<'_, K, O, S, P>) -> Moment {
    if D::LIVES { ctx.moment() } else { Moment::NONE }
}

#[diagnostic::do_not_recommend]
impl<K, V, S, D, P, O, E, R, T, Q> Process<K, V, S> for Closures<D, P, O, Does<E>, T, Q>
where
    S: Stamp,
    D: Declared,
    P: TimerKinds,
    O: Send + 'static,
    E: Fn(D::View<'_>, V, &mut Context<'_, K, O, S, P>) -> R + Clone + Send + 'static,
    R: Outcome,
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

    fn open(&mut self, _: &crate::stage::Context) -> Result<(), OpError> {
        self.states.check().map_err(Into::into)
    }

    #[inline(always)]
    fn event(
        &mut self,
        event: V,
        state: &mut D::Stored,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        let mut expired = 0;
        let states = self.states.view(state, moment::<D, K, O, S, P>(ctx), &mut expired);
        ctx.count_expired(expired);
        (self.event.0)(states, event, ctx).outcome()
    }

    fn timer(
        &mut self,
        at: Timestamp,
        state: &mut D::Stored,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        let mut expired = 0;
        let states = self.states.view(state, moment::<D, K, O, S, P>(ctx), &mut expired);
        ctx.count_expired(expired);
        self.timer.fire(states, at, ctx)
    }

    fn processing_timer(
        &mut self,
        at: Timestamp,
        state: &mut D::Stored,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        let mut expired = 0;
        let states = self.states.view(state, moment::<D, K, O, S, P>(ctx), &mut expired);
        ctx.count_expired(expired);
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

/// A process that is being put together: states, then what is done with a record, then with timers.
#[must_use = "a process does nothing until `done()`"]
pub struct Declaring<X, K, C, F, D, P> {
    stream: KeyedStream<X, K, C, F>,
    states: D,
    types: PhantomData<fn() -> P>,
}

/// [`Declaring`], with what is done with a record.
#[must_use = "a process does nothing until `done()`"]
pub struct Doing<X, K, C, F, D, P, O, E, T, Q> {
    stream: KeyedStream<X, K, C, F>,
    closures: Closures<D, P, O, E, T, Q>,
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
    pub fn declare<D: Declared>(self, states: D) -> Declaring<X, K, C, F, D, EventTimers> {
        Declaring { stream: self, states, types: PhantomData }
    }
}

impl<X, K, C, F, D, P> Declaring<X, K, C, F, D, P> {
    /// There will be timers of the host's clock: see [`ProcessingTimers`].
    pub fn on_the_clock(self) -> Declaring<X, K, C, F, D, ProcessingTimers> {
        Declaring { stream: self.stream, states: self.states, types: PhantomData }
    }
}

impl<X: 'static, K: Kind, C, F: KeyTypes<X>, D: Declared, P: TimerKinds> Declaring<X, K, C, F, D, P> {
    /// What is done with a record.
    pub fn on_event<O, E, R>(
        self,
        event: E,
    ) -> Proved<R::Fits, Doing<X, K, C, F, D, P, O, Does<E>, Nothing, Nothing>>
    where
        E: Fn(D::View<'_>, F::Value, &mut Context<'_, F::Key, O, K::Stamp, P>) -> R + Clone + Send + 'static,
        R: Outcome,
    {
        let Declaring { stream, states, .. } = self;
        let event = Does(event);
        Doing {
            stream,
            closures: Closures { states, event, timer: Nothing, processing: Nothing, types: PhantomData },
        }
    }
}

impl<X, K, C, F, D, P, O, E, T, Q> Doing<X, K, C, F, D, P, O, E, T, Q>
where
    X: 'static,
    K: Kind,
    F: KeyTypes<X>,
    D: Declared,
    P: TimerKinds,
{
    /// What is done when a timer in event time fires.
    pub fn on_timer<G, R>(self, timer: G) -> Proved<R::Fits, Doing<X, K, C, F, D, P, O, E, Does<G>, Q>>
    where
        G: Fn(D::View<'_>, Timestamp, &mut Context<'_, F::Key, O, K::Stamp, P>) -> R + Clone + Send + 'static,
        R: Outcome,
    {
        let Closures { states, event, processing, types, .. } = self.closures;
        let closures = Closures { states, event, timer: Does(timer), processing, types };
        Doing { stream: self.stream, closures }
    }

    /// What is done when a timer of the clock fires.
    pub fn on_processing_timer<G, R>(
        self,
        then: G,
    ) -> Proved<R::Fits, Doing<X, K, C, F, D, P, O, E, T, Does<G>>>
    where
        G: Fn(D::View<'_>, Timestamp, &mut Context<'_, F::Key, O, K::Stamp, P>) -> R + Clone + Send + 'static,
        R: Outcome,
    {
        let Closures { states, event, timer, types, .. } = self.closures;
        let closures = Closures { states, event, timer, processing: Does(then), types };
        Doing { stream: self.stream, closures }
    }

    /// The stream of what it emits.
    #[track_caller]
    pub fn done(self) -> ProcessOf<X, K, C, F, Closures<D, P, O, E, T, Q>>
    where
        Closures<D, P, O, E, T, Q>: Process<F::Key, F::Value, K::Stamp, State: Keep<K::Mode>>,
    {
        self.stream.process(self.closures)
    }
}
