//! The checkpoints of a job: how it starts from one, and the thread that takes them.

use crate::checkpoint::failpoint::point;
use crate::checkpoint::{
    Checkpoints, Coordinator, Inbox, Manifest, Outside, Renames, Restored, Slot, Storage, Store, Tracked,
    schemas, upgrades::Upgrades,
};
use crate::error::{Error, ErrorKind, Result};
use crate::host::Control;
use crate::host::panics::guard;
use crate::host::wire::Taking;
use crate::spawn::spawn;
use crate::stage::Topology;
use crate::time::{Clock, Millis};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Behind the id of a stage: how far time has come there.
const TIME: &str = " (time)";

/// How long the thread sleeps at most, when nothing happens.
const LOOK: i64 = 1_000;

/// The folder of checkpoints, opened before the pipeline is built: sources may have to know where they stood to say what their partitions are.
pub(super) struct Start {
    settings: Checkpoints,
    store: Store,
    newest: Option<Manifest>,
    /// The one to start from, where that is in another folder.
    begin: Option<Manifest>,
    restored: Option<Arc<Restored>>,
}

impl Start {
    /// The checkpoint to start from.
    pub fn restored(&self) -> Option<Arc<Restored>> {
        self.restored.clone()
    }
}

/// Opens the folder, and finds what there is of state.
pub(super) fn start(job: &str, settings: Checkpoints, renames: &Renames) -> Result<Start> {
    settings.check()?;
    renames.check()?;
    let storage = settings.storage()?;
    let files = Arc::clone(&storage);
    let (store, newest) = match settings.from {
        None => Store::open(storage, job, settings.retained)?,
        Some(id) => {
            let (store, manifest) = Store::open_at(storage, job, settings.retained, id)?;
            (store, Some(manifest))
        }
    };
    if let Some(there) = newest.as_ref().filter(|_| settings.cut) {
        return Err(taken(&*files, there.id));
    }
    let (mut begin, mut files) = (None, files);
    if newest.is_none()
        && let Some(other) = settings.begin_storage()?
    {
        begin = Some(Store::read_newest(&*other)?);
        files = other;
    }
    let from = newest.as_ref().or(begin.as_ref());
    let restored = from.map(|manifest| Restored::new(&files, manifest, renames)).transpose()?;
    let named = |manifest: Option<Manifest>| manifest.map(|manifest| renames.apply(&manifest));
    let (newest, begin) = (named(newest), named(begin));
    Ok(Start { settings, store, newest, begin, restored: restored.map(Arc::new) })
}

/// A savepoint is written where nothing is yet.
#[cold]
fn taken(storage: &dyn Storage, id: u64) -> Error {
    let what = format!(
        "{} has checkpoint {id} already, and the job is to write its savepoint there",
        storage.describe("")
    );
    Error::new(ErrorKind::State, what).note("give it a folder of its own, or remove that one's files")
}

/// Commits what a process before has left to be committed, and gets ready to take checkpoints.
pub(super) fn taking(
    start: Start,
    topology: &mut Topology,
    control: &Control,
    clock: &Arc<dyn Clock>,
) -> Result<Taking> {
    let Start { settings, mut store, newest, begin, restored } = start;
    if settings.cut {
        topology.check_cut()?;
    } else {
        topology.check_lasting()?;
    }
    let mut committers = std::mem::take(&mut topology.committers);
    let mut acknowledgers = std::mem::take(&mut topology.acknowledgers);
    if !settings.cut {
        committers.check_timeouts(settings.every, settings.timeout)?;
    }
    let tasks = guard(|| tracked(topology))?;
    if settings.cut {
        refuse_last_rows(&tasks)?;
    }
    let stages = tasks.iter().map(|task| (&*task.stage, &*task.schema));
    let upgrades = Upgrades::new(&settings.upgrades, stages.clone())?;
    if let Some(manifest) = newest.as_ref().or(begin.as_ref()) {
        check_states(manifest, topology, &settings)?;
        let upgrading = schemas::check(manifest, stages, &upgrades)?;
        if let Some(restored) = &restored {
            restored.upgrade(upgrading);
        }
        let due = committers.due(&manifest.staged, &settings.dropped)?;
        committers.recover(manifest.id)?;
        point("R3");
        let ago = Millis(clock.wall().0.saturating_sub(manifest.taken.0));
        guard(|| committers.commit_again(&due, ago, &settings.given_up))?;
        for source in acknowledgers.sources().collect::<Vec<_>>() {
            for (partition, position) in (0..).zip(topology.positions(&source)?.unwrap_or_default()) {
                acknowledgers.hear(manifest.id, &source, Slot::Instance(partition), &position);
            }
        }
        guard(|| acknowledgers.acknowledge(manifest.id))?;
    } else {
        committers.recover(0)?;
    }
    store.collect_garbage()?;
    let outside = Outside { committers, acknowledgers };
    let (stopping, clock) = (control.stop_flag(), Arc::clone(clock));
    let (cut, now) = (settings.cut, clock.ticks());
    let mut coordinator = Coordinator::new(store, newest, settings, tasks, outside, stopping, clock);
    coordinator.go_on_behind(begin.map_or(0, |manifest| manifest.id));
    if cut {
        coordinator.begin_at_the_end(now)?;
    }
    let (inbox, orders) = (coordinator.inbox().clone(), coordinator.orders().clone());
    Ok(Taking { coordinator: Arc::new(Mutex::new(coordinator)), inbox, orders, restored })
}

/// What a batch has for one row a key at its end is no state of a stream.
fn refuse_last_rows(tasks: &[Tracked]) -> Result<()> {
    let Some(task) = tasks.iter().find(|task| schemas::is_of_a_batch(&task.schema)) else { return Ok(()) };
    let what = format!(
        "`{}` gives one row for each key, at the end of a batch, and that is no state of a stream",
        task.stage
    );
    let note = "write `#[batch(exported)]` alone, by hand `.exported()`: it gives the rows of a stream, and what it keeps a stream goes on with";
    Err(Error::new(ErrorKind::Plan, what).in_stage(task.stage.clone()).note(note))
}

fn tracked(topology: &Topology) -> Result<Vec<Tracked>> {
    let mut tracked = Vec::new();
    for stage in &topology.stages {
        let (name, instances) = (&stage.name, stage.count);
        let schema = stage.instances.first().map(|first| first.schema()).transpose();
        let schema: Arc<str> =
            schema.map_err(|error| named(error, name, topology))?.unwrap_or_default().into();
        for instance in 0..instances {
            let (stage, schema) = (name.clone(), Arc::clone(&schema));
            tracked.push(Tracked { stage, instance, instances, ended: false, finished: false, schema });
        }
    }
    Ok(tracked)
}

/// An error with the operator of a stage, and where it stands.
#[cold]
fn named(error: Error, stage: &str, topology: &Topology) -> Error {
    let error = error.in_stage(stage);
    match topology.nodes.iter().find(|node| node.id == stage) {
        Some(node) => error.at_text(node.at.clone()),
        None => error,
    }
}

/// All state finds its operator, or may be dropped.
fn check_states(manifest: &Manifest, topology: &Topology, settings: &Checkpoints) -> Result<()> {
    // What an operator keeps beside its keys has its name with more behind it. How far time has come for one that keeps nothing else, as a sink of a batch, is no state.
    let all = manifest.operators.iter().filter(|state| !(manifest.history && state.id.ends_with(TIME)));
    let all = all.map(|state| state.id.split(" (").next().unwrap_or(&state.id));
    let mut homeless: Vec<&str> = all
        .filter(|operator| {
            topology.nodes.iter().all(|node| node.id != *operator)
                && settings.dropped.iter().all(|drop| drop != operator)
        })
        .collect();
    homeless.dedup();
    let Some(first) = homeless.first() else { return Ok(()) };
    let note = format!(
        "give each operator the name it had, or say what it is called now, `#[was(old)] let new = …` or `job.was(\"new\", \"old\")`, or that its state may go: `Checkpoints::drop_state(\"{first}\")`"
    );
    let what = format!(
        "checkpoint {} has state of operators that are not in the pipeline: {}",
        manifest.id,
        homeless.join(", ")
    );
    Err(Error::new(ErrorKind::State, what).note(note))
}

/// The thread that takes the checkpoints of a job on real threads.
pub(super) struct Taker {
    thread: Option<JoinHandle<()>>,
    over: Arc<AtomicBool>,
    inbox: Inbox,
}

impl Taker {
    /// Starts it.
    pub fn start(
        coordinator: &Arc<Mutex<Coordinator>>,
        control: &Control,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self> {
        let (coordinator, control, clock) = (Arc::clone(coordinator), control.clone(), Arc::clone(clock));
        let inbox = lock(&coordinator).inbox().clone();
        let wake = control.clone();
        inbox.on_room(move || wake.wake_all());
        let over = Arc::new(AtomicBool::new(false));
        let (news, ends) = (inbox.clone(), Arc::clone(&over));
        let run = move || {
            while !ends.load(Ordering::Relaxed) && !control.is_over() {
                let now = clock.ticks();
                let worked = guard(|| {
                    let mut coordinator = lock(&coordinator);
                    let begun = coordinator.orders().begun();
                    coordinator.work(now)?;
                    if coordinator.orders().begun() != begun {
                        control.wake_all();
                    }
                    if coordinator.savepoints().has_stopped() {
                        control.halt();
                    }
                    Ok(coordinator.deadline())
                });
                match worked {
                    Ok(deadline) => {
                        let wait = deadline.saturating_sub(clock.ticks()).clamp(0, LOOK);
                        news.wait(Duration::from_millis(wait.unsigned_abs()));
                    }
                    Err(error) => control.fail(error),
                }
            }
        };
        let thread = spawn("flow-checkpoints".to_owned(), Box::new(run));
        let thread =
            thread.map_err(|e| Error::new(ErrorKind::Plan, format!("a thread cannot be started: {e}")))?;
        Ok(Taker { thread: Some(thread), over, inbox })
    }

    /// Ends it.
    pub fn stop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.inbox.wake();
        if let Some(thread) = self.thread.take() {
            // What it had to say it has told the job.
            let _ = thread.join();
        }
    }
}

pub(super) fn lock(coordinator: &Mutex<Coordinator>) -> MutexGuard<'_, Coordinator> {
    coordinator.lock().unwrap_or_else(PoisonError::into_inner)
}
