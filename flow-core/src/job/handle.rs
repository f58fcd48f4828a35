//! A job that runs: its handle, and what happens at its end.

use super::Job;
use super::attempts::{Attempts, Current};
use super::taking::{Taker, lock};
use crate::checkpoint::Coordinator;
use crate::error::{Error, ErrorKind, Result};
use crate::host::panics::guard;
use crate::host::wire::{Settings, wire};
use crate::host::{Control, Host, Launch};
use crate::metrics::{Report, StageMetrics, StageReport};
use crate::stage::{Commits, Staged, Topology};
use crate::time::Clock;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A job that is connected and about to run.
pub(super) struct Running {
    name: String,
    host: Arc<dyn Host>,
    launch: Launch,
    stages: Stages,
    control: Control,
    commits: Commits,
    checkpoints: Option<Arc<Mutex<Coordinator>>>,
    clock: Arc<dyn Clock>,
    simulated: bool,
    began: Began,
}

/// When a run began, and from which checkpoint.
#[derive(Debug, Clone, Copy)]
pub(super) struct Began {
    at: Instant,
    from: Option<u64>,
}

/// The counters of all stages.
pub(super) type Stages = Arc<Vec<(String, Vec<StageMetrics>)>>;

impl Running {
    pub fn new(
        name: String,
        host: Arc<dyn Host>,
        topology: Topology,
        settings: Settings,
        simulated: bool,
    ) -> Self {
        let place = |s, i, n, t| host.place(s, i, n, t);
        let (launch, mut stages) = wire(topology, place, &settings);
        let Settings { control, commits, checkpoints, clock, .. } = settings;
        let from = checkpoints.as_ref().and_then(|taking| Some(taking.restored.as_ref()?.id()));
        let checkpoints = checkpoints.map(|taking| taking.coordinator);
        if let Some(coordinator) = &checkpoints {
            stages.push(("checkpoints".to_owned(), vec![lock(coordinator).metrics().clone()]));
        }
        let (stages, began) = (Arc::new(stages), Began { at: Instant::now(), from });
        Running { name, launch, stages, control, commits, checkpoints, clock, simulated, began, host }
    }

    /// What can be asked of it while it runs.
    pub fn current(&self) -> Current {
        let asked = |coordinator: &Arc<Mutex<Coordinator>>| {
            let coordinator = lock(coordinator);
            (coordinator.savepoints().clone(), coordinator.inbox().clone())
        };
        let (savepoints, inbox) = self.checkpoints.as_ref().map(asked).unzip();
        let (control, stages) = (self.control.clone(), Arc::clone(&self.stages));
        Current { control, stages, savepoints, inbox, began: self.began }
    }

    /// Runs to the end, then commits what the sinks have staged, or takes it back.
    pub fn finish(self) -> Result<Report> {
        let Running { name, host, launch, stages, control, commits, checkpoints, clock, simulated, began } =
            self;
        let taker = checkpoints.as_ref().filter(|_| !simulated);
        let mut taker = taker.map(|coordinator| Taker::start(coordinator, &control, &clock)).transpose()?;
        let mut ran = host.run(launch);
        if let Some(taker) = &mut taker {
            taker.stop();
            // It may have failed when the stages had ended already.
            ran = control.take_failure().map_or(ran, Err);
        }
        if control.has_halted()
            && ran.is_ok()
            && let Some(coordinator) = &checkpoints
        {
            let (mut halted, mut stopped) = (false, None);
            ran = guard(|| {
                let mut coordinator = lock(coordinator);
                halted = coordinator.halt()?;
                stopped = coordinator.newest();
                Ok(())
            });
            if halted {
                return Ok(Report { stopped, ..report(&name, &stages, &control, began) });
            }
        }
        let mut staged = commits.take();
        if checkpoints.as_ref().is_some_and(|coordinator| lock(coordinator).ends_at_a_cut()) && ran.is_ok() {
            ran = commit(std::mem::take(&mut staged));
        }
        if let Some(coordinator) = &checkpoints {
            let finished = guard(|| lock(coordinator).finish(clock.ticks(), &ran));
            ran = ran.and(finished);
        }
        match ran {
            Ok(()) => commit(staged)?,
            Err(error) => {
                abort(staged);
                return Err(error);
            }
        }
        Ok(report(&name, &stages, &control, began))
    }
}

/// Commits in order. What follows a commit that fails is taken back; what came before it cannot be, so the error says so.
fn commit(staged: Vec<Staged>) -> Result<()> {
    let all = staged.len();
    let mut staged = staged.into_iter();
    let mut done = 0;
    while let Some(Staged { sink, commit }) = staged.next() {
        if let Err(error) = guard(|| commit.commit()) {
            abort(staged);
            let error = error.in_stage(sink.id()).at(sink.at());
            return Err(error.note(format!(
                "{done} of {all} outputs were committed before it, the others were taken back"
            )));
        }
        done += 1;
    }
    Ok(())
}

fn abort(staged: impl IntoIterator<Item = Staged>) {
    for Staged { commit, .. } in staged {
        // The failure that is reported is the one before: taking back goes on whatever happens.
        let _ = guard(|| {
            commit.abort();
            Ok(())
        });
    }
}

fn report(name: &str, stages: &Stages, control: &Control, began: Began) -> Report {
    let elapsed = began.at.elapsed();
    let stages = stages.iter().map(|(name, counters)| Report::stage(name, elapsed, counters)).collect();
    Report {
        job: name.to_owned(),
        elapsed,
        stages,
        restarts: 0,
        restored: began.from,
        stopped: None,
        rescues: control.rescues(),
    }
}

/// A job that is running on threads of its own.
///
/// ```
/// use flow_core::prelude::*;
/// let job = Job::build("endless", |job| job.add(source(generate(u64::MAX, |i| i)).for_each(|_| ())));
/// let handle = job.start().unwrap();
/// while handle.metrics()[0].records_in == 0 {}
/// handle.stop();
/// assert!(handle.join().unwrap().stages[0].records_in > 0);
/// ```
#[must_use = "a job goes on when its handle is dropped, but nobody hears of its failure"]
pub struct JobHandle {
    thread: JoinHandle<Result<Report>>,
    attempts: Attempts,
    name: String,
}

impl JobHandle {
    pub(super) fn spawn(job: Job) -> Result<Self> {
        let attempts = Attempts::default();
        let first = attempts.first(&job)?;
        let (name, runs) = (job.name.clone(), attempts.clone());
        let builder = std::thread::Builder::new().name(format!("flow-{name}"));
        let thread = builder.spawn(move || runs.run(&job, first));
        let thread =
            thread.map_err(|e| Error::new(ErrorKind::Plan, format!("a thread cannot be started: {e}")))?;
        Ok(JobHandle { thread, attempts, name })
    }

    /// Ends the job. With checkpoints it takes one more, and ends there: windows that are open do not fire, and the next start goes on from it as if nothing had
    /// happened. Where that checkpoint fails it ends at the next one. A job without checkpoints [drains](JobHandle::drain).
    ///
    /// It does not wait: [`join`](JobHandle::join) does.
    pub fn stop(&self) {
        self.attempts.stop();
    }

    /// Asks the sources to end as if their input had; the job then runs to its regular end and commits.
    ///
    /// So windows fire, and of keys nothing is kept. With checkpoints the next start reads on where the sources stood, and counts and sums of keys begin
    /// anew: [`stop`](JobHandle::stop) does not do that to them.
    pub fn drain(&self) {
        self.attempts.drain();
    }

    /// Takes a checkpoint that is kept until somebody removes it, and waits until it is complete: its number. The job goes on.
    ///
    /// # Errors
    /// When the job takes no checkpoints, or ends before, or the checkpoint fails.
    pub fn savepoint(&self) -> Result<u64> {
        let none = || {
            let what = "a savepoint was asked of a job that takes no checkpoints";
            Error::new(ErrorKind::State, what)
                .note("say where they are to lie: `job.checkpoints(Checkpoints::to(\"…\"))`")
        };
        let current = self.attempts.current();
        let (Some(savepoints), Some(inbox)) = current.map_or((None, None), |now| (now.savepoints, now.inbox))
        else {
            return Err(none());
        };
        let number = savepoints.ask();
        inbox.wake();
        savepoints.wait(number)
    }

    /// The same, and ends the job there: windows that are open do not fire. The next start goes on from it, as if nothing had happened.
    ///
    /// # Errors
    /// As [`JobHandle::savepoint`]; the job goes on then.
    pub fn stop_with_savepoint(&self) -> Result<u64> {
        let savepoint = self.savepoint()?;
        self.attempts.halt();
        Ok(savepoint)
    }

    /// What each stage has done so far.
    pub fn metrics(&self) -> Vec<StageReport> {
        self.report().stages
    }

    /// The report as it stands.
    pub fn report(&self) -> Report {
        let Some(now) = self.attempts.current() else {
            let stages = Vec::new();
            return Report {
                job: self.name.clone(),
                elapsed: Duration::ZERO,
                stages,
                restarts: 0,
                restored: None,
                stopped: None,
                rescues: 0,
            };
        };
        report(&self.name, &now.stages, &now.control, now.began)
    }

    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// The job's first failure.
    pub fn join(self) -> Result<Report> {
        let gone = |_| Err(Error::new(ErrorKind::Panic, "the thread that watches over the job panicked"));
        self.thread.join().unwrap_or_else(gone)
    }
}
