use flow_core::prelude::*;

dataflow! {
    pub struct P {
        x: u64,
    }
}

fn main() {}
