//! Cases whose answers are too long for a file.

use crate::case::{Arrival, Case, El};
use flow_core::prelude::*;
use flow_core::source::from_vec;
use std::collections::HashMap;

/// W15: a firing of more rows than fit downstream stops where it is and goes on there, and nothing is lost or comes twice.
#[test]
fn a_firing_stops_and_goes_on() {
    let keys = 700;
    let element = |key: usize, time: i64| {
        Arrival::Item(El { key: format!("k{key}"), name: time.to_string(), time, window: None })
    };
    for lateness in [0, 5] {
        let first = (0..keys).map(|k| element(k, 3));
        let again = (0..keys).rev().map(|k| element(k, 4));
        let second = (0..keys).rev().map(|k| element(k, 15));
        let input = first.chain(again).chain(second).chain([Arrival::Watermark(9)]).collect();
        let rows = (0..keys).map(|k| format!("[0,10) k{k}/3,4"));
        let rows = rows.chain((0..keys).rev().map(|k| format!("[10,20) k{k}/15"))).collect();
        let steps = format!("tumbling 10 keyed lateness {lateness} collect | boundary");
        let steps = steps.split(" | ").map(|s| s.split(' ').map(str::to_owned).collect()).collect();
        let id = format!("W15 with lateness {lateness}");
        let case = Case { id, steps, inputs: vec![input], rows, ..Case::default() };
        crate::runner::check(&case).unwrap();
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
