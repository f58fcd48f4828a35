//! What a job says about its checkpoints.

use super::saves::ROOM;
use super::upgrades::Upgrade;
use super::{Folder, Storage};
use crate::error::{Error, ErrorKind, Result};
use crate::time::Millis;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the checkpoints of a job lie, and how often one is taken: what [`Job::checkpoints`](crate::job::Job::checkpoints) is given.
///
/// ```
/// use flow_core::prelude::*;
/// let folder = tempfile::tempdir().unwrap();
/// let checkpoints = Checkpoints::to(folder.path()).every(Millis(10_000)).retained(3);
/// let out = Collected::new();
/// let job = Job::build("sums", |job| {
///     let numbers = source(from_iter(1..=4)).durable();
///     job.add(numbers.key_by(|n| n % 2).sum(|n| *n).collect(&out));
/// });
/// job.checkpoints(checkpoints).run().unwrap();
/// assert_eq!(out.take(), [(1, 1), (0, 2), (1, 4), (0, 6)]);
/// ```
#[derive(Clone)]
#[must_use = "checkpoints are taken when a job is given them"]
pub struct Checkpoints {
    place: Place,
    pub(crate) every: Millis,
    pub(crate) timeout: Millis,
    pub(crate) retained: usize,
    pub(crate) failures: u32,
    pub(crate) deltas: u32,
    pub(crate) buffer: Option<usize>,
    pub(crate) from: Option<u64>,
    /// The savepoint to begin from where there is nothing yet.
    pub(crate) begin: Option<PathBuf>,
    /// Only one is taken, where the input ends.
    pub(crate) cut: bool,
    pub(crate) dropped: Vec<String>,
    pub(crate) given_up: Vec<String>,
    pub(crate) upgrades: Vec<Upgrade>,
}

#[derive(Clone)]
enum Place {
    Folder(PathBuf),
    Storage(Arc<dyn Storage>),
}

/// Between two checkpoints, unless said otherwise.
const EVERY: Millis = Millis(10_000);
/// A checkpoint that takes longer has failed.
const TIMEOUT: Millis = Millis(600_000);

impl Checkpoints {
    /// In this folder, which is made where it is missing. It belongs to one job.
    pub fn to(folder: impl Into<PathBuf>) -> Self {
        Self::at(Place::Folder(folder.into()))
    }

    /// In a storage of your own.
    pub fn in_storage(storage: Arc<dyn Storage>) -> Self {
        Self::at(Place::Storage(storage))
    }

    fn at(place: Place) -> Self {
        Checkpoints {
            place,
            every: EVERY,
            timeout: TIMEOUT,
            retained: 2,
            failures: 3,
            deltas: 10,
            buffer: None,
            from: None,
            begin: None,
            cut: false,
            dropped: Vec::new(),
            given_up: Vec::new(),
            upgrades: Vec::new(),
        }
    }

    /// How long after the beginning of one the next begins; 10 s unless said otherwise. One that is not complete is waited for.
    pub fn every(mut self, interval: impl Into<Millis>) -> Self {
        self.every = interval.into();
        self
    }

    /// A checkpoint that is not complete after so long has failed; 10 min unless said otherwise. The job goes on.
    pub fn timeout(mut self, timeout: impl Into<Millis>) -> Self {
        self.timeout = timeout.into();
        self
    }

    /// How many complete checkpoints are kept, at least 1; 2 unless said otherwise. Savepoints are kept beside them.
    pub fn retained(mut self, checkpoints: usize) -> Self {
        self.retained = checkpoints;
        self
    }

    /// How many may fail in a row; with one more the job ends. 3 unless said otherwise.
    pub fn max_failed(mut self, checkpoints: u32) -> Self {
        self.failures = checkpoints;
        self
    }

    /// After how many checkpoints that say only what has changed the next is written whole; 10 unless said otherwise.
    pub fn deltas(mut self, checkpoints: u32) -> Self {
        self.deltas = checkpoints;
        self
    }

    /// How many bytes of a checkpoint may lie in memory until the storage has taken them; 64 MiB unless said otherwise, and 8 MiB in a job
    /// with a [state backend](crate::job::Job::state_backend), which is to need little. Where it is slow the stages
    /// go on with the data and write their state later: the checkpoint takes longer. Beside it each stage instance fills blocks,
    /// of 64 KiB for each key group, and what is changed before it is written is written at once.
    ///
    /// ```
    /// use flow_core::prelude::*;
    /// let folder = tempfile::tempdir().unwrap();
    /// let checkpoints = Checkpoints::to(folder.path()).buffer(8 << 20);
    /// # let out = Collected::new();
    /// let job = Job::build("counts", |job| {
    ///     let words = source(from_vec(vec!["a", "b", "a"])).durable();
    ///     job.add(words.map(str::to_owned).key_by(|w| w.clone()).count().map(|c| c.1).collect(&out));
    /// });
    /// job.checkpoints(checkpoints).run().unwrap();
    /// # assert_eq!(out.take(), [1, 1, 2]);
    /// ```
    pub fn buffer(mut self, bytes: usize) -> Self {
        self.buffer = Some(bytes);
        self
    }

    /// Starts from checkpoint `id` instead of the newest. What sinks have committed after it would be there twice:
    /// folders of files refuse to start until those files are removed, other sinks write it once more. It is said of this start: a job that
    /// begins again by itself ([`Job::restart`](crate::job::Job::restart)) goes on from what it has completed since.
    pub fn restore_from(mut self, id: u64) -> Self {
        self.from = Some(id);
        self
    }

    /// Where this folder has no checkpoint yet, the job begins from the newest in that one: the savepoint of an exported batch
    /// ([`Job::savepoint_to`](crate::job::Job::savepoint_to)), or one of a job of any name. Nothing is written there, and as soon as there is a checkpoint here it is not looked at any more, so this may stand in the
    /// program for good; until then its files have to stay.
    ///
    /// Sources begin at their beginnings where it is that of a batch, else at the positions in it, which have to be theirs.
    pub fn begin_from(mut self, savepoint: impl Into<PathBuf>) -> Self {
        self.begin = Some(savepoint.into());
        self
    }

    /// One alone, where the input ends.
    pub(crate) fn at_the_end(mut self) -> Self {
        self.cut = true;
        self
    }

    /// The state of an operator that is no longer in the pipeline may be dropped; otherwise the job does not start. Of a sink that is gone it lets
    /// go what was staged: nothing, where it has been stopped by a savepoint or come to its end, since that was committed then.
    pub fn drop_state(mut self, operator: impl Into<String>) -> Self {
        self.dropped.push(operator.into());
        self
    }

    /// What the sink with this id staged before the job was away for longer than its transactions live is given up, where it cannot be
    /// committed any more; otherwise the job does not start. See
    /// [`Committer::transaction_timeout`](super::Committer::transaction_timeout).
    pub fn give_up(mut self, sink: impl Into<String>) -> Self {
        self.given_up.push(sink.into());
        self
    }

    /// The same of a job that is to need little memory.
    pub(crate) fn sparing(mut self) -> Self {
        self.buffer.get_or_insert(ROOM / 8);
        self
    }

    /// The same, from the newest checkpoint.
    pub(crate) fn newest(self) -> Self {
        Checkpoints { from: None, ..self }
    }

    pub(crate) fn storage(&self) -> Result<Arc<dyn Storage>> {
        match &self.place {
            Place::Storage(storage) => Ok(Arc::clone(storage)),
            Place::Folder(folder) => open(folder),
        }
    }

    /// The storage to begin from, which has to be there.
    pub(crate) fn begin_storage(&self) -> Result<Option<Arc<dyn Storage>>> {
        let Some(folder) = &self.begin else { return Ok(None) };
        if !folder.is_dir() {
            let what = format!("there is no folder {} to begin from", folder.display());
            return Err(Error::new(ErrorKind::State, what));
        }
        open(folder).map(Some)
    }

    pub(crate) fn check(&self) -> Result<()> {
        for (what, least, value) in [
            ("an interval", 1, self.every.0),
            ("a timeout", 1, self.timeout.0),
            ("a number of retained checkpoints", 1, i64::try_from(self.retained).unwrap_or(i64::MAX)),
        ] {
            if value < least {
                let what = format!("{what} of {value}: it has to be at least {least}");
                return Err(Error::new(ErrorKind::Plan, what));
            }
        }
        Ok(())
    }
}

fn open(folder: &Path) -> Result<Arc<dyn Storage>> {
    let opened = Folder::open(folder).map_err(|error| {
        Error::new(ErrorKind::State, format!("the folder of checkpoints {}: {error}", folder.display()))
    });
    Ok(Arc::new(opened?))
}

impl std::fmt::Debug for Checkpoints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checkpoints").field("every", &self.every).finish_non_exhaustive()
    }
}
