//! W5: sliding event-time windows of 10 s by 100 ms. Timely has no windows: this operator holds panes of one slide and a
//! running aggregate, as the loop written by hand does.

use std::collections::BTreeMap;

use hashbrown::hash_map::Entry;
use peer_common::elements::{Ev, SLIDE_MS, SLIDING_MS, mix, window_hash};
use peer_common::{Answer, Run};
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::Capability;
use timely::dataflow::operators::generic::operator::Operator;

use crate::Table;
use crate::run::{Builder, events, part, sum, workers};

/// Events are exchanged by the hash of their key.
pub fn run(run: &Run) -> Answer {
    let n = run.n;
    workers(run, move |worker, out| {
        let indices = part(worker, n);
        worker.dataflow::<u64, _, _>(|scope| {
            let exchange = Exchange::new(|e: &Ev| mix(e.key));
            let results = events(scope, indices).unary_frontier::<Builder<u64>, _, _, _>(
                exchange,
                "sliding",
                |_, _| {
                    let mut panes = Panes::default();
                    // The pane that closes next, and the capability to emit then.
                    let mut next: Option<(Capability<u64>, i64)> = None;
                    move |(input, frontier), output| {
                        input.for_each_stamp(|capability, containers| {
                            let capability =
                                capability.retain_least(output.output_index()).expect("it has a time");
                            for e in containers.flat_map(|container| container.drain(..)) {
                                let start = panes.add(&e);
                                if next.as_ref().is_none_or(|next| start < next.1) {
                                    let at = (start as u64).max(*capability.time());
                                    next = Some((capability.delayed(&at), start));
                                }
                            }
                        });
                        while let Some((capability, start)) = &mut next
                            && !frontier.less_than(&((*start + SLIDE_MS) as u64))
                        {
                            capability.downgrade(&((*start + SLIDE_MS) as u64));
                            output.session(capability).give_iterator(panes.close(*start));
                            panes.evict(*start);
                            *start += SLIDE_MS;
                            if panes.open.is_empty() {
                                next = None;
                            }
                        }
                    }
                },
            );
            sum(results, out);
        });
    })
}

/// Count and sum.
type Sums = (u64, u64);

#[derive(Default)]
struct Panes {
    open: BTreeMap<i64, Table<u64, Sums>>,
    running: Table<u64, Sums>,
}

impl Panes {
    /// Takes in an event and gives the start of its pane.
    fn add(&mut self, e: &Ev) -> i64 {
        let start = e.ts - e.ts.rem_euclid(SLIDE_MS);
        let sums = self.open.entry(start).or_default().entry(e.key).or_insert((0, 0));
        sums.0 += 1;
        sums.1 += e.val;
        start
    }

    /// Adds pane `start` to the running aggregate and gives the window that ends with it.
    fn close(&mut self, start: i64) -> impl Iterator<Item = u64> {
        for (key, (count, sum)) in self.open.get(&start).into_iter().flatten() {
            let running = self.running.entry(*key).or_insert((0, 0));
            running.0 += count;
            running.1 += sum;
        }
        let window = start + SLIDE_MS - SLIDING_MS;
        self.running.iter().map(move |(key, (count, sum))| window_hash(*key, window, *count, *sum))
    }

    /// Takes what leaves after the window that ends with pane `start` out of the running aggregate.
    fn evict(&mut self, start: i64) {
        while let Some(first) = self.open.first_entry()
            && *first.key() <= start + SLIDE_MS - SLIDING_MS
        {
            for (key, (count, sum)) in first.remove() {
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
    }
}
