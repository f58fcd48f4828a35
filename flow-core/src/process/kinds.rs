//! What the timers of a process do to the event time of what it emits, on the type.

use crate::op::Kind;
use crate::op::kind::Bounds;
use crate::stage::Stamp;
use crate::time::Timestamp;

/// Timers in event time, or none: what is emitted carries the timestamp of the record or of the timer.
#[derive(Debug, Clone, Copy)]
pub enum EventTimers {}

/// Timers of the host's clock too: when they fire says nothing about event time, so what is emitted carries none, and a
/// window in event time behind it does not compile.
#[derive(Debug, Clone, Copy)]
pub enum ProcessingTimers {}

/// [`EventTimers`] or [`ProcessingTimers`].
pub trait TimerKinds: Send + 'static {
    /// What a record carries that is emitted on a stream whose records carry `S`.
    type Stamp<S: Stamp>: Stamp;
    /// The kind of the stream behind.
    type Kind<K: Kind>: Kind<Stamp = Self::Stamp<K::Stamp>, Mode = K::Mode, Bounds = K::Bounds>;
    /// Whether there are timers of the clock.
    const ON_CLOCK: bool;
    /// What leaves a process that emits `O`: that, or a record of one of several sides.
    type Item<O>;
    /// What a record carries.
    fn stamp<S: Stamp>(stamp: S) -> Self::Stamp<S>;
    /// What is emitted, as what leaves.
    fn item<O>(x: O) -> Self::Item<O>;
}

/// Whether a process stands where it may not: with timers of the clock in the body of a loop, of which nobody knows in which superstep they fire.
pub(super) const fn clock_in_loop<T: TimerKinds, K: Kind>() -> bool {
    T::ON_CLOCK && <K::Bounds as Bounds>::IS_LOOPED
}

impl TimerKinds for EventTimers {
    const ON_CLOCK: bool = false;
    type Stamp<S: Stamp> = S;
    type Kind<K: Kind> = K;
    type Item<O> = O;
    #[inline(always)]
    fn stamp<S: Stamp>(stamp: S) -> S {
        stamp
    }
    #[inline(always)]
    fn item<O>(x: O) -> O {
        x
    }
}

impl TimerKinds for ProcessingTimers {
    const ON_CLOCK: bool = true;
    type Stamp<S: Stamp> = ();
    type Kind<K: Kind> = K::Untimed;
    type Item<O> = O;
    #[inline(always)]
    fn stamp<S: Stamp>(_: S) {}
    #[inline(always)]
    fn item<O>(x: O) -> O {
        x
    }
}

/// What a process emits that emits nothing: there is no such record. In `dataflow!` a process whose closures have no `ctx.emit(…)` has
/// results of this type; by hand `.on_event::<EmitsNothing, _, _>(…)` says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EmitsNothing {}

/// A stream that has event time.
#[diagnostic::on_unimplemented(
    message = "this stream has no event time, so there is no timestamp, no watermark and no timer in event time",
    label = "needs event time",
    note = "say upstream when an event happened: `.event_time(|x| x.time, disorder = 5s)`",
    note = "a timer of the clock is `ctx.set_processing_timer(ctx.now() + Millis(5_000))`"
)]
pub trait InEventTime: Stamp {}
#[diagnostic::do_not_recommend]
impl InEventTime for Timestamp {}

/// A process that has timers of the clock.
#[diagnostic::on_unimplemented(
    message = "this process has no timers of the clock",
    label = "needs a process with timers of the clock",
    note = "say what they do: `on_processing_timer(|t, ctx| …)` in the block, or `type Timers = ProcessingTimers` and `fn processing_timer` in the `impl Process`",
    note = "what such a process emits has no event time; a timer in event time is `ctx.set_timer(t)`"
)]
pub trait OnTheClock: TimerKinds {}
#[diagnostic::do_not_recommend]
impl OnTheClock for ProcessingTimers {}
