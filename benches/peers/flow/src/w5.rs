//! W5: sliding event-time windows of 10 s by 100 ms; count and sum per key and window.

use std::process::ExitCode;

use flow_core::prelude::*;
use peer_common::elements::{event, window_hash};
use peer_common::{Answer, Run};

fn main() -> ExitCode {
    peer_common::frame::only("flow", "w5", |args| Some(run(args)))
}

dataflow! {
    /// Counts and sums by key and window, then counts and sums the results.
    fn w5(n: u64, splits: usize, answer: Collected<(u64, u64)>) {
        let events = source(generate(n, event).splits(splits)).event_time(|e| Timestamp(e.ts), disorder = 100ms);
        let windows = events.key_by(|e| e.key).window(sliding(10s, 100ms), late = drop).aggregate(|a| (a.count(), a.wrapping_sum(|e| e.val)));
        let hashes = windows.map(|w| window_hash(w.key, w.start.0, w.value.0, w.value.1));
        hashes.aggregate(|a| (a.count(), a.wrapping_sum(|x| *x))).collect(&answer);
    }
}

/// Events are exchanged by key.
fn run(run: &Run) -> Answer {
    let answer = Collected::new();
    w5(run.n, run.threads, answer.clone()).parallelism(run.threads).run().expect("the job ends well");
    peer_flow::total(&answer)
}
