use flow_core::prelude::*;

dataflow! {
    pub fn p(numbers: Vec<(u64, u64)>) {
        let numbers = source(from_vec(numbers));
        let least = numbers.iterate_delta(
            |kept: &mut u64, came| {
                let less = came < *kept;
                *kept = came.min(*kept);
                less
            },
            |changed| changed.map(|(n, least)| (n + 1, least as f64)),
        );
        least.for_each(|n| println!("{n:?}"));
    }
}

fn main() {}
