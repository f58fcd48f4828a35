//! State of an exported batch that cannot be written down.

use flow_core::prelude::*;

#[derive(Clone, Default)]
struct Mean {
    sum: f64,
    count: u64,
}

dataflow! {
    #[batch(exported)]
    fn means(out: Collected<(u64, f64)>) {
        let numbers = source(generate(10, |n| n));
        let means = numbers.key_by(|n| n % 3).scan(Mean::default(), |mean: &mut Mean, n| {
            mean.sum += n as f64;
            mean.count += 1;
            Some(mean.sum / mean.count as f64)
        });
        means.collect(&out);
    }
}

fn main() {}
