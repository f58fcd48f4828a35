//! W1: the words of a text, counted. Each thread counts a part of the text; the tables are merged at the end.

use std::process::ExitCode;
use std::thread;

use peer_common::words::write_counts;
use peer_common::{Answer, Run};

use peer_hand::Table;

fn main() -> ExitCode {
    // As a batch or not, the loop is the same.
    peer_common::frame::main("hand", |args| matches!(args.workload.as_str(), "w1" | "w1b").then(|| run(args)))
}

/// Reads the text whole, counts, writes the counts sorted.
fn run(run: &Run) -> Answer {
    let text = std::fs::read(&run.text).expect("the text can be read");
    let tables: Vec<_> = thread::scope(|scope| {
        let counters: Vec<_> =
            cut(&text, run.threads).into_iter().map(|part| scope.spawn(move || count_words(part))).collect();
        counters.into_iter().map(|counter| counter.join().expect("a counter does not panic")).collect()
    });
    let mut tables = tables.into_iter();
    let mut all = tables.next().unwrap_or_default();
    for (word, count) in tables.flatten() {
        *all.entry(word).or_insert(0) += count;
    }
    let counts =
        all.into_iter().map(|(word, count)| (String::from_utf8(word).expect("the text is ASCII"), count));
    write_counts(counts.collect(), &run.out).expect("the counts can be written")
}

/// Cuts the text into `parts` at white space.
fn cut(text: &[u8], parts: usize) -> Vec<&[u8]> {
    let mut start = 0;
    let mut cut_at = |k: usize| {
        let mut end = (text.len() * k / parts).max(start);
        while end < text.len() && !text[end].is_ascii_whitespace() {
            end += 1;
        }
        let part = &text[start..end];
        start = end;
        part
    };
    (1..=parts).map(&mut cut_at).collect()
}

fn count_words(text: &[u8]) -> Table<Vec<u8>, u64> {
    let mut counts = Table::default();
    let mut word = Vec::with_capacity(64);
    for token in text.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty()) {
        word.clear();
        word.extend(token.iter().map(u8::to_ascii_lowercase));
        *counts.entry_ref(&word[..]).or_insert(0) += 1;
    }
    counts
}
