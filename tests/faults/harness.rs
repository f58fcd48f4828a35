//! Runs that may fail but not hang, and a sink that remembers what became of what it was given.

use flow_core::prelude::*;
use flow_core::sink::{Sink, Writer};
use flow_core::stage::{Commit, OpenCx};
use flow_tests::process;
pub use flow_tests::process::{alone, stage_threads};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// A run that takes longer has hung.
const HUNG: Duration = Duration::from_secs(20);

/// In which a job that has failed has to return: a second, and another for a machine that is busy with other tests.
pub const PROMPT: Duration = Duration::from_secs(2);

/// Who steps the stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    Threads,
    Workers,
    Simulation,
}

pub const ALL: [On; 3] = [On::Threads, On::Workers, On::Simulation];

/// Those on which one closure can be stuck while the others go on.
pub const THREADED: [On; 2] = [On::Threads, On::Workers];

impl On {
    pub fn run(self, job: Job) -> Result<Report> {
        match self {
            On::Threads => job.host(HostKind::Threads).run(),
            On::Workers => job.host(HostKind::Workers(2)).run(),
            On::Simulation => job.simulate(7),
        }
    }
}

/// The result of `f`, and how long it took; panics when it hangs.
pub fn timed<R: Send + 'static>(what: &str, f: impl FnOnce() -> R + Send + 'static) -> (R, Duration) {
    process::timed(what, HUNG, f)
}

/// What became of what was written: `staged`, `committed` and `taken back` outputs.
#[derive(Clone, Default)]
pub struct Ledger(Arc<Counts>);

#[derive(Default)]
struct Counts {
    staged: AtomicUsize,
    committed: AtomicUsize,
    aborted: AtomicUsize,
}

impl Ledger {
    pub fn sink(&self) -> LedgerSink {
        LedgerSink { ledger: self.clone(), fails_at: None, panics_at: None }
    }
    pub fn staged(&self) -> usize {
        self.0.staged.load(SeqCst)
    }
    pub fn committed(&self) -> usize {
        self.0.committed.load(SeqCst)
    }
    pub fn aborted(&self) -> usize {
        self.0.aborted.load(SeqCst)
    }
}

/// Where in the life of a sink something goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    Open,
    Write,
    Finish,
    Commit,
}

/// Takes anything; fails or panics where it is told to.
#[derive(Clone)]
pub struct LedgerSink {
    ledger: Ledger,
    fails_at: Option<At>,
    panics_at: Option<At>,
}

impl LedgerSink {
    pub fn fails(self, at: At) -> Self {
        LedgerSink { fails_at: Some(at), ..self }
    }
    pub fn panics(self, at: At) -> Self {
        LedgerSink { panics_at: Some(at), ..self }
    }
    fn reach(&self, at: At) -> Result<()> {
        assert_ne!(self.panics_at, Some(at), "the sink panics");
        if self.fails_at == Some(at) { Err(Error::new(ErrorKind::Sink, "the sink fails")) } else { Ok(()) }
    }
}

pub struct LedgerWriter {
    sink: LedgerSink,
    written: usize,
}

impl<T: 'static> Sink<T> for LedgerSink {
    type Writer = LedgerWriter;
    fn name(&self) -> &'static str {
        "ledger"
    }
    fn open(&self, _: &mut OpenCx) -> Result<LedgerWriter> {
        self.reach(At::Open)?;
        Ok(LedgerWriter { sink: self.clone(), written: 0 })
    }
}

impl<T: 'static> Writer<T> for LedgerWriter {
    fn write(&mut self, _: T, _: Timestamp) -> Result<()> {
        self.written += 1;
        if self.written == 100 { self.sink.reach(At::Write) } else { Ok(()) }
    }
    fn finish(self) -> Result<Option<Box<dyn Commit>>> {
        self.sink.reach(At::Finish)?;
        self.sink.ledger.0.staged.fetch_add(1, SeqCst);
        Ok(Some(Box::new(self.sink)))
    }
}

impl Commit for LedgerSink {
    fn commit(self: Box<Self>) -> Result<()> {
        self.reach(At::Commit)?;
        self.ledger.0.committed.fetch_add(1, SeqCst);
        Ok(())
    }
    fn abort(self: Box<Self>) {
        self.ledger.0.aborted.fetch_add(1, SeqCst);
    }
}

/// What an error has to say.
pub struct Expected {
    pub kind: ErrorKind,
    /// The stage or operator it names.
    pub stage: &'static str,
    /// What it says happened.
    pub cause: &'static str,
    /// The source line it points at contains this; empty where the fault is not in the pipeline's text.
    pub line: &'static str,
}

/// Builds a pipeline that goes wrong beside one that is well, both with sinks in two instances, and runs it on every
/// host: see the top.
pub fn check(file: &'static str, text: &'static str, expected: &Expected, fault: fn(&mut Job, &Ledger)) {
    let _alone = alone();
    for on in ALL {
        let ledger = Ledger::default();
        let sinks = ledger.clone();
        let (result, took) = timed(expected.cause, move || {
            let job = Job::build("faulty", |job| {
                job.add(source(from_iter(0..400u64)).key_by(|n| n % 7).count().sink(sinks.sink()));
                fault(job, &sinks);
            });
            on.run(job.parallelism(2).batch_size(64))
        });
        let error = result.expect_err("the fault is reported");
        let shown = error.to_string();
        assert_eq!(error.kind(), expected.kind, "{on:?}: {shown}");
        assert!(error.stage().unwrap_or_default().starts_with(expected.stage), "{on:?}: {shown}");
        assert!(shown.contains(expected.cause), "{on:?}: {shown}");
        assert_eq!(shown.matches(expected.cause).count(), 1, "one error, {on:?}: {shown}");
        check_place(file, text, expected, &shown);
        assert!(took < PROMPT, "{on:?} took {took:?}: {shown}");
        assert!(!shown.contains("left behind"), "{on:?}: {shown}");
        assert_eq!(stage_threads(), Vec::<String>::new(), "{on:?}: {shown}");
        assert_eq!(ledger.committed(), 0, "{on:?}: {shown}");
        assert_eq!(ledger.aborted(), ledger.staged(), "{on:?}: {shown}");
    }
}

/// The error points at a line of the test that contains the fault.
fn check_place(file: &str, text: &str, expected: &Expected, shown: &str) {
    if expected.line.is_empty() {
        assert!(shown.contains(".rs:"), "a place: {shown}");
        return;
    }
    let after = shown.split(&format!("{file}:")).nth(1);
    let number = after.and_then(|rest| rest.split(':').next()).and_then(|n| n.parse::<usize>().ok());
    let line = number.and_then(|n| text.lines().nth(n - 1)).unwrap_or_default();
    assert!(line.contains(expected.line), "points at `{line}`: {shown}");
}
