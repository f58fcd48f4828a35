//! State by key group: half of the input, a snapshot of all 256 groups, fresh stages at another parallelism that take the
//! groups over, the other half: together what an uninterrupted run gives.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

#[path = "snapshot/broadcast.rs"]
mod broadcast;
#[path = "snapshot/joined.rs"]
mod joined;

use flow_core::exchange::{KEY_GROUPS, instance_of};
use flow_core::host::{Host, Instance, Launch, Progress, Task};
use flow_core::op::kind::{Replayable, Unbounded};
use flow_core::prelude::*;
use flow_core::process::Ttl;
use flow_core::process::states::{Plain, Timed, TimedEntries, WithFunction};
use flow_core::source::{ChannelSource, Source};
use flow_core::stage::OpenCx;
use proptest::prelude::*;
use std::collections::BTreeMap;
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
        exhaust(&mut tasks, &mut |tasks, round| {
            // Not for ever: to write is to do something.
            if round < 60 && round % self.every.max(1) == 0 {
                save(tasks, &owners, &mut after, std::mem::take(&mut whole))?;
            }
            Ok(())
        })?;
        if tasks.iter().all(Task::is_done) {
            return Ok(());
        }
        tasks.iter_mut().for_each(|task| task.barrier(1));
        exhaust(&mut tasks, &mut |_, _| Ok(()))?;
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

/// Steps them until nobody can go on; before each round it calls `also`.
fn exhaust(tasks: &mut [Task], also: &mut dyn FnMut(&mut [Task], usize) -> Result<()>) -> Result<()> {
    for round in 1.. {
        also(tasks, round)?;
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

fn rolling(job: &mut Job, records: Fed, shown: Shown) {
    job.add(source(records).at_least_once().key_by(|r| r.0).sum(|r| r.1).for_each(show(&shown)));
}

/// A rolling operator whose state is text, behind another keyed operator.
fn texts(job: &mut Job, records: Fed, shown: Shown) {
    let counted = source(records).at_least_once().key_by(|r| r.0).count();
    let texts = counted.key_by(|c| c.0).fold(String::new(), |text, (_, n)| *text += &format!(" {n}"));
    job.add(texts.for_each(show(&shown)));
}

fn firsts(job: &mut Job, records: Fed, shown: Shown) {
    job.add(source(records).at_least_once().key_by(|r| r.0).dedup_first().for_each(show(&shown)));
}

/// With a time to live that is never over.
fn firsts_for_long(job: &mut Job, records: Fed, shown: Shown) {
    let firsts = source(records).at_least_once().key_by(|r| r.0).dedup_first().ttl(Millis(1_000_000));
    job.add(firsts.for_each(show(&shown)));
}

fn lasts(job: &mut Job, records: Fed, shown: Shown) {
    let records = source(records).at_least_once().take(u64::MAX);
    job.add(records.key_by(|r| r.0).dedup_last().for_each(show(&shown)));
}

fn tops(job: &mut Job, records: Fed, shown: Shown) {
    job.add(source(records).at_least_once().key_by(|r| r.0).top_n(3, |r| r.1).for_each(show(&shown)));
}

fn windows(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2).disorder(Millis(50));
    let windows = timed.key_by(|r| r.0).window(tumbling(Millis(100)));
    job.add(windows.aggregate(|a| (a.count(), a.sum(|r| r.1))).for_each(show(&shown)));
}

/// Windows that have fired take elements and fire again.
fn lateness(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2);
    let windows = timed.key_by(|r| r.0).window(tumbling(Millis(100))).lateness(Millis(1_000_000));
    job.add(windows.aggregate(|a| a.max(|r| r.1)).for_each(show(&shown)));
}

/// The same for windows that overlap: by a running table, and by two stacks.
fn sliding_sums(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2);
    let windows = timed.key_by(|r| r.0).window(sliding(Millis(100), Millis(40))).lateness(Millis(1_000_000));
    job.add(windows.aggregate(|a| a.sum(|r| r.1)).for_each(show(&shown)));
}

fn sliding_largest(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2);
    let windows = timed.key_by(|r| r.0).window(sliding(Millis(100), Millis(40))).lateness(Millis(1_000_000));
    job.add(windows.aggregate(|a| a.max(|r| r.1)).for_each(show(&shown)));
}

/// The value a key has had last, told by a timer when it is old, and how often it has been told.
#[derive(Clone)]
struct Old;

impl Process<u16, Record> for Old {
    type State = (i64, u32);
    type Out = (u16, i64, i64, u32);
    type Timers = EventTimers;
    fn state(&self) -> (i64, u32) {
        (0, 0)
    }
    fn event(
        &mut self,
        (_, value, _): Record,
        state: &mut (i64, u32),
        ctx: &mut ProcessContext<'_, u16, Self::Out>,
    ) -> std::result::Result<(), flow_core::op::operator::OpError> {
        state.0 += value;
        let at = ctx.timestamp();
        ctx.set_timer(at + Millis(200));
        if value % 7 == 0 {
            ctx.set_interval(Millis(90));
            ctx.delete_timer(at + Millis(200));
        }
        Ok(())
    }
    fn timer(
        &mut self,
        at: Timestamp,
        state: &mut (i64, u32),
        ctx: &mut ProcessContext<'_, u16, Self::Out>,
    ) -> std::result::Result<(), flow_core::op::operator::OpError> {
        state.1 += 1;
        ctx.emit((*ctx.key(), at.millis(), state.0, state.1));
        Ok(())
    }
}

fn timers(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2).disorder(Millis(50));
    job.add(timed.key_by(|r| r.0).process(Old).for_each(show(&shown)));
}

/// States with a time to live, which is not over within the test: a watermark is made anew behind the cut, and what is over by it
/// may differ.
fn lasting(job: &mut Job, records: Fed, shown: Shown) {
    let ttl = Ttl::new(Millis(86_400_000));
    let timed = source(records).at_least_once().event_time(|r| r.2).disorder(Millis(50));
    let states = (
        Timed::new(|| None::<i64>, ttl),
        (
            TimedEntries::new(MapState::<i64, u32>::new, ttl),
            (
                TimedEntries::new(ListState::<i64>::new, ttl.renewed_by_reading()),
                (
                    Plain(|| 0u32),
                    (
                        WithFunction(TimedEntries::new(|| ReducingState::new(|a: i64, b| a.max(b)), ttl)),
                        (WithFunction(Plain(|| AggregatingState::new(|a| a.sum(|v: &i64| *v)))), ()),
                    ),
                ),
            ),
        ),
    );
    let counted = timed.key_by(|r| r.0).declare(states).on_event(
        |(mut last, (map, (list, (seen, (largest, (sum, ())))))), (key, value, _): Record, ctx| {
            *seen += 1;
            *map.or_insert_with(value % 5, || 0) += 1;
            let mut counts: Vec<_> = map.iter().map(|(k, n)| (*k, *n)).collect();
            counts.sort_unstable();
            if value > 0 {
                list.push(value);
            } else {
                list.retain(|v| v % 2 == 0);
            }
            largest.add(value);
            sum.add(&value).unwrap();
            let folded = (largest.get().copied(), sum.get());
            ctx.emit((key, *seen, *last, counts, list.len(), list.iter().sum::<i64>(), folded));
            *last = Some(value);
        },
    );
    job.add(counted.done().for_each(show(&shown)));
}

/// What is kept of a window, and state of the key behind it.
fn processed(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2).disorder(Millis(50));
    let windows = timed.key_by(|r| r.0).window(tumbling(Millis(100))).evict(last(3));
    let growing = windows.process_window(0i64, |w, records| {
        *w.state() += records.iter().map(|r| r.1).sum::<i64>();
        let (key, start, sum) = (*w.key(), w.start(), *w.state());
        records.iter().for_each(|r| w.emit((key, start, r.1, sum)));
    });
    job.add(growing.for_each(show(&shown)));
}

/// State of the key behind an aggregate, in windows that elements still join.
fn evicted_and_aggregated(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2).disorder(Millis(50));
    let windows = timed.key_by(|r| r.0).window(sliding(Millis(100), Millis(40))).evict(last(Millis(30)));
    let growing = windows.aggregate_window(
        |a| (a.count(), a.max(|r| r.1)),
        0u64,
        |w, (count, max)| {
            *w.state() += count;
            let row = (*w.key(), w.start(), max, *w.state());
            w.emit(row);
        },
    );
    job.add(growing.for_each(show(&shown)));
}

/// Windows that fire early, as they are and what is new.
fn triggered(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2).disorder(Millis(50));
    let windows = timed.key_by(|r| r.0).window(sliding(Millis(100), Millis(40)));
    let windows = windows.trigger(|t| t.early(Millis(30)).count(3).when(|r| r.1 % 7 == 0));
    job.add(windows.aggregate(|a| (a.count(), a.sum(|r| r.1))).for_each(show(&shown)));
}

fn purging_sessions(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2).disorder(Millis(50));
    let windows = timed.key_by(|r| r.0).window(session(Millis(60))).lateness(Millis(1_000_000));
    let windows = windows.trigger(|t| t.count(2).purging());
    job.add(windows.aggregate(|a| (a.count(), a.sum(|r| r.1))).for_each(show(&shown)));
}

/// On a clock that stands still while the test steps, so that everything is in one window.
fn clocked(job: &mut Job, records: Fed, shown: Shown) {
    let keyed = source(records).at_least_once().key_by(|r| r.0);
    let windows = keyed.window(tumbling(Millis(86_400_000_000)).time(processing));
    job.add(windows.aggregate(|a| (a.count(), a.sum(|r| r.1))).for_each(show(&shown)));
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
        let pipelines = [
            rolling as Pipeline, texts, windows, lateness, sliding_sums, sliding_largest, firsts, firsts_for_long,
            lasts, tops, timers, lasting, processed, evicted_and_aggregated, triggered, purging_sessions, clocked,
            joined::in_windows, joined::in_sessions, joined::within, joined::as_of, joined::looked_up, joined::forever, joined::for_long,
            broadcast::beside_all,
        ];
        for (number, pipeline) in pipelines.into_iter().enumerate() {
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

#[test]
fn a_volatile_pipeline_says_that_it_keeps_nothing() {
    let (sender, records) = channel(1);
    sender.send(1u16).unwrap();
    let job = Job::build("volatile", |job| job.add(source(records).key_by(|r| *r).count().for_each(|_| ())));
    let error = job.host_with(Saving::default()).run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::State);
    assert!(error.to_string().contains("volatile") && error.to_string().contains("count[0]"), "{error}");
}
