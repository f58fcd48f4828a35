//! W4: tumbling event-time windows of 1 s. Timely has no windows: this operator holds them.

use std::collections::BTreeMap;

use peer_common::elements::{Ev, TUMBLING_MS, mix, window_hash};
use peer_common::{Answer, Run};
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::Capability;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::vec::Map;

use crate::Table;
use crate::run::{Builder, events, part, sum, workers};

/// The capability to emit at a window's end, and the window's count and sum per key.
type Window = (Capability<u64>, Table<u64, (u64, u64)>);

/// Events are exchanged by the hash of their key.
pub fn run(run: &Run) -> Answer {
    let n = run.n;
    workers(run, move |worker, out| {
        let indices = part(worker, n);
        worker.dataflow::<u64, _, _>(|scope| {
            let exchange = Exchange::new(|e: &Ev| mix(e.key));
            type Out = Builder<(u64, i64, u64, u64)>;
            let results =
                events(scope, indices).unary_frontier::<Out, _, _, _>(exchange, "tumbling", |_, _| {
                    let mut windows: BTreeMap<i64, Window> = BTreeMap::new();
                    move |(input, frontier), output| {
                        input.for_each_stamp(|capability, containers| {
                            let capability =
                                capability.retain_least(output.output_index()).expect("it has a time");
                            for e in containers.flat_map(|container| container.drain(..)) {
                                let start = e.ts - e.ts.rem_euclid(TUMBLING_MS);
                                let (_, sums) = windows.entry(start).or_insert_with(|| {
                                    (capability.delayed(&((start + TUMBLING_MS) as u64)), Table::default())
                                });
                                let sums = sums.entry(e.key).or_insert((0, 0));
                                sums.0 += 1;
                                sums.1 += e.val;
                            }
                        });
                        while let Some(first) = windows.first_entry() {
                            if frontier.less_than(first.get().0.time()) {
                                break;
                            }
                            let (start, (capability, sums)) = first.remove_entry();
                            let results =
                                sums.into_iter().map(|(key, (count, sum))| (key, start, count, sum));
                            output.session(&capability).give_iterator(results);
                        }
                    }
                });
            sum(results.map(|(key, start, count, sum)| window_hash(key, start, count, sum)), out);
        });
    })
}
