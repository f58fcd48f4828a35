//! `dedup_last`: of each key the record that came last, at the end of the input.

use super::{ByKeyGroup, Item};
use crate::batch::Mark;
use crate::checkpoint::{Groups, each_entry};
use crate::error::Result;
use crate::metrics::Counter;
use crate::op::key_fn::{KeyFn, KeyTypes};
use crate::op::keyed::KeyedStream;
use crate::op::kind::Ends;
use crate::op::{Chain, Kind, Proved, Stream, Visit};
use crate::stage::push::forward_tail;
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, Fire, Head, HeadStage, Meta, OpenCx, Push, Tail};
use crate::state::shape::Kind as Shape;
use crate::state::{Keep, Mode, Pane, read_all, schema_of};
use crate::time::Grid;
use crate::window::saved::take;
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
            records: Pane::default(),
            saved: false,
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
    /// The record of each key, in the order in which the keys first came, and how many keys had come before.
    records: Pane<F::Key, Last<F::Value>, M>,
    /// Whether the last checkpoint has them, as they were then.
    saved: bool,
    /// The input has ended.
    ended: bool,
    key: F,
    next: Timeless<N>,
    meta: Meta,
    duplicates: Counter,
    types: PhantomData<fn(X)>,
}

/// How many keys had come before, and the record that came last; none before the first is put in.
type Last<V> = (u64, Option<V>);

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

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.duplicates = cx.metrics().counter(&format!("{}.duplicates", self.meta.id()));
        Ok(())
    }

    #[inline(never)]
    fn items(&mut self, _: usize, items: &mut IntoIter<Item<X, F, S>>, n: usize) {
        let LastHead { records, key, duplicates, .. } = self;
        for (hash, route, rest, _) in items.by_ref().take(n) {
            let before = records.len() as u64;
            let insert = || (key.key(&route), (before, None));
            let (_, (_, last)) = records.entry(hash, |k| key.is(&route, k), insert, &|k| key.hash(k));
            if last.replace(key.unite(route, rest).1).is_some() {
                duplicates.add(1);
            }
        }
    }

    fn end(&mut self) {
        self.ended = true;
    }

    fn fire(&mut self) -> Fire {
        while self.ended {
            let Some((key, (_, value))) = self.records.pop() else { break };
            if let Some(value) = value {
                self.next.0.push((key, value), ());
            }
            if !self.next.room() {
                return Fire::Paused;
            }
        }
        Fire::Done
    }

    /// ```text
    /// key -> before value        little-endian: u64
    /// ```
    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        let key = self.key.clone();
        self.records.begin_save_alone(
            out,
            &mut self.saved,
            move |k| key.hash(k),
            |(before, value), out| {
                out.extend_from_slice(&before.to_le_bytes());
                value.iter().try_for_each(|value| <F::Value as Keep<M>>::write(value, out))
            },
        )
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        self.records.save_more(left)
    }

    fn schema(&self) -> String {
        Shape::Last.of(schema_of::<F::Key, F::Value, M>())
    }

    fn restore(&mut self, _: usize, bytes: &[u8]) -> Result<()> {
        <F::Key as Keep<M>>::kept(|| {
            let mut all = Vec::new();
            each_entry(bytes, &mut |_, key, mut value| {
                let before = u64::from_le_bytes(take(&mut value)?);
                all.push((before, read_all::<M, F::Key>(key)?, read_all::<M, F::Value>(value)?));
                Ok(())
            })?;
            // In the order in which they came, which is kept within a group.
            all.sort_unstable_by_key(|(before, ..)| *before);
            for (_, key, value) in all {
                let (hash, before) = (self.key.hash(&key), self.records.len() as u64);
                self.records.push(hash, key, (before, Some(value)), &|k| self.key.hash(k));
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
