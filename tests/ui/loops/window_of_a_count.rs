use flow_core::prelude::*;

dataflow! {
    pub fn p(numbers: Vec<u64>) {
        let numbers = source(from_vec(numbers));
        let sums = numbers.iterate(rounds = 3, |n| n.key_by(|n| n % 7).window(count(5)).sum(|n| n).map(|w| w.value));
        sums.for_each(|n| println!("{n}"));
    }
}

fn main() {}
