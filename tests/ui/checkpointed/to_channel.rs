use flow_core::prelude::*;
use std::sync::mpsc::SyncSender;

dataflow! {
    #[checkpointed]
    pub fn sent(numbers: Vec<u64>, to: SyncSender<u64>) {
        source(from_vec(numbers)).sink(to_channel(to));
    }
}

fn main() {}
