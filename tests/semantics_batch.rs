//! What a pipeline means in a batch. Case A5: each case of `semantics`, and each of its random ones, of which no element is late is run as a batch, without the
//! watermarks and waits of its script, and gives the last row of each key and window of what it gives as a stream (`batch/runner.rs`). And the cases
//! that are about batches, `suite/batch.txt`.

#[path = "semantics/runner.rs"]
mod each_way;
#[path = "batch/runner.rs"]
mod runner;
#[path = "semantics/mod.rs"]
mod suite;
use suite::*;

/// How a pipeline begins: as a batch.
mod mode {
    use crate::case::{Arrival, El};
    use crate::pipeline::Elements;
    use crate::rows::Rows;
    use flow_core::op::boxed::NoRoot;
    use flow_core::op::kind::{Batch, Bounded, Volatile};
    use flow_core::op::{Is, Kind};
    use flow_core::prelude::*;
    use flow_core::source::{Source, Src};
    use flow_core::testing::{Play, Script, Scripted, Step};

    pub type ScriptKind = <flow_core::testing::ScriptKind<Volatile> as Kind>::Whole;

    /// Outside these jobs is nothing.
    #[derive(Clone)]
    pub struct World;

    impl World {
        pub fn new() -> Self {
            World
        }

        pub fn step(&self, _: (usize, usize), arrival: &Arrival) -> Step<El> {
            panic!("{arrival:?} is nothing for a pipeline that takes no checkpoints");
        }

        pub fn behind(&self, _: (usize, usize)) -> Option<Step<El>> {
            None
        }

        pub fn end(&self, job: &mut Job, stream: Elements, rows: &Rows) {
            job.add(stream.sink(rows.clone()));
        }
    }

    pub fn script<T: Clone + Send + Sync + 'static>(
        stream: Scripted<T>,
    ) -> Stream<T, ScriptKind, Play<Src<Script<T>>>> {
        stream.batch()
    }

    type In<X> = Is<(), Batch, <X as Source>::Replay, Volatile>;

    pub fn source<X: Source<Bounds = Bounded>>(
        from: X,
    ) -> Stream<X::Item, In<X>, impl Flow<X::Item, In<X>, Root = NoRoot>> {
        flow_core::source::source(from).batch()
    }
}

/// Cases that are about batches.
#[test]
fn batches() {
    all(include_str!("suite/batch.txt"), each_way::check);
}

/// How many cases of each file are run: a case that is left out where it could be run is not overlooked.
#[test]
fn cases_of_streams_are_batches_too() {
    for (name, text, expected) in [
        ("windows", include_str!("suite/windows.txt"), 8),
        ("sliding", include_str!("suite/sliding.txt"), 21),
        ("sessions", include_str!("suite/sessions.txt"), 18),
        ("counts", include_str!("suite/counts.txt"), 18),
        ("late", include_str!("suite/late.txt"), 2),
        ("order", include_str!("suite/order.txt"), 15),
        ("keyed", include_str!("suite/keyed.txt"), 38),
        ("joins", include_str!("suite/joins.txt"), 41),
        ("timers", include_str!("suite/timers.txt"), 0),
        ("sides", include_str!("suite/sides.txt"), 1),
        ("dead", include_str!("suite/dead.txt"), 1),
        ("ttl", include_str!("suite/ttl.txt"), 0),
        ("strategies", include_str!("suite/strategies.txt"), 0),
        ("json", include_str!("suite/json.txt"), 6),
        ("evict", include_str!("suite/evict.txt"), 14),
        ("process", include_str!("suite/process.txt"), 7),
        ("trigger", include_str!("suite/trigger.txt"), 7),
        ("text", include_str!("suite/text.txt"), 14),
        ("broadcast", include_str!("suite/broadcast.txt"), 0),
    ] {
        let cases = case::parse(text);
        let run = cases.iter().filter(|case| runner::as_batch(case).is_some()).count();
        println!("{name}: {run} of {} cases", cases.len());
        assert_eq!(run, expected, "{name}: of {} cases are run as batches", cases.len());
    }
}
