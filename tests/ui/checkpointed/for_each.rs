use flow_core::prelude::*;

dataflow! {
    #[checkpointed]
    pub fn counts(words: Vec<String>) {
        let words = source(from_vec(words));
        words.key_by_ref(|w| w.as_str()).count().for_each(|(word, n)| println!("{word}: {n}"));
    }
}

fn main() {}
