//! What a pipeline means: every case is a row of a file in `suite/`, and runs at parallelism 1, 2 and 4, on every host, in 20
//! simulations, with batches of 1, 7 and 1024. At parallelism 1 the output is compared byte for byte, late elements included;
//! elsewhere, and where several inputs meet, the set of rows is. The target `semantics_kept` runs the same cases through checkpoints,
//! deaths and other parallelisms, and those that are about checkpoints; the target `semantics_batch` runs them as batches, and those that are about batches.
//!
//! Case W16 is a test of `flow_core::stage`, beside what it is about; timers of the clock (T3, T6) are one of `flow-core/tests`.

#[path = "semantics/large.rs"]
mod large;
#[path = "semantics/random_clocked.rs"]
mod random_clocked;
#[path = "semantics/runner.rs"]
mod runner;
#[path = "semantics/mod.rs"]
mod suite;
use suite::*;

/// How a pipeline begins: one that keeps nothing.
mod mode {
    use crate::case::{Arrival, El};
    use crate::pipeline::Elements;
    use crate::rows::Rows;
    use flow_core::op::boxed::NoRoot;
    use flow_core::op::kind::Volatile;
    use flow_core::prelude::*;
    use flow_core::source::{Source, SourceKind};
    use flow_core::testing::{Scripted, Step};

    pub type ScriptKind = flow_core::testing::ScriptKind<Volatile>;

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

    pub fn script<T: Clone + Send + Sync + 'static>(stream: Scripted<T>) -> Scripted<T> {
        stream
    }

    pub fn source<X: Source>(
        from: X,
    ) -> Stream<X::Item, SourceKind<X>, impl Flow<X::Item, SourceKind<X>, Root = NoRoot>> {
        flow_core::source::source(from)
    }
}
