use flow_core::prelude::*;

dataflow! {
    pub fn p() {
        let (_sender, records) = channel::<u64>(8);
        let numbers = source(records);
        numbers.count().for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
