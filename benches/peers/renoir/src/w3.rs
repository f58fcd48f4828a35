//! W3: a running sum per key, every update emitted.

use peer_common::elements::keyed;
use peer_common::{Answer, Run};
use renoir::prelude::*;

use crate::run::{BATCH, context, strided, sum};

/// The library keeps a clone of the closure, and so a sum, for each key.
pub fn run(run: &Run) -> Answer {
    let (context, n) = (context(run), run.n);
    let sums = context
        .stream_par_iter(move |first: u64, step: u64| strided(n, first, step))
        .batch_mode(BatchMode::fixed(BATCH))
        .map(keyed)
        .group_by(|x| x.0)
        .rich_map({
            let mut sum = 0u64;
            move |(_, (_, value)): (&u64, (u64, u64))| {
                sum += value;
                sum
            }
        })
        .drop_key();
    sum(context, sums)
}
