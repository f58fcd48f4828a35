use flow_core::prelude::*;
use std::time::Instant;

#[derive(Clone)]
struct Seen {
    at: Instant,
    n: u64,
}

dataflow! {
    #[checkpointed]
    pub fn counts(words: Vec<String>, out: Collected<u64>) {
        let words = source(from_vec(words));
        let seen = words.key_by(|w| w.clone()).fold(Seen { at: Instant::now(), n: 0 }, |seen, _| seen.n += 1);
        seen.map(|(_, seen)| seen.n).collect(&out);
    }
}

fn main() {}
