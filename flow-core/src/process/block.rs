//! A process of closures: what `.process({ … })` is in `dataflow!`. [`declaring`](super::declaring) puts one together.

use super::Process;
use super::context::Context;
use super::kinds::TimerKinds;
use super::states::{Declared, Moment, On};
use crate::op::Either;
use crate::op::operator::OpError;
use crate::stage::Stamp;
use crate::time::Timestamp;
use std::marker::PhantomData;

/// What a closure of a process may return: nothing, or a `Result` whose error ends the job.
#[diagnostic::on_unimplemented(
    message = "a closure of `process` returns nothing, or a `Result<(), E>` whose error ends the job; not `{Self}`",
    label = "this closure returns `{Self}`",
    note = "pass results on with `ctx.emit(x)`; where there is none end with a `;`, in `{{ … }}`"
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

/// What closures see beside a record or a time: the states of the key, and what every instance has.
pub trait Sees: Clone + Send + 'static {
    /// It.
    type Seen<'a>;
}

impl<D: Declared> Sees for D {
    type Seen<'a> = D::View<'a>;
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
pub trait OnEvent<V, K, O, W: Sees, S: Stamp, P: TimerKinds>: Clone + Send + 'static {
    /// Does it.
    ///
    /// # Errors
    /// The user's.
    fn event(&self, seen: W::Seen<'_>, event: V, ctx: &mut Context<'_, K, O, S, P>) -> Result<(), OpError>;
}

impl<V, K, O, W: Sees, S: Stamp, P: TimerKinds, G, R: Answer> OnEvent<V, K, O, W, S, P> for Does<G>
where
    G: Fn(W::Seen<'_>, V, &mut Context<'_, K, O, S, P>) -> R + Clone + Send + 'static,
{
    #[inline(always)]
    fn event(&self, seen: W::Seen<'_>, event: V, ctx: &mut Context<'_, K, O, S, P>) -> Result<(), OpError> {
        (self.0)(seen, event, ctx).outcome()
    }
}

impl<L, R, K, O, W, S, P, A, B> OnEvent<Either<L, R>, K, O, W, S, P> for DoesEach<A, B>
where
    W: Sees,
    S: Stamp,
    P: TimerKinds,
    A: OnEvent<L, K, O, W, S, P>,
    B: OnEvent<R, K, O, W, S, P>,
{
    #[inline(always)]
    fn event(
        &self,
        seen: W::Seen<'_>,
        event: Either<L, R>,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        match event {
            Either::A(left) => self.0.event(seen, left, ctx),
            Either::B(right) => self.1.event(seen, right, ctx),
        }
    }
}

/// What is done when a timer fires.
pub trait OnTimer<K, O, W: Sees, S: Stamp, P: TimerKinds>: Clone + Send + 'static {
    /// Does it.
    ///
    /// # Errors
    /// The user's.
    fn fire(
        &self,
        seen: W::Seen<'_>,
        at: Timestamp,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError>;
}

impl<K, O, W: Sees, S: Stamp, P: TimerKinds> OnTimer<K, O, W, S, P> for Nothing {
    fn fire(&self, _: W::Seen<'_>, _: Timestamp, _: &mut Context<'_, K, O, S, P>) -> Result<(), OpError> {
        Ok(())
    }
}

impl<K, O, W: Sees, S: Stamp, P: TimerKinds, G, R: Answer> OnTimer<K, O, W, S, P> for Does<G>
where
    G: Fn(W::Seen<'_>, Timestamp, &mut Context<'_, K, O, S, P>) -> R + Clone + Send + 'static,
{
    fn fire(
        &self,
        seen: W::Seen<'_>,
        at: Timestamp,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        (self.0)(seen, at, ctx).outcome()
    }
}

/// A process of closures that see `W`, emitting `O`, with timers of kind `P`.
pub struct Closures<W, P, O, E, T, Q> {
    pub(super) seen: W,
    pub(super) event: E,
    pub(super) timer: T,
    pub(super) processing: Q,
    pub(super) types: PhantomData<fn() -> (P, O)>,
}

impl<W: Clone, P, O, E: Clone, T: Clone, Q: Clone> Clone for Closures<W, P, O, E, T, Q> {
    fn clone(&self) -> Self {
        let (seen, event) = (self.seen.clone(), self.event.clone());
        let (timer, processing) = (self.timer.clone(), self.processing.clone());
        Closures { seen, event, timer, processing, types: PhantomData }
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
        self.seen.fresh()
    }

    fn describe(&self, names: &mut Vec<String>) {
        self.seen.describe(names);
    }

    fn open(&mut self, _: &crate::stage::Context) -> Result<(), OpError> {
        let timed = S::of(Timestamp::MAX).time() == Timestamp::MAX;
        self.seen.check(timed).map_err(Into::into)
    }

    #[inline(always)]
    fn event(
        &mut self,
        event: V,
        state: &mut D::Stored,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        let states = view(&self.seen, state, ctx);
        self.event.event(states, event, ctx)
    }

    fn timer(
        &mut self,
        at: Timestamp,
        state: &mut D::Stored,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        let states = view(&self.seen, state, ctx);
        self.timer.fire(states, at, ctx)
    }

    fn processing_timer(
        &mut self,
        at: Timestamp,
        state: &mut D::Stored,
        ctx: &mut Context<'_, K, O, S, P>,
    ) -> Result<(), OpError> {
        let states = view(&self.seen, state, ctx);
        self.processing.fire(states, at, ctx)
    }

    fn settle(
        &self,
        state: &mut D::Stored,
        now: Moment,
        expired: &mut u64,
        watch: &mut dyn FnMut(On, i64),
    ) -> bool {
        self.seen.settle(state, now, expired, watch)
    }
}
