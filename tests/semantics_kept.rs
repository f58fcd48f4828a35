//! What a pipeline means that takes checkpoints. The cases of `semantics`, and its random ones, in another mode:
//!
//! * with checkpoints all the time, on every host, at parallelism 1, 2 and 4: the output is what it is without them;
//! * through up to four deaths of a simulated process, at random steps or behind a checkpoint at a random place of the script, each life at
//!   another parallelism, with other batches: the set of rows is the same (`kept/runner.rs`; `FLOW_KEPT_LOTS` asks for more of them);
//! * with every state backend (`kept/backends.rs`).
//!
//! And the cases that are about checkpoints, `suite/checkpoints.txt`, into each kind of sink (`kept/lives.rs`).

#[path = "kept/backends.rs"]
mod backends;
#[path = "kept/lives.rs"]
mod lives;
#[path = "kept/runner.rs"]
mod runner;
#[path = "kept/sinks.rs"]
mod sinks;
#[path = "semantics/mod.rs"]
mod suite;
#[path = "kept/world.rs"]
mod world;
use suite::*;

/// How a pipeline begins: one that takes checkpoints, and of which each row counts once.
mod mode {
    use flow_core::op::Kind;
    use flow_core::op::boxed::NoRoot;
    use flow_core::op::kind::{Durable, Replayable};
    use flow_core::prelude::*;
    use flow_core::source::{Source, SourceKind};
    use flow_core::testing::{DurableScript, Scripted};

    pub use crate::world::World;
    pub type ScriptKind = flow_core::testing::ScriptKind<Durable>;

    pub fn script<T: Clone + Send + Sync + 'static>(stream: Scripted<T>) -> DurableScript<T> {
        stream.durable()
    }

    type In<X> = <SourceKind<X> as Kind>::In<Durable>;

    pub fn source<X: Source<Replay = Replayable>>(
        from: X,
    ) -> Stream<X::Item, In<X>, impl Flow<X::Item, In<X>, Root = NoRoot>> {
        flow_core::source::source(from).durable()
    }
}

/// Cases that are about checkpoints.
#[test]
fn checkpoints() {
    all(include_str!("suite/checkpoints.txt"), lives::check);
}

/// Where nothing may stay in memory state does leave it, of each kind of operator that keeps some.
#[test]
fn state_leaves_the_memory() {
    for (name, text) in [
        ("windows", include_str!("suite/windows.txt")),
        ("sliding", include_str!("suite/sliding.txt")),
        ("sessions", include_str!("suite/sessions.txt")),
        ("counts", include_str!("suite/counts.txt")),
        ("trigger", include_str!("suite/trigger.txt")),
        ("keyed", include_str!("suite/keyed.txt")),
        ("joins", include_str!("suite/joins.txt")),
        ("process", include_str!("suite/process.txt")),
    ] {
        let cases = case::parse(text);
        let leave = cases.iter().filter(|case| runner::leaves(case) > 0).count();
        println!("{name}: {leave} of {} cases", cases.len());
        assert!(
            // What fires at once, or has one key, need not leave.
            3 * leave > cases.len(),
            "{name}: state leaves the memory in {leave} of {} cases",
            cases.len()
        );
    }
}
