//! How a process of closures is put together step by step: its states, then what is done with a record, then with timers.

use super::block::{Answer, Closures, Does, Nothing, Sees};
use super::context::Context;
use super::kinds::{EventTimers, ProcessingTimers, TimerKinds};
use super::states::Declared;
use super::{Process, ProcessOf};
use crate::op::{KeyTypes, KeyedStream, Kind, Proved};
use crate::state::Keep;
use crate::time::Timestamp;
use std::marker::PhantomData;

/// What a process stands behind: one keyed stream, or two streams.
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

/// Whose keyed records come of one stream, beside whatever else.
pub trait OfOneKeyed: Keyed {}

impl<X, K: Kind, C, F: KeyTypes<X>> OfOneKeyed for KeyedStream<X, K, C, F> {}

/// What the records of a stream carry.
pub(super) type StampOf<U> = <<U as Keyed>::Kind as Kind>::Stamp;

/// A process that is being put together: states, then what is done with a record, then with timers.
#[must_use = "a process does nothing until `done()`"]
pub struct Declaring<U, W, P> {
    pub(super) stream: U,
    pub(super) seen: W,
    types: PhantomData<fn() -> P>,
}

/// [`Declaring`], with what is done with a record.
#[must_use = "a process does nothing until `done()`"]
pub struct Doing<U, W, P, O, E, T, Q> {
    pub(super) stream: U,
    pub(super) closures: Closures<W, P, O, E, T, Q>,
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

impl<U, W, P> Declaring<U, W, P> {
    pub(super) fn new(stream: U, seen: W) -> Self {
        Declaring { stream, seen, types: PhantomData }
    }

    /// There will be timers of the host's clock: see [`ProcessingTimers`].
    pub fn on_the_clock(self) -> Declaring<U, W, ProcessingTimers> {
        Declaring::new(self.stream, self.seen)
    }

    pub(super) fn doing<O, E>(self, event: E) -> Doing<U, W, P, O, E, Nothing, Nothing> {
        let Declaring { stream, seen, .. } = self;
        let closures = Closures { seen, event, timer: Nothing, processing: Nothing, types: PhantomData };
        Doing { stream, closures }
    }
}

impl<U: OfOneKeyed, W: Sees, P: TimerKinds> Declaring<U, W, P> {
    /// What is done with a record.
    pub fn on_event<O, G, R>(self, event: G) -> Proved<R::Fits, Doing<U, W, P, O, Does<G>, Nothing, Nothing>>
    where
        G: Fn(W::Seen<'_>, U::Value, &mut Context<'_, U::Key, O, StampOf<U>, P>) -> R
            + Clone
            + Send
            + 'static,
        R: Answer,
    {
        self.doing(Does(event))
    }
}

impl<U: Keyed, W: Sees, P: TimerKinds, O, E, T, Q> Doing<U, W, P, O, E, T, Q> {
    /// What is done when a timer in event time fires.
    pub fn on_timer<G, R>(self, timer: G) -> Proved<R::Fits, Doing<U, W, P, O, E, Does<G>, Q>>
    where
        G: Fn(W::Seen<'_>, Timestamp, &mut Context<'_, U::Key, O, StampOf<U>, P>) -> R
            + Clone
            + Send
            + 'static,
        R: Answer,
    {
        let Closures { seen, event, processing, types, .. } = self.closures;
        let closures = Closures { seen, event, timer: Does(timer), processing, types };
        Doing { stream: self.stream, closures }
    }

    /// What is done when a timer of the clock fires.
    pub fn on_processing_timer<G, R>(self, then: G) -> Proved<R::Fits, Doing<U, W, P, O, E, T, Does<G>>>
    where
        G: Fn(W::Seen<'_>, Timestamp, &mut Context<'_, U::Key, O, StampOf<U>, P>) -> R
            + Clone
            + Send
            + 'static,
        R: Answer,
    {
        let Closures { seen, event, timer, types, .. } = self.closures;
        let closures = Closures { seen, event, timer, processing: Does(then), types };
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

    /// The same, where [`KeyedStream::kept`] has asked for each state.
    #[doc(hidden)]
    #[track_caller]
    pub fn done_kept(self) -> ProcessOf<X, K, C, F, Closures<D, P, O, E, T, Q>>
    where
        Closures<D, P, O, E, T, Q>: Process<F::Key, F::Value, K::Stamp>,
    {
        self.stream.process_kept(self.closures)
    }
}
