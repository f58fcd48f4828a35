use flow_core::prelude::*;

dataflow! {
    #[checkpointed]
    pub fn p(numbers: Vec<u64>, out: Collected<(u64, u64)>) {
        let counts = source(from_vec(numbers)).key_by(|n| *n).count();
        #[was(sums)]
        counts.collect(&out);
    }
}

fn main() {}
