use flow_core::prelude::*;

struct Opaque;

dataflow! {
    #[checkpointed(at_least_once)]
    pub fn p() {
        source(from_vec(vec![1, 2])).map(|_| Opaque).sink(stdout());
    }
}

fn main() {}
