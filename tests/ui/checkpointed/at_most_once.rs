use flow_core::prelude::*;

dataflow! {
    #[checkpointed(at_most_once)]
    pub fn p(numbers: Vec<u64>, out: Collected<u64>) {
        source(from_vec(numbers)).collect(&out);
    }
}

fn main() {}
