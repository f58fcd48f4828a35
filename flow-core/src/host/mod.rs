//! Hosts: who steps the stages.
//!
//! * `wire`: connects the instances of a topology with rings and opens them on their threads;
//! * `task`: a stage instance with its incoming rings, and **the** step: take, work, give back;
//! * [`threads`]: threads that step tasks and sleep when none can go on: one a task (`threads`), or n in all (`workers(n)`);
//! * [`simulation`]: one thread, a virtual clock, and a seed that chooses who steps next;
//! * [`control`]: the first failure, the stop request, the wake-ups.
//!
//! # When something fails
//!
//! 1. A step, an opening or a destructor that panics or returns an error is caught where it was called, and the thread
//!    tells [`Control::fail`]. The first failure is the job's; everybody who sleeps is woken.
//! 2. Each thread looks before every step whether the job is over, and leaves.
//! 3. Only then does it drop its tasks. The other way round a ring would close without an end before the others know
//!    why, and a sender would take it for a receiver that has enough.
//! 4. `run` waits for the threads, but for less than a second: one that is inside a user's closure cannot be stopped, so
//!    it is named in the error and left behind.
//! 5. What the sinks have staged is taken back, also what a thread stages that was left behind. When nothing has failed it
//!    is committed, after the last thread has finished.
//!
//! Only this room starts threads. A host needs nothing of a stage but [`Stage`](crate::stage::Stage).

pub mod control;
pub mod simulation;
mod task;
#[cfg(test)]
mod tests;
pub mod threads;
pub(crate) mod wire;

pub use control::Control;
pub use task::{Progress, Task};
pub use wire::{Instance, Launch};

use crate::error::Result;
pub(crate) use crate::stage::panics;

/// Runs the tasks of a job to their end. A host of your own implements this and is given to
/// [`Job::host_with`](crate::job::Job::host_with).
///
/// It promises: every instance is opened and stepped by one thread at a time, and all of them before it returns, unless
/// one fails.
pub trait Host: Send + Sync {
    /// On which of its threads an instance runs; instances of equal numbers share a thread.
    fn place(&self, stage: usize, instance: usize, instances: usize, task: usize) -> usize;
    /// Opens and steps everything until it is done or one has failed.
    ///
    /// # Errors
    /// The first failure.
    fn run(&self, launch: Launch) -> Result<()>;
}

/// A host by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostKind {
    /// [`HostKind::Workers`] of as many threads as the machine has cores when the job has more stage instances than that,
    /// else [`HostKind::Threads`]; at parallelism 1 a single worker.
    Auto,
    /// One thread for each stage instance, named after it.
    Threads,
    /// So many threads, each stepping several stage instances.
    Workers(usize),
}
