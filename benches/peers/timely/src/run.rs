//! What the workloads share: workers and their answers, sources, and the sink that sums.

use std::cell::RefCell;
use std::rc::Rc;

use peer_common::elements::{DISORDER_MS, Ev, event, strided};
use peer_common::{Answer, Run};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::operator::{Operator, source};
use timely::dataflow::{Scope, StreamVec};
use timely::progress::Timestamp;
use timely::worker::Worker;

/// Builds containers of the usual size.
pub type Builder<T> = CapacityContainerBuilder<Vec<T>>;
/// Where a worker's sink leaves its answer.
pub type Out = Rc<RefCell<Answer>>;

/// Runs one dataflow a worker to its end and adds up the answers.
pub fn workers(run: &Run, build: impl Fn(&mut Worker, Out) + Send + Sync + 'static) -> Answer {
    let config = match run.threads {
        1 => timely::Config::thread(),
        threads => timely::Config::process(threads),
    };
    let guards = timely::execute(config, move |worker| {
        let out = Out::default();
        build(worker, out.clone());
        while worker.step_or_park(None) {}
        *out.borrow()
    });
    let guards = guards.expect("timely starts its workers");
    Answer::total(guards.join().into_iter().map(|answer| answer.expect("a worker does not panic")))
}

/// This worker's part of the elements below `n`.
pub fn part(worker: &Worker, n: u64) -> impl Iterator<Item = u64> + 'static {
    strided(worker.index() as u64, worker.peers() as u64, n)
}

/// A source that gives `per_activation` records each time it is asked; `to_stream` gives 256 full buffers, which do not
/// fit the cache.
pub fn paced<'s, T: Timestamp, D: 'static>(
    scope: Scope<'s, T>,
    mut records: impl Iterator<Item = D> + 'static,
    per_activation: usize,
) -> StreamVec<'s, T, D> {
    source::<_, Builder<D>, _, _>(scope, "paced", |capability, info| {
        let activator = scope.activator_for(info.address);
        let mut capability = Some(capability);
        move |output| {
            let Some(held) = &capability else { return };
            let mut given = 0;
            output.session(held).give_iterator(records.by_ref().take(per_activation).inspect(|_| given += 1));
            if given < per_activation {
                capability = None;
            } else {
                activator.activate();
            }
        }
    })
}

/// The events of W4 and W5. The capability is the watermark, moved at each step of 100 ms.
pub fn events<'s>(
    scope: Scope<'s, u64>,
    mut indices: impl Iterator<Item = u64> + 'static,
) -> StreamVec<'s, u64, Ev> {
    const PER_ACTIVATION: usize = 8 * 1024;
    const STEP_MS: u64 = 100;
    source::<_, Builder<Ev>, _, _>(scope, "events", |capability, info| {
        let activator = scope.activator_for(info.address);
        let mut capability = Some(capability);
        let mut max = 0;
        move |output| {
            let Some(held) = &mut capability else { return };
            let mut given = 0;
            let batch = indices.by_ref().take(PER_ACTIVATION).map(event).inspect(|e| {
                given += 1;
                max = max.max(e.ts);
            });
            output.session(held).give_iterator(batch);
            let watermark = (max - DISORDER_MS).max(0) as u64;
            if watermark >= *held.time() + STEP_MS {
                held.downgrade(&watermark);
            }
            if given < PER_ACTIVATION {
                capability = None;
            } else {
                activator.activate();
            }
        }
    })
}

/// Adds up the hashes of the results.
pub fn sum<T: Timestamp>(results: StreamVec<'_, T, u64>, out: Out) {
    results.sink(Pipeline, "sum", move |(input, _)| {
        let mut answer = out.borrow_mut();
        input.for_each_stamp(|_, containers| {
            for hash in containers.flat_map(|container| container.drain(..)) {
                answer.add(hash);
            }
        });
    });
}
