use flow_core::prelude::*;

dataflow! {
    #[checkpointed]
    pub fn shown(numbers: Vec<u64>) {
        source(from_vec(numbers)).sink(stdout());
    }
}

fn main() {}
