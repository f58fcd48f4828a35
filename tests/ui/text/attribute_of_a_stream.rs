use flow_core::prelude::*;

dataflow! {
    pub fn p(numbers: Vec<u64>, out: Collected<u64>, others: Collected<u64>) {
        /// What it is about: as good as a comment.
        #[cfg(feature = "small")]
        let small = source(from_vec(numbers));
        #[parallelism(2)]
        let large = small.map(|n| n + 1);
        #[allow(unused)]
        large.collect(&out);
        #[checkpointed]
        small.collect(&others);
    }
}

fn main() {}
