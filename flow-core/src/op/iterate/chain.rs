//! How a loop is put around its body.

use super::entry::Entry;
use super::exit::Exit;
use super::turns::Turns;
use crate::op::edges::{EdgePush, Forward, InTurn};
use crate::op::kind::Ends;
use crate::op::{Chain, Kind, Stream, Visit};
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, HeadStage, Meta, Push};
use crate::time::Grid;
use std::sync::{Arc, Mutex, PoisonError};

/// The kind of the stream in the body: each superstep is a batch.
pub type InLoop<K> = <<K as Kind>::Untimed as Kind>::Whole;

/// What goes from the exits to the entries: each run of a job has its own, in the place of the one in the pipeline.
pub(super) struct Handed<T> {
    rounds: u64,
    pub turns: Turns,
    /// By entry.
    worksets: Vec<Mutex<Vec<Vec<T>>>>,
}

impl<T> Handed<T> {
    fn new(rounds: u64, entries: usize) -> Self {
        let worksets = (0..entries).map(|_| Mutex::default()).collect();
        Handed { rounds, turns: Turns::new(rounds), worksets }
    }

    /// That of the run.
    fn of_run(self: &Arc<Self>, cx: &mut BuildCx) -> Arc<Self>
    where
        T: Send + 'static,
    {
        let entries = cx.parallelism();
        cx.of_run().of(self, || Handed::new(self.rounds, entries))
    }

    /// From an exit.
    pub fn give(&self, exit: usize, mut records: Vec<Vec<T>>) {
        let workset = &self.worksets[exit % self.worksets.len()];
        workset.lock().unwrap_or_else(PoisonError::into_inner).append(&mut records);
    }

    /// For an entry.
    pub fn take(&self, entry: usize) -> Vec<Vec<T>> {
        std::mem::take(&mut *self.worksets[entry].lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// For one of so many exits, when the loop is over: of each workset one takes all.
    pub fn take_of(&self, exit: usize, exits: usize) -> Vec<Vec<T>> {
        (exit..self.worksets.len()).step_by(exits).flat_map(|entry| self.take(entry)).collect()
    }
}

/// The beginning of the body of a loop over what `C` gives.
pub struct LoopStart<C, T> {
    prev: C,
    of: Arc<Handed<T>>,
    edge: EdgeRef,
    meta: Meta,
}

impl<C: Clone, T> Clone for LoopStart<C, T> {
    fn clone(&self) -> Self {
        LoopStart {
            prev: self.prev.clone(),
            of: Arc::clone(&self.of),
            edge: self.edge.clone(),
            meta: self.meta,
        }
    }
}

impl<C: Chain<Out: Send>> Chain for LoopStart<C, C::Out> {
    type Out = C::Out;
    type Stamp = ();
    type Root = C::Root;
    fn build<N: Push<C::Out, ()>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let meta = cx.op(&self.meta, &format!("at most {} supersteps", self.of.rounds));
        self.edge.listen(Grid::none());
        let handed = self.of.of_run(cx);
        let stage =
            HeadStage::new::<(C::Out, C::Stamp), _>(Entry::<C::Out, N, C::Stamp>::new(handed, next, meta));
        cx.head(&meta, Count::Parallelism, &[(self.edge.clone(), EdgeKind::Rebalance)], stage);
        cx.out(&self.edge);
        self.prev.build(cx, EdgePush::new(&self.edge, InTurn::default(), None), visit);
    }
}

/// A loop with the body `B`.
pub struct Iterated<B, T> {
    body: B,
    of: Arc<Handed<T>>,
    edge: EdgeRef,
    meta: Meta,
}

impl<B: Clone, T> Clone for Iterated<B, T> {
    fn clone(&self) -> Self {
        Iterated {
            body: self.body.clone(),
            of: Arc::clone(&self.of),
            edge: self.edge.clone(),
            meta: self.meta,
        }
    }
}

impl<B: Chain<Out: Send>> Chain for Iterated<B, B::Out> {
    type Out = B::Out;
    type Stamp = ();
    type Root = B::Root;
    fn build<N: Push<B::Out, ()>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let meta = cx.op(&self.meta, "what the last superstep gave");
        self.edge.listen(Grid::every());
        let handed = self.of.of_run(cx);
        let stage = HeadStage::new::<(B::Out, B::Stamp), _>(Exit::<B::Out, N, B::Stamp>::new(handed, next));
        cx.head(&meta, Count::Upstream, &[(self.edge.clone(), EdgeKind::Forward)], stage);
        cx.out(&self.edge);
        self.body.build(cx, EdgePush::new(&self.edge, Forward, None), visit);
    }
}

impl<T: Send + 'static, K: Kind, C> Stream<T, K, C> {
    /// Runs the records through `body` again and again, `rounds` times at most: what it gives is the workset of the next superstep; after the last it is the
    /// result. A loop without records is over.
    ///
    /// A superstep is a batch of its own: `sum`, `fold` and whatever else gives one row for each key gives it at the end of each superstep, and begins anew. Streams
    /// from outside may be looked up in: `body` owns what it names.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let numbers = source(from_vec(vec![1u64, 5]));
    /// job.add(numbers.iterate(3, |n| n.map(|n| n * 2)).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [8, 40]);
    /// ```
    #[track_caller]
    pub fn iterate<L, B>(
        self,
        rounds: u64,
        body: impl FnOnce(Stream<T, InLoop<K>, LoopStart<C, T>>) -> Stream<T, L, B>,
    ) -> Stream<T, K::Untimed, Iterated<B, T>>
    where
        K: Ends,
        L: Kind,
    {
        let of = Arc::new(Handed::new(rounds, 0));
        let (edge, meta) = (EdgeRef::fresh(), Meta::new("iterate"));
        let start = LoopStart { prev: self.chain, of: Arc::clone(&of), edge, meta };
        let body = body(Stream::of(start)).chain;
        Stream::of(Iterated { body, of, edge: EdgeRef::fresh(), meta: Meta::new("iterated") })
    }
}
