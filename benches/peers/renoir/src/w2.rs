//! W2: map, filter, map, count and sum.

use peer_common::elements::{m1, m2, mix, p1};
use peer_common::{Answer, Run};

use crate::run::{context, strided, sum};

/// Each replica does its part.
pub fn run(run: &Run) -> Answer {
    let (context, n) = (context(run), run.n);
    let numbers = context.stream_par_iter(move |first: u64, step: u64| strided(n, first, step));
    let hashes = numbers.map(mix).map(m1).filter(p1).map(m2);
    sum(context, hashes)
}
