//! W2: map, filter, map, count and sum.

use peer_common::elements::{m1, m2, mix, p1};
use peer_common::{Answer, Run};
use timely::dataflow::operators::ToStream;
use timely::dataflow::operators::vec::{Filter, Map};

use crate::run::{part, sum, workers};

/// Each worker does its part.
pub fn run(run: &Run) -> Answer {
    let n = run.n;
    workers(run, move |worker, out| {
        let numbers = part(worker, n).map(mix);
        worker.dataflow::<u64, _, _>(|scope| sum(numbers.to_stream(scope).map(m1).filter(p1).map(m2), out));
    })
}
