use flow_core::prelude::*;

dataflow! {
    pub fn p() {
        lines("rides.txt").map(|line| line.len()).for_each(|x| println!("{x}"));
    }
}

fn main() {}
