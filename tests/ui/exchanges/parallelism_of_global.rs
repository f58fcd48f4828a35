use flow_core::prelude::*;

dataflow! {
    pub fn p(numbers: Vec<i64>) {
        source(from_vec(numbers)).global(parallelism = 2).for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
