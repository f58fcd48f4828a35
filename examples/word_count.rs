//! How often each word of a text occurs, most frequent first.

use flow_core::prelude::*;
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "
word_count [INPUT] [-o FILE] [-p N]

The words of a text with their counts, `word,count`, by count descending, then by word.

  INPUT    text in UTF-8, `-` for standard input; a part of the King James Bible unless given
  -o FILE  where the result goes, instead of standard output
  -p N     instances behind an exchange; 1 unless given

A word is a run of letters and digits, in lower case. The report of the job goes to standard error.
";

dataflow! {
    /// Counts the words of `text`, and writes them sorted into a file, which is replaced once the new one is whole.
    #[batch]
    pub fn word_count(text: PathBuf, counted: PathBuf) {
        let words = source(lines(text)).flat_map(|line| words(&line));
        let counts = words.key_by(|word| word.clone()).count();
        let sorted = counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        sorted.sink(csv_file(counted));
    }
}

/// The words of a line, in lower case.
fn words(line: &str) -> Vec<String> {
    let runs = line.split(|c: char| !c.is_alphanumeric());
    runs.filter(|run| !run.is_empty()).map(str::to_lowercase).collect()
}

fn main() -> ExitCode {
    flow_examples::main(HELP, |mut args| {
        let parallelism = args.parallelism()?;
        let output = args.output("-o", "-")?;
        let text = args.input("kjv.txt")?;

        let report = word_count(text, output).parallelism(parallelism).run()?;
        flow_examples::tell(&report);
        Ok(())
    })
}
