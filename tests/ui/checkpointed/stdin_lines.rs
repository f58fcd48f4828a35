use flow_core::prelude::*;

dataflow! {
    #[checkpointed]
    pub fn shouted(out: Collected<String>) {
        source(stdin_lines()).map(|line| line.to_uppercase()).collect(&out);
    }
}

fn main() {}
