//! What a pipeline means that takes checkpoints.

#[path = "kept/backends.rs"]
mod backends;
#[path = "kept/runner.rs"]
mod runner;
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
