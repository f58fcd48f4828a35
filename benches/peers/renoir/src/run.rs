//! What the workloads share: a context, the source of each replica, and the fold to one answer.

use std::iter::{Map, Repeat, Zip};
use std::ops::Range;

use peer_common::{Answer, Run};
use renoir::operator::Operator;
use renoir::prelude::*;
use serde::{Deserialize, Serialize};

/// How many records go into a batch.
pub const BATCH: usize = 1024;

/// A context of as many replicas as the run has threads.
pub fn context(run: &Run) -> StreamContext {
    StreamContext::new(RuntimeConfig::local(run.threads as u64).expect("the parallelism is above zero"))
}

/// The elements of one replica. The type is written out because a source has to name it, and a box would cost a call a
/// record.
pub type Strided = Map<Zip<Range<u64>, Repeat<(u64, u64)>>, fn((u64, (u64, u64))) -> u64>;

/// The elements `first, first + step, …` below `n`.
pub fn strided(n: u64, first: u64, step: u64) -> Strided {
    (0..(n + step - 1 - first) / step)
        .zip(std::iter::repeat((first, step)))
        .map(|(k, (first, step))| k * step + first)
}

/// An [`Answer`] that can travel.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Sum(u64, u64);

/// Runs the pipeline and adds up the hashes it gives.
pub fn sum<Op>(context: StreamContext, hashes: renoir::Stream<Op>) -> Answer
where
    Op: Operator<Out = u64> + 'static,
{
    let sums = hashes
        .fold_assoc(
            Sum::default(),
            |sum, hash: u64| *sum = Sum(sum.0 + 1, sum.1.wrapping_add(hash)),
            |sum, other| *sum = Sum(sum.0 + other.0, sum.1.wrapping_add(other.1)),
        )
        .collect_vec();
    context.execute_blocking();
    let sums = sums.get().expect("the results are on this machine");
    Answer::total(sums.into_iter().map(|Sum(count, checksum)| Answer { count, checksum }))
}
