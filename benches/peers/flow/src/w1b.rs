//! W1B: the words of a text, counted and sorted, as a batch.

mod words;

use std::path::PathBuf;
use std::process::ExitCode;

use flow_core::prelude::*;
use peer_common::words::write_counts;
use peer_common::{Answer, Run};

use words::Words;

fn main() -> ExitCode {
    peer_common::frame::only("flow", "w1b", |args| Some(run(args)))
}

dataflow! {
    /// Counts each word of a text, and sorts by word.
    #[batch]
    fn w1b(text: PathBuf, splits: usize, counts: Collected<(ShortString, u64)>) {
        let words = source(lines(text).splits(splits)).flat_map(Words::of);
        let counted = words.key_by_ref(|word| word).window(global()).count().map(|w| (w.key, w.value));
        counted.sort_by(|a, b| a.0.cmp(&b.0)).collect(&counts);
    }
}

/// Words are exchanged by their hash, counted before and behind the exchange; the counts come in the order in which they are written.
fn run(run: &Run) -> Answer {
    let counts = Collected::new();
    w1b(run.text.clone(), run.threads, counts.clone())
        .parallelism(run.threads)
        .run()
        .expect("the job ends well");
    let counts = counts.take().into_iter().map(|(word, count)| (word.into(), count)).collect();
    write_counts(counts, &run.out).expect("the counts can be written")
}
