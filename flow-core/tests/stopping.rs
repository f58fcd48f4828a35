//! What comes between when a job is stopped: the end of its input, a checkpoint that fails, an output that cannot be committed, a closure that fails. Each
//! of them is made to happen: the sink says when a checkpoint is complete, and commits when the test lets it.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::checkpoint::Committer;
use flow_core::prelude::*;
use flow_core::sink::{CommittingSink, Sink, StagingWriter, Writer};
use flow_core::stage::{Commit, OpenCx};
use flow_core::testing::SimFs;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

const NUMBERS: u64 = 20_000;
/// The job is stopped when it has come to this one.
const MIDST: u64 = 500;

/// Waits until something is so.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited in vain until {what}");
        sleep(Duration::from_millis(1));
    }
}

/// Numbers, once each when they have been committed.
#[derive(Clone, Default)]
struct Rows(Arc<Shared>);

#[derive(Default)]
struct Shared {
    rows: Mutex<Vec<u64>>,
    committed: Mutex<BTreeSet<u64>>,
    /// The last checkpoint of which the output is being committed.
    committing: AtomicU64,
    /// Commits wait, or fail.
    holds: AtomicBool,
    refuses: AtomicBool,
    /// How far the job has come, how many of its closure there are, and how many when no stage has one.
    reached: AtomicU64,
    live: AtomicUsize,
    idle: AtomicUsize,
}

impl Rows {
    /// A checkpoint is complete, and then the stage has ended.
    fn is_over(&self) -> bool {
        self.0.committing.load(SeqCst) > 0 && self.0.live.load(SeqCst) <= self.0.idle.load(SeqCst)
    }

    fn sorted(&self) -> Vec<u64> {
        let mut rows = self.0.rows.lock().unwrap().clone();
        rows.sort_unstable();
        rows
    }
}

struct Pending(Vec<u64>);

impl Sink<u64> for Rows {
    type Writer = Pending;
    fn name(&self) -> &'static str {
        "rows"
    }
    fn open(&self, _: &mut OpenCx) -> Result<Pending> {
        Ok(Pending(Vec::new()))
    }
}

impl Writer<u64> for Pending {
    fn write(&mut self, n: u64, _: Timestamp) -> Result<()> {
        self.0.push(n);
        Ok(())
    }
    fn finish(self) -> Result<Option<Box<dyn Commit>>> {
        Ok(None)
    }
}

impl StagingWriter<u64> for Pending {
    fn stage(&mut self, _: u64) -> Result<Option<Vec<u8>>> {
        Ok(Some(self.0.drain(..).flat_map(u64::to_le_bytes).collect()))
    }
}

impl CommittingSink<u64> for Rows {
    fn committer(&self) -> Box<dyn Committer> {
        Box::new(self.clone())
    }
}

impl Committer for Rows {
    fn commit(&mut self, checkpoint: u64, _: u32, staged: &[u8]) -> Result<()> {
        self.0.committing.store(checkpoint, SeqCst);
        until("the test lets it commit", || !self.0.holds.load(SeqCst));
        if self.0.refuses.load(SeqCst) {
            return Err(Error::new(ErrorKind::Sink, "nobody takes the rows"));
        }
        if self.0.committed.lock().unwrap().insert(checkpoint) {
            let rows = staged.chunks(8).map(|row| u64::from_le_bytes(row.try_into().unwrap()));
            self.0.rows.lock().unwrap().extend(rows);
        }
        Ok(())
    }
    fn abort(&mut self, _: u64, _: u32, _: &[u8]) {}
}

/// It is there as long as the closure that has it.
struct Live(Arc<Shared>);

impl Live {
    fn of(shared: &Arc<Shared>) -> Self {
        shared.live.fetch_add(1, SeqCst);
        Live(Arc::clone(shared))
    }
}

impl Clone for Live {
    fn clone(&self) -> Self {
        Live::of(&self.0)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.0.live.fetch_sub(1, SeqCst);
    }
}

/// What the job does once its first checkpoint is complete; until then it is slow from [`MIDST`] on.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Behind {
    /// It comes to its end.
    Ends,
    /// It has long to go.
    Lasts,
    /// Its closure fails.
    Fails,
}

fn job(storage: &SimFs, rows: &Rows, behind: Behind) -> Job {
    let job = Job::build("stopping", |job| {
        let live = Live::of(&rows.0);
        let numbers = source(generate(NUMBERS, |n| n)).durable();
        let numbers = numbers.inspect(move |n| {
            let shared = &live.0;
            shared.reached.store(*n, SeqCst);
            let complete = shared.committing.load(SeqCst) > 0;
            assert!(!complete || behind != Behind::Fails, "behind the checkpoint");
            if *n >= MIDST && (!complete || behind == Behind::Lasts) {
                sleep(Duration::from_millis(1));
            }
        });
        job.add(numbers.sink(rows.clone()));
    });
    rows.0.idle.store(rows.0.live.load(SeqCst), SeqCst);
    let checkpoints = Checkpoints::in_storage(Arc::new(storage.clone())).every(Millis(3_600_000));
    job.checkpoints(checkpoints.max_failed(1_000)).batch_size(1).restart(3, Millis(0))
}

/// The next start goes on from that checkpoint, and with it there is each number once.
fn check_the_next(storage: &SimFs, rows: &Rows, from: Option<u64>) {
    let report = job(storage, rows, Behind::Ends).run().unwrap();
    assert_eq!((report.restored, report.stopped), (from, None));
    assert!(rows.sorted().into_iter().eq(0..NUMBERS), "each number once");
}

/// Starts it, and stops it in the midst of its input.
fn stopped(storage: &SimFs, rows: &Rows, behind: Behind) -> JobHandle {
    let handle = job(storage, rows, behind).start().unwrap();
    until("it has come to the midst", || rows.0.reached.load(SeqCst) >= MIDST);
    handle.stop();
    handle
}

#[test]
fn a_stop_before_the_end_of_the_input() {
    let (storage, rows) = (SimFs::new(), Rows::default());
    let report = stopped(&storage, &rows, Behind::Lasts).join().unwrap();
    assert_eq!(report.stopped, Some(1));
    assert!(report.to_string().contains("stopped at checkpoint 1"), "{report}");
    let written = rows.sorted().len() as u64;
    assert!((MIDST..NUMBERS).contains(&written), "{written}");
    check_the_next(&storage, &rows, Some(1));
}

/// The checkpoint at which it was to end is taken, and complete only when all has come to its end.
#[test]
fn the_end_of_the_input_before_the_stop() {
    let (storage, rows) = (SimFs::new(), Rows::default());
    rows.0.holds.store(true, SeqCst);
    let handle = stopped(&storage, &rows, Behind::Ends);
    until("the stage has ended behind the checkpoint", || rows.is_over());
    rows.0.holds.store(false, SeqCst);
    let report = handle.join().unwrap();
    assert_eq!(report.stopped, None, "it has come to its end");
    assert!(rows.sorted().into_iter().eq(0..NUMBERS), "nothing is left for another start");
    assert_eq!(*rows.0.committed.lock().unwrap(), BTreeSet::from([1, 2]), "at the barrier, and at the end");
    check_the_next(&storage, &rows, Some(2));
}

/// The job ends with the failure and does not begin again: it was to end. Nothing is lost, and a savepoint is one.
#[test]
fn a_closure_that_fails_behind_the_checkpoint_of_a_stop() {
    for savepoint in [false, true] {
        let (storage, rows) = (SimFs::new(), Rows::default());
        rows.0.holds.store(true, SeqCst);
        // Who waits for the savepoint ends the job when he has it: until then it may begin again.
        let restarts = if savepoint { 0 } else { 3 };
        let handle = job(&storage, &rows, Behind::Fails).restart(restarts, Millis(0)).start().unwrap();
        until("it has come to the midst", || rows.0.reached.load(SeqCst) >= MIDST);
        scope(|scope| {
            let asked = scope.spawn(|| {
                if savepoint {
                    return handle.stop_with_savepoint();
                }
                handle.stop();
                Ok(1)
            });
            until("the closure has failed", || rows.is_over());
            rows.0.holds.store(false, SeqCst);
            assert_eq!(asked.join().unwrap().unwrap(), 1);
        });
        let error = handle.join().unwrap_err();
        assert!(
            error.kind() == ErrorKind::Panic && error.to_string().contains("behind the checkpoint"),
            "{error}"
        );
        assert!(!error.to_string().contains("begun again"), "{error}");
        check_the_next(&storage, &rows, Some(1));
    }
}

/// The checkpoint is complete: who waits is told why the job has failed, and the next start commits what could not be.
#[test]
fn a_stop_of_which_the_outputs_cannot_be_committed() {
    for savepoint in [false, true] {
        let (storage, rows) = (SimFs::new(), Rows::default());
        rows.0.refuses.store(true, SeqCst);
        let handle = job(&storage, &rows, Behind::Lasts).start().unwrap();
        until("it has come to the midst", || rows.0.reached.load(SeqCst) >= MIDST);
        let told = |error: Error| {
            let text = error.to_string();
            for part in [
                "nobody takes the rows",
                "tried 8 times",
                "checkpoint 1 is complete, and the next start commits it",
            ] {
                assert!(text.contains(part), "{part}: {text}");
            }
        };
        if savepoint {
            told(handle.stop_with_savepoint().unwrap_err());
        } else {
            handle.stop();
        }
        told(handle.join().unwrap_err());
        assert!(rows.sorted().is_empty());
        rows.0.refuses.store(false, SeqCst);
        check_the_next(&storage, &rows, Some(1));
    }
}

/// The next checkpoint is an hour away, and is taken soon.
#[test]
fn a_stop_after_a_checkpoint_that_failed() {
    let (storage, rows) = (SimFs::new(), Rows::default());
    storage.limit(Some(0));
    let handle = stopped(&storage, &rows, Behind::Lasts);
    until("one has failed", || handle.report().counter("checkpoints.failed") > 0);
    assert!(!handle.is_finished());
    storage.limit(None);
    let report = handle.join().unwrap();
    assert!(report.stopped.is_some_and(|id| id > 1), "{report}");
    check_the_next(&storage, &rows, report.stopped);
}

/// A sink whose records count when the job has ended, and which does not say so.
#[derive(Clone, Default)]
struct AtTheEnd(Arc<Mutex<Vec<&'static str>>>);

impl Sink<u64> for AtTheEnd {
    type Writer = AtTheEnd;
    fn name(&self) -> &'static str {
        "ledger"
    }
    fn open(&self, _: &mut OpenCx) -> Result<AtTheEnd> {
        Ok(self.clone())
    }
}

impl Writer<u64> for AtTheEnd {
    fn write(&mut self, _: u64, _: Timestamp) -> Result<()> {
        Ok(())
    }
    fn finish(self) -> Result<Option<Box<dyn Commit>>> {
        Ok(Some(Box::new(self)))
    }
}

impl Commit for AtTheEnd {
    fn commit(self: Box<Self>) -> Result<()> {
        self.0.lock().unwrap().push("committed");
        Ok(())
    }
    fn abort(self: Box<Self>) {
        self.0.lock().unwrap().push("taken back");
    }
}

/// Its input has ended, other input of the job has not: what it holds would be lost by a failure, as the next start does not read it again. So that is said, and not
/// left to a stop or a failure.
#[test]
fn what_counts_at_the_end_does_not_in_a_job_with_checkpoints() {
    let sink = AtTheEnd::default();
    let job = |checkpoints: bool, rest: u64| {
        let job = Job::build("ledgers", |job| {
            job.add(source(generate(10, |n| n)).at_least_once().sink(sink.clone()));
            job.add(source(generate(rest, |n| n)).at_least_once().rate_limit(1_000).for_each(|_| ()));
        });
        let checkpoints = checkpoints.then(|| Checkpoints::in_storage(Arc::new(SimFs::new())));
        match checkpoints {
            Some(checkpoints) => job.checkpoints(checkpoints),
            None => job,
        }
    };
    job(false, 10).run().unwrap();
    assert_eq!(*sink.0.lock().unwrap(), ["committed"]);
    let error = job(true, 3_000).run().unwrap_err();
    assert_eq!((error.kind(), error.stage()), (ErrorKind::Sink, Some("ledger")));
    for part in ["`Commit`", "takes checkpoints", "Sink::committing", "Sink::AT_THE_END", "stopping.rs"] {
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
    assert_eq!(*sink.0.lock().unwrap(), ["committed", "taken back"]);
}
