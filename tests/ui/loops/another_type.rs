use flow_core::prelude::*;

dataflow! {
    pub fn p(numbers: Vec<u64>) {
        let numbers = source(from_vec(numbers));
        let halves = numbers.iterate(rounds = 3, |n| n.map(|n| format!("{n}")));
        halves.for_each(|n| println!("{n}"));
    }
}

fn main() {}
