//! W4: tumbling event-time windows of 1 s; count and sum per key and window.

use std::collections::VecDeque;
use std::process::ExitCode;

use peer_common::elements::{DISORDER_MS, Ev, TUMBLING_MS, event, window_hash};
use peer_common::{Answer, Run};

use peer_hand::Table;
use peer_hand::exchange::{Input, THREADS, Worker, exchange};

fn main() -> ExitCode {
    peer_common::frame::only("hand", "w4", |args| (args.threads <= THREADS).then(|| run(args)))
}

/// One loop on one thread; an exchange by key on two.
fn run(run: &Run) -> Answer {
    if run.threads == 1 {
        return one_thread(run.n);
    }
    let input = Input { n: run.n, generate: event, key: |e| e.key, watermark: |e: &Ev| e.ts - DISORDER_MS };
    Answer::total(exchange::<_, Tumbling>(&input).map(|windows| windows.answer))
}

fn one_thread(n: u64) -> Answer {
    let mut windows = Tumbling::default();
    let mut max = i64::MIN;
    for e in (0..n).map(event) {
        windows.add(&e);
        if e.ts > max {
            max = e.ts;
            windows.watermark(max - DISORDER_MS);
        }
    }
    windows.watermark(i64::MAX);
    windows.answer
}

/// Count and sum.
type Sums = (u64, u64);

/// The open windows in the order of their starts, a table each; closed tables are kept for the next window.
#[derive(Default)]
struct Tumbling {
    open: VecDeque<(i64, Table<u64, Sums>)>,
    spare: Vec<Table<u64, Sums>>,
    answer: Answer,
}

impl Tumbling {
    #[inline(always)]
    fn add(&mut self, e: &Ev) {
        let start = e.ts - e.ts.rem_euclid(TUMBLING_MS);
        let at = self.open.iter().position(|w| w.0 >= start).unwrap_or(self.open.len());
        if self.open.get(at).is_none_or(|w| w.0 != start) {
            self.open.insert(at, (start, self.spare.pop().unwrap_or_default()));
        }
        let sums = self.open[at].1.entry(e.key).or_insert((0, 0));
        sums.0 += 1;
        sums.1 += e.val;
    }
}

impl Worker<Ev> for Tumbling {
    fn elements(&mut self, batch: &[Ev]) {
        for e in batch {
            self.add(e);
        }
    }

    #[inline]
    fn watermark(&mut self, to: i64) {
        while let Some((start, _)) = self.open.front()
            && (to == i64::MAX || start + TUMBLING_MS <= to)
            && let Some((start, mut table)) = self.open.pop_front()
        {
            for (key, (count, sum)) in table.drain() {
                self.answer.add(window_hash(key, start, count, sum));
            }
            self.spare.push(table);
        }
    }
}
