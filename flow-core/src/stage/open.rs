//! What a stage is given when it opens.

use super::alarm::Alarm;
use super::{EdgeId, Meta, Wire};
use crate::channel::Signal;
use crate::checkpoint::failpoint::point;
use crate::checkpoint::{Orders, Restored, Saves};
use crate::error::{Error, Result};
use crate::external::Memory;
use crate::metrics::{Counter, Gauge, StageMetrics};
use crate::state::{Space, StateStores};
use crate::time::Clock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How many bytes of items a batch holds at most, as far as `size_of` knows; one item always fits.
const BATCH_BYTES_MAX: usize = 1 << 18;

/// How many items a batch holds at most; under simulation each batch draws its own limit.
#[derive(Debug, Clone, Copy)]
pub struct BatchSize {
    max: usize,
    seed: Option<u64>,
}

impl Default for BatchSize {
    fn default() -> Self {
        BatchSize::fixed(1024)
    }
}

impl BatchSize {
    /// Always `max`.
    pub fn fixed(max: usize) -> Self {
        BatchSize { max: max.max(1), seed: None }
    }

    /// From 1 to `max`, as the seed says.
    pub fn seeded(max: usize, seed: u64) -> Self {
        BatchSize { max: max.max(1), seed: Some(seed) }
    }

    /// For one of several users: under simulation each gets a seed of its own.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        BatchSize { max: self.max, seed: self.seed.as_mut().map(split_mix) }
    }

    /// The same for items of this size, so that a batch stays within `BATCH_BYTES_MAX`.
    #[must_use]
    pub fn for_items_of(self, bytes: usize) -> Self {
        BatchSize { max: self.max.min((BATCH_BYTES_MAX / bytes.max(1)).max(1)), ..self }
    }

    /// `most`, for a limit that few inputs reach; under simulation something small, so that they do.
    pub fn or_few(&mut self, most: usize) -> usize {
        let Some(seed) = &mut self.seed else { return most };
        1 + (split_mix(seed) % 100) as usize
    }

    /// The limit of the next batch.
    #[expect(clippy::should_implement_trait, reason = "it never ends, so it is no iterator")]
    pub fn next(&mut self) -> usize {
        let Some(seed) = &mut self.seed else { return self.max };
        1 + (split_mix(seed) % self.max as u64) as usize
    }
}

/// The next number of a splitmix64 sequence (Steele, Lea and Flood, "Fast splittable pseudorandom number generators").
pub fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The first error of a stage's operators, which cannot return one from the middle of a push.
#[derive(Debug, Clone)]
pub struct Faults(Arc<FaultCell>);

// Not derived: what is derived is compiled again in every crate that uses it, and each operator has this.
impl Default for Faults {
    fn default() -> Self {
        Faults(Arc::new(FaultCell::default()))
    }
}

#[derive(Default)]
struct FaultCell {
    raised: AtomicBool,
    first: Mutex<Option<Error>>,
    saves: Saves,
}

impl std::fmt::Debug for FaultCell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FaultCell").field("first", &self.first).finish_non_exhaustive()
    }
}

impl Faults {
    /// With the way to the coordinator: an operator that has the one needs no field for the other.
    pub(crate) fn with(saves: Saves) -> Self {
        Faults(Arc::new(FaultCell { saves, ..FaultCell::default() }))
    }

    /// Where an operator leaves what it keeps.
    pub(crate) fn saves(&self) -> &Saves {
        &self.0.saves
    }

    /// Ends the job with this error, unless another came first.
    #[cold]
    pub fn raise(&self, error: Error) {
        let mut first = self.0.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
        self.0.raised.store(true, Ordering::Relaxed);
    }

    /// Whether an error was raised and has not been seen yet: what was to be saved is not whole then.
    pub(crate) fn are_raised(&self) -> bool {
        self.0.raised.load(Ordering::Relaxed)
    }

    /// `Err` once an error was raised.
    ///
    /// # Errors
    /// The raised error, once.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.0.raised.load(Ordering::Relaxed) { self.take() } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn take(&self) -> Result<()> {
        let mut first = self.0.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.take().map_or(Ok(()), Err)
    }
}

/// What a sink has staged and the end of the job makes final: all sinks commit, or none.
pub trait Commit: Send {
    /// Makes it final.
    ///
    /// # Errors
    /// When it could not be done; what was staged stays where it is.
    fn commit(self: Box<Self>) -> Result<()>;
    /// Takes it back.
    fn abort(self: Box<Self>);
}

/// A commit, and the sink that left it.
pub(crate) struct Staged {
    pub sink: Meta,
    pub commit: Box<dyn Commit>,
}

/// What the sinks of a job have staged. A clone is the same collection.
#[derive(Clone, Default)]
pub struct Commits(Arc<Mutex<Shelf>>);

#[derive(Default)]
struct Shelf(Vec<Staged>);

impl Drop for Shelf {
    /// A thread that was left behind after a failure may stage something when nobody commits any more.
    fn drop(&mut self) {
        self.0.drain(..).for_each(|staged| staged.commit.abort());
    }
}

impl Commits {
    /// Leaves what the end of the job makes final; `sink` is named if that fails.
    pub fn push(&self, sink: &Meta, commit: Box<dyn Commit>) {
        let staged = Staged { sink: *sink, commit };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.push(staged);
    }

    pub(crate) fn take(&self) -> Vec<Staged> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).0)
    }
}

/// What a stage is given when it opens.
pub struct OpenCx {
    pub(crate) stage: String,
    pub(crate) context: Context,
    /// The sending instances of each incoming edge.
    pub(crate) inputs: Vec<usize>,
    pub(crate) wires: Vec<(EdgeId, Wire)>,
    pub(crate) batch: BatchSize,
    pub(crate) faults: Faults,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) commits: Commits,
    pub(crate) over: Arc<AtomicBool>,
    pub(crate) stopping: Arc<AtomicBool>,
    pub(crate) alarm: Alarm,
    pub(crate) saves: Saves,
    pub(crate) orders: Orders,
    pub(crate) restored: Option<Arc<Restored>>,
    /// Where state goes that does not fit into memory, if the job has such a place.
    pub(crate) stores: Option<Arc<dyn StateStores>>,
    /// What operators that need all their input may have in memory.
    pub(crate) memory: Memory,
}

impl OpenCx {
    /// The stage's name.
    pub fn stage(&self) -> &str {
        &self.stage
    }

    /// How many inputs it has: the sending instances of all its incoming edges.
    pub fn inputs(&self) -> usize {
        self.inputs.iter().sum()
    }

    /// How many inputs its incoming edge of this number has: those of the first edge come first.
    pub fn inputs_of(&self, edge: usize) -> usize {
        self.inputs.get(edge).copied().unwrap_or(0)
    }

    /// How large its batches are.
    pub fn batch_size(&mut self) -> BatchSize {
        self.batch.fork()
    }

    /// Its counters.
    pub fn metrics(&self) -> &StageMetrics {
        &self.context.metrics
    }

    /// Where its operators report errors.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Processing time.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Wakes the thread that steps this stage: for a source whose records come from a thread of its own.
    pub fn signal(&self) -> &Signal {
        &self.context.signal
    }

    /// Whether the job has failed. A sink that has to wait for something outside looks here now and then, and gives up.
    pub fn over(&self) -> &Arc<AtomicBool> {
        &self.over
    }

    /// Whether the job is asked to stop: the sources end as if their input had.
    pub fn stopping(&self) -> &Arc<AtomicBool> {
        &self.stopping
    }

    /// For an operator that holds records back until a time.
    pub fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    /// Where a sink leaves what the end of the job makes final, in a job that takes no checkpoints.
    pub(crate) fn commits(&self) -> &Commits {
        &self.commits
    }

    /// Where an operator leaves what it keeps when a barrier passes.
    pub fn saves(&self) -> &Saves {
        &self.saves
    }

    /// The checkpoint that the job starts from, if it does.
    pub(crate) fn restored(&self) -> Option<&Arc<Restored>> {
        self.restored.as_ref()
    }

    /// A store for keyed state of the operator `meta` that does not fit into memory; none where all of it has to. An operator may have several.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn space(&self, meta: &Meta) -> Result<Option<Space>> {
        let meta = *meta;
        self.space_of(move |error| error.in_stage(meta.id()).at(meta.at()))
    }

    /// The same for an operator of this stage that does not know who it is.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn space_of_stage(&self) -> Result<Option<Space>> {
        self.space_of(|error| error)
    }

    fn space_of(&self, named: impl Fn(Error) -> Error + Send + Sync + 'static) -> Result<Option<Space>> {
        let Some(stores) = &self.stores else { return Ok(None) };
        let store = stores.open(&format!("{}[{}]", self.stage, self.context.instance)).map_err(&named)?;
        let faults = self.faults.clone();
        let space = Space::new(store, stores.share(), move |error| faults.raise(named(error)));
        Ok(Some(space.counted(self.saves().spilled())))
    }

    /// The memory of the operators that need all their input.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// What the operator `id` has kept beside keyed state, where the job starts from a checkpoint: what instances have given to
    /// [`Saves::operator`], of this one, or of several where their number has changed.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn take_back(&self, id: &str) -> Result<Vec<Vec<u8>>> {
        let (instance, instances) = (self.context.instance, self.context.instances);
        self.restored.as_ref().map_or(Ok(Vec::new()), |state| state.operator(id, instance, instances))
    }

    /// What all instances of the operator `id` have kept beside keyed state, whichever this one is: for what they count together.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn take_back_everywhere(&self, id: &str) -> Result<Vec<Vec<u8>>> {
        self.restored.as_ref().map_or(Ok(Vec::new()), |state| state.operator_everywhere(id))
    }

    /// The position at which the source `id` goes on in this instance, where the job starts from a checkpoint.
    ///
    /// # Errors
    /// When it cannot be read, or had another number of partitions.
    pub(crate) fn position(&self, id: &str) -> Result<Option<Vec<u8>>> {
        let Some(restored) = self.restored.as_ref().filter(|restored| !restored.is_history()) else {
            return Ok(None);
        };
        let (instance, instances) = (self.context.instance, self.context.instances);
        let position = restored.position(id, instance, instances)?;
        point("R4");
        Ok(Some(position))
    }

    /// The number of the newest complete checkpoint: what is written now belongs to the next.
    pub fn checkpoint(&self) -> u64 {
        self.restored.as_ref().map_or(0, |state| state.id())
    }

    /// The sending ends of `edge` for this instance.
    pub fn take_wires(&mut self, edge: EdgeId) -> Vec<Wire> {
        let (its, others) = std::mem::take(&mut self.wires).into_iter().partition(|(to, _)| *to == edge);
        self.wires = others;
        its.into_iter().map(|(_, wire): (EdgeId, Wire)| wire).collect()
    }

    /// What the user's own code sees of all this.
    pub fn context(&self) -> &Context {
        &self.context
    }
}

/// What a user's own code knows about where it runs.
///
/// ```
/// use flow_core::prelude::*;
/// let job = Job::build("long", |job| {
///     let words = source(from_vec(vec!["a", "bcd", "efgh"]));
///     let lengths = words.map_init(|cx| cx.counter("long"), |long, word| {
///         long.add(u64::from(word.len() > 2));
///         word.len()
///     });
///     job.add(lengths.for_each(|_| ()));
/// });
/// assert_eq!(job.run().unwrap().counter("long"), 2);
/// ```
#[derive(Debug, Clone)]
pub struct Context {
    pub(crate) instance: usize,
    pub(crate) instances: usize,
    pub(crate) metrics: StageMetrics,
    pub(crate) signal: Signal,
}

impl Context {
    /// The number of this parallel instance, from 0.
    pub fn instance(&self) -> usize {
        self.instance
    }

    /// How many instances of this operator there are.
    pub fn parallelism(&self) -> usize {
        self.instances
    }

    /// Wakes the thread that steps this instance: for an operator whose instances have news for each other.
    pub fn signal(&self) -> &Signal {
        &self.signal
    }

    /// A counter that stands in the job's report under `name`.
    pub fn counter(&self, name: &str) -> Counter {
        self.metrics.counter(name)
    }

    /// A gauge that stands in the job's report under `name`.
    pub fn gauge(&self, name: &str) -> Gauge {
        self.metrics.gauge(name)
    }
}
