//! A loop in an exported batch.

use flow_core::prelude::*;

dataflow! {
    #[batch(exported)]
    fn larger(out: Collected<u64>) {
        let numbers = source(generate(10, |n| n));
        let larger = numbers.iterate(rounds = 3, |n| n.map(|n| n + 1));
        larger.collect(&out);
    }
}

fn main() {}
