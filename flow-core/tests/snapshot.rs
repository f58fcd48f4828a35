//! State by key group: half of the input, a snapshot of all 256 groups, fresh stages at another parallelism that take the
//! groups over, the other half: together what an uninterrupted run gives.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

#[path = "snapshot/barriers.rs"]
mod barriers;
#[path = "snapshot/broadcast.rs"]
mod broadcast;
#[path = "snapshot/joined.rs"]
mod joined;
#[path = "snapshot/pipelines.rs"]
mod pipelines;

use flow_core::exchange::{KEY_GROUPS, instance_of};
use flow_core::host::{Host, Instance, Launch, Progress, Task};
use flow_core::op::kind::{Replayable, Unbounded};
use flow_core::prelude::*;
use flow_core::source::{ChannelSource, Source};
use flow_core::stage::OpenCx;
use pipelines::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// By stage and key group: what was written first, whole, then what had changed since, in order.
type State = BTreeMap<(String, usize), Vec<Vec<u8>>>;

/// Steps a job on one thread, in state that it takes over, until nobody can go on; then a barrier goes through it, and
/// the state is kept. On the way each stage's state is written time and again, slice by slice between its steps: first whole, then what has
/// changed. A job whose input ends before runs to its end.
#[derive(Clone, Default)]
struct Saving {
    before: State,
    after: Arc<Mutex<State>>,
    /// Rounds after which the state is written again.
    every: usize,
    /// The state at each of these checkpoints.
    checkpoints: Arc<Mutex<Vec<State>>>,
    /// The number of the checkpoint that is written whole and at once; there the run ends.
    at: Option<usize>,
}

/// Units of a slice: a bucket with entries takes up more.
const SLICE: usize = 3;

impl Host for Saving {
    fn place(&self, _: usize, _: usize, _: usize, _: usize) -> usize {
        0
    }

    fn run(&self, launch: Launch) -> Result<()> {
        let instances = launch.threads.into_iter().flat_map(|thread| thread.1);
        let mut tasks = instances.map(Instance::open).collect::<Result<Vec<Task>>>()?;
        let owners = owners(&tasks);
        for (task, groups) in tasks.iter_mut().zip(&owners) {
            for group in groups {
                if let Some(history) = self.before.get(&(stage(task), *group)) {
                    task.restore(*group, history)?;
                }
            }
        }
        let (mut after, mut whole) = (State::new(), true);
        let (mut begun, mut stopped) = (0, false);
        exhaust(&mut tasks, &mut |tasks, round| {
            // Not for ever: to write is to do something.
            if round < 60 && round % self.every.max(1) == 0 {
                take(tasks, &owners, &mut after)?;
                if begun > 0 {
                    self.checkpoints.lock().unwrap().push(after.clone());
                }
                if self.at == Some(begun) {
                    after.clear();
                    tasks.iter_mut().try_for_each(|task| task.begin_save(true, usize::MAX))?;
                    take(tasks, &owners, &mut after)?;
                    *self.checkpoints.lock().unwrap() = vec![after.clone()];
                    stopped = true;
                    return Ok(false);
                }
                begun += 1;
                save(tasks, &owners, &mut after, std::mem::take(&mut whole))?;
            }
            Ok(true)
        })?;
        if stopped || tasks.iter().all(Task::is_done) {
            return Ok(());
        }
        tasks.iter_mut().for_each(|task| task.barrier(1));
        exhaust(&mut tasks, &mut |_, _| Ok(true))?;
        save(&mut tasks, &owners, &mut after, whole)?;
        take(&mut tasks, &owners, &mut after)?;
        *self.after.lock().unwrap() = after;
        Ok(())
    }
}

/// Begins to write the state of all; of what has begun before it takes what is written.
fn save(tasks: &mut [Task], owners: &[Vec<usize>], after: &mut State, whole: bool) -> Result<()> {
    take(tasks, owners, after)?;
    tasks.iter_mut().try_for_each(|task| task.begin_save(whole, SLICE))
}

fn take(tasks: &mut [Task], owners: &[Vec<usize>], after: &mut State) -> Result<()> {
    for (task, groups) in tasks.iter_mut().zip(owners) {
        for (group, bytes) in task.saved()? {
            if groups.contains(&group) {
                after.entry((stage(task), group)).or_default().push(bytes);
            }
        }
    }
    Ok(())
}

fn stage(task: &Task) -> String {
    task.name().split('[').next().unwrap().to_owned()
}

/// The key groups of each task.
fn owners(tasks: &[Task]) -> Vec<Vec<usize>> {
    let names: Vec<String> = tasks.iter().map(stage).collect();
    let owned = |t: usize| {
        let number = names[..t].iter().filter(|name| **name == names[t]).count();
        let instances = names.iter().filter(|name| **name == names[t]).count();
        (0..KEY_GROUPS).filter(|group| instance_of(*group as u64, instances) == number).collect()
    };
    (0..tasks.len()).map(owned).collect()
}

/// Steps them until nobody can go on; before each round it calls `also`, which may end that.
fn exhaust(tasks: &mut [Task], also: &mut dyn FnMut(&mut [Task], usize) -> Result<bool>) -> Result<()> {
    for round in 1.. {
        if !also(tasks, round)? {
            break;
        }
        let mut made = false;
        for task in tasks.iter_mut().filter(|task| !task.is_done()) {
            made |= matches!(task.step(0, false)?, Progress::Made | Progress::Done);
        }
        if !made {
            break;
        }
    }
    Ok(())
}

/// A channel that says it can be read again: what is read is known to have been taken before the barrier.
#[derive(Clone)]
struct Fed(ChannelSource<Record>);

impl Source for Fed {
    type Item = Record;
    type Split = ();
    type Reader = <ChannelSource<Record> as Source>::Reader;
    type Bounds = Unbounded;
    type Replay = Replayable;
    fn name(&self) -> &'static str {
        "fed"
    }
    fn splits(&self) -> Result<Vec<()>> {
        self.0.splits()
    }
    fn open(&self, split: (), cx: &mut OpenCx) -> Result<Self::Reader> {
        self.0.open(split, cx)
    }
}

/// Key, value and time of a record.
type Record = (u16, i64, i64);

/// What a pipeline has emitted so far, as text.
type Shown = Arc<Mutex<Vec<String>>>;

/// Adds a pipeline over a channel, whose ends show what they get.
type Pipeline = fn(&mut Job, Fed, Shown);

fn show<T: std::fmt::Debug>(shown: &Shown) -> impl FnMut(T) + Clone + Send + 'static + use<T> {
    let shown = Arc::clone(shown);
    move |x| shown.lock().unwrap().push(format!("{x:?}"))
}

/// Runs `pipeline` over `records` in the state `before`; the input ends there, or is merely silent.
fn run(
    pipeline: Pipeline,
    parallelism: usize,
    records: &[Record],
    before: State,
    ends: bool,
    shown: &Shown,
) -> State {
    let (sender, source) = channel(records.len().max(1));
    records.iter().for_each(|record| sender.send(*record).unwrap());
    let kept = (!ends).then_some(sender);
    let host = Saving { before, every: 2 + records.len() % 7, ..Saving::default() };
    let job = Job::build("saved", |job| pipeline(job, Fed(source.clone()), Arc::clone(shown)));
    job.parallelism(parallelism).batch_size(7).host_with(host.clone()).run().unwrap();
    drop(kept);
    host.after.lock().unwrap().clone()
}

/// Runs `pipeline` in one go, and cut in two at `cut` with the parallelism changed from `p` to `q`.
fn compare(pipeline: Pipeline, records: &[Record], cut: usize, p: usize, q: usize) -> State {
    let (whole, parts) = (Shown::default(), Shown::default());
    run(pipeline, 1, records, State::new(), true, &whole);
    let state = run(pipeline, p, &records[..cut], State::new(), false, &parts);
    run(pipeline, q, &records[cut..], state.clone(), true, &parts);
    let sorted = |shown: Shown| {
        let mut rows = shown.lock().unwrap().clone();
        rows.sort();
        rows
    };
    assert_eq!(sorted(parts), sorted(whole));
    state
}

/// Records in order of time, up to a disorder below 50.
fn records() -> impl Strategy<Value = Vec<Record>> {
    prop::collection::vec((0u16..40, -1000i64..1000, 0i64..49), 0..300).prop_map(|raw| {
        let step = |(i, (key, value, jitter)): (usize, Record)| (key, value, i as i64 * 3 + jitter);
        raw.into_iter().enumerate().map(step).collect()
    })
}

/// The first place from `cut` on where the next record is the latest so far: a watermark is not state but made anew by
/// the records, so only there both runs have the same.
fn restful(cut: usize, records: &[Record]) -> usize {
    let latest = |at: &usize| records[..*at].iter().all(|r| r.2 <= records[*at].2);
    (cut..records.len()).find(latest).unwrap_or(records.len())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn state_moves_to_another_parallelism(
        records in records(),
        cut in 0.0..1.0,
        p in 1usize..5,
        q in 1usize..5,
    ) {
        let cut = restful((records.len() as f64 * cut) as usize, &records);
        for (number, pipeline) in PIPELINES.into_iter().enumerate() {
            let state = compare(pipeline, &records, cut, p, q);
            // Elements without a key meet nobody, so a join keeps none of them.
            let keyed = records[..cut].iter().any(|r| r.0 % 5 != 0);
            prop_assert!(!keyed || !state.is_empty(), "there was something to keep in pipeline {number}");
        }
    }
}

/// A window that had fired before the cut shows what joins it behind the cut, although the sender does not know that it had.
#[test]
fn a_restored_window_that_had_fired_fires_again() {
    let first = [(1u16, 5i64, 10i64), (2, 5, 20), (1, 0, 500)];
    for (p, q) in [(1, 1), (1, 2), (2, 1), (2, 3)] {
        let shown = Shown::default();
        let state = run(lateness, p, &first, State::new(), false, &shown);
        assert_eq!(shown.lock().unwrap().len(), 2, "both keys of [0, 100)");
        shown.lock().unwrap().clear();
        run(lateness, q, &[(1, 9, 30)], state, true, &shown);
        let rows = shown.lock().unwrap().clone();
        let window = "start: @0, end: @100";
        assert!(rows.contains(&format!("Windowed {{ key: 1, {window}, value: 9 }}")), "{rows:?}");
        assert_eq!(rows.iter().filter(|row| row.contains(window)).count(), 1, "key 2 is as it was: {rows:?}");
    }
}

/// The same for each of the windows that overlap there, of which one had not fired.
#[test]
fn restored_sliding_windows_that_had_fired_fire_again() {
    let first = [(1u16, 5i64, 50i64), (2, 5, 50), (1, 0, 115)];
    for (pipeline, value) in [(sliding_sums as Pipeline, 14), (sliding_largest, 9)] {
        for (p, q) in [(1, 1), (1, 2), (2, 1), (2, 3)] {
            let shown = Shown::default();
            let state = run(pipeline, p, &first, State::new(), false, &shown);
            assert_eq!(shown.lock().unwrap().len(), 4, "both keys of two windows");
            shown.lock().unwrap().clear();
            run(pipeline, q, &[(1, 9, 50)], state, true, &shown);
            let rows = shown.lock().unwrap().clone();
            for (start, end) in [(-40, 60), (0, 100)] {
                let window = format!("start: @{start}, end: @{end}");
                let row = format!("Windowed {{ key: 1, {window}, value: {value} }}");
                assert!(rows.contains(&row), "{rows:?}");
                assert_eq!(rows.iter().filter(|row| row.contains(&window)).count(), 1, "{rows:?}");
            }
            let last = format!("Windowed {{ key: 1, start: @40, end: @140, value: {value} }}");
            assert!(rows.contains(&last), "{rows:?}");
        }
    }
}

#[test]
fn state_that_is_cut_short_is_refused() {
    let records: Vec<Record> = (0..100).map(|n| (n, 1, i64::from(n))).collect();
    for pipeline in [rolling as Pipeline, windows, timers, lasting, broadcast::beside_all] {
        let state = run(pipeline, 2, &records, State::new(), false, &Shown::default());
        let mut before = state.clone();
        for history in before.values_mut() {
            history.last_mut().unwrap().pop();
        }
        let (_sender, source) = channel(1);
        let job = Job::build("cut", |job| pipeline(job, Fed(source.clone()), Shown::default()));
        let error = job.host_with(Saving { before, ..Saving::default() }).run().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::State, "{error}");
    }
}

/// Of each stage of each pipeline: what one key group had is said to be another's of the same instance.
#[test]
fn keys_of_another_key_group_are_refused() {
    let records: Vec<Record> = (0..200).map(|n| (n % 40, 1 - i64::from(n % 3), i64::from(n) * 3)).collect();
    for (number, pipeline) in PIPELINES.into_iter().enumerate() {
        let state = run(pipeline, 2, &records, State::new(), false, &Shown::default());
        let stages: BTreeSet<&String> = state.keys().map(|key| &key.0).collect();
        for stage in stages {
            let moved =
                |(of, group): &(String, usize)| (of.clone(), if of == stage { group ^ 1 } else { *group });
            let before = state.iter().map(|(key, history)| (moved(key), history.clone())).collect();
            let (_sender, source) = channel(1);
            let job = Job::build("moved", |job| pipeline(job, Fed(source.clone()), Shown::default()));
            let error = job.host_with(Saving { before, ..Saving::default() }).run();
            let error = error.expect_err(&format!("pipeline {number}: {stage}"));
            let text = error.to_string();
            assert!(error.kind() == ErrorKind::State && text.contains("key group"), "{number}: {text}");
        }
    }
}

#[test]
fn a_volatile_pipeline_says_that_it_keeps_nothing() {
    let (sender, records) = channel(1);
    sender.send(1u16).unwrap();
    let job = Job::build("volatile", |job| job.add(source(records).key_by(|r| *r).count().for_each(|_| ())));
    let error = job.host_with(Saving::default()).run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::State);
    assert!(error.to_string().contains("volatile") && error.to_string().contains("count[0]"), "{error}");
}
