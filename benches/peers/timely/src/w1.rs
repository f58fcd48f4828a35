//! W1: the words of a text, counted. Each worker reads a range of the file; words are exchanged by their hash.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex};

use peer_common::words::{fnv, write_counts};
use peer_common::{Answer, Run};
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::vec::Map;

use crate::Table;
use crate::run::{paced, workers};

const LINES_PER_ACTIVATION: usize = 1024;

/// Counts in tables, one a worker, that are put together at the end.
pub fn run(run: &Run) -> Answer {
    let counts: Arc<Mutex<Vec<(String, u64)>>> = Arc::default();
    let (path, results) = (run.text.clone(), counts.clone());
    workers(run, move |worker, _| {
        let lines = lines_of(&path, worker.index() as u64, worker.peers() as u64);
        let results = results.clone();
        worker.dataflow::<u64, _, _>(|scope| {
            paced(scope, lines, LINES_PER_ACTIVATION)
                .flat_map(|line: String| {
                    line.split_ascii_whitespace().map(str::to_ascii_lowercase).collect::<Vec<_>>()
                })
                .sink(Exchange::new(|word: &String| fnv(word.as_bytes())), "count", {
                    let mut table: Table<String, u64> = Table::default();
                    move |(input, frontier)| {
                        input.for_each_stamp(|_, containers| {
                            for word in containers.flat_map(|container| container.drain(..)) {
                                *table.entry(word).or_insert(0) += 1;
                            }
                        });
                        if frontier.is_empty() {
                            results.lock().expect("no worker panics").extend(table.drain());
                        }
                    }
                });
        });
    });
    let counts = std::mem::take(&mut *counts.lock().expect("no worker panics"));
    write_counts(counts, &run.out).expect("the counts can be written")
}

/// The lines that begin in part `index` of `parts` of the file.
fn lines_of(path: &Path, index: u64, parts: u64) -> impl Iterator<Item = String> + 'static {
    let mut file = File::open(path).expect("the text can be read");
    let len = file.metadata().expect("the text can be read").len();
    let (start, end) = (len * index / parts, len * (index + 1) / parts);
    // One byte before the start, so that a line that begins exactly there is not skipped.
    let mut at = start.saturating_sub(1);
    file.seek(SeekFrom::Start(at)).expect("the text can be read");
    let mut reader = BufReader::with_capacity(1 << 16, file);
    if start > 0 {
        at += reader.skip_until(b'\n').expect("the text can be read") as u64;
    }
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let mut line = String::new();
        at += reader.read_line(&mut line).expect("the text is UTF-8") as u64;
        (!line.is_empty()).then_some(line)
    })
}
