//! A stage: the maximal fused tree of operators between two exchanges, as an object without threads.
//!
//! * [`push`]: what lies behind an operator inside a stage: nested structs, monomorphized around the user's closures;
//! * [`head`]: the typed beginning of a stage behind an edge; [`headed`]: the stage object over it, `kept`: what of it stands in checkpoints;
//! * [`sourced`]: the stage object over a source;
//! * [`build`]: how chains become stages and edges, instance by instance;
//! * [`outs`]: the sender's end of an edge: one buffer and one ring a receiver; [`wires`]: its half without types;
//! * [`alarm`]: when one without room will have some; [`drift`]: sources that wait for those that are behind;
//! * `panics`: where a panic came from;
//! * [`open`]: what a stage is given when it opens: its edges, its clock, its counters.
//!
//! A stage knows no threads, no channels but its own outgoing buffers, no clock and no files, and **never waits**: the
//! loop over a batch and the firing of a window are cursors that stop when there is no room downstream and go on later.

pub mod alarm;
pub mod build;
pub mod drift;
pub mod head;
pub mod headed;
pub(crate) mod held;
mod kept;
pub mod meta;
mod of_run;
pub mod open;
pub mod outs;
pub(crate) mod own;
pub(crate) mod panics;
pub mod push;
#[cfg(test)]
mod save_tests;
#[cfg(test)]
mod silence;
pub mod sourced;
#[cfg(test)]
pub(crate) mod tests;
pub mod wires;

pub use build::{BuildCx, Count, Draft, EdgeId, EdgeKind, EdgeRef, StageDef, Topology};
pub use head::{Fire, Head};
pub use headed::HeadStage;
pub use meta::{Meta, OpNode};
pub(crate) use open::Staged;
pub use open::{BatchSize, Commit, Commits, Context, Faults, OpenCx, split_mix};
pub use outs::Outs;
pub use push::{Push, Stamp, Tail};
pub use sourced::{Poll, Reader, SourceStage};
pub use wires::Wire;

use crate::batch::Batch;
use crate::error::Result;

/// What a step of a stage came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It did something; step it again.
    Worked,
    /// It has consumed what it was offered and wants a batch.
    Hungry,
    /// There is no room downstream.
    Full,
    /// A source has nothing before its waker is called, or before this tick of the clock.
    Wait(Option<i64>),
    /// It has sent its end and everything before it.
    Done,
}

/// A stage as a host sees it. The host promises: `open` first, steps from one thread at a time, `offer` only where
/// [`Stage::wants`] says so, and no step after `Done`.
pub trait Stage: Send {
    /// Connects it and opens what its operators need.
    ///
    /// # Errors
    /// Whatever the user's sources, sinks and operators report.
    fn open(&mut self, cx: &mut OpenCx) -> Result<()>;
    /// Whether it would take a batch of this input now.
    fn wants(&self, input: usize) -> bool;
    /// Gives it a batch of this input.
    fn offer(&mut self, input: usize, batch: Batch);
    /// A batch it is done with, to go back to its sender.
    fn spent(&mut self) -> Option<(usize, Batch)>;
    /// Does a bounded amount of work.
    ///
    /// # Errors
    /// The first error of an operator, source or sink; the job is over then.
    fn step(&mut self) -> Result<Step>;
    /// Whether there is room downstream; moves what overflowed where it can.
    fn room(&mut self) -> bool;
    /// Sends what is buffered although it is not full: the stage is about to wait.
    fn flush(&mut self);
    /// The tick at which it wants [`Stage::tick`], if any.
    fn deadline(&self) -> Option<i64>;
    /// The clock has reached `now`.
    fn tick(&mut self, now: i64);
    /// Asks a source to end as if its input had; other stages end by themselves.
    fn stop(&mut self);
    /// Whether it is asked for checkpoints though it has inputs: they have ended, and it goes on.
    fn takes_orders(&self) -> bool {
        false
    }
    /// Whether it reads its inputs also where it has no room: only barriers come there until it has some again.
    fn listens(&self) -> bool {
        false
    }
    /// Puts a checkpoint barrier at this place of a source's sequence, or of one that takes orders; other stages get it over their edges.
    fn barrier(&mut self, id: u64);
    /// Begins to write its keyed state as it is now, whole or what has changed since it began the last time. Each step goes on with it, so
    /// far as `slice` says. For tests: in a job with checkpoints the barrier does it.
    ///
    /// # Errors
    /// When the pipeline's mode keeps no state or a value cannot be written.
    fn begin_save(&mut self, whole: bool, slice: usize) -> Result<()>;
    /// Whether steps go on with that.
    fn is_saving(&self) -> bool {
        false
    }
    /// Writes the rest: the bytes of the key groups that have some.
    ///
    /// # Errors
    /// As [`Stage::begin_save`].
    fn saved(&mut self) -> Result<Vec<(usize, Vec<u8>)>>;
    /// The types of its keyed state, for messages and to compare; empty where it keeps none, or none is written down.
    fn schema(&self) -> Result<String> {
        Ok(String::new())
    }
    /// How many tables of keyed state it has that do not have to be in memory: so many share the memory for state, where the job has a state backend.
    fn tables(&self) -> usize {
        0
    }
    /// Takes over the keyed state of one key group: all that was written of it, in order, the first piece whole.
    ///
    /// # Errors
    /// When the bytes are not what this stage writes.
    fn restore(&mut self, group: usize, history: &[Vec<u8>]) -> Result<()>;
}
