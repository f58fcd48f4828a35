use flow_core::prelude::*;

dataflow! {
    pub fn p() {}
}

fn main() {}
