//! Whether a pipeline may take checkpoints.

use super::{BuildCx, Topology};
use crate::error::{Error, ErrorKind, Result};
use crate::stage::Meta;

/// What a pipeline says of checkpoints while it is built.
#[derive(Default)]
pub(super) struct Lasting {
    /// Sources of which nobody has said that they are of a checkpointed pipeline.
    volatile: Vec<Meta>,
    /// Sinks whose results count only when the whole job has succeeded.
    at_the_end: Vec<Meta>,
}

impl BuildCx<'_> {
    /// The source that comes next is of a checkpointed pipeline.
    pub fn lasting(&mut self) {
        self.lasting = true;
    }

    /// A source; `lasting` may have been said of it.
    pub(super) fn is_lasting(&mut self, source: &Meta) {
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
