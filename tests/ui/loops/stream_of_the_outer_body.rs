use flow_core::prelude::*;

dataflow! {
    pub fn p(numbers: Vec<u64>) {
        let numbers = source(from_vec(numbers)).map(|n| (n, n));
        let sums = numbers.iterate(rounds = 3, |outer| {
            let known = outer.clone().key_by(|n| n.0);
            outer.iterate(2, |inner| inner.key_by(|n| n.0).join(known).lookup().map(|(k, (a, b))| (k, a.1 + b.1)))
        });
        sums.for_each(|n| println!("{n:?}"));
    }
}

fn main() {}
