//! Windows in `dataflow!` beyond the plain ones: evictors, whole-window functions, triggers, processing time.

use flow_core::prelude::*;
use flow_core::source::ChannelSource;
use std::sync::mpsc::{self, SyncSender};
use std::time::Duration;

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

dataflow! {
    /// What evictors keep, and whole-window functions that own what they mention.
    fn last_of_a_day(flights: Vec<Flight>, factor: f64, kept: Collected<(&'static str, f64)>, grown: Collected<(i64, u64)>) {
        let departures = source(from_vec(flights)).event_time(|f| f.at, disorder = 3h);
        let keyed = departures.key_by(|f| f.origin);
        let (delays, late) = keyed
            .window(days(-5h), late = side)
            .evict(last(3))
            .process_window(0.0, |w, flights| {
                *w.state() += factor * flights.iter().filter_map(|f| f.delay).sum::<f64>();
                let row = (*w.key(), *w.state());
                w.emit(row);
            });
        delays.collect(&kept);
        late.for_each(|_| {});
        departures
            .window(days(5h + 30min), late = drop)
            .aggregate_window(|a| a.sum(|f| if f.delay.is_some() { factor as u64 } else { 0 }), 0, |w, n| {
                *w.state() += n;
                let row = (w.start().0, *w.state());
                w.emit(row);
            })
            .collect(&grown);
    }
}

dataflow! {
    /// Triggers that own what they mention; everything so far of input without an end; windows on the clock.
    fn fired(flights: Vec<Flight>, most: f64, hours: Collected<Windowed<&'static str, (u64, f64)>>, totals: Collected<u64>, clocked: Collected<u64>) {
        let departures = source(from_vec(flights)).event_time(|f| f.at, disorder = 3h);
        departures
            .key_by(|f| f.origin)
            .window(tumbling(1h), late = drop)
            .trigger(|t| t.early(15min).when(|f| f.delay.is_some_and(|d| d > most)).purging())
            .evict(last(50))
            .aggregate(|a| (a.count(), a.sum(|f| f.delay.unwrap_or(0.0))))
            .collect(&hours);
        departures.window(global()).trigger(|t| t.count(50).early_by_clock(1h)).count().map(|w| w.value).collect(&totals);
        let days = departures.key_by(|f| f.origin).window(days(0h, time = processing));
        days.count().map(|w| w.value).collect(&clocked);
    }

    fn without_an_end(numbers: ChannelSource<u64>, sums: SyncSender<u64>, by_clock: SyncSender<u64>) {
        let numbers = source(numbers);
        numbers.window(global()).trigger(|t| t.count(2)).sum(|n| *n).for_each(|w| sums.send(w.value).unwrap_or(()));
        numbers.window(session(1ms, time = processing)).sum(|n| *n).for_each(|w| by_clock.send(w.value).unwrap_or(()));
    }
}

#[test]
fn triggers_and_windows_on_the_clock() {
    let (hours, totals, clocked) = (Collected::new(), Collected::new(), Collected::new());
    let job = fired(flights(), 15.0, hours.clone(), totals.clone(), clocked.clone());
    let explained = job.explain().expect("a plan");
    for part in [
        "fires each 15min of event time, at elements that say so and at its end, with what is new",
        "time = processing",
    ] {
        assert!(explained.contains(part), "{explained}");
    }
    job.simulate(3).expect("a run");
    let rows = hours.take();
    // what is purged is shown once
    assert_eq!(rows.iter().map(|row| row.value.0).sum::<u64>(), 200);
    let windows: std::collections::BTreeSet<_> = rows.iter().map(|row| (row.key, row.start)).collect();
    assert!(rows.len() > windows.len(), "{} rows of {} windows", rows.len(), windows.len());
    assert_eq!(totals.take(), [50, 100, 150, 200, 200]);
    assert_eq!(clocked.take().iter().sum::<u64>(), 200);
}

#[test]
fn windows_of_input_without_an_end() {
    let ((sums, all), (by_clock, sessions)) = (mpsc::sync_channel(64), mpsc::sync_channel(64));
    let (sender, numbers) = channel(8);
    let handle = without_an_end(numbers, sums, by_clock).start().expect("a start");
    (1..=4).for_each(|n| sender.send(n).expect("it is read"));
    let patience = Duration::from_secs(20);
    // everything so far, although the input is open
    assert_eq!([all.recv_timeout(patience), all.recv_timeout(patience)], [Ok(3), Ok(10)]);
    // sessions have ended although nothing came
    let mut closed = 0;
    while closed < 10 {
        closed += sessions.recv_timeout(patience).expect("a session ends by the clock");
    }
    drop(sender);
    handle.join().expect("it ends");
    assert_eq!(all.iter().collect::<Vec<_>>(), [10]);
}

#[test]
fn evictors_and_whole_window_functions() {
    let (kept, grown) = (Collected::new(), Collected::new());
    let report = last_of_a_day(flights(), 2.0, kept.clone(), grown.clone()).run().expect("a run");
    let mut expected = Vec::new();
    for origin in ["EWR", "JFK", "LGA"] {
        let of: Vec<Flight> = flights().into_iter().filter(|f| f.origin == origin).collect();
        let day = |f: &Flight| (f.at - 5 * 3_600_000).div_euclid(86_400_000);
        let days: std::collections::BTreeSet<i64> = of.iter().map(day).collect();
        let mut sum = 0.0;
        for one in days {
            let of: Vec<&Flight> = of.iter().filter(|f| day(f) == one).collect();
            let last = of.iter().skip(of.len().saturating_sub(3));
            sum += 2.0 * last.filter_map(|f| f.delay).sum::<f64>();
            expected.push((origin, sum));
        }
    }
    let mut rows = kept.take();
    rows.sort_by(|a, b| a.partial_cmp(b).expect("no NaN"));
    expected.sort_by(|a, b| a.partial_cmp(b).expect("no NaN"));
    assert_eq!(rows, expected);
    assert!(report.counter("delays/process_window.evicted") > 100, "{report}");
    let departed = flights().iter().filter(|f| f.delay.is_some()).count() as u64;
    let rows = grown.take();
    assert_eq!(rows.last().expect("rows").1, 2 * departed);
    assert!(rows.iter().all(|row| (row.0 + 19_800_000).rem_euclid(86_400_000) == 0), "{rows:?}");
}

dataflow! {
    /// Coarse windows of fine ones, and of the records.
    fn hours_of_minutes(flights: Vec<Flight>, of_minutes: Collected<Hour>, of_flights: Collected<Hour>) {
        let keyed = source(from_vec(flights)).event_time(|f| f.at, disorder = 3h).key_by(|f| f.origin);
        let minutes = keyed.window(tumbling(1min), late = drop).aggregate(|a| a.sum(|f| f.delay.map(|d| d as u64)));
        minutes.key_by(|w| w.key).window(tumbling(1h), late = drop).sum(|w| w.value).collect(&of_minutes);
        keyed.window(tumbling(1h), late = drop).sum(|f| f.delay.map(|d| d as u64)).collect(&of_flights);
    }
}

type Hour = Windowed<&'static str, u64>;

#[test]
fn coarse_windows_of_fine_ones_are_those_of_the_records() {
    for seed in 0..5 {
        let (of_minutes, of_flights) = (Collected::new(), Collected::new());
        let job = hours_of_minutes(flights(), of_minutes.clone(), of_flights.clone());
        let report = job.parallelism(2).simulate(seed).expect("a run");
        assert_eq!(report.late(), 0);
        let sorted = |rows: Collected<Hour>| {
            let mut rows = rows.take();
            rows.sort_by_key(|row| (row.start, row.key));
            rows
        };
        assert_eq!(sorted(of_minutes), sorted(of_flights));
    }
}

dataflow! {
    /// The largest value of each window, numbered by key; a key begins anew behind a window without a large one.
    fn numbered(values: Vec<(u8, i64, u32)>, rows: Collected<(u8, i64, u32)>) {
        source(from_vec(values))
            .event_time(|v| v.1, disorder = 0ms)
            .key_by(|v| v.0)
            .window(tumbling(10ms))
            .aggregate_window(|a| a.max(|v| v.2), 0, |w, largest| {
                *w.state() += 1;
                let row = (*w.key(), w.start().0, *w.state());
                w.emit(row);
                if largest < 5 {
                    w.forget();
                }
            })
            .collect(&rows);
    }
}

#[test]
fn a_state_that_is_given_up_begins_anew() {
    let values =
        vec![(1, 0, 9), (2, 1, 1), (1, 10, 9), (2, 11, 9), (1, 20, 1), (2, 21, 9), (1, 30, 1), (2, 31, 9)];
    let rows = Collected::new();
    numbered(values, rows.clone()).run().expect("a run");
    let of_ones = [(1, 0, 1), (1, 10, 2), (1, 20, 3), (1, 30, 1)];
    let of_twos = [(2, 0, 1), (2, 10, 1), (2, 20, 2), (2, 30, 3)];
    let expected = of_ones.into_iter().zip(of_twos).flat_map(|(one, two)| [one, two]);
    assert_eq!(rows.take(), expected.collect::<Vec<_>>());
}
