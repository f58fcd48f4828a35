use flow_core::prelude::*;

dataflow! {
    pub fn p(numbers: Vec<u64>) {
        let numbers = source(from_vec(numbers));
        let sums = numbers.iterate(rounds = 3, |outer| {
            let known = outer.clone();
            outer.iterate(2, |inner| inner.union(known).map(|n| n + 1))
        });
        sums.for_each(|n| println!("{n:?}"));
    }
}

fn main() {}
