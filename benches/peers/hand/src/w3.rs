//! W3: a running sum per key, every update emitted.

use std::process::ExitCode;

use peer_common::elements::keyed;
use peer_common::{Answer, Run};

use peer_hand::Table;
use peer_hand::exchange::{Input, THREADS, Worker, exchange};

fn main() -> ExitCode {
    peer_common::frame::only("hand", "w3", |args| (args.threads <= THREADS).then(|| run(args)))
}

/// One loop on one thread; an exchange by key on two.
fn run(run: &Run) -> Answer {
    if run.threads == 1 {
        let mut sums = Sums::default();
        for (key, value) in (0..run.n).map(keyed) {
            sums.add(key, value);
        }
        return sums.answer;
    }
    let input = Input { n: run.n, generate: keyed, key: |x| x.0, watermark: |_| 0 };
    Answer::total(exchange::<_, Sums>(&input).map(|sums| sums.answer))
}

#[derive(Default)]
struct Sums {
    by_key: Table<u64, u64>,
    answer: Answer,
}

impl Sums {
    #[inline(always)]
    fn add(&mut self, key: u64, value: u64) {
        let sum = self.by_key.entry(key).or_insert(0);
        *sum += value;
        self.answer.add(*sum);
    }
}

impl Worker<(u64, u64)> for Sums {
    fn elements(&mut self, batch: &[(u64, u64)]) {
        for (key, value) in batch {
            self.add(*key, *value);
        }
    }
}
