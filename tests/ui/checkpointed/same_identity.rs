use flow_core::prelude::*;

dataflow! {
    #[checkpointed]
    pub fn p(numbers: Vec<u64>, out: Collected<(bool, u64)>) {
        let numbers = source(from_vec(numbers));
        let counts = numbers.key_by(|n| *n).count().key_by(|count| count.1 > 1).count();
        counts.collect(&out);
    }
}

fn main() {}
