//! W3: a running sum per key, every update emitted.

use peer_common::elements::{keyed, mix};
use peer_common::{Answer, Run};
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::ToStream;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::vec::Map;

use crate::Table;
use crate::run::{Builder, part, sum, workers};

/// Records are exchanged by the hash of their key.
pub fn run(run: &Run) -> Answer {
    let n = run.n;
    workers(run, move |worker, out| {
        let records = part(worker, n).map(keyed);
        worker.dataflow::<u64, _, _>(|scope| {
            let exchange = Exchange::new(|x: &(u64, u64)| mix(x.0));
            let sums =
                records.to_stream(scope).unary::<Builder<(u64, u64)>, _, _, _>(exchange, "sums", |_, _| {
                    let mut by_key: Table<u64, u64> = Table::default();
                    move |input, output| {
                        input.for_each_stamp(|capability, containers| {
                            let mut session = output.session(&capability);
                            for container in containers {
                                session.give_iterator(container.drain(..).map(|(key, value)| {
                                    let sum = by_key.entry(key).or_insert(0);
                                    *sum += value;
                                    (key, *sum)
                                }));
                            }
                        });
                    }
                });
            sum(sums.map(|x| x.1), out);
        });
    })
}
