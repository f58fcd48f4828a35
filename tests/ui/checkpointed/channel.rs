use flow_core::prelude::*;
use flow_core::source::ChannelSource;

dataflow! {
    #[checkpointed]
    pub fn counts(words: ChannelSource<String>, out: Collected<(String, u64)>) {
        let words = source(words);
        words.key_by(|w| w.clone()).count().collect(&out);
    }
}

fn main() {}
