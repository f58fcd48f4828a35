//! Whether a pipeline may take checkpoints.

use super::{BuildCx, Topology};
use crate::error::{Error, ErrorKind, Result};
use crate::stage::Meta;

/// What a pipeline says of checkpoints while it is built.
#[derive(Default)]
pub(super) struct Lasting {
    /// Sources of which nobody has said that they are of a checkpointed pipeline.
    volatile: Vec<Meta>,
    /// Sources of an exported batch.
    exported: Vec<Meta>,
    /// Sinks whose results count only when the whole job has succeeded.
    at_the_end: Vec<Meta>,
}

impl BuildCx<'_> {
    /// The source that comes next is of a checkpointed pipeline.
    pub fn lasting(&mut self) {
        self.lasting = true;
    }

    /// The source that comes next is of an exported batch.
    pub fn exported(&mut self) {
        (self.lasting, self.exporting) = (true, true);
    }

    /// A source; `lasting` may have been said of it.
    pub(super) fn is_lasting(&mut self, source: &Meta) {
        if std::mem::take(&mut self.exporting) && self.pass == 0 {
            self.topology.lasting.exported.push(*source);
        }
        if !std::mem::take(&mut self.lasting) && self.pass == 0 {
            self.topology.lasting.volatile.push(*source);
        }
    }

    /// What the sink `meta` writes counts only when the whole job has succeeded.
    pub(crate) fn at_the_end(&mut self, meta: &Meta) {
        if self.pass == 0 {
            self.topology.lasting.at_the_end.push(*meta);
        }
    }
}

impl Topology {
    /// How many tables of keyed state that can leave the memory there are in all stage instances; it has to be state that can be written down.
    ///
    /// # Errors
    /// Names the source of a pipeline whose state cannot.
    #[cold]
    pub(crate) fn tables(&self) -> Result<usize> {
        if let Some(source) = self.lasting.volatile.first() {
            let what = "the job has a state backend, and the pipeline's state cannot be written down";
            return Err(Error::new(ErrorKind::Plan, what).in_stage(source.id()).at(source.at()).note(
                "write `#[checkpointed]` before the pipeline's `fn`, or by hand `source(…).durable()` for each source",
            ));
        }
        Ok(self.stages.iter().flat_map(|stage| &stage.instances).map(|instance| instance.tables()).sum())
    }

    /// An exported batch writes its savepoint, and takes no checkpoints; `cut` says that the job writes one at the end of its input.
    ///
    /// # Errors
    /// Names a source of it where the job does not.
    #[cold]
    pub(crate) fn check_exported(&self, cut: bool) -> Result<()> {
        let Some(source) = self.lasting.exported.first().filter(|_| !cut) else { return Ok(()) };
        let what = "the job runs an exported batch, and nobody has said where its savepoint goes";
        let error = Error::new(ErrorKind::Plan, what).in_stage(source.id()).at(source.at());
        Err(error.note("write `job.savepoint_to(folder)`, and no `checkpoints`; without an export it is `#[batch]`, by hand `.batch()`"))
    }

    /// Whether the pipeline may write a savepoint where its input ends.
    ///
    /// # Errors
    /// Names what may not.
    #[cold]
    pub(crate) fn check_cut(&self) -> Result<()> {
        if let Some(source) = self.lasting.volatile.first() {
            let what = "the job is to write a savepoint at the end of its input, and the pipeline's state cannot be written down";
            return Err(Error::new(ErrorKind::Plan, what).in_stage(source.id()).at(source.at()).note(
                "write `#[batch(exported)]` before the pipeline's `fn`, or by hand `source(…).exported()` for each source",
            ));
        }
        self.check_names()
    }

    /// Whether the pipeline may take checkpoints.
    ///
    /// # Errors
    /// Names what may not.
    #[cold]
    pub(crate) fn check_lasting(&self) -> Result<()> {
        let error =
            |what: String, meta: &Meta| Error::new(ErrorKind::Plan, what).in_stage(meta.id()).at(meta.at());
        if let Some(source) = self.lasting.volatile.first() {
            let what = "the job takes checkpoints, and the pipeline keeps no state in them";
            return Err(error(what.into(), source).note(
                "write `#[checkpointed]` before the pipeline's `fn`, or by hand `source(…).durable()` for each source",
            ));
        }
        if let Some(sink) = self.lasting.at_the_end.first() {
            let what = format!(
                "`{}` writes a file that counts when the job has ended: after a restart what came before it would be missing",
                sink.op()
            );
            let note = "write into a folder of files that are committed with the checkpoints, `text_files(folder)`, `csv_files(folder)` or `json_files(folder)`, or run the job without checkpoints";
            return Err(error(what, sink).note(note));
        }
        self.check_names()
    }

    /// No two operators have one name.
    fn check_names(&self) -> Result<()> {
        for (n, node) in self.nodes.iter().enumerate() {
            if let Some(other) = self.nodes[..n].iter().find(|other| other.id == node.id) {
                let what = format!(
                    "two operators are called `{}`, at {} and at {}, and their state is found again by that name",
                    node.id, other.at, node.at
                );
                return Err(
                    Error::new(ErrorKind::Plan, what).note("give one of them another name: `.named(\"…\")`")
                );
            }
        }
        Ok(())
    }
}
