//! Process functions: state and timers for each key, with all that an operator can know of time.
//!
//! [`KeyedStream::process`](crate::op::KeyedStream::process) takes a [`Process`]; its methods see the state of the key and a
//! [`Context`].
//!
//! * [`context`]: what a process can ask and do; [`kinds`]: what timers do to the event time of what is emitted;
//! * [`around`](mod@around): timers, watermark and clock of an instance; [`core`](mod@core): the state of all keys, and one call;
//! * [`sides`]: what it emits beside its results, as streams of their own;
//! * [`states`]: states that are declared one by one, with a time to live; [`block`]: a process of closures over them, [`declaring`] puts one together; [`connect`]: two streams before one;
//!   [`broadcast`]: one beside a stream that every instance reads;
//! * `head`: the operator; `chain`: how it is put behind a stream; `saved`: how it is written down; `watched`: when what has a time to live is looked at.

pub mod around;
pub mod block;
pub mod broadcast;
mod chain;
pub mod connect;
pub mod context;
pub mod core;
pub mod declaring;
mod head;
pub mod kinds;
mod saved;
pub mod sides;
pub mod states;
#[cfg(test)]
mod tests;
mod watched;

pub use broadcast::{BroadcastContext, BroadcastProcess};
pub use chain::{ProcessOf, Processed};
pub use context::Context;
pub use kinds::{EmitsNothing, EventTimers, ProcessingTimers};
pub use sides::{First, Second, Side, Third, WithSides};
pub use states::{AggregatingState, Held, ListState, MapState, ReducingState, Ttl};

use crate::op::operator::OpError;
use crate::stage::Stamp;
use crate::time::Timestamp;
use kinds::TimerKinds;
use states::{Moment, On};

/// What is done with the records `T` of a key `K`, on a stream whose records carry `S`: a [`Timestamp`], or `()` without
/// event time. Flink's `KeyedProcessFunction`.
///
/// All state of a key is one value, found once for each record. Each parallel instance works on a clone of the untouched
/// original; what is kept in `self` belongs to the instance, is lost when the job ends, and is not where state should be.
///
/// ```
/// use flow_core::prelude::*;
/// use flow_core::op::operator::OpError;
///
/// /// A sensor that has not been heard of for a minute is silent.
/// #[derive(Clone)]
/// struct Silence;
///
/// impl Process<u32, (u32, i64)> for Silence {
///     type State = Option<Timestamp>;
///     type Out = (u32, Timestamp);
///     type Timers = EventTimers;
///     fn state(&self) -> Self::State {
///         None
///     }
///     fn event(
///         &mut self,
///         _: (u32, i64),
///         deadline: &mut Self::State,
///         ctx: &mut ProcessContext<'_, u32, Self::Out>,
///     ) -> Result<(), OpError> {
///         if let Some(before) = deadline.take() {
///             ctx.delete_timer(before);
///         }
///         let at = ctx.timestamp() + Millis(60_000);
///         ctx.set_timer(at);
///         *deadline = Some(at);
///         Ok(())
///     }
///     fn timer(
///         &mut self,
///         at: Timestamp,
///         _: &mut Self::State,
///         ctx: &mut ProcessContext<'_, u32, Self::Out>,
///     ) -> Result<(), OpError> {
///         ctx.emit((*ctx.key(), at));
///         Ok(())
///     }
/// }
///
/// let out = Collected::new();
/// let job = Job::build("silence", |job| {
///     let heard = source(from_vec(vec![(1, 0), (2, 10_000), (1, 30_000), (1, 80_000), (2, 90_000)]));
///     let heard = heard.event_time(|x| x.1).disorder(Millis(0));
///     job.add(heard.key_by(|x| x.0).process(Silence).collect(&out));
/// });
/// job.run().unwrap();
/// let silent = [(2, Timestamp(70_000)), (1, Timestamp(140_000)), (2, Timestamp(150_000))];
/// assert_eq!(out.take(), silent);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no process of records `{T}` with keys `{K}` on this stream",
    label = "cannot process `{T}` by `{K}`",
    note = "implement `Process<{K}, {T}, {S}>` for it; the last is what its records carry: `Timestamp` behind `event_time`, otherwise `()`"
)]
pub trait Process<K, T, S: Stamp = Timestamp>: Clone + Send + 'static {
    /// What is kept for a key.
    type State: Send + 'static;
    /// What is emitted.
    type Out: Send + 'static;
    /// [`EventTimers`], also where there is none; [`ProcessingTimers`] where timers of the clock are set: then what is emitted
    /// has no event time.
    type Timers: TimerKinds;

    /// The state of a key that is new.
    fn state(&self) -> Self::State;

    /// The names of its states, for [`Job::explain`](crate::job::Job::explain).
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

    /// Takes a record.
    ///
    /// # Errors
    /// Ends the job; what was emitted in this call does not leave.
    fn event(
        &mut self,
        event: T,
        state: &mut Self::State,
        ctx: &mut Context<'_, K, Self::Out, S, Self::Timers>,
    ) -> Result<(), OpError>;

    /// A timer in event time fires: the watermark is at `at`.
    ///
    /// # Errors
    /// As [`Process::event`].
    fn timer(
        &mut self,
        at: Timestamp,
        state: &mut Self::State,
        ctx: &mut Context<'_, K, Self::Out, S, Self::Timers>,
    ) -> Result<(), OpError> {
        let _ = (at, state, ctx);
        Ok(())
    }

    /// A timer of the clock fires: the clock has passed `at`, or the input has ended.
    ///
    /// # Errors
    /// As [`Process::event`].
    fn processing_timer(
        &mut self,
        at: Timestamp,
        state: &mut Self::State,
        ctx: &mut Context<'_, K, Self::Out, S, Self::Timers>,
    ) -> Result<(), OpError> {
        let _ = (at, state, ctx);
        Ok(())
    }

    /// Whether something of the state has a time to live, so that [`Process::settle`] is called.
    const LIVES: bool = false;

    /// Takes out of a state what has expired, and asks to be called again at the first instant at which more will have. Whether the
    /// state is as if it were new, so that it leaves the table.
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
