//! How a process is put behind a keyed stream.

use super::Process;
use super::head::{ItemOf, ProcessHead};
use super::kinds::{TimerKinds, clock_in_loop};
use crate::op::kind::refuse_in_loop;
use crate::op::rolling::{ByKeyGroup, Item};
use crate::op::{Chain, KeyFn, KeyTypes, KeyedStream, Kind, Proved, Stream, Visit};
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, HeadStage, Meta, Push, Stamp};
use crate::state::{Keep, Mode};
use crate::time::{Grid, Timestamp};
use std::any::TypeId;
use std::marker::PhantomData;

/// A chain with a process behind it, in a pipeline of mode `M`.
pub struct Processed<C, F, P, M> {
    prev: C,
    key: F,
    process: P,
    edge: EdgeRef,
    meta: Meta,
    clock_in_loop: bool,
    mode: PhantomData<fn() -> M>,
}

impl<C: Clone, F: Clone, P: Clone, M> Clone for Processed<C, F, P, M> {
    fn clone(&self) -> Self {
        let (prev, key, process) = (self.prev.clone(), self.key.clone(), self.process.clone());
        let (edge, clock_in_loop) = (self.edge.clone(), self.clock_in_loop);
        Processed { prev, key, process, edge, meta: self.meta, clock_in_loop, mode: PhantomData }
    }
}

/// What `explain` says of a process, with the names of its states.
pub fn noted(what: &str, describe: impl FnOnce(&mut Vec<String>)) -> String {
    let mut names = Vec::new();
    describe(&mut names);
    let states = names.join(", ");
    if names.is_empty() { what.to_owned() } else { format!("{what}; states: {states}") }
}

/// Which watermarks a process with these stamps can tell apart: with event time, all.
pub fn listens<S: Stamp>(behind: Grid) -> Grid {
    if TypeId::of::<S>() == TypeId::of::<Timestamp>() { Grid::every() } else { behind }
}

impl<C, F, P, M> Chain for Processed<C, F, P, M>
where
    C: Chain,
    F: KeyFn<C::Out, Key: Keep<M>>,
    P: Process<F::Key, F::Value, C::Stamp, State: Keep<M>>,
    M: Mode,
    ItemOf<F::Key, F::Value, C::Stamp, P>: Send + 'static,
{
    type Out = ItemOf<F::Key, F::Value, C::Stamp, P>;
    type Stamp = <P::Timers as TimerKinds>::Stamp<C::Stamp>;
    type Root = C::Root;
    fn build<N: Push<Self::Out, Self::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let note =
            noted("state and timers of a key, one look-up an element", |names| self.process.describe(names));
        let meta = cx.op(&self.meta, &note);
        refuse_in_loop(self.clock_in_loop, cx, &meta);
        self.edge.listen(listens::<C::Stamp>(next.grid()));
        let head =
            ProcessHead::<C::Out, F, P, C::Stamp, N, M>::new(self.key.clone(), self.process, next, meta);
        let stage = HeadStage::new::<Item<C::Out, F, C::Stamp>, _>(head);
        cx.head(&meta, Count::Parallelism, &[(self.edge.clone(), EdgeKind::KeyBy)], stage);
        cx.out(&self.edge);
        self.prev.build(cx, ByKeyGroup::new(self.key, self.edge), visit);
    }
}

/// What a process `P` behind `key_by` emits.
type OutOf<X, K, F, P> = ItemOf<<F as KeyTypes<X>>::Key, <F as KeyTypes<X>>::Value, <K as Kind>::Stamp, P>;

/// Its timers.
type TimersOf<X, K, F, P> =
    <P as Process<<F as KeyTypes<X>>::Key, <F as KeyTypes<X>>::Value, <K as Kind>::Stamp>>::Timers;

/// The stream behind a process.
pub type ProcessOf<X, K, C, F, P> = Stream<
    OutOf<X, K, F, P>,
    <TimersOf<X, K, F, P> as TimerKinds>::Kind<K>,
    Proved<OutOf<X, K, F, P>, Proved<C, Processed<C, F, P, <K as Kind>::Mode>>>,
>;

impl<X: 'static, K: Kind, C, F: KeyTypes<X>> KeyedStream<X, K, C, F> {
    /// State and timers for each key, in your own hands: see [`Process`].
    #[track_caller]
    pub fn process<P>(self, process: P) -> ProcessOf<X, K, C, F, P>
    where
        P: Process<F::Key, F::Value, K::Stamp, State: Keep<K::Mode>>,
    {
        self.process_kept(process)
    }

    /// The same, where it has been asked already whether its state can be kept.
    #[track_caller]
    pub(super) fn process_kept<P>(self, process: P) -> ProcessOf<X, K, C, F, P>
    where
        P: Process<F::Key, F::Value, K::Stamp>,
    {
        let (edge, meta) = (EdgeRef::fresh(), Meta::new("process"));
        let clock_in_loop = clock_in_loop::<P::Timers, K>();
        let (prev, key) = (self.chain, self.key);
        Stream::of(Processed { prev, key, process, edge, meta, clock_in_loop, mode: PhantomData })
    }
}
