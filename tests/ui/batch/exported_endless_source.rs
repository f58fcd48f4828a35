//! History that never ends.

use flow_core::prelude::*;

dataflow! {
    #[batch(exported)]
    fn counts() {
        let words = source(stdin_lines());
        let numbers = source(tcp_lines("localhost:1"));
        words.union(numbers).key_by(|w| w.clone()).count().for_each(|_| ());
    }
}

fn main() {}
