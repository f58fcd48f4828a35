//! Processes written in `dataflow!`, with sides.

use flow_core::aggregate::Overflow;
use flow_core::op::operator::OpError;
use flow_core::prelude::*;
use flow_core::process::{First, Side, WithSides};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Debug, Clone, PartialEq)]
struct Small(i64);

dataflow! {
    fn sides(numbers: Vec<(u32, i64)>, limit: i64, large: Collected<(u32, i64)>, small: Collected<Small>, quiet: Collected<String>) {
        let numbers = source(from_vec(numbers)).event_time(|n| n.1, disorder = 0s);
        let (large_ones, small_ones, quiet_ones) = numbers.key_by(|n| n.0).process({
            let mut seen: u64 = 0;
            #[ttl(1h, on = watermark)]
            let mut largest: ReducingState<i64> = ReducingState::new(|a, b| a.max(b));
            #[ttl(2d)]
            let mut mean: AggregatingState<i64, _> = AggregatingState::new(|a| a.mean(|n| *n));
            let small: Side<Small> = side();
            let quiet: Side<String> = side();
            on_timer(|t, ctx| {
                if *seen == 1 {
                    let text = format!("{} at {}", ctx.key(), t.millis());
                    ctx.output(quiet, text);
                } else if t.millis() == 130 {
                    ctx.output(quiet, format!("{:?} {:?}", largest.get(), mean.get()));
                }
            });
            on_event(|n, ctx| {
                *seen += 1;
                largest.add(n.1);
                mean.add(&n.1)?;
                ctx.set_timer(ctx.timestamp() + 100ms);
                if n.1 < limit {
                    ctx.output(small, Small(n.1));
                } else {
                    ctx.emit(n);
                }
                Ok::<(), Overflow>(())
            });
        });
        large_ones.collect(&large);
        small_ones.collect(&small);
        quiet_ones.collect(&quiet);
    }

    fn of_two(left: Vec<u32>, right: Vec<&'static str>, all: Collected<u32>, texts: Collected<&'static str>) {
        let left = source(from_vec(left)).key_by(|n| *n);
        let right = source(from_vec(right)).key_by(|t| t.len() as u32);
        let (numbers, others) = left.connect(right).process({
            let text: Side<&'static str> = side();
            on_right(|t, ctx| ctx.output(text, t));
            on_left(|n, ctx| ctx.emit(n));
        });
        numbers.collect(&all);
        others.collect(&texts);
    }

    /// What is above the limit that is valid ten milliseconds later, and what is not; beside the largest of those.
    fn beside_a_limit(
        numbers: Vec<(u32, i64)>, limits: Vec<(i64, i64)>, above: Collected<(u32, i64)>, below: Collected<Small>,
        waited: Collected<String>,
    ) {
        let limits = source(from_vec(limits)).event_time(|l| l.1, disorder = 0s);
        let numbers = source(from_vec(numbers)).event_time(|n| n.1, disorder = 0s);
        let (high, low, _, times) = numbers.key_by(|n| n.0).connect_broadcast(limits).process({
            #[broadcast]
            let mut limits: BTreeMap<i64, i64> = BTreeMap::new();
            let mut seen: u32 = 0;
            let low: Side<Small> = side();
            let nowhere: Side<u8> = side();
            let times: Side<String> = side();
            on_event(|n, ctx| {
                *seen += 1;
                ctx.set_timer(ctx.timestamp() + 10ms);
                ctx.output(times, format!("{} at {}", ctx.key(), n.1));
                if n.1 == i64::MAX {
                    ctx.output(nowhere, 0);
                }
            });
            on_broadcast(|l, ctx| {
                limits.insert(ctx.timestamp().millis(), l.0);
            });
            on_timer(|t, ctx| {
                let (n, valid) = (t.millis() - 10, limits.range(..=t.millis()).next_back());
                if valid.is_none_or(|limit| n > *limit.1) {
                    ctx.emit((*ctx.key(), n));
                } else {
                    ctx.output(low, Small(n));
                }
            });
        });
        high.collect(&above);
        low.collect(&below);
        times.collect(&waited);
    }

    /// Processes that emit nothing: one with a side only, one that tells somebody else.
    fn without_results(numbers: Vec<u32>, odd: Collected<u32>, told: Arc<AtomicU32>) {
        let numbers = source(from_vec(numbers)).key_by(|n| *n);
        let (_, others) = numbers.process({
            let odds: Side<u32> = side();
            on_event(|n, ctx| if n % 2 == 1 { ctx.output(odds, n) });
        });
        others.collect(&odd);
        numbers
            .process({
                let mut seen: u32 = 0;
                on_event(|n, _| {
                    *seen += 1;
                    told.fetch_add(n * *seen, Ordering::Relaxed);
                });
            })
            .for_each(|nothing| match nothing {});
    }

    /// What is emitted is said by somebody else, who gets the context.
    fn by_another(numbers: Vec<u32>, out: Collected<String>) {
        let numbers = source(from_vec(numbers)).key_by(|n| *n);
        numbers.process({ on_event(|n, ctx| say(n, ctx)); }).collect(&out);
        numbers.process({ on_event(|n, ctx| ctx.say(n)); }).collect(&out);
    }

    fn windows_behind_sides(numbers: Vec<(u32, i64)>, counts: Collected<u64>, rest: PathBuf) {
        let numbers = source(from_vec(numbers)).event_time(|n| n.1, disorder = 0s);
        let (_, clocked, small) = numbers.key_by(|n| n.0).process({
            let clocked: Side<u32> = side();
            let small: Side<(u32, i64)> = side();
            on_event(|n, ctx| {
                ctx.output(small, n);
                ctx.output(clocked, n.0);
                ctx.emit(n.0);
            });
        });
        small.window(tumbling(10ms)).count().map(|w| w.value).collect(&counts);
        clocked.sink(text_file(rest));
    }
}

#[test]
fn records_go_to_their_sides() {
    let (large, small, quiet) = (Collected::new(), Collected::new(), Collected::new());
    let numbers = vec![(1, 5), (2, 20), (1, 30)];
    let job = sides(numbers, 10, large.clone(), small.clone(), quiet.clone());
    let explained = job.explain().expect("a plan");
    let states = "states: seen, largest (ttl 1h on the watermark), mean (ttl 2d)";
    assert!(explained.contains(states), "{explained}");
    job.simulate(1).expect("a run");
    assert_eq!(large.take(), [(2, 20), (1, 30)]);
    assert_eq!(small.take(), [Small(5)]);
    assert_eq!(quiet.take(), ["2 at 120", "Some(30) Some(17.5)"]);
}

fn say(n: u32, ctx: &mut ProcessContext<'_, u32, String, ()>) {
    ctx.emit(format!("{n}"));
}

trait Say {
    fn say(&mut self, n: u32);
}

impl Say for ProcessContext<'_, u32, String, ()> {
    fn say(&mut self, n: u32) {
        say(n, self);
    }
}

#[test]
fn sides_beside_a_broadcast() {
    let (above, below, waited) = (Collected::new(), Collected::new(), Collected::new());
    let job = beside_a_limit(
        vec![(1, 5), (2, 20), (1, 30)],
        vec![(25, 20), (99, 50)],
        above.clone(),
        below.clone(),
        waited.clone(),
    );
    job.simulate(1).expect("a run");
    assert_eq!(above.take(), [(1, 5), (1, 30)], "at 15 there is no limit, at 40 one of 25");
    assert_eq!(below.take(), [Small(20)]);
    let mut waited = waited.take();
    waited.sort();
    assert_eq!(waited, ["1 at 30", "1 at 5", "2 at 20"]);
}

#[test]
fn a_process_needs_no_results() {
    let (odd, told) = (Collected::new(), Arc::new(AtomicU32::new(0)));
    without_results(vec![1, 2, 3, 3], odd.clone(), Arc::clone(&told)).run().expect("a run");
    let mut odd = odd.take();
    odd.sort_unstable();
    assert_eq!((odd, told.load(Ordering::Relaxed)), (vec![1, 3, 3], 1 + 2 + 3 + 6));
}

#[test]
fn a_context_may_be_given_away() {
    let out = Collected::new();
    by_another(vec![7], out.clone()).run().expect("a run");
    assert_eq!(out.take(), ["7", "7"]);
}

#[test]
fn the_graph_names_states() {
    let process = sides::GRAPH.nodes.iter().find(|node| node.op == "process").expect("it is there");
    let states: Vec<_> = process.states.iter().map(|state| (state.name, state.ttl)).collect();
    assert_eq!(states, [("seen", None), ("largest", Some("1h, on = watermark")), ("mean", Some("2d"))]);
}

#[test]
fn two_streams_and_sides() {
    let (all, texts) = (Collected::new(), Collected::new());
    of_two(vec![1, 2], vec!["abc", "d"], all.clone(), texts.clone()).run().expect("a run");
    let (mut numbers, mut words) = (all.take(), texts.take());
    numbers.sort_unstable();
    words.sort_unstable();
    assert_eq!((numbers, words), (vec![1, 2], vec!["abc", "d"]));
}

#[test]
fn a_side_has_event_time() {
    let dir = tempfile::tempdir().expect("a directory");
    let (counts, file) = (Collected::new(), dir.path().join("rest.txt"));
    windows_behind_sides(vec![(1, 1), (2, 5), (3, 12)], counts.clone(), file.clone()).run().expect("a run");
    assert_eq!(counts.take(), [2, 1]);
    let mut rest: Vec<String> =
        std::fs::read_to_string(file).expect("it is there").lines().map(Into::into).collect();
    rest.sort();
    assert_eq!(rest, ["1", "2", "3"]);
}

/// Even numbers, and the others in words.
#[derive(Clone)]
struct Even;

impl Process<u32, u32> for Even {
    type State = ();
    type Out = u32;
    type Timers = WithSides<EventTimers, (String,)>;
    fn state(&self) {}
    fn event(
        &mut self,
        n: u32,
        (): &mut (),
        ctx: &mut ProcessContext<'_, u32, u32, Timestamp, Self::Timers>,
    ) -> std::result::Result<(), OpError> {
        match n % 2 {
            0 => ctx.emit(n),
            _ => ctx.output(Side::<String, First>::new(), n.to_string()),
        }
        Ok(())
    }
}

#[test]
fn sides_by_hand() {
    let (even, odd) = (Collected::new(), Collected::new());
    let job = Job::build("by hand", |job| {
        let numbers = source(from_iter(0..4u32)).event_time(|n| i64::from(*n)).disorder(Millis(0));
        let sides = numbers.key_by(|n| *n).process(Even).split(|x| x);
        let (a, b) = sides.roots();
        let ends = (a.collect(&even), b.collect(&odd));
        job.add(sides.fork(ends));
    });
    job.simulate(1).expect("a run");
    assert_eq!((even.take(), odd.take()), (vec![0, 2], vec!["1".to_owned(), "3".to_owned()]));
}
