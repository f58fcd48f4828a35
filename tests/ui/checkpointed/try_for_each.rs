use flow_core::prelude::*;

dataflow! {
    #[checkpointed]
    pub fn counts(numbers: Vec<u64>) {
        let numbers = source(from_vec(numbers));
        numbers.try_for_each(|n| u32::try_from(n).map(|_| ()));
    }
}

fn main() {}
