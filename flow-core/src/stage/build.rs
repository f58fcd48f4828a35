//! From chains to stages and edges.
//!
//! A pipeline is built once for each parallel instance: pass p makes instance p of every stage. A chain builds itself
//! from its end, so a pass walks from the sinks to the sources; on the way each operator says who it is, each edge who
//! sends and who receives. When all passes are over the [`Topology`] knows every stage, instance and edge, and a host
//! connects them.

mod aligned;
mod lasting;
mod width;

use super::drift::Drift;
use super::of_run::OfRun;
use super::{HeadStage, Meta, OpNode, Stage};
use crate::checkpoint::{Acknowledge, Acknowledgers, Committer, Committers, Restored};
use crate::error::{Error, ErrorKind, Result};
use crate::time::Grid;
use lasting::Lasting;
use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The identity of an edge or of a source: made with the chain, the same in every pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EdgeId(u64);

impl EdgeId {
    /// One that nobody has.
    pub fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        EdgeId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// An edge as its two ends hold it: who it is, and which watermarks its receiver can tell apart.
#[derive(Debug, Clone)]
pub struct EdgeRef {
    /// Who it is.
    pub id: EdgeId,
    grid: Arc<OnceLock<Grid>>,
}

impl EdgeRef {
    /// A new edge.
    pub fn fresh() -> Self {
        EdgeRef { id: EdgeId::fresh(), grid: Arc::default() }
    }

    /// The receiver says which watermarks matter to it.
    pub fn listen(&self, grid: Grid) {
        // The first pass has said it already: every instance says the same.
        let _ = self.grid.set(grid);
    }

    /// What the receiver has said. All stages are built before the first opens, so by then it has.
    pub fn grid(&self) -> Grid {
        self.grid.get().cloned().unwrap_or_else(Grid::every)
    }
}

/// How an edge distributes its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeKind {
    /// By the key's group.
    KeyBy,
    /// Sender i to receiver i (modulo their number).
    Forward,
    /// All to the only receiver.
    Global,
    /// In turn.
    Rebalance,
    /// At random, from a seed.
    Shuffle,
    /// Each to all.
    Broadcast,
    /// As the user's partitioner says.
    Custom,
}

impl EdgeKind {
    /// Its name in graphs.
    pub fn name(self) -> &'static str {
        match self {
            Self::KeyBy => "key_by",
            Self::Forward => "forward",
            Self::Global => "global",
            Self::Rebalance => "rebalance",
            Self::Shuffle => "shuffle",
            Self::Broadcast => "broadcast",
            Self::Custom => "custom",
        }
    }
}

/// In how many instances a stage runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// In so many.
    Exactly(usize),
    /// In as many as the job's parallelism.
    Parallelism,
    /// In as many as the stage before it (the most, where there are several).
    Upstream,
}

/// A stage of the job.
pub struct StageDef {
    /// The id of its first operator.
    pub name: String,
    /// How many instances it runs in.
    pub count: usize,
    /// Its instances, in order.
    pub instances: Vec<Box<dyn Stage>>,
    /// Its incoming edges.
    pub inputs: Vec<EdgeId>,
    /// Its outgoing edges.
    pub outputs: Vec<EdgeId>,
    rule: Count,
    key: EdgeId,
    nodes: Vec<usize>,
}

/// An edge between two stages.
#[derive(Debug, Clone, Copy)]
pub struct EdgeDef {
    /// How it distributes.
    pub kind: EdgeKind,
    /// The sending stage, as an index into [`Topology::stages`].
    pub from: usize,
    /// The receiving stage.
    pub to: usize,
}

/// All stages, edges and operators of a job.
#[derive(Default)]
pub struct Topology {
    /// The stages; sources first, every stage after those before it.
    pub stages: Vec<StageDef>,
    /// The edges.
    pub edges: HashMap<EdgeId, EdgeDef>,
    /// The operators.
    pub nodes: Vec<OpNode>,
    /// From operator to operator; the kind where an edge lies between them.
    pub links: Vec<(usize, usize, Option<EdgeKind>)>,
    incoming: Vec<Incoming>,
    /// Operators that send over an edge whose receiving operator may be built later.
    sends: Vec<(usize, EdgeId)>,
    /// What each source has found: a `Vec` of its splits.
    splits: Vec<(EdgeId, Box<dyn Any>)>,
    drift: Drift,
    of_run: OfRun,
    /// The operators whose sources wait for each other.
    aligned: Vec<usize>,
    /// How many receivers an edge is to have, as an operator before it says.
    widths: Vec<(EdgeId, usize)>,
    error: Option<Error>,
    /// The checkpoint that the job starts from.
    restored: Option<Arc<Restored>>,
    lasting: Lasting,
    /// What makes the outputs of sinks final, by their ids.
    pub(crate) committers: Committers,
    /// What tells sources that what they gave is safe.
    pub(crate) acknowledgers: Acknowledgers,
}

/// What the receiver of an edge says of it.
struct Incoming {
    edge: EdgeId,
    kind: EdgeKind,
    /// The receiving operator.
    head: usize,
}

/// The stage being built, from its end to its beginning.
#[derive(Default)]
pub struct Draft {
    outputs: Vec<EdgeId>,
    nodes: Vec<usize>,
    /// What lies directly behind the operator to be built next.
    behind: Vec<Behind>,
}

#[derive(Clone, Copy)]
enum Behind {
    Op(usize),
    Edge(EdgeId),
}

/// What a chain is given to build itself with.
pub struct BuildCx<'a> {
    topology: &'a mut Topology,
    pass: usize,
    parallelism: usize,
    draft: Draft,
    renamed: Option<&'static str>,
    /// The source that comes next is of a checkpointed pipeline.
    lasting: bool,
    exporting: bool,
}

impl<'a> BuildCx<'a> {
    /// For pass `pass`.
    pub fn new(topology: &'a mut Topology, pass: usize, parallelism: usize) -> Self {
        BuildCx {
            topology,
            pass,
            parallelism,
            draft: Draft::default(),
            renamed: None,
            lasting: false,
            exporting: false,
        }
    }

    /// The instance this pass makes.
    pub fn pass(&self) -> usize {
        self.pass
    }

    /// The job's parallelism.
    pub fn parallelism(&self) -> usize {
        self.parallelism
    }

    /// The job cannot start.
    pub fn fail(&mut self, error: Error) {
        self.topology.error.get_or_insert(error);
    }

    /// What the instances of an operator share.
    pub(crate) fn of_run(&mut self) -> &mut OfRun {
        &mut self.topology.of_run
    }

    /// The next operator that describes itself stands under this `let`.
    pub fn rename(&mut self, scope: &'static str) {
        self.renamed = Some(scope);
    }

    /// An operator describes itself; `note` says what was decided about it. Returns who it is after renaming.
    pub fn op(&mut self, meta: &Meta, note: &str) -> Meta {
        let meta = self.renamed.take().map_or(*meta, |scope| meta.named(scope));
        if self.pass == 0 {
            let node = self.topology.nodes.len();
            self.topology.nodes.push(OpNode {
                id: meta.id(),
                op: meta.op(),
                at: meta.at().to_string(),
                note: note.to_owned(),
                stage: String::new(),
            });
            for behind in std::mem::take(&mut self.draft.behind) {
                match behind {
                    Behind::Op(to) => self.topology.links.push((node, to, None)),
                    Behind::Edge(edge) => self.topology.sends.push((node, edge)),
                }
            }
            self.draft.behind = vec![Behind::Op(node)];
            self.draft.nodes.push(node);
        }
        meta
    }

    /// A stage begins here: `stage` takes what comes over `inputs`. What was described since the last stage is in it.
    pub fn head(&mut self, meta: &Meta, rule: Count, inputs: &[(EdgeRef, EdgeKind)], stage: HeadStage) {
        let key = inputs[0].0.id;
        if self.pass == 0 {
            let head = self.draft.nodes.last().copied().unwrap_or_default();
            for (edge, kind) in inputs {
                self.topology.incoming.push(Incoming { edge: edge.id, kind: *kind, head });
            }
        }
        self.stage(key, meta, rule, inputs.iter().map(|i| i.0.id).collect(), Box::new(stage));
    }

    /// What is built next sends over `edge`.
    pub fn out(&mut self, edge: &EdgeRef) {
        let edge = edge.id;
        self.draft.outputs.push(edge);
        self.draft.behind.push(Behind::Edge(edge));
    }

    /// A source begins here, with as many instances as it has splits.
    pub fn source(&mut self, key: EdgeId, meta: &Meta, count: usize, stage: impl Stage + 'static) {
        self.is_lasting(meta);
        self.stage(key, meta, Count::Exactly(count), Vec::new(), Box::new(stage));
    }

    /// The splits of the source `key`, found out once; the one of this pass, and how many there are. `find` is given the
    /// positions that the source had in the checkpoint, if the job starts from one. Errors name `meta`.
    pub fn split<T: Clone + 'static>(
        &mut self,
        key: EdgeId,
        meta: &Meta,
        find: impl FnOnce(Option<Vec<Vec<u8>>>) -> Result<Vec<T>>,
    ) -> Option<(T, usize)> {
        if self.topology.splits_of(key).is_none() {
            let found = self
                .topology
                .positions(&meta.id())
                .and_then(find)
                .map(|splits| (splits.len(), Box::new(splits) as Box<dyn Any>));
            self.found(key, meta, found);
        }
        let splits = self.topology.splits_of(key)?.downcast_ref::<Vec<T>>()?;
        // In a pass beyond the last split the stage is made all the same, and left out.
        let split = splits.get(self.pass).or(splits.first())?;
        Some((split.clone(), splits.len()))
    }

    /// Keeps the splits of a source, or why there are none.
    fn found(&mut self, key: EdgeId, meta: &Meta, splits: Result<(usize, Box<dyn Any>)>) {
        let splits = match splits {
            Ok((0, _)) => {
                let what = "the source has no partition: `splits` gave an empty list";
                Err(Error::new(ErrorKind::Source, what))
            }
            splits => splits,
        };
        match splits {
            Ok((_, splits)) => self.topology.splits.push((key, splits)),
            Err(error) => self.fail(error.in_stage(meta.id()).at(meta.at())),
        }
    }

    /// The sink `meta` stages output, which `committer` makes final.
    pub(crate) fn committer(&mut self, meta: &Meta, committer: Box<dyn Committer>) {
        if self.pass == 0 {
            self.topology.committers.add(meta.id(), committer);
        }
    }

    /// The source `meta`, of so many partitions, wants to know what is safe.
    pub(crate) fn acknowledger(&mut self, meta: &Meta, outside: Box<dyn Acknowledge>, partitions: usize) {
        if self.pass == 0 {
            self.topology.acknowledgers.add(meta.id(), outside, partitions);
        }
    }

    /// What was described so far, to be taken up again by [`BuildCx::resume`]: another branch is built in between.
    pub fn suspend(&mut self) -> Draft {
        std::mem::take(&mut self.draft)
    }

    /// Joins a branch to the one being built: both hang on what comes next.
    pub fn resume(&mut self, mut other: Draft) {
        other.outputs.append(&mut self.draft.outputs);
        other.nodes.append(&mut self.draft.nodes);
        other.behind.append(&mut self.draft.behind);
        self.draft = other;
    }

    fn stage(&mut self, key: EdgeId, meta: &Meta, rule: Count, inputs: Vec<EdgeId>, stage: Box<dyn Stage>) {
        let draft = self.suspend();
        if self.pass == 0 {
            if self.topology.stages.iter().any(|s| s.key == key) {
                let what = format!(
                    "`{}` is built twice: its stream was cloned, and both clones were ended",
                    meta.id()
                );
                let error = Error::new(ErrorKind::Plan, what).at(meta.at());
                return self.fail(error.note("use a stream twice with `stream.root()` and `stream.tee(…)`"));
            }
            let count = match rule {
                Count::Exactly(n) => n,
                Count::Parallelism => self.parallelism,
                Count::Upstream => 0,
            };
            self.topology.stages.push(StageDef {
                name: meta.id(),
                count,
                instances: vec![stage],
                inputs,
                outputs: draft.outputs,
                rule,
                key,
                nodes: draft.nodes,
            });
        } else if let Some(def) = self.topology.stages.iter_mut().find(|s| s.key == key)
            && def.instances.len() < def.count
        {
            def.instances.push(stage);
        }
    }
}

impl Topology {
    /// Builds all instances of a pipeline, which is to go on from `restored` if there is such; `pass` builds one pass.
    ///
    /// # Errors
    /// When a source cannot say what it reads, or the pieces do not fit.
    pub(crate) fn build(
        parallelism: usize,
        restored: Option<Arc<Restored>>,
        mut pass: impl FnMut(&mut BuildCx),
    ) -> Result<Self> {
        let mut topology = Topology { restored, ..Topology::default() };
        pass(&mut BuildCx::new(&mut topology, 0, parallelism));
        topology.check()?;
        topology.connect()?;
        topology.sort();
        let most = topology.stages.iter().map(|s| s.count).max().unwrap_or(0);
        for p in 1..most {
            pass(&mut BuildCx::new(&mut topology, p, parallelism));
        }
        for stage in &mut topology.stages {
            stage.instances.truncate(stage.count);
        }
        topology.check()?;
        Ok(topology)
    }

    /// Not inlined: its callers are compiled in every user's crate.
    #[inline(never)]
    fn splits_of(&self, source: EdgeId) -> Option<&dyn Any> {
        self.splits.iter().find(|splits| splits.0 == source).map(|splits| &*splits.1)
    }

    /// Where the partitions of the source `id` stood, if the job goes on from a checkpoint that knows it.
    #[inline(never)]
    pub(crate) fn positions(&self, id: &str) -> Result<Option<Vec<Vec<u8>>>> {
        let Some(restored) = &self.restored else { return Ok(None) };
        let positions = restored.operator_everywhere(id)?;
        Ok((!positions.is_empty()).then_some(positions))
    }

    fn incoming(&self, edge: EdgeId) -> Option<&Incoming> {
        self.incoming.iter().find(|incoming| incoming.edge == edge)
    }

    fn check(&mut self) -> Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// Finds the two stages of each edge, and the number of instances of stages that follow their upstream.
    fn connect(&mut self) -> Result<()> {
        for (node, edge) in std::mem::take(&mut self.sends) {
            if let Some(Incoming { kind, head, .. }) = self.incoming(edge) {
                self.links.push((node, *head, Some(*kind)));
            }
        }
        for (to, stage) in self.stages.iter().enumerate() {
            for edge in &stage.inputs {
                let Some(from) = self.stages.iter().position(|s| s.outputs.contains(edge)) else {
                    let what =
                        format!("nothing feeds `{}`: one of its inputs was not added to the job", stage.name);
                    return Err(Error::new(ErrorKind::Plan, what));
                };
                let Some(kind) = self.incoming(*edge).map(|incoming| incoming.kind) else {
                    let what = format!("an input of `{}` has no kind: a bug of its operator", stage.name);
                    return Err(Error::new(ErrorKind::Plan, what));
                };
                self.edges.insert(*edge, EdgeDef { kind, from, to });
            }
        }
        self.widen()?;
        while let Some(i) = self.stages.iter().position(|s| s.rule == Count::Upstream && s.count == 0) {
            let before = |s: &StageDef| s.inputs.iter().map(|e| self.stages[self.edges[e].from].count).max();
            // An upstream stage that is not known yet is known first; chains of them have no cycles.
            let mut at = i;
            while let Some(edge) =
                self.stages[at].inputs.iter().find(|e| self.stages[self.edges[e].from].count == 0)
            {
                at = self.edges[edge].from;
            }
            let count = before(&self.stages[at]).unwrap_or(1).max(1);
            self.stages[at].count = count;
        }
        for stage in &self.stages {
            for node in &stage.nodes {
                self.nodes[*node].stage.clone_from(&stage.name);
            }
        }
        self.check_aligned()
    }

    /// Sources first, every stage after those before it.
    fn sort(&mut self) {
        let mut depth = vec![0usize; self.stages.len()];
        for _ in 0..self.stages.len() {
            for edge in self.edges.values() {
                depth[edge.to] = depth[edge.to].max(depth[edge.from] + 1);
            }
        }
        // Depth by depth, and in a depth as they were. (Sorting them would be 5,000 lines of LLVM's language.)
        let mut stages: Vec<Option<StageDef>> = self.stages.drain(..).map(Some).collect();
        let mut place = vec![0; stages.len()];
        for wanted in 0..stages.len() {
            for (old, stage) in stages.iter_mut().enumerate().filter(|(old, _)| depth[*old] == wanted) {
                place[old] = self.stages.len();
                self.stages.extend(stage.take());
            }
        }
        for edge in self.edges.values_mut() {
            (edge.from, edge.to) = (place[edge.from], place[edge.to]);
        }
    }
}
