use flow_core::prelude::*;

dataflow! {
    #[checkpointed(at_least_once)]
    pub fn shown(address: String) {
        let words = source(tcp_lines(address));
        words.for_each(|line| println!("{line}"));
    }
}

fn main() {}
