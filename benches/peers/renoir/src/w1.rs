//! W1: the words of a text, counted where they are read and then merged by word.

use peer_common::words::write_counts;
use peer_common::{Answer, Run};
use renoir::prelude::*;

use crate::run::{BATCH, context};

/// With the library's own counting of groups.
pub fn run(run: &Run) -> Answer {
    let context = context(run);
    let counts = context
        .stream_file(&run.text)
        .batch_mode(BatchMode::fixed(BATCH))
        .flat_map(|line: String| {
            line.split_ascii_whitespace().map(str::to_ascii_lowercase).collect::<Vec<_>>()
        })
        .group_by_count(|word: &String| word.clone())
        .unkey()
        .collect_vec();
    context.execute_blocking();
    let counts = counts.get().expect("the results are on this machine");
    let counts = counts.into_iter().map(|(word, count)| (word, count as u64)).collect();
    write_counts(counts, &run.out).expect("the counts can be written")
}
