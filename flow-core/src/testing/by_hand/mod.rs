//! Checkpoints taken by hand, for tests: a job is stepped on one thread until nobody can go on, a barrier goes through it, and a fresh
//! job takes over what was written. No disk, no coordinator.

mod held;
mod operators;
mod processes;
mod timed;

use crate::checkpoint::{Inbox, News, Orders, Restored, Saves, Slot};
use crate::error::{Error, ErrorKind, Result};
use crate::host::{Host, Instance, Launch, Progress, Task};
use crate::job::Job;
use crate::op::kind::{Bounded, Replayable};
use crate::sink::Collected;
use crate::source::{Poll, Reader, Source};
use crate::stage::OpenCx;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// What was written, by state and slot, and the stages that had ended.
#[derive(Clone, Default, Debug, PartialEq)]
pub(super) struct Kept {
    pub parts: BTreeMap<(String, Slot), Vec<u8>>,
    pub finished: Vec<String>,
}

/// The checkpoint that is taken.
const CHECKPOINT: u64 = 2;

/// The ticks of the clock for which a job is stepped that runs to its end.
const PATIENCE: i64 = 100_000;

/// Steps a job until nobody can go on at tick 0, takes a checkpoint, and goes away; or runs it to its end.
#[derive(Clone)]
struct ByHand {
    before: Option<Kept>,
    after: Arc<Mutex<Kept>>,
    to_the_end: bool,
    shown: Shown,
}

impl Host for ByHand {
    fn place(&self, _: usize, _: usize, _: usize, _: usize) -> usize {
        0
    }

    fn run(&self, launch: Launch) -> Result<()> {
        let (inbox, orders) = (Inbox::default(), Orders::default());
        let restored =
            self.before.as_ref().map(|kept| Arc::new(Restored::by_hand(1, &kept.parts, &kept.finished)));
        let instances = launch.threads.into_iter().flat_map(|thread| thread.1);
        let open = |(number, instance): (usize, Instance)| {
            let name = instance.name().to_owned();
            let digits = name.rsplit('[').next().map(|rest| rest.trim_end_matches(']'));
            let own = digits.and_then(|digits| digits.parse().ok()).unwrap_or(0);
            let saves = Saves::new(inbox.clone(), orders.clone(), number, own);
            instance.kept_by_hand(saves, restored.clone()).open()
        };
        let mut tasks = instances.enumerate().map(open).collect::<Result<Vec<Task>>>()?;
        let (mut after, mut staged) = (Kept::default(), Vec::new());
        if self.to_the_end {
            step_until(&mut tasks, |tasks| tasks.iter().all(Task::is_done))?;
            gather(&inbox, &mut after, &mut staged);
            return self.shown.settle(&staged);
        }
        exhaust(&mut tasks, 0)?;
        let names = |tasks: &[Task], done: bool| -> Vec<String> {
            let those = tasks.iter().filter(|task| task.is_done() == done);
            those.map(|task| task.name().split('[').next().unwrap_or_default().to_owned()).collect()
        };
        let mut finished = names(&tasks, true);
        let running = names(&tasks, false);
        finished.retain(|name| !running.contains(name));
        tasks.iter_mut().filter(|task| task.is_source()).for_each(|task| task.barrier(CHECKPOINT));
        after.finished = finished;
        // What stands before it in a ring may wait for time.
        let mut saved = BTreeSet::new();
        step_until(&mut tasks, |tasks| {
            saved.extend(gather(&inbox, &mut after, &mut staged));
            tasks.iter().enumerate().all(|(number, task)| task.is_done() || saved.contains(&number))
        })?;
        *self.after.lock().expect("a lock") = after;
        staged.retain(|staged| staged.0 <= CHECKPOINT);
        self.shown.settle(&staged)
    }
}

/// Takes the news; who has saved all there is.
fn gather(inbox: &Inbox, after: &mut Kept, staged: &mut Vec<(u64, u32)>) -> Vec<usize> {
    let mut saved = Vec::new();
    while let Some(news) = inbox.take() {
        match news {
            // What an ended one has left stands where nobody says anything else.
            News::Part { id: CHECKPOINT, state, slot, bytes } => {
                drop(after.parts.insert((state, slot), bytes))
            }
            News::Part { state, slot, bytes, .. } => drop(after.parts.entry((state, slot)).or_insert(bytes)),
            News::Saved { task, .. } => saved.push(task),
            News::Staged { id, instance, .. } => staged.push((id, instance)),
            News::Keyed { .. } | News::Ended { .. } => {}
        }
    }
    saved
}

/// Steps all as long as anybody makes progress; when somebody wants to be called.
fn exhaust(tasks: &mut [Task], now: i64) -> Result<()> {
    loop {
        let mut made = false;
        for task in tasks.iter_mut().filter(|task| !task.is_done()) {
            made |= matches!(task.step(now, false)?, Progress::Made | Progress::Done);
        }
        if !made {
            return Ok(());
        }
    }
}

/// Steps all, from tick to tick, until `done` says so.
fn step_until(tasks: &mut [Task], mut done: impl FnMut(&[Task]) -> bool) -> Result<()> {
    for now in 0..PATIENCE {
        exhaust(tasks, now)?;
        if done(tasks) {
            return Ok(());
        }
    }
    Err(Error::new(ErrorKind::Stuck, "the job has not come so far"))
}

/// A source of partitions, of which the first `upto` records are there; one that has fewer ends.
#[derive(Clone)]
pub(super) struct Feed<T> {
    pub parts: Arc<Vec<Vec<T>>>,
    pub upto: usize,
}

pub(super) struct FeedReader<T> {
    feed: Feed<T>,
    part: usize,
    at: usize,
}

impl<T: Clone + Send + Sync + 'static> Source for Feed<T> {
    type Item = T;
    type Split = usize;
    type Reader = FeedReader<T>;
    type Bounds = Bounded;
    type Replay = Replayable;
    fn name(&self) -> &'static str {
        "feed"
    }
    fn splits(&self) -> Result<Vec<usize>> {
        Ok((0..self.parts.len()).collect())
    }
    fn open(&self, part: usize, _: &mut OpenCx) -> Result<FeedReader<T>> {
        Ok(FeedReader { feed: self.clone(), part, at: 0 })
    }
    fn resume(&self, part: usize, position: &[u8], _: &mut OpenCx) -> Result<FeedReader<T>> {
        let position = position.try_into().expect("8 bytes");
        Ok(FeedReader { feed: self.clone(), part, at: usize::from_le_bytes(position) })
    }
}

impl<T: Clone + Send + Sync + 'static> Reader<T> for FeedReader<T> {
    fn poll<O: FnMut(T)>(&mut self, out: &mut O, budget: usize) -> Result<Poll> {
        let records = &self.feed.parts[self.part];
        let end = records.len().min(self.feed.upto).min(self.at + budget);
        records[self.at..end].iter().for_each(|record| out(record.clone()));
        self.at = end;
        Ok(match () {
            () if end == self.feed.upto => Poll::Wait,
            () if end == records.len() => Poll::End,
            () => Poll::More,
        })
    }
    fn position(&self) -> Option<Vec<u8>> {
        Some(self.at.to_le_bytes().to_vec())
    }
}

/// Where the ends of a pipeline show what they get: what belongs to a checkpoint, or to the end, that is complete.
#[derive(Clone, Default)]
pub(super) struct Shown {
    pub out: Collected<String>,
    /// For another branch.
    pub aside: Collected<String>,
    rows: Arc<Mutex<Vec<String>>>,
}

pub(super) fn text<T: std::fmt::Debug>(record: T) -> String {
    format!("{record:?}")
}

impl Shown {
    /// The run is over: what has been staged for what is complete counts, and nothing else.
    fn settle(&self, staged: &[(u64, u32)]) -> Result<()> {
        for out in [&self.out, &self.aside] {
            out.settle(staged);
            self.rows.lock().expect("a lock").extend(out.take());
        }
        Ok(())
    }

    pub fn rows(&self) -> Vec<String> {
        self.rows.lock().expect("a lock").clone()
    }

    pub fn sorted(&self) -> Vec<String> {
        let mut rows = self.rows();
        rows.sort();
        rows
    }
}

/// What builds a pipeline over a feed.
pub(super) trait Pipeline<T>: Fn(&mut Job, Feed<T>, Shown) {}
impl<T, F: Fn(&mut Job, Feed<T>, Shown)> Pipeline<T> for F {}

fn job<T>(pipeline: impl Pipeline<T>, p: usize, feed: Feed<T>, shown: &Shown, host: ByHand) -> Result<()> {
    let job = Job::build("kept", |job| pipeline(job, feed, shown.clone()));
    job.parallelism(p).batch_size(7).host_with(host).run().map(drop)
}

/// Runs `pipeline` until all of the first `upto` records of each partition have gone as far as they can; what a checkpoint then has.
pub(super) fn cut<T>(
    pipeline: impl Pipeline<T>,
    p: usize,
    parts: &Arc<Vec<Vec<T>>>,
    upto: usize,
    before: Option<Kept>,
    shown: &Shown,
) -> Kept {
    let after: Arc<Mutex<Kept>> = Arc::default();
    let host = ByHand { before, after: Arc::clone(&after), to_the_end: false, shown: shown.clone() };
    let feed = Feed { parts: Arc::clone(parts), upto };
    job(pipeline, p, feed, shown, host).expect("it takes a checkpoint");
    std::mem::take(&mut *after.lock().expect("a lock"))
}

/// Runs `pipeline` to its end, from what a checkpoint had.
pub(super) fn end<T>(
    pipeline: impl Pipeline<T>,
    p: usize,
    parts: &Arc<Vec<Vec<T>>>,
    before: Option<Kept>,
    shown: &Shown,
) -> Result<()> {
    let host = ByHand { before, after: Arc::default(), to_the_end: true, shown: shown.clone() };
    job(pipeline, p, Feed { parts: Arc::clone(parts), upto: usize::MAX }, shown, host)
}

/// What `pipeline` shows in one go, and cut at `at` with the parallelism changed from `p` to `q`.
pub(super) fn both<T>(
    pipeline: impl Pipeline<T> + Copy,
    parts: &Arc<Vec<Vec<T>>>,
    at: usize,
    p: usize,
    q: usize,
) -> (Shown, Shown) {
    let (whole, cut_in_two) = (Shown::default(), Shown::default());
    end(pipeline, p, parts, None, &whole).expect("it ends");
    let kept = cut(pipeline, p, parts, at, None, &cut_in_two);
    end(pipeline, q, parts, Some(kept), &cut_in_two).expect("it goes on to its end");
    (whole, cut_in_two)
}

/// `n` records, dealt out to so many partitions.
pub(super) fn dealt<T: Clone>(records: &[T], partitions: usize) -> Arc<Vec<Vec<T>>> {
    let of = |part| records.iter().skip(part).step_by(partitions).cloned().collect();
    Arc::new((0..partitions).map(of).collect())
}

pub(super) fn config() -> proptest::test_runner::Config {
    let cases = std::env::var("FLOW_RANDOM_CASES").map_or(60, |text| text.parse().expect("a number"));
    proptest::test_runner::Config { cases, failure_persistence: None, ..Default::default() }
}
