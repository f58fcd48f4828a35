//! Threads that step tasks and sleep when none can go on.
//!
//! A thread goes round its tasks. When a whole round has made no progress it spins and yields a little, then sleeps until one of its
//! rings has news, a source is woken, or the clock reaches what a task waits for.

use super::control::Control;
use super::panics::guard;
use super::task::{Progress, Task};
use super::wire::{Instance, Launch};
use super::{Host, HostKind};
use crate::channel::{Backoff, Waiter};
use crate::error::{Error, ErrorKind, Result};
use crate::spawn::spawn;
use crate::time::Clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// How long a job waits after a failure for threads that are inside a user's closure: within a second `run` has returned.
const GRACE: Duration = Duration::from_millis(750);

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
        let Launch { threads, control, clock, .. } = launch;
        let count = threads.len();
        let mut running = Vec::with_capacity(count);
        for (number, (waiter, instances)) in threads.into_iter().enumerate() {
            let names: Vec<String> = instances.iter().map(|i| i.name().to_owned()).collect();
            let name = match (self.workers, names.first()) {
                (None, Some(only)) => only.clone(),
                _ => format!("flow-worker-{number}"),
            };
            let at = control.started(number, names);
            let (control, clock) = (control.clone(), Arc::clone(&clock));
            let worker = Worker::new(waiter, control.clone(), clock, count, at);
            match spawn(name, Box::new(move || worker.run(number, instances))) {
                Ok(thread) => running.push(thread),
                Err(error) => {
                    control.finished(number);
                    let what = format!("thread {number} of {count} cannot be started: {error}");
                    control.fail(Error::new(ErrorKind::Plan, what));
                    break;
                }
            }
        }
        let left = control.wait(GRACE);
        for (number, thread) in running.into_iter().enumerate() {
            if left.iter().all(|l| l.0 != number) {
                // It has said that it is done, and why, so its result is nothing new.
                let _ = thread.join();
            }
        }
        let failed = control.take_failure();
        if left.is_empty() {
            return failed.map_or(Ok(()), Err);
        }
        let left: Vec<String> = left.into_iter().map(|l| l.1).collect();
        let stopped =
            || Error::new(ErrorKind::Stuck, "the job was ended at a checkpoint, and not all of it has ended");
        let note = format!("still inside a closure and left behind: {}", left.join(", "));
        Err(failed.unwrap_or_else(stopped).note(note))
    }
}

/// A thread of a host.
pub(super) struct Worker {
    waiter: Waiter,
    control: Control,
    clock: Arc<dyn Clock>,
    /// How many threads the job has.
    threads: usize,
    /// The number of the instance that is being stepped: see [`Control::started`].
    at: Arc<AtomicUsize>,
}

/// A task, and its number on this thread.
type Numbered = (usize, Task);

impl Worker {
    pub(super) fn new(
        waiter: Waiter,
        control: Control,
        clock: Arc<dyn Clock>,
        threads: usize,
        at: Arc<AtomicUsize>,
    ) -> Self {
        Worker { waiter, control, clock, threads, at }
    }

    /// Steps tasks until all are done.
    #[cfg(test)]
    pub(super) fn run_tasks(mut self, tasks: Vec<Task>) -> Result<()> {
        self.step_all(&mut tasks.into_iter().enumerate().collect())
    }

    fn run(mut self, number: usize, instances: Vec<Instance>) {
        let mut tasks = Vec::new();
        // Everything of the user's happens in here, the destructors of his records included.
        let ran = guard(|| {
            self.open(instances, &mut tasks)?;
            self.step_all(&mut tasks)
        });
        if let Err(error) = ran {
            self.control.fail(error);
        }
        // Only now that the others know: a ring that closes without an end looks like one nobody reads any more.
        for (_, task) in tasks {
            if let Err(error) = task.discard() {
                self.control.fail(error);
            }
        }
        self.control.finished(number);
    }

    fn open(&mut self, instances: Vec<Instance>, tasks: &mut Vec<Numbered>) -> Result<()> {
        for (n, instance) in instances.into_iter().enumerate() {
            self.at.store(n, Relaxed);
            tasks.push((n, instance.open()?));
        }
        Ok(())
    }

    fn step_all(&mut self, tasks: &mut Vec<Numbered>) -> Result<()> {
        let mut backoff = Backoff::for_threads(self.threads);
        while !tasks.is_empty() && !self.control.is_over() {
            let (made, deadline) = round(tasks, &self.control, self.clock.as_ref(), &self.at)?;
            if made {
                backoff.reset();
            } else if !backoff.pause() {
                self.sleep(tasks, deadline)?;
                backoff.reset();
            }
        }
        Ok(())
    }

    /// Sleeps until there is news. The last look before is a whole round: only a step knows whether a source has something.
    fn sleep(&mut self, tasks: &mut Vec<Numbered>, deadline: Option<i64>) -> Result<()> {
        let now = self.clock.ticks();
        let limit = deadline.map(|at| Duration::from_millis(u64::try_from(at - now).unwrap_or(0)));
        let stopping = self.control.stopping();
        let (mut looked, mut failed) = (false, None);
        let Worker { waiter, control, clock, at, .. } = self;
        waiter.wait(limit, || {
            if control.is_over() || control.stopping() != stopping {
                return true;
            }
            if std::mem::replace(&mut looked, true) {
                return tasks.iter_mut().any(|task| task.1.has_news());
            }
            match round(tasks, control, clock.as_ref(), at) {
                // A task that was blocked a moment ago may have found room, and now wait for an earlier tick than was known.
                Ok((made, tick)) => {
                    made || tick.is_some_and(|tick| deadline.is_none_or(|known| tick < known))
                }
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
fn round(
    tasks: &mut Vec<Numbered>,
    control: &Control,
    clock: &dyn Clock,
    at: &AtomicUsize,
) -> Result<(bool, Option<i64>)> {
    let (mut made, mut deadline) = (false, None::<i64>);
    let (now, stop) = (clock.ticks(), control.stopping());
    for (number, task) in tasks.iter_mut() {
        at.store(*number, Relaxed);
        match task.step(now, stop)? {
            Progress::Made | Progress::Done => made = true,
            Progress::Idle(tick) | Progress::Blocked(tick) => {
                deadline = [deadline, tick].into_iter().flatten().min();
            }
        }
        if control.is_over() {
            break;
        }
    }
    tasks.retain(|task| !task.1.is_done());
    Ok((made, deadline))
}
