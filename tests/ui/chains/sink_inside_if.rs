use flow_core::prelude::*;

dataflow! {
    pub fn p(rides: Vec<u32>, verbose: bool) {
        let rides = source(from_vec(rides));
        let doubled = rides.map(|x| x * 2);
        if verbose {
            doubled.for_each(|x| println!("{x}"));
        }
        rides.for_each(|x| println!("{x}"));
    }
}

fn main() {}
