//! Threads that step tasks and sleep when none can go on.
//!
//! A thread goes round its tasks. When a whole round has made no progress it spins and yields a little, then sleeps until one of its
//! rings has news, a source is woken, or the clock reaches what a task waits for.

use super::control::Control;
use super::task::{Progress, Task};
use super::wire::{Instance, Launch};
use super::{Host, HostKind};
use crate::channel::{Backoff, Waiter};
use crate::error::{Error, ErrorKind, Result};
use crate::time::Clock;
use std::sync::Arc;
use std::time::Duration;

/// How long a job waits after a failure for threads that are inside a user's closure.
const GRACE: Duration = Duration::from_millis(900);

/// The hosts with real threads.
#[derive(Debug, Clone, Copy)]
pub struct Threads {
    workers: Option<usize>,
}

impl Threads {
    /// One thread for each instance.
    pub fn each() -> Self {
        Threads { workers: None }
    }

    /// `n` threads in all.
    pub fn workers(n: usize) -> Self {
        Threads { workers: Some(n.max(1)) }
    }

    /// As `kind` says, for a job of `instances` stage instances at this parallelism.
    pub(crate) fn of(kind: HostKind, instances: usize, parallelism: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        match kind {
            HostKind::Threads => Self::each(),
            HostKind::Workers(n) => Self::workers(n),
            HostKind::Auto if parallelism == 1 => Self::workers(1),
            HostKind::Auto if instances > cores => Self::workers(cores),
            HostKind::Auto => Self::each(),
        }
    }
}

impl Host for Threads {
    fn place(&self, stage: usize, instance: usize, instances: usize, task: usize) -> usize {
        match self.workers {
            None => task,
            // Instances of equal number share a thread; single ones are dealt out.
            Some(n) if instances >= n => instance % n,
            Some(n) => (stage + instance) % n,
        }
    }

    fn run(&self, launch: Launch) -> Result<()> {
        let Launch { threads, control, clock } = launch;
        let count = threads.len();
        for (k, (waiter, instances)) in threads.into_iter().enumerate() {
            let name = match (self.workers, instances.first()) {
                (None, Some(only)) => only.name().to_owned(),
                _ => format!("flow-worker-{k}"),
            };
            let worker =
                Worker { waiter, control: control.clone(), clock: Arc::clone(&clock), threads: count };
            let id = control.started(name.clone());
            let spawned = std::thread::Builder::new().name(name).spawn(move || {
                let control = worker.control.clone();
                if let Err(error) = worker.run(instances) {
                    control.fail(error);
                }
                control.finished(id);
            });
            if let Err(error) = spawned {
                control.finished(id);
                control.fail(Error::new(ErrorKind::Plan, format!("a thread cannot be started: {error}")));
                break;
            }
        }
        let left = control.wait(GRACE);
        match control.take_failure() {
            None => Ok(()),
            Some(error) if left.is_empty() => Err(error),
            Some(error) => {
                let left = left.join(", ");
                Err(error.note(format!("still inside a closure and left behind: {left}")))
            }
        }
    }
}

/// A thread of a host.
struct Worker {
    waiter: Waiter,
    control: Control,
    clock: Arc<dyn Clock>,
    /// How many threads the job has.
    threads: usize,
}

impl Worker {
    fn run(mut self, instances: Vec<Instance>) -> Result<()> {
        let mut tasks = instances.into_iter().map(Instance::open).collect::<Result<Vec<Task>>>()?;
        let mut backoff = Backoff::for_threads(self.threads);
        while !tasks.is_empty() && !self.control.is_over() {
            let (made, deadline) = round(&mut tasks, &self.control, self.clock.as_ref())?;
            if made {
                backoff.reset();
            } else if !backoff.pause() {
                self.sleep(&mut tasks, deadline)?;
                backoff.reset();
            }
        }
        Ok(())
    }

    /// Sleeps until there is news. The last look before is a whole round: only a step knows whether a source has something.
    fn sleep(&mut self, tasks: &mut Vec<Task>, deadline: Option<i64>) -> Result<()> {
        let now = self.clock.ticks();
        let limit = deadline.map(|at| Duration::from_millis(u64::try_from(at - now).unwrap_or(0)));
        let stopping = self.control.stopping();
        let (mut looked, mut failed) = (false, None);
        let Worker { waiter, control, clock, .. } = self;
        waiter.wait(limit, || {
            if control.is_over() || control.stopping() != stopping {
                return true;
            }
            if std::mem::replace(&mut looked, true) {
                return tasks.iter_mut().any(Task::has_news);
            }
            match round(tasks, control, clock.as_ref()) {
                Ok((made, _)) => made,
                Err(error) => {
                    failed = Some(error);
                    true
                }
            }
        });
        failed.map_or(Ok(()), Err)
    }
}

/// Steps each task once; whether any made progress, and the first tick that one waits for.
fn round(tasks: &mut Vec<Task>, control: &Control, clock: &dyn Clock) -> Result<(bool, Option<i64>)> {
    let (mut made, mut deadline) = (false, None::<i64>);
    let (now, stop) = (clock.ticks(), control.stopping());
    for task in tasks.iter_mut() {
        match task.step(now, stop)? {
            Progress::Made | Progress::Done => made = true,
            Progress::Idle(tick) => deadline = [deadline, tick].into_iter().flatten().min(),
            Progress::Blocked => {}
        }
    }
    tasks.retain(|task| !task.is_done());
    Ok((made, deadline))
}
