//! What belongs to a checkpoint.

use crate::time::Timestamp;

/// A checkpoint: what was saved by whom, in which files, and what sinks have yet to commit.
///
/// With it stand the number of key groups and the version of the keys' hash: a program in which they differ cannot read it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The name of the job. [`Store::commit`](super::Store::commit) sets it.
    pub job: String,
    /// The number of the checkpoint; they rise.
    pub id: u64,
    /// Which opening of the folder wrote it; they rise. [`Store::commit`](super::Store::commit) sets it.
    pub epoch: u64,
    /// When it was taken, by the clock of the machine.
    pub taken: Timestamp,
    /// Asked for by the user: it is never removed.
    pub savepoint: bool,
    /// The job had come to its end.
    pub finished: bool,
    /// It was taken where the input of an exported batch ended: it has no positions, and sources of a job that starts from it begin at their beginnings.
    pub history: bool,
    /// What operators saved, sorted by id.
    pub operators: Vec<OperatorState>,
    /// What sinks have prepared: it is committed before anything is read.
    pub staged: Vec<StagedOutput>,
    /// The files in which the state is.
    pub files: Vec<StateFile>,
}

/// What one operator, in all its instances, saved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperatorState {
    /// The operator's id in the pipeline.
    pub id: String,
    /// Its kind, for messages.
    pub what: String,
    /// How many instances it had.
    pub instances: u32,
    /// All its instances had come to their ends.
    pub finished: bool,
    /// The version of its state.
    pub version: u16,
    /// A hash of the types of its state.
    pub fingerprint: u64,
    /// Those types as a text, for messages.
    pub schema: String,
    /// Where its state is: indices into [`Manifest::files`], in the order to apply: a full one, then what has changed since.
    pub files: Vec<u32>,
}

/// What an instance of a sink has prepared for a checkpoint and can commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StagedOutput {
    /// The sink's id in the pipeline.
    pub sink: String,
    /// Which instance of it.
    pub instance: u32,
    /// The checkpoint for which it was prepared: this one, or an earlier one that has not been committed.
    pub checkpoint: u64,
    /// What the sink needs to commit it.
    pub bytes: Vec<u8>,
}

/// A file with state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateFile {
    /// Its name in the folder.
    pub name: String,
    /// Its length in bytes.
    pub len: u64,
    /// A hash of its index, which has the checksum of every block: of the whole file, so.
    pub hash: u64,
}
