//! The newest complete checkpoint, what sinks have staged for the next, and what is done once that is complete: outputs are committed,
//! sources are told, and files that nobody needs are removed.

use super::current::States;
use super::failpoint::point;
use super::listing::{Written, manifest};
use super::manifest::{Manifest, StagedOutput};
use super::{Acknowledgers, CommitError, Committers, Slot, Store, Tracked, Writing};
use crate::error::Result;
use crate::metrics::StageMetrics;
use crate::time::Clock;
use std::sync::Arc;

/// What is told of complete checkpoints.
pub(crate) struct Outside {
    pub committers: Committers,
    pub acknowledgers: Acknowledgers,
}

/// Why a checkpoint has been taken.
pub(super) struct Taken {
    /// A user has asked for it.
    pub savepoint: bool,
    /// It is the last one of a job that has ended.
    pub finishing: bool,
    /// It is where the input of a batch ends.
    pub history: bool,
}

/// See the module.
pub(super) struct Complete {
    store: Store,
    newest: Manifest,
    /// What has been staged and not committed.
    staged: Vec<StagedOutput>,
    outside: Outside,
    metrics: StageMetrics,
    clock: Arc<dyn Clock>,
    /// Why files that nobody needs are still there.
    garbage_stays: Option<String>,
}

impl Complete {
    pub fn new(store: Store, newest: Option<Manifest>, outside: Outside, clock: Arc<dyn Clock>) -> Self {
        let (newest, metrics) = (newest.unwrap_or_default(), StageMetrics::default());
        Complete { store, newest, staged: Vec::new(), outside, metrics, clock, garbage_stays: None }
    }

    pub fn metrics(&self) -> &StageMetrics {
        &self.metrics
    }

    /// The newest checkpoint, if there is one.
    pub fn newest(&self) -> Option<u64> {
        Some(self.newest.id).filter(|id| *id > 0)
    }

    /// Why files that nobody needs are still there: a disk may be full of them.
    pub fn why_garbage_stays(&self) -> Option<String> {
        self.garbage_stays.clone()
    }

    /// The file of a new checkpoint, or why it fails.
    ///
    /// # Errors
    /// When there can be no other either: another process has taken over.
    pub fn begin(&mut self, id: u64) -> Result<Result<Writing>> {
        match self.store.begin(id) {
            Err(taken_over) if self.store.has_ended() => Err(taken_over),
            writing => Ok(writing),
        }
    }

    /// Whether something of a stage stands in the newest checkpoint.
    pub fn has(&self, stage: &str) -> bool {
        self.newest.operators.iter().any(|state| state.id == stage)
    }

    /// A piece of what is saved, which may be a position.
    pub fn hear(&mut self, id: u64, state: &str, slot: Slot, bytes: &[u8]) {
        self.outside.acknowledgers.hear(id, state, slot, bytes);
    }

    /// A sink has staged something.
    pub fn stage(&mut self, output: StagedOutput) {
        self.staged.push(output);
    }

    /// The newest checkpoint for which something is staged.
    pub fn staged_for(&self) -> Option<u64> {
        self.staged.iter().map(|output| output.checkpoint).max()
    }

    /// Writes the manifest of checkpoint `id`, which is complete then.
    pub fn write(
        &mut self,
        id: u64,
        Taken { savepoint, finishing, history }: Taken,
        (writing, states): (Writing, States),
        tasks: &[Tracked],
    ) -> Result<(), CommitError> {
        let written = Written {
            id,
            taken: self.clock.wall(),
            savepoint,
            finished: finishing && tasks.iter().all(|task| task.finished),
            history,
            file: writing.file(),
            states: &states,
            staged: self.staged.iter().filter(|output| output.checkpoint <= id).cloned().collect(),
            tasks,
        };
        let manifest = manifest(written, &self.newest);
        let committed = self.store.commit(writing, manifest)?;
        self.metrics.counter("checkpoints.completed").add(1);
        self.metrics.counter("checkpoints.bytes").add(committed.bytes);
        self.newest = committed.manifest;
        Ok(())
    }

    /// Commits what was staged up to checkpoint `id`, which is complete, and tells the sources that they are safe; then removes files that
    /// nobody needs.
    ///
    /// # Errors
    /// When an output cannot be committed, a source cannot be told, or another process has taken over.
    pub fn commit(&mut self, id: u64) -> Result<()> {
        let staged = std::mem::take(&mut self.staged);
        let (mut due, later): (Vec<_>, Vec<_>) =
            staged.into_iter().partition(|output| output.checkpoint <= id);
        self.staged = later;
        point("P8a");
        self.outside.committers.commit(&mut due)?;
        point("P8c");
        self.outside.acknowledgers.acknowledge(id)?;
        point("P9");
        match self.store.collect_garbage() {
            Err(error) if self.store.has_ended() => Err(error),
            // All else is done; what has not gone goes after the next checkpoint.
            Err(error) => {
                self.metrics.counter("checkpoints.garbage_errors").add(1);
                self.garbage_stays = Some(format!("what is no longer needed could not be removed: {error}"));
                Ok(())
            }
            Ok(_) => {
                self.garbage_stays = None;
                Ok(())
            }
        }
    }

    /// What is staged and not committed is taken back: the next start reads those records again. Unless it is not known whether it is
    /// committed, or by whom: the next start sees.
    pub fn take_back(&mut self) {
        if !self.store.has_ended() {
            self.outside.committers.abort(&self.staged);
        }
    }
}
