//! W1: the words of a text, counted.

mod words;

use std::path::PathBuf;
use std::process::ExitCode;

use flow_core::prelude::*;
use peer_common::words::write_counts;
use peer_common::{Answer, Run};

use words::Words;

fn main() -> ExitCode {
    peer_common::frame::only("flow", "w1", |args| Some(run(args)))
}

dataflow! {
    /// Counts each word of a text.
    fn w1(text: PathBuf, splits: usize, counts: Collected<Windowed<ShortString, u64>>) {
        let words = source(lines(text).splits(splits)).flat_map(Words::of);
        let counted = words.key_by_ref(|word| word).window(global()).count();
        counted.collect(&counts);
    }
}

/// Words are exchanged by their hash, counted before and behind the exchange.
fn run(run: &Run) -> Answer {
    let counts = Collected::new();
    w1(run.text.clone(), run.threads, counts.clone())
        .parallelism(run.threads)
        .run()
        .expect("the job ends well");
    let counts = counts.take().into_iter().map(|count| (count.key.into(), count.value)).collect();
    write_counts(counts, &run.out).expect("the counts can be written")
}
