//! Sinks: where records go.
//!
//! `for_each` and `collect` are terminals of their own; everything else is a [`Sink`] given to
//! [`Stream::sink`]. What a sink stages is committed when the whole job has succeeded, and taken back otherwise:
//! see [`crate::stage::Commit`].

mod channel;
mod collect;
mod committing;
mod for_each;
#[cfg(feature = "sqlite")]
mod sqlite;
pub mod text;

pub use channel::{ChannelSink, to_channel};
pub use collect::{Collect, Collected};
pub use committing::{CommitsIn, CommittingSink, SinkIn, StagingWriter};
pub use for_each::{ForEach, Ignore, TryForEach, ignore};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqlRow, Sqlite, SqliteWriter, sqlite};
#[cfg(feature = "json")]
pub use text::json_files;
pub use text::{csv_file, csv_files, json_file, stdout, text_file, text_files};

use crate::batch::Mark;
use crate::checkpoint::failpoint::point;
use crate::checkpoint::{Committer, Saves};
use crate::error::{Error, ErrorKind, Result};
use crate::op::merge::arrive;
use crate::op::proved::claim;
use crate::op::{Chain, Kind, Proved, Stream, Terminal, Visit};
use crate::stage::{
    BuildCx, Commit, Count, EdgeKind, EdgeRef, Faults, Meta, OpenCx, Outs, Push, Stamp, Tail,
};
use crate::state::Mode;
use crate::time::{Grid, Timestamp};
use std::marker::PhantomData;

/// Where records of type `T` go.
///
/// ```
/// use flow_core::prelude::*;
/// use flow_core::sink::{Sink, Writer};
/// use flow_core::stage::OpenCx;
/// use std::sync::{Arc, Mutex};
///
/// /// Adds up what it is given.
/// #[derive(Clone, Default)]
/// struct Total(Arc<Mutex<u64>>);
/// struct TotalWriter(Total, u64);
///
/// impl Sink<u64> for Total {
///     type Writer = TotalWriter;
///     fn name(&self) -> &'static str {
///         "total"
///     }
///     fn open(&self, _: &mut OpenCx) -> Result<TotalWriter> {
///         Ok(TotalWriter(self.clone(), 0))
///     }
/// }
/// impl Writer<u64> for TotalWriter {
///     fn write(&mut self, item: u64, _: Timestamp) -> Result<()> {
///         self.1 += item;
///         Ok(())
///     }
///     fn finish(self) -> Result<Option<Box<dyn flow_core::stage::Commit>>> {
///         *self.0.0.lock().unwrap() += self.1;
///         Ok(None)
///     }
/// }
///
/// let total = Total::default();
/// let job = Job::build("total", |job| job.add(source(from_iter(1..=4)).sink(total.clone())));
/// job.run().unwrap();
/// assert_eq!(*total.0.lock().unwrap(), 10);
/// ```
pub trait Sink<T>: Clone + Send + 'static {
    /// Writes the records of one instance.
    type Writer: Writer<T>;
    /// Whether all records go to a single writer, as into one file.
    const SINGLE: bool = false;
    /// Whether what it has written counts only when the whole job has succeeded, as a file that gets its name then. After a restart what was
    /// written before it would be missing, so a job that takes checkpoints refuses it.
    const AT_THE_END: bool = false;
    /// Its name in ids, graphs and errors.
    fn name(&self) -> &'static str;
    /// Opens it, once for each instance.
    ///
    /// # Errors
    /// When it cannot be opened; the job ends.
    fn open(&self, cx: &mut OpenCx) -> Result<Self::Writer>;
    /// What commits in a pipeline that is content with at least once: of a [`CommittingSink`] its committer, and [`Writer::staging`] stages
    /// then. Without it what is written counts at once.
    fn committing(&self) -> Option<Box<dyn Committer>> {
        None
    }
}

claim! {
    /// What `sink` takes: a [`Sink`] of records `T`.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not a sink of `{T}`",
        label = "cannot take records of type `{T}`",
        note = "`text_file`, `text_files` and `stdout` write what is `Display`, or `.map(|x| format!(…))` before them; `csv_file`, `csv_files`, `json_file` and `json_files` write what derives `serde::Serialize`; `sqlite` takes tuples",
        note = "what `partition_by` is given takes a record of this stream: `|record: &{T}| …`",
        note = "your own sink implements `flow_core::sink::Sink<{T}>`"
    )]
    pub trait SinkOf<P, T> for X where Sink<T> {
        /// See [`Sink::name`].
        fn name_of(it: &Self) -> &'static str { it.name() }
    }
}

/// Writes records.
pub trait Writer<T>: Send + 'static {
    /// Writes a record; `time` is its event time, [`Timestamp::MIN`] where the stream has none.
    ///
    /// # Errors
    /// When it cannot be written; the job ends.
    fn write(&mut self, item: T, time: Timestamp) -> Result<()>;
    /// Makes what was written visible although more follows: the stage is about to wait.
    ///
    /// # Errors
    /// When it cannot be written; the job ends.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
    /// All records are written. What has to happen for them to count is returned: it is done when the job has succeeded.
    ///
    /// In a job that takes checkpoints there is nothing to be returned, and a commit is an error: a checkpoint may know that these records have ended, so a
    /// failure after it, or a stop, would lose what only the end of the job makes final. What counts there is what was written at the time, or staged.
    ///
    /// # Errors
    /// When the rest cannot be written; the job ends.
    fn finish(self) -> Result<Option<Box<dyn Commit>>>;
    /// [`StagingWriter::stage`], where [`Sink::committing`] has given a committer. Before a checkpoint is taken whatever is written has to be out.
    ///
    /// # Errors
    /// As there.
    fn staging(&mut self, checkpoint: u64) -> Result<Option<Vec<u8>>> {
        let _ = checkpoint;
        self.flush()?;
        Ok(None)
    }
}

/// The end of a stream in a sink, of a pipeline in mode `M`.
pub struct SinkEnd<C, X, M> {
    prev: C,
    sink: X,
    edge: EdgeRef,
    meta: Meta,
    mode: PhantomData<fn() -> M>,
}

impl<C: Clone, X: Clone, M> Clone for SinkEnd<C, X, M> {
    fn clone(&self) -> Self {
        let (prev, sink, edge) = (self.prev.clone(), self.sink.clone(), self.edge.clone());
        SinkEnd { prev, sink, edge, meta: self.meta, mode: PhantomData }
    }
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// Ends the stream in a sink.
    #[track_caller]
    pub fn sink<X, P, Q>(self, sink: X) -> Proved<Q, Proved<P, SinkEnd<C, X, K::Mode>>>
    where
        X: SinkOf<P, T> + CommitsIn<K::Mode, T, Q>,
    {
        let meta = Meta::new(X::name_of(&sink));
        SinkEnd { prev: self.chain, sink, edge: EdgeRef::fresh(), meta, mode: PhantomData }
    }
}

impl<C: Chain<Out: Send>, X: SinkIn<M, C::Out>, M: Mode> Terminal for SinkEnd<C, X, M> {
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V) {
        let SinkEnd { prev, sink, edge, meta, .. } = self;
        let note =
            if X::SINGLE { "one instance: all records in one place" } else { "one writer an instance" };
        let meta = cx.op(&meta, note);
        if X::AT_THE_END {
            cx.at_the_end(&meta);
        }
        if let Some(committer) = sink.committer_in() {
            cx.committer(&meta, committer);
        }
        let push = SinkPush::<C::Out, X, M>::new(sink, meta);
        if X::SINGLE {
            let edges = [(edge.clone(), EdgeKind::Global)];
            arrive::<C::Out, C::Stamp, _>(cx, &meta, Count::Exactly(1), &edges, push);
            cx.out(&edge);
            prev.build(cx, ToSingle { outs: Outs::new(edge.id) }, visit);
        } else {
            prev.build(cx, push, visit);
        }
    }
}

/// Sends everything to the instance of a single writer.
struct ToSingle<T, S> {
    outs: Outs<(T, S)>,
}

impl<T: Send + 'static, S: Stamp> Push<T, S> for ToSingle<T, S> {
    #[inline(always)]
    fn push(&mut self, item: T, stamp: S) {
        self.outs.send(0, (item, stamp));
    }
}

impl<T: Send + 'static, S: Stamp> Tail for ToSingle<T, S> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.outs.open(cx);
        Ok(())
    }
    fn mark(&mut self, mark: Mark) {
        self.outs.mark(mark);
    }
    fn grid(&self) -> Grid {
        Grid::none()
    }
    fn room(&mut self) -> bool {
        self.outs.pump()
    }
    fn flush(&mut self) {
        self.outs.flush();
    }
    fn enough(&self) -> bool {
        self.outs.is_closed()
    }
}

/// A sink in its stage.
struct SinkPush<T, X: Sink<T>, M> {
    sink: X,
    writer: Option<X::Writer>,
    meta: Meta,
    written: crate::metrics::Counter,
    faults: Faults,
    commits: Option<crate::stage::Commits>,
    saves: Saves,
    /// The checkpoint to which belongs what is written now.
    checkpoint: u64,
    types: PhantomData<fn(T) -> M>,
}

impl<T: 'static, X: SinkIn<M, T>, M: Mode> SinkPush<T, X, M> {
    fn new(sink: X, meta: Meta) -> Self {
        let (written, faults) = (crate::metrics::Counter::default(), Faults::default());
        let (saves, types) = (Saves::default(), PhantomData);
        SinkPush { sink, writer: None, meta, written, faults, commits: None, saves, checkpoint: 1, types }
    }

    /// A sink that failed writes nothing more.
    #[cold]
    #[inline(never)]
    fn fail(&mut self, error: Error) {
        self.writer = None;
        self.faults.raise(error.in_stage(self.meta.id()).at(self.meta.at()));
    }

    /// What was written up to here belongs to the checkpoint that is being taken.
    #[cold]
    fn stage(&mut self) {
        let Some(writer) = &mut self.writer else { return };
        point("P6a");
        match X::stage_in(writer, self.checkpoint) {
            Ok(Some(staged)) => {
                self.saves.staged(self.checkpoint, &self.meta.id(), staged);
                point("P6c");
            }
            Ok(None) => {}
            Err(error) => self.fail(error),
        }
    }

    fn finish(&mut self) {
        if self.saves.is_on() {
            self.stage();
        }
        let Some(writer) = self.writer.take() else { return };
        match writer.finish() {
            Ok(Some(commit)) if self.saves.is_on() && self.saves.cut().is_none() => {
                commit.abort();
                self.fail(counts_at_the_end());
            }
            Ok(Some(commit)) => {
                if let Some(commits) = &self.commits {
                    commits.push(&self.meta, commit);
                }
            }
            Ok(None) => {}
            Err(error) => self.fail(error),
        }
    }
}

/// A commit that belongs to no checkpoint, in a job that takes them.
#[cold]
fn counts_at_the_end() -> Error {
    let what = "the writer of this sink gives a `Commit` when its records have ended, and the job takes checkpoints: a failure after that would take the records back, and they would not come again";
    let note = "let it write as it goes and give none, or commit with the checkpoints: `Sink::committing` and `Writer::staging`; a sink whose output can count only at the end says so, `Sink::AT_THE_END`, and such a job does not start";
    Error::new(ErrorKind::Sink, what).note(note)
}

impl<T: 'static, S: Stamp, X: SinkIn<M, T>, M: Mode> Push<T, S> for SinkPush<T, X, M> {
    #[inline(always)]
    fn push(&mut self, item: T, stamp: S) {
        if let Some(writer) = &mut self.writer {
            self.written.add(1);
            if let Err(error) = writer.write(item, stamp.time()) {
                self.fail(error);
            }
        }
    }
}

impl<T: 'static, X: SinkIn<M, T>, M: Mode> Tail for SinkPush<T, X, M> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.faults = cx.faults().clone();
        self.written = cx.metrics().records_out.clone();
        self.commits = Some(cx.commits().clone());
        self.saves = cx.saves().clone();
        self.checkpoint = cx.checkpoint() + 1;
        let opened = self.sink.open(cx);
        self.writer = Some(opened.map_err(|e| e.in_stage(self.meta.id()).at(self.meta.at()))?);
        Ok(())
    }
    fn mark(&mut self, mark: Mark) {
        match mark {
            Mark::End => self.finish(),
            Mark::Barrier(id) if self.saves.is_on() => {
                self.checkpoint = id;
                self.stage();
                self.checkpoint = id + 1;
            }
            Mark::Watermark(_) | Mark::Idle | Mark::Active | Mark::Barrier(_) => {}
        }
    }
    fn grid(&self) -> Grid {
        Grid::none()
    }
    fn room(&mut self) -> bool {
        true
    }
    fn flush(&mut self) {
        if let Some(Err(error)) = self.writer.as_mut().map(Writer::flush) {
            self.fail(error);
        }
    }
    fn enough(&self) -> bool {
        false
    }
}

/// An error of what a sink writes into.
#[cold]
pub(crate) fn write_error(target: &str, error: &std::io::Error) -> Error {
    let closed = error.kind() == std::io::ErrorKind::BrokenPipe;
    let kind = if closed { ErrorKind::Closed } else { ErrorKind::Sink };
    Error::new(kind, format!("{target}: cannot be written: {error}"))
}

/// An error of a sink.
pub(crate) fn sink_error(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Sink, what)
}
