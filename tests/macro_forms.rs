//! Pipelines written in `dataflow!`, run, and compared with what plain Rust makes of the same input.

#[path = "macro_forms/batch.rs"]
mod batch;
#[path = "macro_forms/broadcast.rs"]
mod broadcast;
#[path = "macro_forms/checkpointed.rs"]
mod checkpointed;
#[path = "macro_forms/joins.rs"]
mod joins;
#[path = "macro_forms/process.rs"]
mod process;
#[path = "macro_forms/written.rs"]
mod written;

use flow_core::graph::EdgeKind;
use flow_core::prelude::*;
use flow_core::window::{Late, Windowed};

#[derive(Clone, Debug, PartialEq)]
struct Flight {
    origin: &'static str,
    at: i64,
    delay: Option<f64>,
}

fn flights() -> Vec<Flight> {
    let origins = ["EWR", "JFK", "LGA"];
    let flight = |n: i64| Flight {
        origin: origins[(n % 3) as usize],
        // a few come two hours behind the others
        at: n * 400_000 - (n * 7_919 % 300_000) - if n % 11 == 7 { 7_200_000 } else { 0 },
        delay: (n % 5 != 0).then_some((n % 17) as f64),
    };
    (0..200).map(flight).collect()
}

type Row = Windowed<&'static str, (u64, f64)>;

dataflow! {
    /// Mean departure delay per airport and hour.
    pub fn delays_by_hour(flights: Vec<Flight>, hours: Collected<Row>, missed: Collected<Late<Flight>>) {
        let departures = source(from_vec(flights))
            .filter(|f| f.delay.is_some())
            .event_time(|f| f.at, disorder = 1min);

        let (hourly, late) = departures
            .key_by(|f| f.origin)
            .window(tumbling(1h, offset = -5min), lateness = 2min, late = side)
            .aggregate(|a| (a.count(), a.mean(|f| f.delay.unwrap_or(0.0))));

        hourly.collect(&hours);
        late.collect(&missed);
    }

    fn second(names: Vec<String>, least: usize, long: Collected<String>, all: Collected<usize>) {
        let names = source(from_vec(names));
        names.filter(|name| name.len() > least).collect(&long);
        names.map(|name| name.len() + least).collect(&all);
    }
}

#[test]
fn the_example_of_the_readme() {
    let (hours, missed) = (Collected::new(), Collected::new());
    delays_by_hour(flights(), hours.clone(), missed.clone()).run().expect("a run");
    let (rows, late) = (hours.take(), missed.take());
    let departed = flights().into_iter().filter(|f| f.delay.is_some()).count() as u64;
    assert!(!late.is_empty(), "the input has late elements");
    // a window fires again for each element that joins it late: its last row counts
    let mut last = std::collections::BTreeMap::new();
    for row in rows {
        assert_eq!((row.start.0 + 300_000).rem_euclid(3_600_000), 0);
        last.insert((row.start, row.key), row.value);
    }
    assert_eq!(last.values().map(|value| value.0).sum::<u64>() + late.len() as u64, departed);
    for ((start, key), (count, mean)) in last {
        let inside = |f: &Flight| f.origin == key && (start.0..start.0 + 3_600_000).contains(&f.at);
        let missed = late.iter().filter(|f| inside(&f.value)).count() as u64;
        let delays: Vec<f64> = flights().into_iter().filter(inside).filter_map(|f| f.delay).collect();
        assert_eq!(count + missed, delays.len() as u64);
        if missed == 0 {
            assert!((mean - delays.iter().sum::<f64>() / count as f64).abs() < 1e-9);
        }
    }
}

#[test]
fn the_graph_is_a_constant() {
    const EDGES: usize = {
        let edges = delays_by_hour::GRAPH.edges;
        assert!(edges.len() == 7);
        edges.len()
    };
    assert_eq!(EDGES, 7);
    let kinds: Vec<EdgeKind> = delays_by_hour::GRAPH.exchanges().map(|edge| edge.kind).collect();
    assert_eq!(kinds, [EdgeKind::KeyBy]);
    assert_eq!(delays_by_hour::GRAPH.node("hourly/key_by").and_then(|node| node.key), Some("|f| f.origin"));
    let ids: Vec<&str> = delays_by_hour::GRAPH.nodes.iter().map(|node| node.id).collect();
    assert_eq!(ids.len(), 8, "{ids:?}");
}

#[test]
fn a_stream_used_twice_gives_every_record_to_both() {
    let (long, all) = (Collected::new(), Collected::new());
    let names: Vec<String> = ["a", "bcd", "ef"].map(String::from).to_vec();
    second(names, 1, long.clone(), all.clone()).parallelism(2).run().expect("a run");
    assert_eq!((long.take(), all.take()), (vec!["bcd".to_string(), "ef".to_string()], vec![2, 4, 3]));
}

#[test]
fn the_expression_form_captures_its_surroundings() {
    let (bonus, out) = (vec![10, 20], Collected::new());
    let job = dataflow! {
        let numbers = source(from_iter(0..10));
        let even = numbers.filter(|n| n % 2 == 0 && !bonus.contains(n));
        even.map(|n| n + bonus[0]).collect(&out);
    };
    job.run().expect("a run");
    let expected: Vec<i32> = (0..10).filter(|n| n % 2 == 0).map(|n| n + 10).collect();
    assert_eq!(out.take(), expected);
    assert_eq!(bonus.len(), 2, "it is still ours");
}

#[test]
fn the_form_that_rustfmt_formats() {
    let out = Collected::new();
    let job = dataflow!({
        let words = source(from_vec(vec!["b", "a", "b"]));
        words.key_by(|word| *word).count().collect(&out);
    });
    job.run().expect("a run");
    assert_eq!(out.take(), [("b", 1), ("a", 1), ("b", 2)]);
}

#[test]
fn unions_of_one_stream_with_itself_and_others() {
    let (sums, rest) = (Collected::new(), Collected::new());
    let job = dataflow! {
        let a = source(from_iter(0..4));
        let b = source(from_iter(10..12)).union(a.map(|n| -n), a);
        b.fold(0, |sum, n| *sum += n).collect(&sums);
        b.filter(|n| *n >= 10).collect(&rest);
    };
    job.run().expect("a run");
    assert_eq!(sums.take(), [21]);
    assert_eq!(rest.take(), [10, 11]);
}

#[test]
fn an_aggregate_behind_a_key() {
    let (each, last) = (Collected::new(), Collected::new());
    let sales = || from_vec(vec![("a", 2), ("b", 5), ("a", 3)]);
    let job = dataflow! {
        let sales = source(sales());
        sales.key_by(|s| s.0).aggregate(|a| (a.count(), a.sum(|s| s.1))).collect(&each);
    };
    job.run().expect("a run");
    assert_eq!(each.take(), [("a", (1, 2)), ("b", (1, 5)), ("a", (2, 5))]);
    let job = dataflow! {
        #![batch]
        let sales = source(sales());
        sales.key_by(|s| s.0).aggregate(|a| (a.count(), a.max(|s| s.1))).collect(&last);
    };
    job.run().expect("a run");
    assert_eq!(last.take(), [("a", (2, 3)), ("b", (1, 5))]);
}

#[test]
fn all_pairs_of_one_stream_with_itself_and_another() {
    let (pairs, sums) = (Collected::new(), Collected::new());
    let job = dataflow! {
        let a = source(from_iter(0..3));
        a.cross(a).collect(&pairs);
        let ten = source(from_iter(10..12)).map(|n| n * 10);
        ten.cross(a.filter(|n| *n > 0)).map(|(x, y)| x + y).collect(&sums);
    };
    job.parallelism(2).run().expect("a run");
    let (mut pairs, mut sums) = (pairs.take(), sums.take());
    pairs.sort_unstable();
    sums.sort_unstable();
    assert_eq!(pairs, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)]);
    assert_eq!(sums, [101, 102, 111, 112]);
}

fn merged<K: Kind<Stamp = ()>>(
    a: Stream<i32, K, impl Flow<i32, K>>,
    b: Stream<i32, K, impl Flow<i32, K>>,
    plus: i32,
) -> Stream<i32, K::With<K>, impl Flow<i32, K::With<K>>> {
    a.map(move |n| n + plus).union(b)
}

fn positive<K: Kind>(s: Stream<i32, K, impl Flow<i32, K>>) -> Stream<i32, K, impl Flow<i32, K>> {
    s.filter(|n| *n > 0)
}

#[test]
fn functions_of_streams() {
    let out = Collected::new();
    let job = dataflow! {
        let a = source(from_iter(-3..3));
        let b = positive(source(from_iter(-1..2)));
        let c = merged(a.through(positive), b, 100);
        c.collect(&out);
    };
    job.run().expect("a run");
    let mut found = out.take();
    found.sort_unstable();
    assert_eq!(found, [1, 101, 102]);
}

#[test]
fn sides_may_be_ignored_or_used_twice() {
    let (even, big, sum) = (Collected::new(), Collected::new(), Collected::new());
    let job = dataflow! {
        let (evens, _odds) = source(from_iter(0..10)).partition(|n| n % 2 == 0);
        evens.collect(&even);
        let (large, small) = evens.split(|n| if n > 4 { Either::A(n) } else { Either::B(n as i64) });
        large.collect(&big);
        small.sum(|n| *n).collect(&sum);
    };
    job.run().expect("a run");
    assert_eq!((even.take(), big.take(), sum.take()), (vec![0, 2, 4, 6, 8], vec![6, 8], vec![6]));
}

#[test]
fn a_name_bound_again_is_another_stream() {
    let (first, second) = (Collected::new(), Collected::new());
    let job = dataflow! {
        let a = source(from_iter(0..3));
        a.collect(&first);
        let a = a.map(|n| n * 2);
        a.collect(&second);
    };
    job.run().expect("a run");
    assert_eq!((first.take(), second.take()), (vec![0, 1, 2], vec![0, 2, 4]));
}

#[test]
fn channels_move_into_the_pipeline() {
    let out = Collected::new();
    let job = dataflow! {
        let (sender, receiver) = channel(4);
        let numbers = source(receiver);
        numbers.take(3).collect(&out);
        std::thread::spawn(move || (0..10).try_for_each(|n| sender.send(n)));
    };
    job.run().expect("a run");
    assert_eq!(out.take(), [0, 1, 2]);
}

#[test]
fn a_keyed_stream_used_twice() {
    let (counts, sums) = (Collected::new(), Collected::new());
    let job = dataflow! {
        let keyed = source(from_iter(0..6)).key_by(|n| n % 2);
        keyed.count().collect(&counts);
        keyed.filter(|n| *n > 1).sum(|n| *n).collect(&sums);
    };
    job.run().expect("a run");
    assert_eq!(counts.take(), [(0, 1), (1, 1), (0, 2), (1, 2), (0, 3), (1, 3)]);
    assert_eq!(sums.take(), [(0, 2), (1, 3), (0, 6), (1, 8)]);
}

fn up(n: i32) -> i32 {
    n + 1
}

#[test]
fn more_operators_than_a_type_can_nest() {
    let out = Collected::new();
    let job = dataflow! {
        let a = source(from_iter(0..3))
            .map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up)
            .map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up)
            .map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up)
            .map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up)
            .map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up)
            .map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up)
            .map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up)
            .map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up)
            .map(up);
        a
            .map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up)
            .map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up)
            .map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up)
            .map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up)
            .map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up).map(up)
            .collect(&out);
    };
    job.run().expect("a run");
    assert_eq!(out.take(), [157, 158, 159]);
}

/// The ids in a job's graph, between the quotes of `n1["departures/filter"]`.
fn ids_at_run_time(job: &Job) -> Vec<String> {
    let text = job.graph().expect("the job can start");
    let labels = text.lines().filter(|line| line.trim_start().starts_with('n'));
    labels.filter_map(|line| Some(line.split_once("[\"")?.1.split_once("\"]")?.0.to_owned())).collect()
}

#[test]
fn ids_are_those_of_the_run() {
    let job = delays_by_hour(vec![], Collected::new(), Collected::new());
    let other = all_ways(vec![], Collected::new());
    for (job, graph) in [(job, delays_by_hour::GRAPH), (other, all_ways::GRAPH)] {
        let ids = ids_at_run_time(&job);
        assert!(ids.len() > 5, "{ids:?}");
        for id in ids {
            assert!(graph.node(&id).is_some(), "{id} is not among {:?}", graph.nodes);
        }
    }
}

dataflow! {
    fn all_ways(words: Vec<&'static str>, out: Collected<(&'static str, u64)>) {
        let words = source(from_vec(words)).map(|w| w).map(|w| w).named("tidied");
        let again = source(generate(3, |_| "x")).map(|w| w);
        let all = words.filter(|w| w.len() > 1).union(again.filter(|w| w.len() > 2), words).rebalance();
        let (short, _long) = all.partition(|w| w.len() < 5);
        let counted = short.key_by(|w| *w).filter(|w| *w != "a").count();
        counted.union(short.map(|w| (w, 0))).collect(&out);
    }
}

#[test]
fn a_window_may_be_closed_by_one_aggregate() {
    let (counts, sums, late) = (Collected::new(), Collected::new(), Collected::new());
    let job = dataflow!({
        let numbers = source(from_iter(0..10i64)).event_time(|n| *n, disorder = 0ms);
        let counted = numbers.key_by(|n| n % 2).window(tumbling(4ms)).count();
        counted.map(|w| (w.key, w.start.0, w.value)).collect(&counts);
        let (summed, missed) = numbers.window(tumbling(5ms), late = side).sum(|n| *n);
        summed.map(|w| w.value).collect(&sums);
        missed.map(|l| l.value).collect(&late);
    });
    job.run().expect("a run");
    assert_eq!(counts.take(), [(0, 0, 2), (1, 0, 2), (0, 4, 2), (1, 4, 2), (0, 8, 1), (1, 8, 1)]);
    assert_eq!((sums.take(), late.take()), (vec![10, 35], vec![]));
}

#[test]
fn sessions_have_one_gap_or_one_for_each_element() {
    let (visits, evenings, late) = (Collected::new(), Collected::new(), Collected::new());
    let longest = 60;
    let job = dataflow!({
        let watched =
            source(from_vec(vec![("a", 0, 9), ("b", 5, 90), ("a", 10, 1), ("a", 21, 2), ("b", 66, 1)]))
                .event_time(|v| v.1, disorder = 5ms);
        let (visited, missed) = watched
            .key_by(|v| v.0)
            .window(session(10ms), lateness = 1ms, late = side)
            .aggregate(|a| (a.count(), a.last()));
        visited.map(|w| (w.key, w.start.0, w.end.0, w.value.0)).collect(&visits);
        missed.map(|l| l.value).collect(&late);
        let all = watched
            .window(session_by(|v| if v.2 > longest { 60ms } else { Millis(v.2) }), late = drop)
            .sum(|v| v.2);
        all.map(|w| (w.start.0, w.end.0, w.value)).collect(&evenings);
    });
    job.run().expect("a run");
    assert_eq!(visits.take(), [("b", 5, 15, 1), ("a", 0, 20, 2), ("a", 21, 31, 1), ("b", 66, 76, 1)]);
    assert_eq!((evenings.take(), late.take().len()), (vec![(0, 65, 102), (66, 67, 1)], 0));
}

#[test]
fn count_windows_need_no_event_time() {
    let (threes, pairs, sums) = (Collected::new(), Collected::new(), Collected::new());
    let job = dataflow!({
        let numbers = source(from_iter(1..=7));
        let three = numbers.window(count(3)).aggregate(|a| a.collect());
        three.map(|w| (w.start, w.end, w.value)).collect(&threes);
        numbers
            .key_by(|n| n % 2)
            .window(count(2, every = 1, exact = true))
            .sum(|n| *n)
            .map(|w| (w.key, w.value))
            .collect(&pairs);
        numbers.window(count(1, every = 3, gaps = true)).reduce(|a, _| a).map(|w| w.value).collect(&sums);
    });
    job.run().expect("a run");
    let bounds = (Timestamp::MIN, Timestamp::MAX);
    let rows = [vec![1, 2, 3], vec![4, 5, 6], vec![7]].map(|row| (bounds.0, bounds.1, row));
    assert_eq!(threes.take(), rows);
    assert_eq!(pairs.take(), [(1, 4), (0, 6), (1, 8), (0, 10), (1, 12)]);
    assert_eq!(sums.take(), [1, 4, 7]);
}

#[test]
fn a_window_may_slide() {
    let (counts, sums, best, folded, spread) =
        (Collected::new(), Collected::new(), Collected::new(), Collected::new(), Collected::new());
    let slide = Millis(2);
    let job = dataflow!({
        let numbers = source(from_iter(0..6i64)).event_time(|n| *n, disorder = 0ms);
        let counted = numbers.key_by(|n| n % 2).window(sliding(4ms, 2ms)).count();
        counted.filter(|w| w.key == 0).map(|w| (w.start.0, w.value)).collect(&counts);
        let (summed, _late) =
            numbers.window(sliding(4ms, slide, offset = 1ms), lateness = 1ms, late = side).sum(|n| *n);
        summed.map(|w| (w.start.0, w.value)).collect(&sums);
        numbers
            .window(sliding(1ms, 3ms, gaps = true), late = fail)
            .max(|n| *n)
            .map(|w| w.value)
            .collect(&best);
        numbers
            .window(sliding(3ms, 3ms))
            .fold(String::new(), |all, n| *all += &n.to_string())
            .map(|w| w.value)
            .collect(&folded);
        let both = numbers.window(sliding(5ms, 3ms)).aggregate(|a| (a.min(|n| *n), a.mean(|n| *n)));
        both.map(|w| w.value).collect(&spread);
    });
    job.run().expect("a run");
    assert_eq!(counts.take(), [(-2, 1), (0, 2), (2, 2), (4, 1)]);
    assert_eq!(sums.take(), [(-3, 0), (-1, 3), (1, 10), (3, 12), (5, 5)]);
    assert_eq!((best.take(), folded.take()), (vec![0, 3], vec!["012".to_owned(), "345".to_owned()]));
    assert_eq!(spread.take(), [(0, 0.5), (0, 2.0), (3, 4.0)]);
}

#[test]
fn a_keyed_stream_may_be_mapped() {
    let out = Collected::new();
    let job = dataflow!({
        let keyed = source(from_iter(0..4)).key_by(|n| n % 2);
        keyed.map(|n| n * 10).collect(&out);
    });
    job.run().expect("a run");
    assert_eq!(out.take(), [0, 10, 20, 30]);
}

#[test]
fn behind_a_key_everything_else_takes_records_of_a_key_together() {
    let (values, seen, spread) = (Collected::new(), Collected::new(), Collected::new());
    let job = dataflow!({
        let keyed = source(from_iter(0..40u64)).key_by(|n| n % 8).filter(|n| *n < 20);
        let boxed = keyed.boundary().boxed().map_values(|n| n / 8);
        boxed.collect(&values);
        keyed.flat_map(|n| [n, n]).collect(&seen);
        keyed.map_init(|ctx| ctx.instance(), |instance, n| (n % 8, *instance)).collect(&spread);
    });
    job.parallelism(3).run().expect("a run");
    let sorted = |mut rows: Vec<u64>| {
        rows.sort_unstable();
        rows
    };
    assert_eq!(sorted(values.take()), sorted((0..20).map(|n| n / 8).collect()));
    assert_eq!(sorted(seen.take()), sorted((0..20).flat_map(|n| [n, n]).collect()));
    let homes: std::collections::BTreeSet<(u64, usize)> = spread.take().into_iter().collect();
    assert_eq!(homes.len(), 8, "a key has one instance: {homes:?}");
    assert!(homes.iter().any(|home| home.1 != 0), "and not all keys the same: {homes:?}");
}
