//! W1: the words of a text, counted.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::rc::Rc;

use dfir_rs::dfir_syntax;
use peer_common::words::write_counts;
use peer_common::{Answer, Run};

/// With the library's own keyed fold, which emits at the end.
pub fn run(run: &Run) -> Answer {
    let file = File::open(&run.text).expect("the text can be read");
    let lines = BufReader::with_capacity(1 << 16, file).lines().map(|line| line.expect("the text is UTF-8"));
    let counts: Rc<RefCell<Vec<(String, u64)>>> = Rc::default();
    let results = counts.clone();
    let mut graph = dfir_syntax! {
        source_iter(lines)
            -> flat_map(|line: String| {
                line.split_ascii_whitespace().map(|word| (word.to_ascii_lowercase(), 1u64)).collect::<Vec<_>>()
            })
            -> fold_keyed(|| 0u64, |count: &mut u64, one: u64| *count += one)
            -> for_each(|entry: (String, u64)| results.borrow_mut().push(entry));
    };
    graph.run_available_sync();
    write_counts(counts.take(), &run.out).expect("the counts can be written")
}
