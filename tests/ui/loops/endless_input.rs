use flow_core::prelude::*;

dataflow! {
    pub fn p() {
        let (_, numbers) = channel::<u64>(8);
        let halves = source(numbers).iterate(rounds = 3, |n| n.map(|n| n / 2));
        halves.for_each(|n| println!("{n}"));
    }
}

fn main() {}
