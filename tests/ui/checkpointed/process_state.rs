use flow_core::prelude::*;
use std::time::Instant;

dataflow! {
    #[checkpointed]
    pub fn pauses(words: Vec<String>, out: Collected<u64>) {
        let words = source(from_vec(words));
        let seen = words.key_by(|w| w.clone()).process({
            let mut count: u64 = 0;
            let mut last: Option<Instant> = None;
            on_event(|_, ctx| {
                *count += 1;
                if last.replace(Instant::now()).is_some() {
                    ctx.emit(*count);
                }
            });
        });
        seen.collect(&out);
    }
}

fn main() {}
