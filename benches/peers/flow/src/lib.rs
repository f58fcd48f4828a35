//! What the workloads have in common. Each is a program of its own, as its users write it: in one program the code of one
//! shifts the loops of another (3 % on W4).

use flow_core::prelude::Collected;
use peer_common::Answer;

/// The answer of a pipeline that collects one count and checksum.
pub fn total(collected: &Collected<(u64, u64)>) -> Answer {
    let totals = collected.take();
    Answer::total(totals.into_iter().map(|(count, checksum)| Answer { count, checksum }))
}
