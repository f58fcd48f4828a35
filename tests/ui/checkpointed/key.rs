use flow_core::prelude::*;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Word(String);

dataflow! {
    #[checkpointed]
    pub fn counts(words: Vec<String>, out: Collected<u64>) {
        let words = source(from_vec(words));
        let counts = words.key_by(|w| Word(w.clone())).count();
        counts.map(|(_, n)| n).collect(&out);
    }
}

fn main() {}
