//! Sinks whose output counts once, whatever dies: they commit in two phases.
//!
//! 1. Between two barriers a writer writes where nobody looks.
//! 2. At a barrier it **stages**: what it has written is brought to where it survives, and it says, in bytes, what a commit needs.
//! 3. When the checkpoint is complete, those bytes with it, the sink's [`Committer`] makes it visible. It may be asked again after a restart.

use super::{Sink, Writer};
use crate::checkpoint::Committer;
use crate::error::Result;
use crate::op::proved::{Holds, Impossible, Never};
use crate::state::{AtLeastOnce, Durable, Exported, Mode, Volatile};

/// A writer that can stage what it has written.
pub trait StagingWriter<T>: Writer<T> {
    /// What was written since the last time belongs to checkpoint `checkpoint`: brings it to where it survives the process, and returns what the
    /// committer needs to make it visible. `None` where nothing was written.
    ///
    /// # Errors
    /// When it cannot be brought there; the job ends, and the next start writes it again.
    fn stage(&mut self, checkpoint: u64) -> Result<Option<Vec<u8>>>;
}

/// A sink whose output counts once in a pipeline that takes checkpoints. In one that is content with at least once it commits as well, if it
/// says so: [`Sink::committing`] gives the committer there, and [`Writer::staging`] stages.
///
/// ```
/// use flow_core::checkpoint::Committer;
/// use flow_core::prelude::*;
/// use flow_core::sink::{CommittingSink, Sink, StagingWriter, Writer};
/// use flow_core::stage::OpenCx;
/// use std::sync::{Arc, Mutex};
///
/// /// A total that survives in `committed`; what is staged says to how much it rises.
/// #[derive(Clone, Default)]
/// struct Total(Arc<Mutex<(u64, u64)>>);
/// struct TotalWriter(u64);
///
/// impl Sink<u64> for Total {
///     type Writer = TotalWriter;
///     const SINGLE: bool = true;
///     fn name(&self) -> &'static str {
///         "total"
///     }
///     fn open(&self, _: &mut OpenCx) -> Result<TotalWriter> {
///         Ok(TotalWriter(0))
///     }
/// }
/// impl Writer<u64> for TotalWriter {
///     fn write(&mut self, item: u64, _: Timestamp) -> Result<()> {
///         self.0 += item;
///         Ok(())
///     }
///     fn finish(self) -> Result<Option<Box<dyn flow_core::stage::Commit>>> {
///         Ok(None)
///     }
/// }
/// impl StagingWriter<u64> for TotalWriter {
///     fn stage(&mut self, _: u64) -> Result<Option<Vec<u8>>> {
///         Ok(Some(std::mem::take(&mut self.0).to_le_bytes().to_vec()))
///     }
/// }
/// impl CommittingSink<u64> for Total {
///     fn committer(&self) -> Box<dyn Committer> {
///         Box::new(self.clone())
///     }
/// }
/// impl Committer for Total {
///     fn commit(&mut self, checkpoint: u64, _: u32, staged: &[u8]) -> Result<()> {
///         let mut total = self.0.lock().unwrap();
///         // Once for each checkpoint, however often it is asked.
///         if checkpoint > total.0 {
///             *total = (checkpoint, total.1 + u64::from_le_bytes(staged.try_into().unwrap()));
///         }
///         Ok(())
///     }
///     fn abort(&mut self, _: u64, _: u32, _: &[u8]) {}
/// }
///
/// let (total, folder) = (Total::default(), tempfile::tempdir().unwrap());
/// let job = Job::build("total", |job| job.add(source(from_iter(1..=4)).durable().sink(total.clone())));
/// job.checkpoints(Checkpoints::to(folder.path())).run().unwrap();
/// assert_eq!(total.0.lock().unwrap().1, 10);
/// ```
pub trait CommittingSink<T>: Sink<T, Writer: StagingWriter<T>> {
    /// What commits what its writers have staged.
    fn committer(&self) -> Box<dyn Committer>;
}

/// What a sink of a pipeline in mode `M` has to be beside a [`Sink`]: a [`CommittingSink`] where each result counts exactly once.
/// `P` is found where it holds: see [`proved`](crate::op::proved).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot commit: after a restart this pipeline, which promises exactly once, would write records of `{T}` twice",
    label = "may write a record twice",
    note = "write into what is committed with the checkpoints: `text_files(folder)`, `csv_files(folder)`, `json_files(folder)` or `sqlite(path, statement)`",
    note = "or ask for `#[checkpointed(at_least_once)]`, if a record that comes twice does no harm and it writes as it goes, not into a file that is there at the end",
    note = "your own sink implements `flow_core::sink::CommittingSink<{T}>`"
)]
pub trait CommitsIn<M: Mode, T, P> {}
#[diagnostic::do_not_recommend]
impl<X, T> CommitsIn<Volatile, T, Holds> for X {}
#[diagnostic::do_not_recommend]
impl<X, T> CommitsIn<AtLeastOnce, T, Holds> for X {}
#[diagnostic::do_not_recommend]
impl<X, T> CommitsIn<Exported, T, Holds> for X {}
#[diagnostic::do_not_recommend]
impl<X: CommittingSink<T>, T> CommitsIn<Durable, T, Holds> for X {}
#[diagnostic::do_not_recommend]
impl<X: Impossible, T> CommitsIn<Durable, T, Never> for X {}

/// A sink of a pipeline in mode `M`, and what it does for checkpoints there.
pub trait SinkIn<M: Mode, T>: Sink<T> {
    /// What commits, where something is to be committed.
    fn committer_in(&self) -> Option<Box<dyn Committer>>;
    /// See [`StagingWriter::stage`].
    ///
    /// # Errors
    /// As there.
    fn stage_in(writer: &mut Self::Writer, checkpoint: u64) -> Result<Option<Vec<u8>>>;
}

#[diagnostic::do_not_recommend]
impl<T, X: Sink<T>> SinkIn<Volatile, T> for X {
    fn committer_in(&self) -> Option<Box<dyn Committer>> {
        None
    }
    fn stage_in(_: &mut X::Writer, _: u64) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

#[diagnostic::do_not_recommend]
impl<T, X: CommittingSink<T>> SinkIn<Durable, T> for X {
    fn committer_in(&self) -> Option<Box<dyn Committer>> {
        Some(self.committer())
    }
    fn stage_in(writer: &mut X::Writer, checkpoint: u64) -> Result<Option<Vec<u8>>> {
        writer.stage(checkpoint)
    }
}

#[diagnostic::do_not_recommend]
impl<T, X: Sink<T>> SinkIn<AtLeastOnce, T> for X {
    fn committer_in(&self) -> Option<Box<dyn Committer>> {
        self.committing()
    }
    fn stage_in(writer: &mut X::Writer, checkpoint: u64) -> Result<Option<Vec<u8>>> {
        writer.staging(checkpoint)
    }
}

#[diagnostic::do_not_recommend]
impl<T, X: Sink<T>> SinkIn<Exported, T> for X {
    fn committer_in(&self) -> Option<Box<dyn Committer>> {
        self.committing()
    }
    fn stage_in(writer: &mut X::Writer, checkpoint: u64) -> Result<Option<Vec<u8>>> {
        writer.staging(checkpoint)
    }
}
