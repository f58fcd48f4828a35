//! A job: a pipeline that can be run.

mod attempts;
mod explain;
mod handle;
mod taking;

pub use handle::JobHandle;

use crate::checkpoint::{Checkpoints, Renames, Restored};
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::KEY_GROUPS;
use crate::external::MemoryLimit;
use crate::host::panics::guard;
use crate::host::simulation::Simulation;
use crate::host::threads::Threads;
use crate::host::wire::Settings;
use crate::host::{Control, Host, HostKind};
use crate::metrics::Report;
use crate::op::Terminal;
use crate::op::chain::Whole;
use crate::stage::{BatchSize, BuildCx, Commits, Topology};
use crate::state::StateBackend;
use crate::time::{Clock, IntoMillis, Millis, Steady, SystemClock, VirtualClock};
use attempts::{Attempts, Begin};
use handle::Running;
use std::path::PathBuf;
use std::sync::Arc;
use taking::{Start, start, taking};

/// Builds one pass of one end of the pipeline.
type End = Box<dyn Fn(&mut BuildCx) + Send>;

/// Batches that a ring holds at most, unless the job says otherwise, and the most it may say.
const RING_BATCHES: usize = 8;
const RING_BATCHES_MAX: usize = 1 << 16;

/// How long a record waits in a batch that is not full, at most.
const MAX_DELAY: Millis = Millis(100);

/// Items of a batch at most, unless the job says otherwise. 1,024 to 4,096 measured the same.
const BATCH_ITEMS: usize = 1024;

/// A pipeline, ready to run: what a function declared in `dataflow!` returns.
///
/// ```
/// use flow_core::prelude::*;
/// let out = Collected::new();
/// let job = Job::build("double", |job| job.add(source(from_iter(1..4)).map(|n| 2 * n).collect(&out)));
/// let report = job.parallelism(2).run().unwrap();
/// assert_eq!(out.take(), [2, 4, 6]);
/// assert_eq!(report.stages.len(), 1);
/// ```
#[must_use = "a job does nothing until it is run"]
pub struct Job {
    name: String,
    ends: Vec<End>,
    parallelism: usize,
    host: HostKind,
    clock: Option<Arc<dyn Clock>>,
    own_host: Option<Arc<dyn Host>>,
    batch: usize,
    ring: usize,
    max_delay: Millis,
    checkpoints: Option<Checkpoints>,
    savepoint: Option<PathBuf>,
    renames: Renames,
    crash_at: Option<u64>,
    restarts: u32,
    restart_delay: Millis,
    backend: Option<Arc<dyn StateBackend>>,
    memory: MemoryLimit,
}

impl Job {
    /// A job without a pipeline.
    pub fn new(name: impl Into<String>) -> Self {
        crate::stage::meta::new_pipeline();
        Job {
            name: name.into(),
            ends: Vec::new(),
            parallelism: 1,
            host: HostKind::Auto,
            clock: None,
            own_host: None,
            batch: BATCH_ITEMS,
            ring: RING_BATCHES,
            max_delay: MAX_DELAY,
            checkpoints: None,
            savepoint: None,
            renames: Renames::default(),
            crash_at: None,
            restarts: 0,
            restart_delay: Millis(0),
            backend: None,
            memory: MemoryLimit::default(),
        }
    }

    /// A job whose pipeline `f` writes, with the operators' methods.
    pub fn build(name: impl Into<String>, f: impl FnOnce(&mut Job)) -> Self {
        let mut job = Job::new(name);
        f(&mut job);
        job
    }

    /// Adds an end of the pipeline.
    pub fn add<E: Terminal>(&mut self, end: E) {
        self.push(Box::new(move |cx| end.clone().build_end(cx, Whole)));
    }

    /// Apart from [`Job::add`], which is compiled again for each end.
    fn push(&mut self, end: End) {
        self.ends.push(end);
    }

    /// In how many instances everything behind an exchange runs; 1 unless said otherwise.
    pub fn parallelism(mut self, n: usize) -> Self {
        self.parallelism = n;
        self
    }

    /// Who steps the stages.
    pub fn host(mut self, host: HostKind) -> Self {
        self.host = host;
        self
    }

    /// Runs on a host of your own.
    pub fn host_with(mut self, host: impl Host + 'static) -> Self {
        self.own_host = Some(Arc::new(host));
        self
    }

    /// Goes by another clock than the machine's: for tests of what happens at a time, or when a clock is set. A simulation has its own.
    ///
    /// ```
    /// use flow_core::prelude::*;
    /// use flow_core::time::VirtualClock;
    /// use std::sync::Arc;
    ///
    /// let clock = Arc::new(VirtualClock::new());
    /// clock.advance_to(90_000);
    /// let out = Collected::new();
    /// let job = Job::build("minutes", |job| {
    ///     let windows = source(from_vec(vec![7, 8])).window(tumbling(Millis(60_000)).time(processing));
    ///     job.add(windows.count().map(|w| (w.start, w.value)).collect(&out));
    /// });
    /// job.clock(clock).run().unwrap();
    /// assert_eq!(out.take(), [(Timestamp(60_000), 2)]);
    /// ```
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// How many items a batch holds at most. It changes the speed; a result only where several senders meet and elements
    /// are behind the watermark of another one than their own.
    pub fn batch_size(mut self, items: usize) -> Self {
        self.batch = items;
        self
    }

    /// How many batches a ring between two instances holds at most. It bounds memory: a batch holds 256 KiB at most as far as
    /// `size_of` knows, or a pane of a window that was merged before the exchange, 2 MiB of entries.
    pub fn ring_batches(mut self, batches: usize) -> Self {
        self.ring = batches;
        self
    }

    /// How long a record waits at most, before an exchange, for the batch to fill; 100 ms unless said otherwise. A stage
    /// that has nothing to do sends what it has at once: this is for one that is busy with records it does not pass on.
    pub fn max_delay(mut self, delay: impl IntoMillis) -> Self {
        self.max_delay = delay.into_millis();
        self
    }

    /// Takes checkpoints, and starts from the newest one. The pipeline has to be [`durable`](crate::op::Stream::durable); in
    /// `dataflow!` that is `#[checkpointed]`.
    ///
    /// Whatever kills the process, the next start goes on from the newest complete checkpoint: sources from the positions in it,
    /// operators with their state. What sinks have staged becomes visible when a checkpoint is complete, and at the end.
    pub fn checkpoints(mut self, checkpoints: Checkpoints) -> Self {
        self.checkpoints = Some(checkpoints);
        self
    }

    /// At the end of its input the job writes what it keeps as a savepoint into this folder, which is made where it is missing and has none yet; a job that goes on
    /// from there is told so by [`Checkpoints::begin_from`]. It takes no other checkpoints, and a failure before leaves nothing.
    ///
    /// The pipeline is an [exported](crate::op::Stream::exported) batch, in `dataflow!` `#[batch(exported)]`, or a checkpointed one that ends: the end of the input is a
    /// cut then, at which no open window fires, and no timer that is not due.
    pub fn savepoint_to(mut self, folder: impl Into<PathBuf>) -> Self {
        self.savepoint = Some(folder.into());
        self
    }

    /// Where keyed state goes that does not fit into memory: `Fjall` (the feature `fjall`) or one of your own. The pipeline has to be
    /// [`durable`](crate::op::Stream::durable), in `dataflow!` that is `#[checkpointed]`, so that its state can be written down; with
    /// [`checkpoints`](Job::checkpoints) or without. Never said: all of it is in memory.
    ///
    /// What the backend has is gone when the job has ended, however it does: what survives are checkpoints.
    ///
    /// ```
    /// use flow_core::prelude::*;
    /// use flow_core::testing::MapBackend;
    /// let out = Collected::new();
    /// let job = Job::build("counts", |job| {
    ///     let words = source(from_vec(vec!["a", "b", "a"])).durable().map(str::to_string);
    ///     job.add(words.key_by(|word| word.clone()).count().collect(&out));
    /// });
    /// job.state_backend(MapBackend::with_limit(1 << 20)).run().unwrap();
    /// assert_eq!(out.take().last(), Some(&("a".to_string(), 2)));
    /// ```
    pub fn state_backend(mut self, backend: impl StateBackend + 'static) -> Self {
        self.backend = Some(Arc::new(backend));
        self
    }

    /// How much memory operators that need all their input may have together, in bytes: 1 GiB unless said. What is more lies on the disk meanwhile; each instance
    /// has 1 MiB in any case. These are `sort_by`, `sort_by_key`, `reduce_group`, the joins `hash` and `sort_merge`, and what a loop hands from one superstep to the
    /// next. It is no limit for what others keep for each key, such as rolling operators, windows, the tables of `lookup` and the solution of `iterate_delta`: docs/operators.md lists
    /// them under "Batches".
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let (out, folder) = (Collected::new(), tempfile::tempdir().unwrap());
    /// let job = Job::build("sorted", |job| {
    ///     job.add(source(generate(1_000_000, |n| n ^ 0xaaaa)).sort_by_key(|n| *n).collect(&out));
    /// });
    /// let report = job.memory(2 << 20).spill_to(folder.path()).run().unwrap();
    /// assert!(out.take().is_sorted() && report.counter("sort_by_key.spilled") > 500_000);
    /// ```
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory.bytes = Some(bytes);
        self
    }

    /// The folder for what does not fit into that [`memory`](Job::memory): the system's for temporary files unless said. Its files have no names, so
    /// nothing is left of them, whatever ends the process.
    pub fn spill_to(mut self, folder: impl Into<PathBuf>) -> Self {
        self.memory.folder = Some(folder.into());
        self
    }

    /// What is called `now` was `before` when the checkpoint was taken: a `let`, or a single operator by its id. In `dataflow!` that is
    /// `#[was(before)] let now = …`. It may stand there for good: a checkpoint that knows `now` is not changed.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let folder = tempfile::tempdir().unwrap();
    /// let job = |name: &'static str| {
    ///     let job = Job::build("sums", |job| {
    ///         let numbers = source(generate(u64::MAX, |n| n % 10)).durable().rate_limit(10_000);
    ///         job.was("total/sum", "sums/sum");
    ///         job.add(numbers.key_by(|n| n % 2).sum(|n| *n).named(name).collect(&Collected::new()));
    ///     });
    ///     job.checkpoints(Checkpoints::to(folder.path())).start()
    /// };
    /// for name in ["sums", "total"] {
    ///     let handle = job(name).unwrap();
    ///     handle.stop_with_savepoint().unwrap();
    ///     handle.join().unwrap();
    /// }
    /// ```
    pub fn was(&mut self, now: &str, before: &str) {
        self.renames.add(now, before);
    }

    /// After a failure the job begins again by itself, `times` times at most, so long after it: from the newest complete checkpoint, or, where it
    /// takes none, from the beginning. Never said: it ends with the first failure.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    /// # let (out, folder) = (Collected::new(), tempfile::tempdir().unwrap());
    /// static FAILED: AtomicBool = AtomicBool::new(false);
    /// let job = Job::build("unlucky", |job| {
    ///     let numbers = source(from_iter(1..=4)).durable().inspect(|n| assert!(*n < 4 || FAILED.swap(true, Relaxed)));
    ///     job.add(numbers.collect(&out));
    /// });
    /// let report = job.checkpoints(Checkpoints::to(folder.path())).restart(3, Millis(1)).run().unwrap();
    /// assert_eq!((out.take(), report.restarts), (vec![1, 2, 3, 4], 1));
    /// ```
    pub fn restart(mut self, times: u32, delay: impl Into<Millis>) -> Self {
        self.restarts = times;
        self.restart_delay = delay.into();
        self
    }

    /// For tests: the process of a simulation dies after so many steps, with an error of kind [`ErrorKind::Crash`].
    pub fn crash_at(mut self, steps: u64) -> Self {
        self.crash_at = Some(steps);
        self
    }

    /// Runs to the end of the input.
    ///
    /// # Errors
    /// The first failure: nothing is committed then.
    pub fn run(self) -> Result<Report> {
        let attempts = Attempts::default();
        let first = attempts.first(&self)?;
        attempts.run(&self, first)
    }

    /// Runs to the end on one thread with a virtual clock, as `seed` decides: see [`crate::host::simulation`].
    ///
    /// # Errors
    /// The first failure.
    pub fn simulate(self, seed: u64) -> Result<Report> {
        self.launch(Some(seed), Begin::First)?.finish()
    }

    /// Starts and returns at once.
    ///
    /// # Errors
    /// When the job cannot start.
    pub fn start(self) -> Result<JobHandle> {
        JobHandle::spawn(self)
    }

    fn topology(&self, restored: Option<Arc<Restored>>) -> Result<Topology> {
        if self.ends.is_empty() {
            return Err(Error::new(ErrorKind::Plan, format!("job `{}` has no pipeline", self.name)));
        }
        for (what, value, most) in [
            ("a parallelism", self.parallelism, KEY_GROUPS),
            ("a batch size", self.batch, usize::MAX),
            ("ring_batches", self.ring, RING_BATCHES_MAX),
        ] {
            if value == 0 || value > most {
                let most = if most == usize::MAX { String::new() } else { format!(" and at most {most}") };
                let what = format!("{what} of {value}: it has to be at least 1{most}");
                return Err(Error::new(ErrorKind::Plan, what));
            }
        }
        Topology::build(self.parallelism, restored, |cx| self.ends.iter().for_each(|end| end(cx)))
    }

    /// Where its checkpoints go, or the only one.
    fn places(&self) -> Result<Option<Checkpoints>> {
        match (&self.checkpoints, &self.savepoint) {
            (Some(_), Some(_)) => {
                let what = "a job either takes checkpoints or writes a savepoint at the end of its input";
                let note = "`savepoint_to` is for the job with the history, `checkpoints(Checkpoints::to(…).begin_from(…))` for the one that goes on";
                Err(Error::new(ErrorKind::Plan, what).note(note))
            }
            (checkpoints, None) => Ok(checkpoints.clone()),
            (None, Some(folder)) => Ok(Some(Checkpoints::to(folder).at_the_end())),
        }
    }

    fn real_clock(&self) -> Arc<dyn Clock> {
        self.clock.clone().unwrap_or_else(|| Arc::new(SystemClock::new()))
    }

    fn launch(&self, seed: Option<u64>, begin: Begin) -> Result<Running> {
        let checkpoints = self.places()?;
        let checkpoints = checkpoints.map(|it| if begin == Begin::GoOn { it.newest() } else { it });
        let checkpoints = checkpoints.map(|it| if self.backend.is_some() { it.sparing() } else { it });
        let start = checkpoints.map(|it| start(&self.name, it, &self.renames)).transpose()?;
        // A source's splits are the user's code, and run here.
        let mut topology = guard(|| self.topology(start.as_ref().and_then(Start::restored)))?;
        topology.check_exported(self.savepoint.is_some())?;
        let stores = match &self.backend {
            Some(backend) => Some(guard(|| backend.begin(&self.name, topology.tables()?))?),
            None => None,
        };
        let instances = topology.stages.iter().map(|s| s.count).sum();
        let virtual_clock = Arc::new(VirtualClock::new());
        let (host, clock): (Arc<dyn Host>, Arc<dyn Clock>) = match (seed, self.own_host.clone()) {
            (Some(seed), _) => (
                Arc::new(Simulation::new(seed, Arc::clone(&virtual_clock)).crash_at(self.crash_at)),
                virtual_clock,
            ),
            (None, Some(own)) => (own, self.real_clock()),
            (None, None) => {
                (Arc::new(Threads::of(self.host, instances, self.parallelism)), self.real_clock())
            }
        };
        let batch = seed.map_or(BatchSize::fixed(self.batch), |seed| BatchSize::seeded(self.batch, seed));
        let control = Control::default();
        let checkpoints = match start {
            Some(start) => Some(taking(start, &mut topology, &control, &clock)?),
            None => None,
        };
        let settings = Settings {
            batch,
            ring: self.ring,
            max_delay: self.max_delay,
            // When a checkpoint was taken is what the machine says, which may be right again by then.
            clock: Arc::new(Steady::new(clock)),
            control,
            commits: Commits::default(),
            checkpoints,
            stores,
            memory: self.memory.pool(),
        };
        Ok(Running::new(self.name.clone(), host, topology, settings, seed.is_some()))
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job")
            .field("name", &self.name)
            .field("parallelism", &self.parallelism)
            .finish_non_exhaustive()
    }
}
