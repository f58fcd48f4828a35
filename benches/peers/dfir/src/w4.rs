//! W4: tumbling event-time windows of 1 s. Dfir has no windows: a `flat_map` closure holds them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use dfir_rs::dfir_syntax;
use peer_common::elements::{DISORDER_MS, Ev, TUMBLING_MS, event, window_hash};
use peer_common::{Answer, Run};

use crate::Table;

/// Windows close as the highest timestamp rises; the rest close after the graph has run.
pub fn run(run: &Run) -> Answer {
    let n = run.n;
    let answer: Rc<RefCell<Answer>> = Rc::default();
    let windows: Rc<RefCell<Windows>> = Rc::default();
    let (out, open) = (answer.clone(), windows.clone());
    let mut graph = dfir_syntax! {
        source_iter(0..n)
            -> map(event)
            -> flat_map(|e: Ev| open.borrow_mut().add(&e))
            -> for_each(|hash| out.borrow_mut().add(hash));
    };
    graph.run_available_sync();
    for hash in windows.borrow_mut().close(i64::MAX) {
        answer.borrow_mut().add(hash);
    }
    answer.take()
}

/// The open windows: count and sum per key, by start.
#[derive(Default)]
struct Windows {
    max: i64,
    open: BTreeMap<i64, Table<u64, (u64, u64)>>,
}

impl Windows {
    /// Takes in an event and gives the results of the windows that it closes.
    fn add(&mut self, e: &Ev) -> Vec<u64> {
        let start = e.ts - e.ts.rem_euclid(TUMBLING_MS);
        let sums = self.open.entry(start).or_default().entry(e.key).or_insert((0, 0));
        sums.0 += 1;
        sums.1 += e.val;
        if e.ts <= self.max {
            return Vec::new();
        }
        self.max = e.ts;
        self.close(self.max - DISORDER_MS)
    }

    fn close(&mut self, watermark: i64) -> Vec<u64> {
        let mut results = Vec::new();
        while let Some(first) = self.open.first_entry()
            && *first.key() <= watermark - TUMBLING_MS
        {
            let (start, sums) = first.remove_entry();
            results.extend(sums.into_iter().map(|(key, (count, sum))| window_hash(key, start, count, sum)));
        }
        results
    }
}
