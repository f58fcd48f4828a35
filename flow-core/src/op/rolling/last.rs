//! `dedup_last`: of each key the record that came last, at the end of the input.

use super::{ByKeyGroup, Item};
use crate::batch::Mark;
use crate::checkpoint::Groups;
use crate::checkpoint::records::Part;
use crate::error::Result;
use crate::metrics::Counter;
use crate::op::key_fn::{KeyFn, KeyTypes};
use crate::op::keyed::KeyedStream;
use crate::op::kind::Ends;
use crate::op::{Chain, Kind, Proved, Stream, Visit};
use crate::stage::push::forward_tail;
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, Fire, Head, HeadStage, Meta, OpenCx, Push, Tail};
use crate::state::shape::Kind as Shape;
use crate::state::{Keep, KeyTable, Mode, schema_of};
use crate::time::Grid;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::vec::IntoIter;

/// A chain with `dedup_last` behind it, in a pipeline of mode `M`.
pub struct LastOf<C, F, M> {
    prev: C,
    key: F,
    edge: EdgeRef,
    meta: Meta,
    mode: PhantomData<fn() -> M>,
}

impl<C: Clone, F: Clone, M> Clone for LastOf<C, F, M> {
    fn clone(&self) -> Self {
        let (prev, key, edge) = (self.prev.clone(), self.key.clone(), self.edge.clone());
        LastOf { prev, key, edge, meta: self.meta, mode: PhantomData }
    }
}

impl<C, F, M> Chain for LastOf<C, F, M>
where
    C: Chain,
    F: KeyFn<C::Out, Key: Keep<M>, Value: Keep<M> + Send>,
    M: Mode,
{
    type Out = (F::Key, F::Value);
    type Stamp = ();
    type Root = C::Root;
    fn build<N: Push<Self::Out, ()>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let meta = cx.op(&self.meta, "the last record of each key, at the end of the input");
        // Event time ends here.
        self.edge.listen(Grid::none());
        let key = self.key.clone();
        let head = LastHead::<C::Out, F, N, M> {
            table: KeyTable::default(),
            order: Vec::new(),
            emitted: 0,
            ended: false,
            key,
            next: Timeless(next),
            meta,
            duplicates: Counter::default(),
            types: PhantomData,
        };
        let stage = HeadStage::new::<Item<C::Out, F, C::Stamp>, _>(head);
        cx.head(&meta, Count::Parallelism, &[(self.edge.clone(), EdgeKind::KeyBy)], stage);
        cx.out(&self.edge);
        self.prev.build(cx, ByKeyGroup::new(self.key, self.edge), visit);
    }
}

/// What is behind has no event time: it hears of no watermark.
struct Timeless<N>(N);

impl<N: Tail> Tail for Timeless<N> {
    fn mark(&mut self, mark: Mark) {
        if !matches!(mark, Mark::Watermark(_)) {
            self.0.mark(mark);
        }
    }
    forward_tail!(0: open grid room flush enough deadline tick);
}

/// The head of its stage.
struct LastHead<X, F: KeyFn<X>, N, M: Mode> {
    table: KeyTable<F::Key, F::Value, M>,
    /// The hashes of the keys by when they first came, and how many of them have been emitted.
    order: Vec<u64>,
    emitted: usize,
    /// There will be no more.
    ended: bool,
    key: F,
    next: Timeless<N>,
    meta: Meta,
    duplicates: Counter,
    types: PhantomData<fn(X) -> M>,
}

impl<X, F, N, S, M> Head<Item<X, F, S>> for LastHead<X, F, N, M>
where
    X: 'static,
    F: KeyFn<X, Key: Keep<M>, Value: Keep<M> + Send>,
    S: crate::stage::Stamp,
    N: Push<(F::Key, F::Value), ()>,
    M: Mode,
{
    type Part = Infallible;

    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.next
    }

    fn tail_ref(&self) -> &dyn Tail {
        &self.next
    }

    fn spills(&self) -> bool {
        true
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.duplicates = cx.metrics().counter(&format!("{}.duplicates", self.meta.id()));
        let key = self.key.clone();
        self.table.spill(cx.space(&self.meta)?, move |k| key.hash(k))
    }

    #[inline(never)]
    fn items(&mut self, _: usize, items: &mut IntoIter<Item<X, F, S>>, n: usize) {
        let LastHead { table, order, key, duplicates, .. } = self;
        table.reserve(n, |k| key.hash(k));
        for (hash, route, rest, _) in items.by_ref().take(n) {
            if let Some((_, last)) = table.find(hash, |k| key.is(&route, k)) {
                duplicates.add(1);
                *last = key.value(route, rest);
            } else {
                table.insert(hash, key.unite(route, rest));
                order.push(hash);
            }
        }
    }

    fn end(&mut self) {
        self.ended = true;
    }

    fn fire(&mut self) -> Fire {
        if !self.ended {
            return Fire::Done;
        }
        let LastHead { table, order, emitted, key, next, .. } = self;
        while let Some(hash) = order.get(*emitted) {
            *emitted += 1;
            // Of several keys with one hash any: all of them are wanted.
            let entry = table.remove(*hash, |k| key.hash(k) == *hash, |k| key.hash(k));
            if let Some(entry) = entry {
                next.0.push(entry, ());
            }
            if !next.room() {
                return Fire::Paused;
            }
        }
        Fire::Done
    }

    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        let key = self.key.clone();
        self.table.begin_save(out, Part::Head, move |k| key.hash(k))
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        self.table.save_more(left)
    }

    fn schema(&self) -> Result<String> {
        Ok(Shape::Last.of(schema_of::<F::Key, F::Value, M>()?))
    }

    fn restore(&mut self, _: usize, bytes: &[u8]) -> Result<()> {
        let LastHead { table, order, key, .. } = self;
        table.restore_each(bytes, |k| key.hash(k), |hash, _| order.push(hash))
    }
}

impl<X: 'static, K: Kind, C, F: KeyTypes<X>> KeyedStream<X, K, C, F> {
    /// The record of each key that came last, when the input ends: without event time, by when the keys first came. Those
    /// before it are counted in `duplicates`.
    ///
    /// Before the end there is no last one. Of a stream that goes on, a window says when to look:
    /// `.window(session(…)).aggregate(|a| a.last())`.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let orders = source(from_vec(vec![(7, "new"), (8, "new"), (7, "paid")]));
    /// job.add(orders.key_by(|o| o.0).dedup_last().map(|(_, order)| order).collect(&out));
    /// # });
    /// job.run().unwrap();
    /// assert_eq!(out.take(), [(7, "paid"), (8, "new")]);
    /// ```
    #[track_caller]
    pub fn dedup_last(self) -> Stream<(F::Key, F::Value), K::Untimed, Proved<C, LastOf<C, F, K::Mode>>>
    where
        K: Ends,
        F::Value: Keep<K::Mode> + Send,
    {
        let (edge, meta) = (EdgeRef::fresh(), Meta::new("dedup_last"));
        Stream::of(LastOf { prev: self.chain, key: self.key, edge, meta, mode: PhantomData })
    }
}
