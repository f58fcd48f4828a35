use flow_core::prelude::*;

dataflow! {
    pub fn p() {
        let a = b.map(|x| x + 1);
        let b = a.map(|x| x + 1);
        b.for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
