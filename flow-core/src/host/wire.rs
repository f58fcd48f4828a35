//! Connects the instances of a topology with rings.

use super::control::Control;
use super::panics::guard;
use super::task::Task;
use crate::batch::Batch;
use crate::channel::{Receiver, Signal, Waiter, recycling};
use crate::checkpoint::{Coordinator, Inbox, Orders, Restored, Saves};
use crate::error::Result;
use crate::external::Memory;
use crate::metrics::StageMetrics;
use crate::stage::alarm::Alarm;
use crate::stage::{
    BatchSize, Commits, Context, EdgeId, EdgeKind, Faults, OpenCx, Stage, StageDef, Topology, Wire,
};
use crate::state::StateStores;
use crate::time::{Clock, Millis};
use std::sync::{Arc, Mutex};

/// A stage instance that has not been opened.
pub struct Instance {
    name: String,
    stage: Box<dyn Stage>,
    inputs: Vec<Receiver<Batch>>,
    cx: OpenCx,
    max_delay: Millis,
}

impl Instance {
    /// The stage's name and the instance's number.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// In a job whose checkpoints a test takes by hand.
    #[cfg(test)]
    pub(crate) fn kept_by_hand(mut self, saves: Saves, restored: Option<Arc<Restored>>) -> Self {
        self.cx.faults = Faults::with(saves.clone());
        (self.cx.saves, self.cx.restored) = (saves, restored);
        self
    }

    /// Opens it, on the thread that will step it.
    ///
    /// # Errors
    /// What the stage reports.
    pub fn open(mut self) -> Result<Task> {
        guard(|| self.stage.open(&mut self.cx)).map_err(|e| e.in_stage(self.name.clone()))?;
        let Instance { name, stage, inputs, cx, max_delay } = self;
        Ok(Task::new(name, stage, inputs, &cx, max_delay))
    }
}

/// Everything a host needs to run a job: its instances by thread, each thread with its waiter.
pub struct Launch {
    /// The threads.
    pub threads: Vec<(Waiter, Vec<Instance>)>,
    /// What they share.
    pub control: Control,
    /// Their clock.
    pub clock: Arc<dyn Clock>,
    /// Who takes checkpoints, for a host that calls it itself.
    pub(crate) coordinator: Option<Arc<Mutex<Coordinator>>>,
}

/// What is given to every instance.
pub(crate) struct Settings {
    pub batch: BatchSize,
    pub ring: usize,
    pub max_delay: Millis,
    pub clock: Arc<dyn Clock>,
    pub control: Control,
    pub commits: Commits,
    pub checkpoints: Option<Taking>,
    pub stores: Option<Arc<dyn StateStores>>,
    pub memory: Memory,
}

/// What a job that takes checkpoints has more.
pub(crate) struct Taking {
    pub coordinator: Arc<Mutex<Coordinator>>,
    pub inbox: Inbox,
    pub orders: Orders,
    pub restored: Option<Arc<Restored>>,
}

/// The ends of the rings of each instance.
#[derive(Default)]
struct Ends {
    wires: Vec<(EdgeId, Wire)>,
    inputs: Vec<Receiver<Batch>>,
    /// How many of them each incoming edge has.
    each: Vec<usize>,
}

/// Connects everything; `place` says on which thread an instance runs. Also returns the counters by stage.
pub(crate) fn wire(
    topology: Topology,
    place: impl Fn(usize, usize, usize, usize) -> usize,
    settings: &Settings,
) -> (Launch, Vec<(String, Vec<StageMetrics>)>) {
    let mut places = Vec::new();
    let mut task = 0;
    for (s, stage) in topology.stages.iter().enumerate() {
        places.push((0..stage.count).map(|i| place(s, i, stage.count, task + i)).collect::<Vec<_>>());
        task += stage.count;
    }
    let threads = places.iter().flatten().max().map_or(1, |most| most + 1);
    let (signals, waiters): (Vec<Signal>, Vec<Waiter>) = (0..threads).map(|_| Signal::new()).unzip();
    signals.iter().for_each(|signal| settings.control.attach(signal.clone()));
    let mut ends = connect(&topology, &places, &signals, settings.ring);
    let mut threads: Vec<(Waiter, Vec<Instance>)> = waiters.into_iter().map(|w| (w, Vec::new())).collect();
    let mut metrics = Vec::new();
    let mut seeds = settings.batch;
    let taking = settings.checkpoints.as_ref();
    let mut number = 0;
    for (s, def) in topology.stages.into_iter().enumerate() {
        let counters: Vec<_> = def.instances.iter().map(|_| StageMetrics::default()).collect();
        for (i, stage) in def.instances.into_iter().enumerate() {
            let Ends { wires, inputs, each } = std::mem::take(&mut ends[s][i]);
            let saves = taking.map_or(Saves::default(), |taking| {
                Saves::new(taking.inbox.clone(), taking.orders.clone(), number, i)
            });
            let cx = OpenCx {
                stage: def.name.clone(),
                context: Context {
                    instance: i,
                    instances: def.count,
                    metrics: counters[i].clone(),
                    signal: signals[places[s][i]].clone(),
                },
                inputs: each,
                wires,
                batch: seeds.fork(),
                faults: Faults::with(saves.clone()),
                clock: Arc::clone(&settings.clock),
                commits: settings.commits.clone(),
                over: settings.control.over(),
                stopping: settings.control.stop_flag(),
                alarm: Alarm::default(),
                saves,
                orders: taking.map_or(Orders::default(), |taking| taking.orders.clone()),
                restored: taking.and_then(|taking| taking.restored.clone()),
                stores: settings.stores.clone(),
                memory: settings.memory.clone(),
            };
            number += 1;
            let name = format!("{}[{i}]", def.name);
            let max_delay = settings.max_delay;
            threads[places[s][i]].1.push(Instance { name, stage, inputs, cx, max_delay });
        }
        metrics.push((def.name, counters));
    }
    let (control, clock) = (settings.control.clone(), Arc::clone(&settings.clock));
    let coordinator = taking.map(|taking| Arc::clone(&taking.coordinator));
    (Launch { threads, control, clock, coordinator }, metrics)
}

/// A ring for every sender and receiver of every edge.
fn connect(topology: &Topology, places: &[Vec<usize>], signals: &[Signal], ring: usize) -> Vec<Vec<Ends>> {
    let of_stage = |stage: &StageDef| (0..stage.count).map(|_| Ends::default()).collect();
    let mut ends: Vec<Vec<Ends>> = topology.stages.iter().map(of_stage).collect();
    for (to, stage) in topology.stages.iter().enumerate() {
        for id in &stage.inputs {
            let edge = topology.edges[id];
            let (senders, receivers) = (topology.stages[edge.from].count, stage.count);
            ends[to].iter_mut().for_each(|ends| ends.each.push(0));
            for s in 0..senders {
                for r in 0..receivers {
                    if edge.kind == EdgeKind::Forward && r != s % receivers {
                        continue;
                    }
                    let (consumer, producer) = (&signals[places[to][r]], &signals[places[edge.from][s]]);
                    let (tx, rx) = recycling::<Batch>(ring, consumer.clone(), producer.clone());
                    ends[edge.from][s].wires.push((*id, Wire::new(tx)));
                    ends[to][r].inputs.push(rx);
                    if let Some(count) = ends[to][r].each.last_mut() {
                        *count += 1;
                    }
                }
            }
        }
    }
    ends
}
