//! Cases whose answers are too long for a file.

use crate::case::{Arrival, Case, El};
use flow_core::prelude::*;
use flow_core::source::from_vec;
use std::collections::HashMap;

/// W15: a firing of more rows than fit downstream stops where it is and goes on there, and nothing is lost or comes twice.
#[test]
fn a_firing_stops_and_goes_on() {
    let keys = 700;
    for lateness in [0, 5] {
        let first = (0..keys).map(|k| element(k, 3));
        let again = (0..keys).rev().map(|k| element(k, 4));
        let second = (0..keys).rev().map(|k| element(k, 15));
        let input = first.chain(again).chain(second).chain([Arrival::Watermark(9)]).collect();
        let rows = (0..keys).map(|k| format!("[0,10) k{k}/3,4"));
        let rows = rows.chain((0..keys).rev().map(|k| format!("[10,20) k{k}/15"))).collect();
        let pipe = format!("tumbling 10 keyed lateness {lateness} collect | boundary");
        check(&format!("W15 {pipe}"), &pipe, input, rows);
    }
}

/// W15 for sliding windows, by each of their algorithms.
#[test]
fn a_firing_of_a_sliding_window_stops_and_goes_on() {
    let keys = 700;
    for (aggregate, both) in [("collect", "3,4"), ("sum", "7"), ("max", "4")] {
        for lateness in [0, 5] {
            let first = (0..keys).map(|k| element(k, 3));
            let again = (0..keys).rev().map(|k| element(k, 4));
            let second = (0..keys).rev().map(|k| element(k, 15));
            let input = first.chain(again).chain(second).chain([Arrival::Watermark(9)]).collect();
            let windows = [("[-5,5)", both), ("[0,10)", both), ("[10,20)", "15"), ("[15,25)", "15")];
            let rows =
                windows.iter().flat_map(|(window, v)| (0..keys).map(move |k| format!("{window} k{k}/{v}")));
            let pipe = format!("sliding 10 5 keyed lateness {lateness} {aggregate} | boundary");
            check(&format!("W15 {pipe}"), &pipe, input, rows.collect());
        }
    }
}

/// N10: an element in a thousand windows, and another which has half of them in common with it.
#[test]
fn an_element_is_in_a_thousand_windows() {
    for (aggregate, one, both) in [("count", "1", "2"), ("max", "7", "8"), ("collect", "7", "7,8")] {
        let el = |name: &str, time| {
            Arrival::Item(El { key: String::new(), name: name.to_owned(), time, window: None })
        };
        let rows = (-999i64..=500).map(|start| {
            let value = match start {
                ..-499 => one,
                1.. if aggregate == "count" => one,
                1.. => &both[both.len() - 1..],
                _ => both,
            };
            format!("[{start},{}) {value}", start + 1000)
        });
        let pipe = format!("sliding 1000 1 {aggregate}");
        check(&format!("N10 {pipe}"), &pipe, vec![el("7", 0), el("8", 500)], rows.collect());
    }
}

/// W15 for joins: the rows of one key are more than fit downstream, and the watermark behind them does not overtake them.
#[test]
fn the_rows_of_a_join_stop_and_go_on() {
    let many = |n| (0..n).map(|_| element(1, 3)).chain([element(2, 4), Arrival::Watermark(9)]).collect();
    for join in ["inner tumbling 10", "full session 1", "left lookup", "left within 0 5", "inner forever"] {
        let rows = vec!["[0,10) k1/2400".to_owned(), "[0,10) k2/1".to_owned()];
        let pipe = format!("join {join} | boundary | tumbling 10 keyed count");
        check_all(&format!("W15 {pipe}"), &pipe, vec![many(40), many(60)], rows);
    }
}

fn element(key: usize, time: i64) -> Arrival {
    Arrival::Item(El { key: format!("k{key}"), name: time.to_string(), time, window: None })
}

fn check(id: &str, pipe: &str, input: Vec<Arrival>, rows: Vec<String>) {
    check_all(id, pipe, vec![input], rows);
}

fn check_all(id: &str, pipe: &str, inputs: Vec<Vec<Arrival>>, rows: Vec<String>) {
    let steps = pipe.split(" | ").map(|s| s.split(' ').map(str::to_owned).collect()).collect();
    let case = Case { id: id.to_owned(), steps, inputs, rows, ..Case::default() };
    if let Err(wrong) = crate::runner::check(&case) {
        panic!("{wrong}");
    }
}

/// A6: over a hash edge from three senders to four receivers, each receiver sees each sender's part in order.
#[test]
fn a_receiver_sees_each_senders_part_in_order() {
    const EACH: usize = 1000;
    let run = |run: &dyn Fn(Job) -> Result<Report>| {
        let out = Collected::new();
        let job = Job::build("ascending", |job| {
            let numbers: Vec<(usize, usize)> = (0..3 * EACH).map(|i| (i / EACH, i % EACH)).collect();
            let by_key = source(from_vec(numbers).splits(3)).key_by(|(_, n)| n % 97);
            let at = by_key.map_with_state((), |(), x| x).map_init(|cx| cx.instance(), |at, (_, x)| (*at, x));
            job.add(at.collect(&out));
        });
        run(job.parallelism(4)).unwrap();
        let seen = out.take();
        assert_eq!(seen.len(), 3 * EACH);
        let mut last = HashMap::new();
        for (receiver, (sender, n)) in seen {
            let before = last.insert((receiver, sender), n);
            assert!(
                before.is_none_or(|b| b < n),
                "receiver {receiver} saw {before:?} before {n} of {sender}"
            );
        }
        assert_eq!(last.len(), 4 * 3, "each receiver hears each sender");
    };
    for batch in [1, 7, 1024] {
        run(&|job| job.batch_size(batch).host(HostKind::Threads).run());
        run(&|job| job.batch_size(batch).host(HostKind::Workers(2)).run());
        for seed in 0..7 {
            run(&|job| job.batch_size(batch).simulate(seed));
        }
    }
}
