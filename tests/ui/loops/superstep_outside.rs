use flow_core::prelude::*;

dataflow! {
    pub fn p(numbers: Vec<u64>) {
        let numbers = source(from_vec(numbers));
        numbers.superstep().for_each(|n| println!("{n:?}"));
    }
}

fn main() {}
