use flow_core::prelude::*;

dataflow! {
    #[checkpointed]
    pub fn p(numbers: Vec<u64>) {
        let numbers = source(from_vec(numbers));
        let halves = numbers.iterate(rounds = 3, |n| n.iterate(2, |n| n.map(|n| n / 2)));
        halves.map(|n| (n,)).sink(csv_files("out"));
    }
}

fn main() {}
