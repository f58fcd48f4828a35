use flow_core::prelude::*;

dataflow! {
    pub fn p() {
        source(vec![5]).for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
