//! Sinks whose commits fail: for a while, in doubt, for ever, and one of two.

use super::runner::checkpoints;
use flow_core::checkpoint::Committer;
use flow_core::prelude::*;
use flow_core::sink::{CommittingSink, Sink, StagingWriter, Writer};
use flow_core::stage::{Commit, OpenCx};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

const COUNT: u64 = 2_000;

/// How commits go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum How {
    #[default]
    Well,
    /// So many fail, then they succeed.
    Fail(u32),
    /// So many are applied and report an error, then they succeed.
    Doubtful(u32),
    Never,
    /// So many times, from a checkpoint on, nothing can be staged.
    Unstaged(u32, u64),
}

/// What becomes of what is written. A clone is the same one.
#[derive(Clone, Default)]
struct Target(Arc<Mutex<Inside>>);

#[derive(Default)]
struct Inside {
    how: How,
    /// What is final, by checkpoint and instance.
    committed: BTreeMap<(u64, u32), Vec<u64>>,
    /// Commits of what had been committed before.
    repeated: u32,
    /// Of which checkpoints outputs were taken back.
    aborted: Vec<u64>,
    /// What happened, in order: `c` a commit, `r` a record that was read.
    log: String,
}

impl Target {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap()
    }

    fn set(&self, how: How) {
        self.inside().how = how;
    }

    fn rows(&self) -> Vec<u64> {
        self.inside().committed.values().flatten().copied().collect()
    }
}

struct TargetWriter {
    target: Target,
    written: Vec<u64>,
}

impl Sink<u64> for Target {
    type Writer = TargetWriter;
    fn name(&self) -> &'static str {
        "target"
    }
    fn open(&self, _: &mut OpenCx) -> Result<TargetWriter> {
        Ok(TargetWriter { target: self.clone(), written: Vec::new() })
    }
}

impl Writer<u64> for TargetWriter {
    fn write(&mut self, item: u64, _: Timestamp) -> Result<()> {
        self.written.push(item);
        Ok(())
    }
    fn finish(self) -> Result<Option<Box<dyn Commit>>> {
        Ok(None)
    }
}

impl StagingWriter<u64> for TargetWriter {
    fn stage(&mut self, checkpoint: u64) -> Result<Option<Vec<u8>>> {
        let mut inside = self.target.inside();
        if let How::Unstaged(left @ 1.., from) = inside.how
            && checkpoint >= from
        {
            inside.how = How::Unstaged(left - 1, from);
            return Err(Error::new(ErrorKind::Sink, "it cannot be staged"));
        }
        Ok(Some(std::mem::take(&mut self.written).iter().flat_map(|n| n.to_le_bytes()).collect()))
    }
}

impl CommittingSink<u64> for Target {
    fn committer(&self) -> Box<dyn Committer> {
        Box::new(self.clone())
    }
}

impl Committer for Target {
    fn commit(&mut self, checkpoint: u64, instance: u32, staged: &[u8]) -> Result<()> {
        let mut inside = self.inside();
        inside.log.push('c');
        let failed = || Err(Error::new(ErrorKind::Sink, "the target is away"));
        match inside.how {
            How::Fail(left @ 1..) => {
                inside.how = How::Fail(left - 1);
                return failed();
            }
            How::Never => return failed(),
            _ => {}
        }
        let numbers = staged.chunks(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect();
        if inside.committed.insert((checkpoint, instance), numbers).is_some() {
            inside.repeated += 1;
        }
        if let How::Doubtful(left @ 1..) = inside.how {
            inside.how = How::Doubtful(left - 1);
            return failed();
        }
        Ok(())
    }
    fn abort(&mut self, checkpoint: u64, _: u32, _: &[u8]) {
        self.inside().aborted.push(checkpoint);
    }
}

/// The numbers, each into both targets.
fn job(state: &Path, first: &Target, second: &Target) -> Job {
    let log = first.clone();
    let job = Job::build("numbers", |job| {
        let numbers = source(generate(COUNT, |i| i).rate(20_000)).durable();
        let read = numbers.inspect(move |_| log.inside().log.push('r'));
        let (first, second) = (first.clone(), second.clone());
        let (first, second) = (read.root().sink(first), read.root().sink(second));
        job.add(read.tee(|both| both.both(first, second)));
    });
    job.checkpoints(Checkpoints::to(state).every(Millis(10)))
}

fn exact(targets: [&Target; 2]) {
    for target in targets {
        assert!(target.rows() == (0..COUNT).collect::<Vec<_>>(), "{} rows", target.rows().len());
    }
}

#[test]
fn f_s1_commit_fails_and_then_works() {
    let (state, first, second) = (tempfile::tempdir().unwrap(), Target::default(), Target::default());
    second.set(How::Fail(3));
    job(state.path(), &first, &second).run().unwrap();
    exact([&first, &second]);
    assert_eq!((first.inside().repeated, second.inside().repeated), (0, 0));
}

#[test]
fn f_s2_commit_in_doubt() {
    let (state, first, second) = (tempfile::tempdir().unwrap(), Target::default(), Target::default());
    second.set(How::Doubtful(2));
    job(state.path(), &first, &second).run().unwrap();
    exact([&first, &second]);
    assert_eq!(second.inside().repeated, 2, "it is asked again, with the same number");
}

#[test]
fn f_s3_commit_never_works() {
    let (state, first, second) = (tempfile::tempdir().unwrap(), Target::default(), Target::default());
    first.set(How::Never);
    let error = job(state.path(), &first, &second).run().unwrap_err().to_string();
    assert!(
        error.contains("the target is away") && error.contains("is complete, and the next start commits it"),
        "{error}"
    );
    assert_eq!(first.rows(), Vec::<u64>::new());
    let complete = checkpoints(state.path());
    let kept = first.inside().aborted.iter().all(|aborted| Some(aborted) > complete.last());
    assert!(kept && !complete.is_empty(), "what a checkpoint has is not taken back");
    first.set(How::Well);
    first.inside().log.clear();
    job(state.path(), &first, &second).run().unwrap();
    assert!(first.inside().log.starts_with('c'), "it is committed before anything is read");
    exact([&first, &second]);
}

#[test]
fn f_s4_one_of_two_sinks() {
    let (state, first, second) = (tempfile::tempdir().unwrap(), Target::default(), Target::default());
    second.set(How::Never);
    job(state.path(), &first, &second).run().unwrap_err();
    // Which of the two comes first is not said.
    assert_eq!(second.rows(), Vec::<u64>::new());
    let done = first.rows().len();
    second.set(How::Well);
    job(state.path(), &first, &second).run().unwrap();
    exact([&first, &second]);
    assert_eq!(
        first.inside().repeated,
        u32::from(done > 0),
        "what was done is asked for again, and changes nothing"
    );
}

/// Staging fails: the run ends, what others have staged is taken back, and the next run writes it again.
#[test]
fn f_s5_staging_fails() {
    let (state, first, second) = (tempfile::tempdir().unwrap(), Target::default(), Target::default());
    second.set(How::Unstaged(2, 3));
    let report = job(state.path(), &first, &second).restart(3, Millis(1)).run().unwrap();
    assert_eq!(report.restarts, 2);
    exact([&first, &second]);
    // Each start commits once more what the checkpoint has from which it goes on.
    assert_eq!((first.inside().repeated, second.inside().repeated), (2, 2));
}

/// The same at the end of the input: no checkpoint is complete without it.
#[test]
fn f_s5_staging_fails_at_the_end() {
    let (state, first, second) = (tempfile::tempdir().unwrap(), Target::default(), Target::default());
    second.set(How::Unstaged(1, 1));
    let seldom = |first: &Target, second: &Target| {
        job(state.path(), first, second).checkpoints(Checkpoints::to(state.path()))
    };
    let error = seldom(&first, &second).run().unwrap_err().to_string();
    assert!(error.contains("it cannot be staged"), "{error}");
    assert_eq!((first.rows().len(), second.rows().len()), (0, 0));
    assert!(checkpoints(state.path()).is_empty());
    seldom(&first, &second).run().unwrap();
    exact([&first, &second]);
}

/// A target in whose transactions nothing can be committed after so long.
#[derive(Clone)]
struct Closing(Target, Millis);

impl Sink<u64> for Closing {
    type Writer = TargetWriter;
    fn name(&self) -> &'static str {
        "closing"
    }
    fn open(&self, cx: &mut OpenCx) -> Result<TargetWriter> {
        self.0.open(cx)
    }
}
impl CommittingSink<u64> for Closing {
    fn committer(&self) -> Box<dyn Committer> {
        Box::new(self.clone())
    }
}
impl Committer for Closing {
    fn commit(&mut self, checkpoint: u64, instance: u32, staged: &[u8]) -> Result<()> {
        self.0.commit(checkpoint, instance, staged)
    }
    fn abort(&mut self, checkpoint: u64, instance: u32, staged: &[u8]) {
        self.0.abort(checkpoint, instance, staged);
    }
    fn transaction_timeout(&self) -> Option<Millis> {
        Some(self.1)
    }
}

fn closing(state: &Path, target: &Target, open: i64) -> (Job, Checkpoints) {
    let sink = Closing(target.clone(), Millis(open));
    let job = Job::build("numbers", |job| {
        job.add(source(generate(COUNT, |i| i).rate(20_000)).durable().named("numbers").sink(sink));
    });
    (job, Checkpoints::to(state).every(Millis(10)).timeout(Millis(100)))
}

/// The job was away for longer than a transaction lives, and a checkpoint has outputs that it cannot commit any more.
#[test]
fn f_s6_transactions_end_before_the_outage_does() {
    let (state, target) = (tempfile::tempdir().unwrap(), Target::default());
    target.set(How::Never);
    let (job, checkpoints) = closing(state.path(), &target, 200);
    let error = job.checkpoints(checkpoints).run().unwrap_err().to_string();
    assert!(error.contains("the target is away") && !error.contains("may be lost"), "{error}");
    let newest = super::runner::checkpoints(state.path()).last().copied().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(250));
    target.inside().log.clear();
    let (job, checkpoints) = closing(state.path(), &target, 200);
    let error = job.checkpoints(checkpoints).run().unwrap_err().to_string();
    let said =
        format!("what this sink staged for checkpoint {newest} may be lost: its transactions end after 200");
    assert!(error.contains(&said), "{error}");
    assert!(error.contains("Checkpoints::give_up(\"closing\")"), "{error}");
    assert!(!target.inside().log.contains('r'), "nothing is read before");
    // Somebody decides that it may be lost; all else counts once.
    let (job, checkpoints) = closing(state.path(), &target, 200);
    let given_up = checkpoints.give_up("closing");
    let error = job.checkpoints(given_up.clone()).run().unwrap_err().to_string();
    assert!(error.contains("the target is away") && !error.contains("may be lost"), "{error}");
    target.set(How::Well);
    let (job, _) = closing(state.path(), &target, 200);
    job.checkpoints(given_up).run().unwrap();
    let rows = target.rows();
    assert!(rows.len() < COUNT as usize && rows.windows(2).all(|two| two[0] < two[1]), "{}", rows.len());
    assert_eq!(rows.last(), Some(&(COUNT - 1)));
}

#[test]
fn f_s6_transactions_shorter_than_a_checkpoint() {
    let (state, target) = (tempfile::tempdir().unwrap(), Target::default());
    let (job, checkpoints) = closing(state.path(), &target, 110);
    let error = job.checkpoints(checkpoints).run().unwrap_err().to_string();
    assert!(
        error.contains("the transactions of this sink end after 110")
            && error.contains("Checkpoints::timeout"),
        "{error}"
    );
    let (job, checkpoints) = closing(state.path(), &target, 111);
    job.checkpoints(checkpoints).run().unwrap();
    assert_eq!(target.rows(), (0..COUNT).collect::<Vec<_>>());
}
