//! W1: the words of a text, counted.

use std::path::PathBuf;
use std::process::ExitCode;

use flow_core::prelude::*;
use peer_common::words::write_counts;
use peer_common::{Answer, Run};

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

/// The words of a line, in lower case; short ones lie in place, without an allocation.
struct Words {
    line: String,
    at: usize,
}

impl Words {
    fn of(mut line: String) -> Words {
        line.make_ascii_lowercase();
        Words { line, at: 0 }
    }
}

impl Iterator for Words {
    type Item = ShortString;

    #[inline]
    fn next(&mut self) -> Option<ShortString> {
        let rest = self.line[self.at..].trim_ascii_start();
        let len = rest.bytes().position(|b| b.is_ascii_whitespace()).unwrap_or(rest.len());
        self.at = self.line.len() - rest.len() + len;
        (len > 0).then(|| ShortString::from(&rest[..len]))
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
