//! W5: sliding event-time windows of 10 s by 100 ms; count and sum per key and window. Panes of one slide, and a running
//! aggregate per key to which a pane is added when it closes and from which it is taken when it leaves the window.

use std::collections::VecDeque;
use std::process::ExitCode;

use hashbrown::hash_map::Entry;
use peer_common::elements::{DISORDER_MS, Ev, SLIDE_MS, SLIDING_MS, event, window_hash};
use peer_common::{Answer, Run};

use peer_hand::Table;
use peer_hand::exchange::{Input, THREADS, Worker, exchange};

fn main() -> ExitCode {
    peer_common::frame::only("hand", "w5", |args| (args.threads <= THREADS).then(|| run(args)))
}

/// One loop on one thread; an exchange by key on two.
fn run(run: &Run) -> Answer {
    if run.threads == 1 {
        return one_thread(run.n);
    }
    let input = Input { n: run.n, generate: event, key: |e| e.key, watermark: |e: &Ev| e.ts - DISORDER_MS };
    Answer::total(exchange::<_, Sliding>(&input).map(|windows| windows.answer))
}

fn one_thread(n: u64) -> Answer {
    let mut windows = Sliding::default();
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

#[derive(Default)]
struct Sliding {
    /// In the order of their starts.
    panes: VecDeque<(i64, Table<u64, Sums>)>,
    running: Table<u64, Sums>,
    /// The start of the pane that closes next, once one has closed.
    next: Option<i64>,
    answer: Answer,
}

impl Sliding {
    #[inline(always)]
    fn add(&mut self, e: &Ev) {
        let start = e.ts - e.ts.rem_euclid(SLIDE_MS);
        let behind = self.panes.iter().rposition(|pane| pane.0 <= start);
        let at = match behind {
            Some(at) if self.panes[at].0 == start => at,
            behind => {
                let at = behind.map_or(0, |at| at + 1);
                self.panes.insert(at, (start, Table::default()));
                at
            }
        };
        let sums = self.panes[at].1.entry(e.key).or_insert((0, 0));
        sums.0 += 1;
        sums.1 += e.val;
    }

    /// Adds pane `start` to the running aggregate, emits the window that ends with it, and takes out what leaves.
    fn close(&mut self, start: i64) {
        if let Some((_, pane)) = self.panes.iter().rev().find(|pane| pane.0 == start) {
            for (key, (count, sum)) in pane {
                let running = self.running.entry(*key).or_insert((0, 0));
                running.0 += count;
                running.1 += sum;
            }
        }
        let window = start + SLIDE_MS - SLIDING_MS;
        for (key, (count, sum)) in &self.running {
            self.answer.add(window_hash(*key, window, *count, *sum));
        }
        while self.panes.front().is_some_and(|pane| pane.0 <= window)
            && let Some((_, pane)) = self.panes.pop_front()
        {
            for (key, sums) in pane {
                self.take_out(key, sums);
            }
        }
    }

    fn take_out(&mut self, key: u64, (count, sum): Sums) {
        if let Entry::Occupied(mut entry) = self.running.entry(key) {
            let running = entry.get_mut();
            running.0 -= count;
            running.1 -= sum;
            if running.0 == 0 {
                entry.remove();
            }
        }
    }
}

impl Worker<Ev> for Sliding {
    fn elements(&mut self, batch: &[Ev]) {
        for e in batch {
            self.add(e);
        }
    }

    fn watermark(&mut self, to: i64) {
        let closes = |start: i64| to == i64::MAX || start + SLIDE_MS <= to;
        let first = self.panes.front().map(|pane| pane.0).filter(|start| closes(*start));
        let Some(mut start) = self.next.or(first) else { return };
        while closes(start) && !(to == i64::MAX && self.panes.is_empty()) {
            self.close(start);
            start += SLIDE_MS;
        }
        self.next = Some(start);
    }
}
