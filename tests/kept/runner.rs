//! Runs a case with checkpoints: without a death, where the output is compared as it is without them; and through several deaths,
//! each life going on at another parallelism, where the set of rows is.

use crate::backends::{Backend, Disk};
use crate::case::Case;
use crate::outcome::{Outcome, of};
use crate::pipeline::{Probe, build};
use crate::world::Fate;
use flow_core::checkpoint::Storage;
use flow_core::prelude::*;
use flow_core::stage::split_mix;
use flow_core::testing::{MapBackend, NothingInMemory};
use flow_tests::crashing::all_faults;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Simulations without a death at each parallelism.
const UNHARMED: u64 = 1;
/// Runs through deaths, unless `FLOW_KEPT_LOTS` says otherwise.
const LOTS: u64 = 5;
/// So often the process may die.
const DEATHS: usize = 4;
/// After so many steps at most, one of these: short jobs take few.
const STEPS: [u64; 4] = [20, 50, 120, 400];
const PARALLELISMS: [usize; 3] = [1, 2, 4];

/// Who runs a job.
#[derive(Debug, Clone, Copy)]
enum Way {
    On(HostKind),
    Seed(u64),
    /// It dies after so many steps.
    Dies(u64, u64),
}

/// How a job is run.
#[derive(Debug, Clone, Copy)]
struct Life {
    way: Way,
    parallelism: usize,
    batch: usize,
    /// Batches a ring holds.
    ring: usize,
    /// Checkpoints of what has changed between two whole ones.
    deltas: u32,
}

/// Runs through deaths; lives that went on from a checkpoint, and those of them at another parallelism than the one before.
static RUNS: AtomicU64 = AtomicU64::new(0);
static RESTORED: AtomicU64 = AtomicU64::new(0);
static RESCALED: AtomicU64 = AtomicU64::new(0);

/// Runs that die before their first checkpoint, or not at all, show nothing.
fn show() {
    let (runs, restored, rescaled) = (RUNS.load(Relaxed), RESTORED.load(Relaxed), RESCALED.load(Relaxed));
    println!(
        "{runs} runs through deaths, {restored} lives from a checkpoint, {rescaled} at another parallelism"
    );
    assert!(runs < 1000 || restored * 3 > runs && rescaled * 5 > runs, "too few go on from a checkpoint");
}

/// Draws what differs between lives.
struct Draws(u64);

impl Draws {
    fn of<T: Copy>(&mut self, from: &[T]) -> T {
        from[(split_mix(&mut self.0) % from.len() as u64) as usize]
    }

    fn life(&mut self, way: Way) -> Life {
        let (parallelism, batch) = (self.of(&PARALLELISMS), self.of(&[1, 7, 1024]));
        Life { way, parallelism, batch, ring: self.of(&[1, 8]), deltas: self.of(&[0, 1, 3]) }
    }
}

impl Draws {
    fn below(&mut self, n: usize) -> usize {
        (split_mix(&mut self.0) % n.max(1) as u64) as usize
    }

    /// How a life ends, if it does: after so many steps, or behind an arrival, with a checkpoint before it that none of the lives
    /// before has come to.
    fn death(&mut self, case: &Case, seed: u64, since: &mut [usize]) -> (Way, Option<Fate>) {
        // An input that waits is silent.
        let waits = !since.is_empty() && case.steps.iter().flatten().all(|word| word != "idle");
        if !waits || self.below(4) == 0 {
            let steps = 1 + split_mix(&mut self.0) % self.of(&STEPS);
            return (Way::Dies(seed, steps), waits.then_some(Fate::NONE));
        }
        let input = self.below(since.len());
        let held = since[input] + self.below(case.inputs[input].len() - since[input]);
        since[input] = held;
        (Way::Seed(seed), Some(Fate { input, held, dies: held + self.below(4) }))
    }
}

/// A case, and what of it outlives its jobs.
struct Run<'a> {
    case: &'a Case,
    file: Option<&'a Path>,
    backend: Backend<'a>,
    probe: Probe,
}

impl Run<'_> {
    fn new<'a>(case: &'a Case, file: Option<&'a Path>, backend: Backend<'a>) -> Run<'a> {
        Run { case, file, backend, probe: Probe::new(case.has("stamps")) }
    }

    fn has_checkpoint(&self) -> bool {
        self.probe.world.newest() > 0
    }

    fn live(&mut self, life: Life) -> Result<Report> {
        // The rows are what they were, and nothing has been seen.
        self.probe = Probe { seen: Arc::default(), surplus: Arc::default(), ..self.probe.clone() };
        let job = Job::build("case", |job| match self.file {
            Some(path) => crate::text_files::build(job, self.case, path, &self.probe),
            None => build(job, self.case, &self.probe),
        });
        let storage: Arc<dyn Storage> = Arc::new(self.probe.world.disk.clone());
        let checkpoints = Checkpoints::in_storage(storage).every(Millis(1)).deltas(life.deltas);
        let job = job.parallelism(life.parallelism).batch_size(life.batch).ring_batches(life.ring);
        let job = self.backend.give(job.checkpoints(checkpoints));
        match life.way {
            Way::On(host) => job.host(host).run(),
            Way::Seed(seed) => job.simulate(seed),
            Way::Dies(seed, steps) => job.crash_at(steps).simulate(seed),
        }
    }
}

/// How many entries the case puts into stores where none may stay in memory and each record is a batch.
pub fn leaves(case: &Case) -> usize {
    let (probe, watched) = (Probe::new(false), NothingInMemory::of(MapBackend::with_limit(0)));
    let job = Job::build("case", |job| build(job, case, &probe)).batch_size(1);
    // Whether it ends well is not asked here.
    drop(job.state_backend(watched.clone()).simulate(7));
    watched.puts()
}

/// Runs the case in every way; what is wrong, if anything is.
pub fn check(case: &Case) -> Result<(), String> {
    // What is read has to be there until the last run is over.
    let file = case.bytes.as_ref().map(|bytes| crate::text_files::write(bytes));
    let path = file.as_ref().map(|file| file.path());
    let disk = all_faults().then(Disk::new);
    for backend in [Backend::Memory, Backend::Maps].into_iter().chain(disk.as_ref().map(Backend::Disk)) {
        let mut draws =
            Draws(case.id.bytes().fold(7, |hash, byte| hash * 31 % 1_000_000_007 + u64::from(byte)));
        unharmed(Run::new(case, path, backend), &mut draws)?;
        let lots = std::env::var("FLOW_KEPT_LOTS").map_or(LOTS, |text| text.parse().expect("a number"));
        for _ in 0..lots {
            dying(Run::new(case, path, backend), &mut draws)?;
        }
    }
    if let Some(disk) = &disk {
        disk.entries();
    }
    show();
    Ok(())
}

fn wrong(run: &Run, life: &dyn std::fmt::Debug, what: &str) -> String {
    format!("{}\n  {:?}, {life:?}: {what}", run.case.id, run.backend)
}

/// Checkpoints are taken, and nobody dies: they change nothing.
fn unharmed(run: Run, draws: &mut Draws) -> std::result::Result<(), String> {
    let hosts = [HostKind::Threads, HostKind::Workers(2)].map(Way::On);
    for parallelism in PARALLELISMS {
        // As without checkpoints.
        let mut first: Option<Outcome> = None;
        let ways: Vec<_> = hosts.into_iter().chain((0..UNHARMED).map(Way::Seed)).collect();
        for way in ways {
            let mut run = Run::new(run.case, run.file, run.backend);
            let life = Life { parallelism, ..draws.life(way) };
            let report = run.live(life);
            let in_order = run.backend.in_order();
            let checked = of(run.case, &run.probe, report).and_then(|outcome| {
                let Some(outcome) = outcome else { return Ok(()) };
                outcome.check(run.case, parallelism == 1 && in_order)?;
                let first = first.get_or_insert_with(|| outcome.clone());
                if in_order && run.case.has_single_senders() && *first != outcome {
                    return Err(format!("{outcome:#?}\n  differs from another run: {first:#?}"));
                }
                Ok(())
            });
            checked.map_err(|what| wrong(&run, &life, &what))?;
        }
    }
    Ok(())
}

/// What has come of a life that began in the midst of the input: its report counts from there, so it may say less.
fn of_a_part(part: Outcome, case: &Case) -> Outcome {
    let all = Outcome::expected(case);
    let fewer = |part: i64, all: i64| if part <= all { all } else { part };
    Outcome {
        counted: fewer(part.counted, all.counted),
        ahead: fewer(part.ahead, all.ahead),
        evicted: all.evicted.zip(part.evicted).map(|(all, part)| fewer(part, all)),
        expired: all.expired.zip(part.expired).map(|(all, part)| fewer(part, all)),
        ..part
    }
}

/// The process dies now and then, and the job goes on at another parallelism.
fn dying(mut run: Run, draws: &mut Draws) -> std::result::Result<(), String> {
    let mut lives = Vec::new();
    // From which arrival of each input on a checkpoint is new.
    let mut since = vec![0; run.case.inputs.len()];
    loop {
        let seed = split_mix(&mut draws.0);
        let (way, fate) = draws.death(run.case, seed, &mut since);
        let dies = lives.len() < DEATHS;
        run.probe.world.fate = if dies { fate } else { fate.map(|_| Fate::NONE) };
        let way = if dies { way } else { Way::Seed(seed) };
        let life = draws.life(way);
        let goes_on = run.has_checkpoint();
        let before: Option<&(Life, bool)> = lives.last();
        RUNS.fetch_add(u64::from(before.is_none()), Relaxed);
        RESTORED.fetch_add(u64::from(goes_on), Relaxed);
        let other = before.is_some_and(|before| before.0.parallelism != life.parallelism);
        RESCALED.fetch_add(u64::from(goes_on && other), Relaxed);
        lives.push((life, goes_on));
        let report = run.live(life);
        if report.as_ref().is_err_and(|error| error.kind() == ErrorKind::Crash) {
            continue;
        }
        let checked = of(run.case, &run.probe, report).and_then(|outcome| match outcome {
            Some(outcome) if goes_on => of_a_part(outcome, run.case).check(run.case, false),
            Some(outcome) => outcome.check(run.case, life.parallelism == 1 && run.backend.in_order()),
            None => Ok(()),
        });
        return checked.map_err(|what| wrong(&run, &lives, &what));
    }
}
