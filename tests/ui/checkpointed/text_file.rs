use flow_core::prelude::*;
use std::path::PathBuf;

dataflow! {
    #[checkpointed]
    pub fn copied(from: PathBuf, to: PathBuf) {
        let all = source(lines(from));
        let short = all.filter(|line| line.len() < 80);
        // One end that commits does not make up for one that does not.
        all.sink(text_files("all"));
        short.sink(text_file(to));
    }
}

fn main() {}
