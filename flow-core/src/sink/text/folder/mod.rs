//! Folders of files, each of which appears under its name when its checkpoint is complete.
//!
//! 1. A [writer](FilesWriter) writes under staged names; see `names.rs` for both (`parts.rs`).
//! 2. At a barrier it syncs its files and their names, and says in bytes which they are (`staged.rs`).
//! 3. When the checkpoint is complete the committer renames them, and syncs the names (`committer.rs`).
//! 4. A job that starts looks at what a dead process has left (`place.rs`): what is staged for later checkpoints is removed, and results of
//!    later checkpoints are refused.
//!
//! A staged name has a checkpoint before the barrier has said which: the one after the last that the writer knows. It is later than any
//! that was complete then, and not later than the one it is staged for. So step 4 removes it exactly while no complete checkpoint lists it. The final name has
//! the number of the checkpoint itself. A staged name has a number of the opening of the folder, too: a process from which the
//! folder was taken removes and renames nothing of its successor's.

mod committer;
mod encoders;
mod files;
mod names;
mod partitioning;
mod parts;
mod place;
mod staged;
#[cfg(test)]
mod tests;

#[cfg(feature = "json")]
pub use encoders::Json;
pub use encoders::{Csv, Encodes, Format, Lines, RowEncoder};
#[cfg(feature = "json")]
pub use files::json_files;
pub use files::{Files, csv_files, text_files};
pub use partitioning::{By, Partition, Whole};
pub use parts::Encoded;

use crate::checkpoint::Committer;
use crate::error::Result;
use crate::sink::{CommittingSink, Sink, StagingWriter, Writer};
use crate::stage::{Commit, OpenCx};
use crate::time::Timestamp;
use committer::{AtTheEnd, FolderCommitter};
use parts::Parts;
use std::sync::Arc;

#[diagnostic::do_not_recommend]
impl<T: 'static, F: Encodes<T>, P: Partition<T>> Sink<T> for Files<F, P> {
    type Writer = FilesWriter<F, P>;

    fn name(&self) -> &'static str {
        F::NAME
    }

    fn open(&self, cx: &mut OpenCx) -> Result<FilesWriter<F, P>> {
        let parts = self.parts(P::PARTITIONED, cx.checkpoint(), cx)?;
        Ok(FilesWriter::new(&self.format, self.partition.clone(), parts))
    }

    fn committing(&self) -> Option<Box<dyn Committer>> {
        Some(CommittingSink::<T>::committer(self))
    }
}

#[diagnostic::do_not_recommend]
impl<T: 'static, F: Encodes<T>, P: Partition<T>> CommittingSink<T> for Files<F, P> {
    fn committer(&self) -> Box<dyn Committer> {
        Box::new(FolderCommitter::new(Arc::clone(&self.place)))
    }
}

impl<F, P> Files<F, P> {
    /// For an instance of a job that starts from checkpoint `newest`.
    fn parts(&self, partitioned: bool, newest: u64, cx: &OpenCx) -> Result<Parts> {
        self.options.check(self.place.folder())?;
        let instance = u32::try_from(cx.context().instance()).unwrap_or(u32::MAX);
        Ok(Parts::open(self.place.open(instance)?, self.options.clone(), partitioned, newest, cx))
    }
}

/// Writes the records of one instance.
pub struct FilesWriter<F: Format, P> {
    encoder: F::Encoder,
    partition: P,
    shown: String,
    parts: Parts,
}

impl<F: Format, P> FilesWriter<F, P> {
    fn new(format: &F, partition: P, mut parts: Parts) -> Self {
        FilesWriter { encoder: format.encoder(&mut parts.encoded), partition, shown: String::new(), parts }
    }
}

impl<T: 'static, F: Encodes<T>, P: Partition<T>> Writer<T> for FilesWriter<F, P> {
    #[inline]
    fn write(&mut self, record: T, _: Timestamp) -> Result<()> {
        let encoded = F::encode(&mut self.encoder, &record, &mut self.parts.encoded);
        encoded.map_err(|what| self.parts.refused(&what))?;
        if P::PARTITIONED {
            self.shown.clear();
            let shown = self.partition.show(&record, &mut self.shown);
            shown.map_err(|_| {
                self.parts.refused("what `partition_by` gives cannot be shown: its `Display` failed")
            })?;
        }
        self.parts.append(&self.shown)
    }

    fn finish(mut self) -> Result<Option<Box<dyn Commit>>> {
        self.parts.at_the_end()
    }

    fn staging(&mut self, checkpoint: u64) -> Result<Option<Vec<u8>>> {
        StagingWriter::<T>::stage(self, checkpoint)
    }
}

impl<T: 'static, F: Encodes<T>, P: Partition<T>> StagingWriter<T> for FilesWriter<F, P> {
    fn stage(&mut self, checkpoint: u64) -> Result<Option<Vec<u8>>> {
        self.parts.staged_for(checkpoint)
    }
}

impl Parts {
    fn staged_for(&mut self, checkpoint: u64) -> Result<Option<Vec<u8>>> {
        let parts = self.stage(checkpoint)?;
        let folder = self.writing().claim().folder();
        Ok((!parts.is_empty()).then(|| staged::encode(folder, &parts)))
    }

    /// What was written after the last checkpoint, in a job without: all.
    fn at_the_end(&mut self) -> Result<Option<Box<dyn Commit>>> {
        let parts = self.stage(0)?;
        let claim = Arc::clone(self.writing().claim());
        Ok((!parts.is_empty()).then(|| Box::new(AtTheEnd { claim, parts }) as Box<dyn Commit>))
    }
}
