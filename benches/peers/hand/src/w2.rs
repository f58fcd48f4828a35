//! W2: map, filter, map, count and sum. Each thread takes a range.

use std::process::ExitCode;
use std::thread;

use peer_common::elements::{m1, m2, mix, p1};
use peer_common::{Answer, Run};

fn main() -> ExitCode {
    peer_common::frame::only("hand", "w2", |args| Some(run(args)))
}

/// One loop a thread; the loop of one thread runs on the caller's.
fn run(run: &Run) -> Answer {
    let threads = run.threads as u64;
    if threads == 1 {
        return range(0, run.n);
    }
    thread::scope(|scope| {
        let ranges: Vec<_> = (0..threads)
            .map(|k| scope.spawn(move || range(run.n * k / threads, run.n * (k + 1) / threads)))
            .collect();
        Answer::total(ranges.into_iter().map(|range| range.join().expect("a range does not panic")))
    })
}

fn range(from: u64, to: u64) -> Answer {
    let mut answer = Answer::default();
    (from..to).map(mix).map(m1).filter(p1).map(m2).for_each(|x| answer.add(x));
    answer
}
