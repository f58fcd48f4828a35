//! Sources: where records come from.
//!
//! A [`Source`] says into how many partitions it is cut, and opens a [`Reader`] for each; each partition is one
//! instance of the source's stage, in order, with a watermark of its own. Built in: iterators ([`from_iter`],
//! [`from_vec`]), a generator ([`generate()`]), an in-process channel ([`channel`]), and text ([`lines`], [`csv()`],
//! [`stdin_lines`], [`tcp_lines`]).

mod channel;
mod exported;
mod generate;
mod iter;
mod lasting;
#[cfg(feature = "state-processor")]
mod savepoint;
#[cfg(test)]
mod tests;
pub mod text;
pub(crate) mod unpack;
mod whole;

pub use crate::stage::{Poll, Reader};
pub use channel::{ChannelSender, ChannelSource, channel};
pub use generate::{Generate, generate};
pub use iter::{FromIter, FromVec, from_iter, from_vec};
pub(crate) use lasting::Lasting;
#[cfg(feature = "state-processor")]
pub use savepoint::{SavedPart, SavedReader, SavedState, Savepoint, savepoint};
pub use text::{csv, json_lines, lines, stdin_lines, tcp_lines};
pub use whole::AtSource;

use crate::checkpoint::Acknowledge;
use crate::error::{Error, ErrorKind, Result};
use crate::op::boxed::NoRoot;
use crate::op::kind::{Bounds, Is, Replay, Volatile};
use crate::op::{Chain, Proved, Stream, Visit};
use crate::stage::{BuildCx, EdgeId, Meta, OpenCx, Push, SourceStage};

/// Where records come from.
///
/// ```
/// use flow_core::prelude::*;
/// use flow_core::op::kind::{Bounded, Replayable};
/// use flow_core::source::{Poll, Reader, Source};
/// use flow_core::stage::OpenCx;
///
/// /// The countdowns from the given numbers, a partition each.
/// #[derive(Clone)]
/// struct Countdowns(Vec<u32>);
/// /// The next number.
/// struct Countdown(Option<u32>);
///
/// impl Source for Countdowns {
///     type Item = u32;
///     type Split = u32;
///     type Reader = Countdown;
///     type Bounds = Bounded;
///     type Replay = Replayable;
///     fn name(&self) -> &'static str {
///         "countdowns"
///     }
///     fn splits(&self) -> Result<Vec<u32>> {
///         Ok(self.0.clone())
///     }
///     fn open(&self, from: u32, _: &mut OpenCx) -> Result<Countdown> {
///         Ok(Countdown(Some(from)))
///     }
///     fn resume(&self, _: u32, position: &[u8], _: &mut OpenCx) -> Result<Countdown> {
///         match position {
///             [] => Ok(Countdown(None)),
///             [a, b, c, d] => Ok(Countdown(Some(u32::from_le_bytes([*a, *b, *c, *d])))),
///             _ => Err(Error::new(ErrorKind::State, "a position of another source")),
///         }
///     }
/// }
///
/// impl Reader<u32> for Countdown {
///     fn poll<O: FnMut(u32)>(&mut self, out: &mut O, budget: usize) -> Result<Poll> {
///         for _ in 0..budget {
///             let Some(next) = self.0 else { return Ok(Poll::End) };
///             out(next);
///             self.0 = next.checked_sub(1);
///         }
///         Ok(Poll::More)
///     }
///     /// What `resume` is given when a job goes on from a checkpoint.
///     fn position(&self) -> Option<Vec<u8>> {
///         Some(self.0.map_or(Vec::new(), |next| next.to_le_bytes().to_vec()))
///     }
/// }
///
/// let out = Collected::new();
/// let job = Job::build("countdown", |job| job.add(source(Countdowns(vec![2, 1])).collect(&out)));
/// job.run().unwrap();
/// assert_eq!(out.take(), [2, 1, 0, 1, 0]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a source",
    label = "cannot be read from",
    note = "give `source(…)` one of `from_iter(…)`, `from_vec(…)`, `generate(…)`, `lines(…)`, `csv::<T>(…)`, `channel(…)`, or implement `flow_core::source::Source`"
)]
pub trait Source: Clone + Send + 'static {
    /// What it reads.
    type Item: 'static;
    /// A partition of it, before it is opened.
    type Split: Clone + Send + 'static;
    /// Reads a partition.
    type Reader: Reader<Self::Item>;
    /// Whether it ends.
    type Bounds: Bounds;
    /// Whether it can be read again.
    type Replay: Replay;
    /// Its name in ids, graphs and errors.
    fn name(&self) -> &'static str;
    /// Its partitions. Called once, before any record is read; each becomes an instance.
    ///
    /// # Errors
    /// When there is nothing to read; the job does not start.
    fn splits(&self) -> Result<Vec<Self::Split>>;
    /// Opens a partition, on the thread that will read it.
    ///
    /// # Errors
    /// When it cannot be opened; the job ends.
    fn open(&self, split: Self::Split, cx: &mut OpenCx) -> Result<Self::Reader>;
    /// Its partitions where the job goes on from a checkpoint: those whose readers gave `positions` there, in their order. Asked for instead of
    /// [`splits`](Source::splits), which is what it gives unless the source knows better: then there have to be as many as before.
    ///
    /// # Errors
    /// When they are not there any more; the job does not start.
    fn splits_at(&self, positions: &[Vec<u8>]) -> Result<Vec<Self::Split>> {
        let _ = positions;
        self.splits()
    }
    /// Opens a partition at a position that [`Reader::position`] gave, in this process or another one: the first record it gives is
    /// the one behind it. A source that is [`Replayable`](crate::op::kind::Replayable) implements both.
    ///
    /// # Errors
    /// When it cannot be opened there, as where the input has become another one; the job does not start.
    fn resume(&self, split: Self::Split, position: &[u8], cx: &mut OpenCx) -> Result<Self::Reader> {
        let _ = (split, position, cx);
        Err(Error::new(
            ErrorKind::Source,
            "this source cannot go on from a position: it does not implement `Source::resume`",
        ))
    }
    /// What tells the outside that records are safe, where it keeps them until it is told: a message broker, the log of a database. A job
    /// that takes checkpoints asks for it once, and tells it of each checkpoint when that is complete and committed.
    fn acknowledger(&self) -> Option<Box<dyn Acknowledge>> {
        None
    }
}

/// Refuses to be read by a job that takes checkpoints: what has been read of `what` is gone.
fn once(cx: &OpenCx, what: &str) -> Result<()> {
    if !cx.saves().is_on() || cx.saves().cut().is_some() {
        return Ok(());
    }
    let what = format!("{what} cannot be read again, and the job takes checkpoints");
    let error = Error::new(ErrorKind::Source, what);
    Err(error.note("write the records to files first and read those, or run the job without checkpoints"))
}

/// The kind of a stream that begins at the source `X`.
pub type SourceKind<X> = Is<(), <X as Source>::Bounds, <X as Source>::Replay, Volatile>;

/// The beginning of a stream.
#[derive(Clone)]
pub struct Src<X> {
    source: X,
    key: EdgeId,
    meta: Meta,
}

/// Begins a stream.
#[track_caller]
pub fn source<X, T, B, R>(source: X) -> Stream<T, Is<(), B, R, Volatile>, Proved<T, Src<X>>>
where
    X: Source<Item = T, Bounds = B, Replay = R>,
{
    let meta = Meta::new(source.name());
    Stream::of(Src { source, key: EdgeId::fresh(), meta })
}

impl<X: Source> Chain for Src<X> {
    type Out = X::Item;
    type Stamp = ();
    type Root = NoRoot;
    fn build<N: Push<X::Item, ()>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let meta = cx.op(&self.meta, "one instance a partition");
        let Src { source, key, .. } = self;
        if let Some((split, count)) = cx.split(key, &meta, |at| match at {
            Some(positions) => source.splits_at(&positions),
            None => source.splits(),
        }) {
            let (id, acknowledger) = (meta.id(), source.acknowledger());
            let make = Box::new(move |cx: &mut OpenCx| match cx.position(&id)? {
                Some(position) => source.resume(split, &position, cx),
                None => source.open(split, cx),
            });
            if let Some(outside) = acknowledger {
                cx.acknowledger(&meta, outside, count);
            }
            cx.source(key, &meta, count, SourceStage::<X::Item, X::Reader, N>::new(meta, make, next));
        }
        visit.rooted(cx);
    }
}
