//! Counts the words of a text.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::{BufRead, BufReader};

use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::ToStream;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::vec::{Filter, Map};

fn main() {
    let input = std::env::args_os().nth(1).unwrap_or("text.txt".into());
    let run = timely::execute(timely::Config::thread(), move |worker| {
        let file = File::open(&input).expect("the text can be read");
        let lines = BufReader::new(file).lines().map(|line| line.expect("the text is UTF-8"));
        worker.dataflow::<u64, _, _>(|scope| {
            lines
                .to_stream(scope)
                .flat_map(|line: String| line.split_ascii_whitespace().map(str::to_lowercase).collect::<Vec<_>>())
                .filter(|word| word.len() > 0)
                .sink(Exchange::new(|word: &String| hash(word)), "count", {
                    let mut counts: HashMap<String, u64> = HashMap::new();
                    move |(input, frontier)| {
                        input.for_each_stamp(|_, containers| {
                            for word in containers.flat_map(|container| container.drain(..)) {
                                *counts.entry(word).or_insert(0) += 1;
                            }
                        });
                        if frontier.is_empty() {
                            for (word, count) in counts.drain() {
                                println!("{word} {count}");
                            }
                        }
                    }
                });
        });
    });
    drop(run.expect("timely starts its workers").join());
}

fn hash(word: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(word)
}
