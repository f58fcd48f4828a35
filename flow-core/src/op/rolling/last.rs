//! `dedup_last`: of each key the record that came last, at the end of the input.

use super::{ByKeyGroup, Item};
use crate::batch::Mark;
use crate::checkpoint::Pieces;
use crate::error::Result;
use crate::metrics::Counter;
use crate::op::key_fn::{KeyFn, KeyTypes};
use crate::op::keyed::KeyedStream;
use crate::op::kind::Ends;
use crate::op::{Chain, Kind, Proved, Stream, Visit};
use crate::stage::push::forward_tail;
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, Fire, Head, HeadStage, Meta, OpenCx, Push, Tail};
use crate::state::shape::Kind as Shape;
use crate::state::{Keep, KeyTable, schema_of};
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
    M: 'static,
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
            records: Vec::new(),
            due: Vec::new().into_iter(),
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
struct LastHead<X, F: KeyFn<X>, N, M> {
    /// Where the record of a key is.
    table: KeyTable<F::Key, u64>,
    /// The records by when their keys first came.
    records: Vec<Option<F::Value>>,
    /// What is left to emit.
    due: IntoIter<(F::Key, u64)>,
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
    M: 'static,
{
    type Part = Infallible;

    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.next
    }

    fn tail_ref(&self) -> &dyn Tail {
        &self.next
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.duplicates = cx.metrics().counter(&format!("{}.duplicates", self.meta.id()));
        Ok(())
    }

    #[inline(never)]
    fn items(&mut self, _: usize, items: &mut IntoIter<Item<X, F, S>>, n: usize) {
        let LastHead { table, records, key, duplicates, .. } = self;
        table.reserve(n, |k| key.hash(k));
        for (hash, route, rest, _) in items.by_ref().take(n) {
            let new = records.len() as u64;
            let at = table.entry(hash, |k| key.is(&route, k), || (key.key(&route), new)).1;
            let value = key.unite(route, rest).1;
            if at == new {
                records.push(Some(value));
            } else {
                duplicates.add(1);
                records[at as usize] = Some(value);
            }
        }
    }

    fn end(&mut self) {
        let mut due: Vec<_> = self.table.iter().map(|(key, at)| (key.clone(), *at)).collect();
        due.sort_unstable_by_key(|(_, at)| *at);
        self.due = due.into_iter();
    }

    fn fire(&mut self) -> Fire {
        for (key, at) in self.due.by_ref() {
            if let Some(value) = self.records[at as usize].take() {
                self.next.0.push((key, value), ());
            }
            if !self.next.room() {
                return Fire::Paused;
            }
        }
        Fire::Done
    }

    /// ```text
    /// ( key value )*
    /// ```
    fn snapshot(&mut self, out: &mut Pieces) -> Result<()> {
        if self.table.is_empty() {
            return Ok(());
        }
        <F::Key as Keep<M>>::kept(|| {
            for (key, at) in self.table.iter() {
                if let Some(value) = &self.records[*at as usize] {
                    let out = out.of(self.key.hash(key));
                    key.write(out)?;
                    value.write(out)?;
                }
            }
            Ok(())
        })
    }

    fn schema(&self) -> String {
        Shape::Last.of(schema_of::<F::Key, F::Value, M>())
    }

    fn restore(&mut self, _: usize, mut bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        <F::Key as Keep<M>>::kept(|| {
            while !bytes.is_empty() {
                let (key, value) =
                    (<F::Key as Keep<M>>::read(&mut bytes)?, <F::Value as Keep<M>>::read(&mut bytes)?);
                let (hash, at) = (self.key.hash(&key), self.records.len() as u64);
                self.table.reserve(1, |k| self.key.hash(k));
                self.table.entry(hash, |_| false, || (key.clone(), at));
                self.records.push(Some(value));
            }
            Ok(())
        })
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
