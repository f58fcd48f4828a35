//! A keyed stream beside one that every instance reads whole: Flink's `KeyedBroadcastProcessFunction`.
//!
//! [`KeyedStream::connect_broadcast`](crate::op::KeyedStream::connect_broadcast) takes the other stream, and what it returns a
//! [`BroadcastProcess`].

mod block;
mod chain;
mod context;
mod head;
#[cfg(test)]
mod tests;

pub use block::{Beside, NoOnBroadcast, OnBroadcast};
pub use chain::{AllEnd, BroadcastOf, Broadcasted, ConnectedBroadcast, ConnectedBroadcastOf, KeyedEnd};
pub use context::BroadcastContext;

use super::context::Context;
use super::kinds::TimerKinds;
use super::states::{Moment, On};
use crate::op::operator::OpError;
use crate::stage::Stamp;
use crate::time::Timestamp;

/// What is done with the records `T` of a key `K`, with what all records `B` of another stream have made of a value that each
/// instance has: rules, say, or prices. `S` is what records carry, as in [`Process`](super::Process).
///
/// Only [`broadcast`](Self::broadcast) may change that value, and it cannot see anything that differs from instance to instance: so it
/// is the same in all. It emits nothing either, since that would leave once an instance.
///
/// ```
/// use flow_core::prelude::*;
/// use flow_core::op::operator::OpError;
///
/// /// How often a key has been above the limit that is valid.
/// #[derive(Clone)]
/// struct Above;
///
/// impl BroadcastProcess<&'static str, (&'static str, u64), u64> for Above {
///     type State = u64;
///     type Shared = u64;
///     type Out = (&'static str, u64);
///     type Timers = EventTimers;
///     fn state(&self) -> u64 {
///         0
///     }
///     fn shared(&self) -> u64 {
///         u64::MAX
///     }
///     fn event(
///         &mut self,
///         _: (&'static str, u64),
///         count: &mut u64,
///         _: &u64,
///         ctx: &mut ProcessContext<'_, &'static str, Self::Out>,
///     ) -> Result<(), OpError> {
///         *count += 1;
///         ctx.set_timer(ctx.timestamp() + Millis(10));
///         Ok(())
///     }
///     fn broadcast(&mut self, new: u64, limit: &mut u64, _: &BroadcastContext) -> Result<(), OpError> {
///         *limit = new;
///         Ok(())
///     }
///     fn timer(
///         &mut self,
///         _: Timestamp,
///         count: &mut u64,
///         limit: &u64,
///         ctx: &mut ProcessContext<'_, &'static str, Self::Out>,
///     ) -> Result<(), OpError> {
///         if *count > *limit {
///             ctx.emit((*ctx.key(), *count));
///         }
///         Ok(())
///     }
/// }
///
/// let out = Collected::new();
/// let job = Job::build("above", |job| {
///     let calls = source(from_vec(vec![("ann", 1), ("bob", 1), ("ann", 2)])).event_time(|c| c.1 as i64).disorder(Millis(0));
///     let limits = source(from_vec(vec![1u64])).event_time(|_| 0).disorder(Millis(0));
///     let both = calls.key_by(|c| c.0).connect_broadcast(limits);
///     job.add(both.process(Above).collect(&out));
/// });
/// job.run().unwrap();
/// // The timers wait for both streams, so they see the limit.
/// assert_eq!(out.take(), [("ann", 2), ("ann", 2)]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no process of records `{T}` with keys `{K}` beside broadcast records `{B}` on these streams",
    label = "cannot process `{T}` by `{K}` beside `{B}`",
    note = "implement `BroadcastProcess<{K}, {T}, {B}, {S}>` for it; the last is what records carry: `Timestamp` behind `event_time`, otherwise `()`"
)]
pub trait BroadcastProcess<K, T, B, S: Stamp = Timestamp>: Clone + Send + 'static {
    /// What is kept for a key.
    type State: Send + 'static;
    /// What each instance keeps of the records that all get.
    type Shared: Send + 'static;
    /// What is emitted.
    type Out: Send + 'static;
    /// As [`Process::Timers`](super::Process::Timers).
    type Timers: TimerKinds;

    /// The state of a key that is new.
    fn state(&self) -> Self::State;

    /// What there is before the first record that all get.
    fn shared(&self) -> Self::Shared;

    /// The names of its states of a key, for [`Job::explain`](crate::job::Job::explain).
    fn describe(&self, names: &mut Vec<String>) {
        let _ = names;
    }

    /// Opens what an instance needs: counters, say.
    ///
    /// # Errors
    /// Ends the job before any record is read.
    fn open(&mut self, cx: &crate::stage::Context) -> Result<(), OpError> {
        let _ = cx;
        Ok(())
    }

    /// Takes a record of a key.
    ///
    /// # Errors
    /// Ends the job; what was emitted in this call does not leave.
    fn event(
        &mut self,
        event: T,
        state: &mut Self::State,
        shared: &Self::Shared,
        ctx: &mut Context<'_, K, Self::Out, S, Self::Timers>,
    ) -> Result<(), OpError>;

    /// Takes a record that every instance gets.
    ///
    /// # Errors
    /// Ends the job.
    fn broadcast(
        &mut self,
        record: B,
        shared: &mut Self::Shared,
        ctx: &BroadcastContext<S>,
    ) -> Result<(), OpError>;

    /// A timer in event time fires: the watermark is at `at`.
    ///
    /// # Errors
    /// As [`BroadcastProcess::event`].
    fn timer(
        &mut self,
        at: Timestamp,
        state: &mut Self::State,
        shared: &Self::Shared,
        ctx: &mut Context<'_, K, Self::Out, S, Self::Timers>,
    ) -> Result<(), OpError> {
        let _ = (at, state, shared, ctx);
        Ok(())
    }

    /// A timer of the clock fires: the clock has passed `at`, or the input has ended.
    ///
    /// # Errors
    /// As [`BroadcastProcess::event`].
    fn processing_timer(
        &mut self,
        at: Timestamp,
        state: &mut Self::State,
        shared: &Self::Shared,
        ctx: &mut Context<'_, K, Self::Out, S, Self::Timers>,
    ) -> Result<(), OpError> {
        let _ = (at, state, shared, ctx);
        Ok(())
    }

    /// As [`Process::LIVES`](super::Process::LIVES), for the state of a key.
    const LIVES: bool = false;

    /// As [`Process::settle`](super::Process::settle), for the state of a key.
    fn settle(
        &self,
        state: &mut Self::State,
        now: Moment,
        expired: &mut u64,
        watch: &mut dyn FnMut(On, i64),
    ) -> bool {
        let _ = (state, now, expired, watch);
        false
    }
}
