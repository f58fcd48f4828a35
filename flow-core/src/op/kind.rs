//! What a stream's type says beside its record: event time, bounds, replay, and the pipeline's mode.

use crate::error::{Error, ErrorKind};
use crate::stage::{BuildCx, Meta, Stamp};
use crate::state::Mode;
pub use crate::state::{AtLeastOnce, Durable, Exported, Volatile};
use crate::time::Timestamp;
use std::marker::PhantomData;

/// The stream ends by itself.
#[derive(Debug, Clone, Copy)]
pub struct Bounded;
/// The stream may go on for ever.
#[derive(Debug, Clone, Copy)]
pub struct Unbounded;

/// The stream ends, and nobody looks at it before: of each key and window only the last row counts. See [`Stream::batch`](super::Stream::batch).
#[derive(Debug, Clone, Copy)]
pub struct Batch;

/// The stream is in the body of a loop, where each superstep is a batch. See [`Stream::iterate`](super::Stream::iterate).
#[derive(Debug, Clone, Copy)]
pub struct Superstep;

/// The same in the body of a loop in the body of another.
#[derive(Debug, Clone, Copy)]
pub struct Nested;

/// Whether a stream ends: [`Bounded`], [`Unbounded`], [`Batch`], [`Superstep`] or [`Nested`].
pub trait Bounds: Send + 'static {
    /// The bounds of this stream and another of bounds `B` together.
    type With<B: Bounds>: Bounds;
    /// Those of the same stream where it has been made to end.
    type Ending: Finite;
    /// The bounds in the body of a loop over this stream.
    type Looped: Bounds;
    /// The bounds of this stream met by one in a loop.
    type Stepped: Bounds;
    /// The bounds of this stream met by one in a loop in a loop. A stream of the outer body has no place there: it has another time, and goes on as long as the inner loop waits.
    type Nesting: Bounds;
    /// Whether only the last row of a key or window leaves, at the end.
    const IS_BATCH: bool = false;
    /// Whether it is in a loop.
    const IS_LOOPED: bool = false;
}
impl Bounds for Bounded {
    type With<B: Bounds> = B;
    type Ending = Bounded;
    type Looped = Superstep;
    type Stepped = Superstep;
    type Nesting = Nested;
}
impl Bounds for Unbounded {
    type With<B: Bounds> = Unbounded;
    type Ending = Bounded;
    // Refused by another word.
    type Looped = Superstep;
    type Stepped = Unbounded;
    type Nesting = Unbounded;
}
impl Bounds for Batch {
    type With<B: Bounds> = B;
    type Ending = Batch;
    type Looped = Superstep;
    type Stepped = Superstep;
    type Nesting = Nested;
    const IS_BATCH: bool = true;
}
impl Bounds for Superstep {
    type With<B: Bounds> = B::Stepped;
    type Ending = Superstep;
    type Looped = Nested;
    type Stepped = Superstep;
    type Nesting = Unbounded;
    const IS_BATCH: bool = true;
    const IS_LOOPED: bool = true;
}
impl Bounds for Nested {
    type With<B: Bounds> = B::Nesting;
    type Ending = Nested;
    type Looped = Nested;
    type Stepped = Unbounded;
    type Nesting = Nested;
    const IS_BATCH: bool = true;
    const IS_LOOPED: bool = true;
}

/// The stream ends by itself: [`Bounded`] or [`Batch`].
pub trait Finite: Bounds {}
impl Finite for Bounded {}
impl Finite for Batch {}
impl Finite for Superstep {}
impl Finite for Nested {}

/// The source can go back to an earlier position.
#[derive(Debug, Clone, Copy)]
pub struct Replayable;
/// What has been read is gone.
#[derive(Debug, Clone, Copy)]
pub struct Once;

/// Whether a stream can be read again from a position: [`Replayable`] or [`Once`].
pub trait Replay: Send + 'static {
    /// The replay of this stream and another of `R` together.
    type With<R: Replay>: Replay;
}
impl Replay for Replayable {
    type With<R: Replay> = R;
}
impl Replay for Once {
    type With<R: Replay> = Once;
}

/// All of this together: the `K` of [`Stream<T, K, C>`](super::Stream).
///
/// A function over any stream is written `fn f<K: Kind>(s: Stream<T, K, impl Flow<T, K>>) -> Stream<U, K, impl Flow<U, K>>`.
pub trait Kind: Send + 'static {
    /// What each record carries: `()`, or a [`Timestamp`] behind `event_time`.
    type Stamp: Stamp;
    /// [`Bounded`], [`Unbounded`], [`Batch`] or [`Superstep`].
    type Bounds: Bounds;
    /// [`Replayable`] or [`Once`].
    type Replay: Replay;
    /// [`Volatile`], [`Durable`], [`AtLeastOnce`] or [`Exported`].
    type Mode: Mode;
    /// The same with event time.
    type Timed: Kind<Stamp = Timestamp, Bounds = Self::Bounds, Replay = Self::Replay, Mode = Self::Mode>;
    /// The same, bounded.
    type Ending: Kind<Stamp = Self::Stamp, Bounds: Finite, Replay = Self::Replay, Mode = Self::Mode>;
    /// The same in a batch.
    type Whole: Kind<Stamp = Self::Stamp, Bounds = Batch, Replay = Self::Replay, Mode = Self::Mode>;
    /// The same in the body of a loop.
    type Looped: Kind<
            Stamp = Self::Stamp,
            Bounds = <Self::Bounds as Bounds>::Looped,
            Replay = Self::Replay,
            Mode = Self::Mode,
        >;
    /// The same without event time.
    type Untimed: Kind<Stamp = (), Bounds = Self::Bounds, Replay = Self::Replay, Mode = Self::Mode>;
    /// The same in a pipeline of mode `M`.
    type In<M: Mode>: Kind<Stamp = Self::Stamp, Bounds = Self::Bounds, Replay = Self::Replay, Mode = M>;
    /// This and another stream of the same stamp and mode together.
    type With<K: Kind<Stamp = Self::Stamp, Mode = Self::Mode>>: Kind<Stamp = Self::Stamp, Mode = Self::Mode>;
}

/// The only [`Kind`]: stamp, bounds, replay, mode.
pub struct Is<S, B, R, M>(PhantomData<fn() -> (S, B, R, M)>);

impl<S: Stamp, B: Bounds, R: Replay, M: Mode> Kind for Is<S, B, R, M> {
    type Stamp = S;
    type Bounds = B;
    type Replay = R;
    type Mode = M;
    type Timed = Is<Timestamp, B, R, M>;
    type Ending = Is<S, B::Ending, R, M>;
    type Whole = Is<S, Batch, R, M>;
    type Looped = Is<S, B::Looped, R, M>;
    type Untimed = Is<(), B, R, M>;
    type In<N: Mode> = Is<S, B, R, N>;
    type With<K: Kind<Stamp = S, Mode = M>> = Is<S, B::With<K::Bounds>, R::With<K::Replay>, M>;
}

/// A kind with event time.
#[diagnostic::on_unimplemented(
    message = "this stream has no event time, and an event-time operator needs one",
    label = "needs event time",
    note = "say upstream when an event happened: `.event_time(|x| x.time, disorder = 5s)`"
)]
pub trait HasEventTime: Kind<Stamp = Timestamp> {}
#[diagnostic::do_not_recommend]
impl<B: Bounds, R: Replay, M: Mode> HasEventTime for Is<Timestamp, B, R, M> {}

/// A kind that ends.
#[diagnostic::on_unimplemented(
    message = "this stream never ends, and the operator gives its result at the end of the input",
    label = "needs bounded input",
    note = "bound the source (`.take(n)`, a file, an iterator), or give each window its result: `.window(tumbling(1h))`",
    note = "in the body of a loop there is no end of the input, but that of each superstep: give it a key, as `.key_by(|_| ()).fold(…)`, or put it behind the loop"
)]
pub trait Ends: Kind<Bounds: Finite> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Mode> Ends for Is<S, Bounded, R, M> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Mode> Ends for Is<S, Batch, R, M> {}

/// A kind of a pipeline that takes no checkpoints.
#[diagnostic::on_unimplemented(
    message = "this operator needs all its input at once, and what it holds of it is in no checkpoint",
    label = "is in no checkpoint",
    note = "remove `#[checkpointed]`: a pipeline that has to begin anew after its process has died reads its input again"
)]
pub trait BeginsAnew: Kind {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, B: Bounds, R: Replay> BeginsAnew for Is<S, B, R, Volatile> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, B: Bounds, R: Replay> BeginsAnew for Is<S, B, R, Exported> {}

/// A kind of the body of a loop.
#[diagnostic::on_unimplemented(
    message = "there is no superstep here: this stream is not in the body of a loop",
    label = "in no loop",
    note = "use it inside of the closure of `iterate` or `iterate_delta`, on the stream that it is given"
)]
pub trait InSupersteps: Kind {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Mode> InSupersteps for Is<S, Superstep, R, M> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Mode> InSupersteps for Is<S, Nested, R, M> {}

/// A kind of the body of a loop whose streams have the bounds `B`.
#[diagnostic::on_unimplemented(
    message = "what the body of this loop gives is not in this loop",
    label = "the body gives a stream of another one, or one that never ends",
    note = "streams from outside that end may be looked up in or united with those of the body; those of the body of an outer loop have another time, and end later than this loop",
    note = "let what is needed of them go through this loop as part of its records, or put it behind the loop"
)]
pub trait InBody<B>: Kind {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Mode> InBody<Superstep> for Is<S, Superstep, R, M> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Mode> InBody<Nested> for Is<S, Nested, R, M> {}

/// In the body of a loop, `looped`, an operator that gives its records by time, or for records of several supersteps, does not know to which superstep they
/// belong: the job does not begin.
#[cold]
pub(crate) fn refuse_in_loop(looped: bool, cx: &mut BuildCx, meta: &Meta) {
    if looped {
        let what = "it stands in the body of a loop, where each superstep is a batch by itself, and no time is known but its number";
        let error = Error::new(ErrorKind::Plan, what).in_stage(meta.id()).at(meta.at());
        cx.fail(error.note("put it before or behind the loop"));
    }
}

/// A kind that may go through a loop.
#[diagnostic::on_unimplemented(
    message = "this stream cannot go through a loop: it is in two already, or in an exported batch",
    label = "cannot go through a loop",
    note = "a loop has no state that a stream goes on with: write `#[batch]`, or run the loop in a job of its own",
    note = "a loop may stand in the body of another, and no deeper: run one behind the other, or let the inner one do both steps"
)]
pub trait Loops: Kind {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Loopable> Loops for Is<S, Bounded, R, M> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Loopable> Loops for Is<S, Batch, R, M> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Loopable> Loops for Is<S, Unbounded, R, M> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Loopable> Loops for Is<S, Superstep, R, M> {}

/// A kind that ends, or whose supersteps do.
#[diagnostic::on_unimplemented(
    message = "this stream never ends, and a loop takes all of it in before it begins its second superstep",
    label = "needs bounded input",
    note = "bound the source (`.take(n)`, a file, an iterator)"
)]
pub trait EndsOrSteps: Kind<Bounds: Finite> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Mode> EndsOrSteps for Is<S, Bounded, R, M> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Mode> EndsOrSteps for Is<S, Batch, R, M> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Mode> EndsOrSteps for Is<S, Superstep, R, M> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Mode> EndsOrSteps for Is<S, Nested, R, M> {}

/// The modes of pipelines with loops.
pub trait Loopable: Mode {}
impl Loopable for Volatile {}
impl Loopable for Durable {}
impl Loopable for AtLeastOnce {}

/// A kind of which a batch can be made.
#[diagnostic::on_unimplemented(
    message = "a batch has to end, and this source never does",
    label = "never ends",
    note = "read what ends (files, `from_vec`, `generate(n, …)`), or remove `#[batch]` and give each window its result: `.window(tumbling(1h))`"
)]
pub trait EndsByItself: Ends {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Mode> EndsByItself for Is<S, Bounded, R, M> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Mode> EndsByItself for Is<S, Batch, R, M> {}

/// A kind whose end can be that of the history of a stream.
#[diagnostic::on_unimplemented(
    message = "the history of a stream has to end, and this source never does",
    label = "never ends",
    note = "read what ends (files, `from_vec`, `generate(n, …)`); what goes on is read by the pipeline that starts from the savepoint"
)]
pub trait EndsAsHistory: Ends {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Mode> EndsAsHistory for Is<S, Bounded, R, M> {}

/// A kind that can be read again from a position, as a restart asks.
#[diagnostic::on_unimplemented(
    message = "a checkpointed pipeline cannot read from this source: what has been read of it is gone after a restart",
    label = "cannot be read again",
    note = "write the records to files first and read those (`lines`, `csv`, `json_lines`), or remove `#[checkpointed]`"
)]
pub trait Replays: Kind<Replay = Replayable> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, B: Bounds, M: Mode> Replays for Is<S, B, Replayable, M> {}

/// A kind of a pipeline in which a closure may see a record again after a restart.
#[diagnostic::on_unimplemented(
    message = "this may see a record twice after a restart, and the pipeline promises exactly once",
    label = "may see a record twice",
    note = "ask for `#[checkpointed(at_least_once)]` if that does no harm, or write into a sink that commits with the checkpoints: `.sink(csv_files(folder))`"
)]
pub trait Repeats: Kind {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, B: Bounds, R: Replay> Repeats for Is<S, B, R, Volatile> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, B: Bounds, R: Replay> Repeats for Is<S, B, R, AtLeastOnce> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, B: Bounds, R: Replay> Repeats for Is<S, B, R, Exported> {}
