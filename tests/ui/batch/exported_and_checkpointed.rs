//! Both, and a word that nothing obeys.

use flow_core::prelude::*;

dataflow! {
    #[checkpointed]
    #[batch(exported)]
    fn both(out: Collected<u64>) {
        source(generate(10, |n| n)).collect(&out);
    }

    #[batch(export)]
    fn other(out: Collected<u64>) {
        source(generate(10, |n| n)).collect(&out);
    }
}

fn main() {}
