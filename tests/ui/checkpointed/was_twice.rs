use flow_core::prelude::*;

dataflow! {
    #[checkpointed]
    pub fn p(numbers: Vec<u64>, out: Collected<(u64, u64)>) {
        let numbers = source(from_vec(numbers));
        #[was(counts)]
        let small = numbers.filter(|n| *n < 10).key_by(|n| *n).count();
        #[was(counts)]
        let large = numbers.filter(|n| *n >= 10).key_by(|n| *n).count();
        small.union(large).collect(&out);
    }
}

fn main() {}
