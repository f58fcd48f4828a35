use flow_core::prelude::*;

dataflow! {
    pub fn p(numbers: Vec<u64>) {
        let numbers = source(from_vec(numbers));
        let halves = numbers.iterate(rounds = 3, |n| n.iterate(2, |n| n.iterate(2, |n| n.map(|n| n / 2))));
        halves.for_each(|n| println!("{n}"));
    }
}

fn main() {}
