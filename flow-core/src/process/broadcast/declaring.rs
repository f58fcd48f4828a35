//! A process of closures beside a stream for all, put together step by step.

use super::block::ClosuresBeside;
use super::{BroadcastContext, BroadcastOf, BroadcastProcess, ConnectedBroadcast};
use crate::op::{Kind, Proved};
use crate::process::block::{Answer, Does, Nothing};
use crate::process::context::Context;
use crate::process::kinds::{EventTimers, ProcessingTimers, TimerKinds};
use crate::process::states::Declared;
use crate::state::Keep;
use crate::time::Timestamp;
use std::marker::PhantomData;

/// Two connected streams of which the states are said.
#[must_use = "a process does nothing until `done()`"]
pub struct DeclaringBeside<U, D, I, P> {
    stream: U,
    states: D,
    shared: I,
    types: PhantomData<fn() -> P>,
}

/// [`DeclaringBeside`], with what is done with a record of a key.
#[must_use = "a process does nothing until `done()`"]
pub struct HalfBeside<U, D, I, P, O, E> {
    declaring: DeclaringBeside<U, D, I, P>,
    event: E,
    types: PhantomData<fn() -> O>,
}

/// [`HalfBeside`], with what is done with a record that every instance gets.
#[must_use = "a process does nothing until `done()`"]
pub struct DoingBeside<U, D, I, P, O, E, A, T, W> {
    stream: U,
    closures: ClosuresBeside<D, I, P, O, E, A, T, W>,
}

impl<Q: 'static, L: 'static, B: 'static, K: Kind, C> ConnectedBroadcast<Q, L, B, K, C> {
    /// States of a key, as [`KeyedStream::declare`](crate::op::KeyedStream::declare), and `shared`, which makes the value that every
    /// instance has: what `dataflow!` writes for `.process({ … })` behind `connect_broadcast`.
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
    ///     .on_event(|(calls, ()), _, call: (&str, i64), ctx| {
    ///         *calls += 1;
    ///         ctx.set_timer(Timestamp(call.1));
    ///     })
    ///     .on_broadcast(|towns, town: &str, _| towns.push(town))
    ///     .on_timer(|(calls, ()), towns, _, ctx| {
    ///         let name = *ctx.key();
    ///         ctx.emit((name, *calls, towns.len()));
    ///     })
    ///     .done();
    /// job.add(known.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [("ann", 1, 2), ("bob", 1, 2)]);
    /// ```
    pub fn declare_beside<D: Declared, I>(
        self,
        states: D,
        shared: I,
    ) -> DeclaringBeside<Self, D, I, EventTimers> {
        DeclaringBeside { stream: self, states, shared, types: PhantomData }
    }
}

impl<U, D, I, P> DeclaringBeside<U, D, I, P> {
    /// There will be timers of the host's clock: see [`ProcessingTimers`].
    pub fn on_the_clock(self) -> DeclaringBeside<U, D, I, ProcessingTimers> {
        let DeclaringBeside { stream, states, shared, .. } = self;
        DeclaringBeside { stream, states, shared, types: PhantomData }
    }
}

impl<Q: 'static, L: 'static, B: 'static, K: Kind, C, D: Declared, I, P: TimerKinds>
    DeclaringBeside<ConnectedBroadcast<Q, L, B, K, C>, D, I, P>
{
    /// What is done with a record of a key.
    pub fn on_event<O, G, H, R>(
        self,
        event: G,
    ) -> Proved<R::Fits, HalfBeside<ConnectedBroadcast<Q, L, B, K, C>, D, I, P, O, Does<G>>>
    where
        I: Fn() -> H,
        G: Fn(D::View<'_>, &H, L, &mut Context<'_, Q, O, K::Stamp, P>) -> R + Clone + Send + 'static,
        R: Answer,
    {
        HalfBeside { declaring: self, event: Does(event), types: PhantomData }
    }
}

/// [`DoingBeside`] without timers.
type Untimed<U, D, I, P, O, E, A> = DoingBeside<U, D, I, P, O, E, A, Nothing, Nothing>;

impl<Q: 'static, L: 'static, B: 'static, K: Kind, C, D: Declared, I, P: TimerKinds, O, E>
    HalfBeside<ConnectedBroadcast<Q, L, B, K, C>, D, I, P, O, E>
{
    /// What is done with a record that every instance gets.
    pub fn on_broadcast<G, H, R>(
        self,
        all: G,
    ) -> Proved<R::Fits, Untimed<ConnectedBroadcast<Q, L, B, K, C>, D, I, P, O, E, Does<G>>>
    where
        I: Fn() -> H,
        G: Fn(&mut H, B, &BroadcastContext<K::Stamp>) -> R + Clone + Send + 'static,
        R: Answer,
    {
        let DeclaringBeside { stream, states, shared, .. } = self.declaring;
        let closures = ClosuresBeside {
            states,
            shared,
            event: self.event,
            all: Does(all),
            timer: Nothing,
            processing: Nothing,
            types: PhantomData,
        };
        DoingBeside { stream, closures }
    }
}

impl<Q: 'static, L: 'static, B: 'static, K: Kind, C, D: Declared, I, P: TimerKinds, O, E, A, T, W>
    DoingBeside<ConnectedBroadcast<Q, L, B, K, C>, D, I, P, O, E, A, T, W>
{
    /// What is done when a timer in event time fires.
    pub fn on_timer<G, H, R>(
        self,
        timer: G,
    ) -> Proved<R::Fits, DoingBeside<ConnectedBroadcast<Q, L, B, K, C>, D, I, P, O, E, A, Does<G>, W>>
    where
        I: Fn() -> H,
        G: Fn(D::View<'_>, &H, Timestamp, &mut Context<'_, Q, O, K::Stamp, P>) -> R + Clone + Send + 'static,
        R: Answer,
    {
        let ClosuresBeside { states, shared, event, all, processing, types, .. } = self.closures;
        let timer = Does(timer);
        let closures = ClosuresBeside { states, shared, event, all, timer, processing, types };
        DoingBeside { stream: self.stream, closures }
    }

    /// What is done when a timer of the clock fires.
    pub fn on_processing_timer<G, H, R>(
        self,
        then: G,
    ) -> Proved<R::Fits, DoingBeside<ConnectedBroadcast<Q, L, B, K, C>, D, I, P, O, E, A, T, Does<G>>>
    where
        I: Fn() -> H,
        G: Fn(D::View<'_>, &H, Timestamp, &mut Context<'_, Q, O, K::Stamp, P>) -> R + Clone + Send + 'static,
        R: Answer,
    {
        let ClosuresBeside { states, shared, event, all, timer, types, .. } = self.closures;
        let processing = Does(then);
        let closures = ClosuresBeside { states, shared, event, all, timer, processing, types };
        DoingBeside { stream: self.stream, closures }
    }

    /// The stream of what it emits.
    #[track_caller]
    pub fn done(self) -> BroadcastOf<Q, L, B, K, ClosuresBeside<D, I, P, O, E, A, T, W>, C>
    where
        ClosuresBeside<D, I, P, O, E, A, T, W>:
            BroadcastProcess<Q, L, B, K::Stamp, State: Keep<K::Mode>, Shared: Keep<K::Mode>>,
    {
        self.stream.process(self.closures)
    }
}
