//! W1: the words of a text, counted.

use std::path::PathBuf;

use flow_core::prelude::*;
use peer_common::words::write_counts;
use peer_common::{Answer, Run};

dataflow! {
    /// Counts each word of a text.
    fn w1(text: PathBuf, splits: usize, counts: Collected<Windowed<String, u64>>) {
        let words = source(lines(text).splits(splits))
            .flat_map(|line| line.split_ascii_whitespace().map(str::to_ascii_lowercase).collect::<Vec<_>>());
        let counted = words.key_by_ref(|word| word.as_str()).window(global()).count();
        counted.collect(&counts);
    }
}

/// Words are exchanged by their hash, counted before and behind the exchange.
pub fn run(run: &Run) -> Answer {
    let counts = Collected::new();
    w1(run.text.clone(), run.threads, counts.clone())
        .parallelism(run.threads)
        .run()
        .expect("the job ends well");
    let counts = counts.take().into_iter().map(|count| (count.key, count.value)).collect();
    write_counts(counts, &run.out).expect("the counts can be written")
}
