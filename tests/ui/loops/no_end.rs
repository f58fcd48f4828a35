use flow_core::prelude::*;

dataflow! {
    pub fn p(numbers: Vec<u64>) {
        let numbers = source(from_vec(numbers));
        numbers.iterate(|n| n.map(|n| n / 2)).for_each(|n| println!("{n}"));
    }
}

fn main() {}
