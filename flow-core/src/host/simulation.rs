//! One thread, a virtual clock, and a seed that decides everything else: the same seed gives the same run.
//!
//! The seed chooses which stage steps next; the batch sizes are drawn by the stages themselves, from 1 to the limit. The
//! clock moves when nobody can do anything, to the first tick that somebody waits for. When nobody waits for anything
//! the job is stuck, which is reported as the bug it is.

use super::Host;
use super::control::Control;
use super::panics::guard;
use super::task::{Progress, Task};
use super::wire::Launch;
use crate::channel::Waiter;
use crate::checkpoint::Coordinator;
use crate::error::{Error, ErrorKind, Result};
use crate::stage::split_mix;
use crate::time::{Clock, VirtualClock};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long the simulation waits at once for records from outside the job.
const OUTSIDE: Duration = Duration::from_millis(1);

/// In one of so many steps, for each task, a checkpoint begins where none is in flight. More of them, and in a large job the clock would hardly
/// ever move: until nobody has anything left to do each has to be asked.
const BEGINS: u64 = 1;
/// After so many that have begun while the clock stood still they are rarer, and after twice as many rarer still: who waits for the clock may be what all wait for.
const STILL: u64 = 64;
/// In one of so many steps the coordinator hears what has happened.
const HEARS: u64 = 4;

/// See the module.
pub struct Simulation {
    seed: u64,
    clock: Arc<VirtualClock>,
    crash_at: Option<u64>,
}

impl Simulation {
    /// A run that `seed` decides, on `clock`.
    pub fn new(seed: u64, clock: Arc<VirtualClock>) -> Self {
        Simulation { seed, clock, crash_at: None }
    }

    /// The process dies after so many steps.
    pub(crate) fn crash_at(self, steps: Option<u64>) -> Self {
        Simulation { crash_at: steps, ..self }
    }
}

impl Host for Simulation {
    fn place(&self, _: usize, _: usize, _: usize, _: usize) -> usize {
        0
    }

    fn run(&self, launch: Launch) -> Result<()> {
        let Launch { threads, control, coordinator, .. } = launch;
        let Some((waiter, instances)) = threads.into_iter().next() else { return Ok(()) };
        let mut run = Run {
            seed: self.seed,
            steps: 0,
            begun: 0,
            quiet: vec![None; instances.len()],
            tasks: Vec::new(),
        };
        // The destructors of the user's records may panic too, also where instances are left unopened.
        let ran = guard(|| {
            for instance in instances {
                run.tasks.push(instance.open()?);
            }
            self.step_all(&mut run, waiter, &control, coordinator.as_deref())
        });
        // The failure that is reported is the first.
        run.tasks.into_iter().map(Task::discard).fold(ran, Result::and)
    }
}

impl Simulation {
    fn step_all(
        &self,
        run: &mut Run,
        mut waiter: Waiter,
        control: &Control,
        coordinator: Option<&Mutex<Coordinator>>,
    ) -> Result<()> {
        loop {
            if let Some(coordinator) = coordinator {
                self.coordinate(run, coordinator)?;
            }
            let Some(next) = run.choose() else { return Ok(()) };
            let Some(task) = next else {
                if let Some(coordinator) = coordinator
                    && run.tasks.iter().any(Task::waits_to_save)
                {
                    lock(coordinator).work(self.clock.ticks())?;
                    run.tell_receivers();
                    continue;
                }
                match run.deadline() {
                    Some(tick) => {
                        run.begun = 0;
                        self.clock.advance_to(tick);
                    }
                    None if run.waits_outside() => {
                        waiter.wait(Some(OUTSIDE), || false);
                    }
                    None => return Err(run.stuck()),
                }
                run.wake();
                continue;
            };
            run.step(task, self.clock.ticks(), control.stopping())?;
        }
    }
}

impl Simulation {
    /// The coordinator's turn, if the seed says so: it hears what has happened, and may begin a checkpoint.
    fn coordinate(&self, run: &mut Run, coordinator: &Mutex<Coordinator>) -> Result<()> {
        self.crash(run)?;
        let drawn = split_mix(&mut run.seed);
        if drawn.is_multiple_of(HEARS) {
            let mut coordinator = lock(coordinator);
            coordinator.work(self.clock.ticks())?;
            run.tell_receivers();
            let begins = (BEGINS * run.tasks.len() as u64 / HEARS).max(2) * (1 + run.begun / STILL);
            if (drawn / HEARS).is_multiple_of(begins) && coordinator.begin_now(self.clock.ticks())? {
                run.begun += 1;
                run.wake();
            }
        }
        Ok(())
    }

    /// The process dies here, if the job was told so: nothing more is written, taken back or committed.
    fn crash(&self, run: &mut Run) -> Result<()> {
        run.steps += 1;
        if self.crash_at.is_some_and(|at| run.steps >= at) {
            return Err(Error::new(ErrorKind::Crash, "the simulated process has died"));
        }
        Ok(())
    }
}

fn lock(coordinator: &Mutex<Coordinator>) -> MutexGuard<'_, Coordinator> {
    coordinator.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The tasks of a run, and which of them had nothing to do when they were last stepped.
struct Run {
    seed: u64,
    steps: u64,
    /// Checkpoints that have begun since the clock moved.
    begun: u64,
    tasks: Vec<Task>,
    quiet: Vec<Option<Progress>>,
}

impl Run {
    /// A task that may have something to do; `Some(None)` when there is none, `None` when all are done.
    fn choose(&mut self) -> Option<Option<usize>> {
        if self.tasks.iter().all(Task::is_done) {
            return None;
        }
        let awake = (0..self.tasks.len()).filter(|t| self.quiet[*t].is_none() && !self.tasks[*t].is_done());
        let awake: Vec<usize> = awake.collect();
        if awake.is_empty() {
            return Some(None);
        }
        Some(Some(awake[(split_mix(&mut self.seed) % awake.len() as u64) as usize]))
    }

    fn step(&mut self, task: usize, now: i64, stop: bool) -> Result<()> {
        match self.tasks[task].step(now, stop)? {
            Progress::Made | Progress::Done => self.wake(),
            quiet => self.quiet[task] = Some(quiet),
        }
        if self.quiet[task].is_some() {
            self.tell_receivers();
        }
        Ok(())
    }

    /// A task that is blocked may still have moved a part of its overflow into a ring, and one that waits may have passed on
    /// what it held; the coordinator may have made room for what is saved.
    fn tell_receivers(&mut self) {
        for (task, quiet) in self.tasks.iter_mut().zip(&mut self.quiet) {
            if quiet.is_some() && task.has_news() {
                *quiet = None;
            }
        }
    }

    /// Something has changed: everybody may have something to do.
    fn wake(&mut self) {
        self.quiet.fill(None);
    }

    fn deadline(&self) -> Option<i64> {
        let ticks = self.quiet.iter().filter_map(|q| {
            if let Some(Progress::Idle(tick) | Progress::Blocked(tick)) = q { *tick } else { None }
        });
        ticks.min()
    }

    /// Whether a source waits for records from outside the job.
    fn waits_outside(&self) -> bool {
        let mut all = self.tasks.iter().zip(&self.quiet);
        all.any(|(task, quiet)| task.is_source() && matches!(quiet, Some(Progress::Idle(_))))
    }

    fn stuck(&self) -> Error {
        let open = self.tasks.iter().zip(&self.quiet).filter(|(t, _)| !t.is_done());
        let open: Vec<String> = open.map(|(t, q)| format!("{} ({q:?})", t.name())).collect();
        Error::new(ErrorKind::Stuck, format!("nobody can go on: {}", open.join(", ")))
    }
}
