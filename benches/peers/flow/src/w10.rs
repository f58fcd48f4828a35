//! W10: count and sum per key, of columns in memory.

use std::process::ExitCode;
use std::sync::Arc;

use flow_core::prelude::*;
use peer_common::columns::Columns;
use peer_common::elements::group_hash;
use peer_common::{Answer, Run};

fn main() -> ExitCode {
    peer_common::frame::prepared("flow", "w10", |args| Arc::new(Columns::new(args.n)), run)
}

dataflow! {
    /// Counts and sums by key, then counts and sums the results.
    #[batch]
    fn w10(columns: Arc<Columns>, n: u64, splits: usize, answer: Collected<(u64, u64)>) {
        let elements = source(generate(n, move |i| columns.at(i)).splits(splits));
        let groups = elements.key_by(|x| x.0).fold((0u64, 0u64), |sums, x| {
            sums.0 += 1;
            sums.1 += x.1;
        });
        let hashes = groups.map(|(key, (count, sum))| group_hash(key, count, sum));
        hashes.aggregate(|a| (a.count(), a.wrapping_sum(|x| *x))).collect(&answer);
    }
}

/// Elements are exchanged by key.
fn run(run: &Run, columns: &Arc<Columns>) -> Answer {
    let answer = Collected::new();
    w10(columns.clone(), run.n, run.threads, answer.clone())
        .parallelism(run.threads)
        .run()
        .expect("the job ends well");
    peer_flow::total(&answer)
}
