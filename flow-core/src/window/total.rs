//! Aggregates without key or window: on one instance, once, at the end of a bounded input, without event time.
//!
//! Each sender aggregates for itself and sends its accumulator at the end, where that gives the same result: the aggregate
//! commutes, or there is a single sender and no checkpoint asks in between. What a sender has merged it sends before a barrier, too.
//!
//! In a checkpoint, as key group 0 of the single instance: nothing before the first record; else a byte, 1 and the accumulator, or 0
//! when the result has left.

use super::saved::take;
use crate::aggregate::{
    Agg, Aggregate, Algebra, Count, FoldWith, Found, Overflow, ReduceWith, Sum, WrappingSum,
};
use crate::batch::Mark;
use crate::checkpoint::Pieces;
use crate::error::{Error, ErrorKind, Result};
use crate::op::kind::Ends;
use crate::op::operator::operator_error;
use crate::op::rolling::{Measure, Summand};
use crate::op::{Chain, Kind, Proved, Stream, Visit};
use crate::stage::{
    BuildCx, Count as Instances, EdgeKind, EdgeRef, Faults, Fire, Head, HeadStage, Meta, OpenCx, Outs, Push,
    Stamp, Tail,
};
use crate::state::shape::Kind as Shape;
use crate::state::{Keep, Mode};
use crate::time::{Grid, Timestamp};
use std::marker::PhantomData;
use std::vec::IntoIter;

/// A chain with an aggregate of everything behind it.
pub struct Total<C, A, M> {
    prev: C,
    aggregate: A,
    edge: EdgeRef,
    meta: Meta,
    mode: PhantomData<fn() -> M>,
}

impl<C: Clone, A: Clone, M> Clone for Total<C, A, M> {
    fn clone(&self) -> Self {
        let (prev, aggregate) = (self.prev.clone(), self.aggregate.clone());
        Total { prev, aggregate, edge: self.edge.clone(), meta: self.meta, mode: PhantomData }
    }
}

impl<C: Chain, A: Aggregate<C::Out, Acc: Keep<M>>, M: Mode> Chain for Total<C, A, M> {
    type Out = A::Out;
    type Stamp = ();
    type Root = C::Root;
    fn build<N: Push<A::Out, ()>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let meta = cx.op(&self.meta, "one instance, one result at the end of the input");
        let faults = Faults::default();
        self.edge.listen(next.grid());
        let aggregate = self.aggregate.clone();
        let acc = Some(aggregate.start());
        let head = TotalHead::<C::Out, A, N, M> {
            aggregate,
            acc,
            touched: false,
            done: false,
            next,
            meta,
            faults: faults.clone(),
            types: PhantomData,
        };
        cx.head(
            &meta,
            Instances::Exactly(1),
            &[(self.edge.clone(), EdgeKind::Global)],
            HeadStage::new::<A::In, _>(head),
        );
        cx.out(&self.edge);
        let outs = Outs::new(self.edge.id);
        let (aggregate, acc) = (self.aggregate.clone(), self.aggregate.start());
        let send = TotalSend::<C::Out, A> { aggregate, acc, alone: false, ended: false, outs, meta, faults };
        self.prev.build(cx, send, visit);
    }
}

/// The end of a stage before: aggregates for itself or sends lifted values.
struct TotalSend<T, A: Aggregate<T>> {
    aggregate: A,
    acc: A::Acc,
    /// Whether there is no other sender.
    alone: bool,
    ended: bool,
    outs: Outs<A::In, A::Acc>,
    meta: Meta,
    faults: Faults,
}

impl<T: 'static, S: Stamp, A: Aggregate<T>> Push<T, S> for TotalSend<T, A> {
    #[inline(always)]
    fn push(&mut self, item: T, stamp: S) {
        let x = self.aggregate.lift_at(&item, stamp.time());
        // What is known when compiling comes first: where the aggregate commutes no call is left in the loop around this, and
        // the accumulator stays in registers.
        if A::Algebra::COMMUTES || self.alone {
            if let Err(error) = self.aggregate.add(&mut self.acc, x) {
                self.overflow(error);
            }
        } else {
            self.outs.send(0, x);
        }
    }
}

impl<T: 'static, A: Aggregate<T>> TotalSend<T, A> {
    fn send(&mut self) {
        let acc = std::mem::replace(&mut self.acc, self.aggregate.start());
        self.outs.send_part(0, acc, 1);
    }

    #[cold]
    #[inline(never)]
    fn overflow(&mut self, error: Overflow) {
        self.faults.raise(operator_error(&self.meta, &error.into()));
    }
}

impl<T: 'static, A: Aggregate<T>> Tail for TotalSend<T, A> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.faults = cx.faults().clone();
        self.outs.open(cx);
        // What a checkpoint has cut in two could not be put together.
        self.alone = cx.context().parallelism() == 1 && !cx.saves().is_on();
        Ok(())
    }
    fn mark(&mut self, mark: Mark) {
        match mark {
            // Event time ends here.
            Mark::Watermark(_) => return,
            Mark::End if A::Algebra::COMMUTES || self.alone => self.send(),
            Mark::Barrier(_) if A::Algebra::COMMUTES && !self.ended => self.send(),
            Mark::End | Mark::Idle | Mark::Active | Mark::Barrier(_) => {}
        }
        self.ended |= mark == Mark::End;
        self.outs.mark(mark);
    }
    fn grid(&self) -> Grid {
        Grid::none()
    }
    fn room(&mut self) -> bool {
        self.outs.pump()
    }
    fn flush(&mut self) {
        self.outs.flush();
    }
    fn enough(&self) -> bool {
        self.outs.is_closed()
    }
}

/// The head of the stage behind.
struct TotalHead<T, A: Aggregate<T>, N, M> {
    aggregate: A,
    acc: Option<A::Acc>,
    /// Whether `acc` is more than the start.
    touched: bool,
    done: bool,
    next: N,
    meta: Meta,
    faults: Faults,
    types: PhantomData<fn(T) -> M>,
}

impl<T: 'static, A: Aggregate<T>, N, M> TotalHead<T, A, N, M> {
    fn check(&mut self, done: Result<(), Overflow>) {
        if let Err(error) = done {
            self.faults.raise(operator_error(&self.meta, &error.into()));
        }
    }
}

impl<T, A, N, M> Head<A::In> for TotalHead<T, A, N, M>
where
    T: 'static,
    A: Aggregate<T, Acc: Keep<M>>,
    N: Push<A::Out, ()>,
    M: Mode,
{
    type Part = A::Acc;
    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.next
    }
    fn tail_ref(&self) -> &dyn Tail {
        &self.next
    }
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.faults = cx.faults().clone();
        self.aggregate.open(cx, &self.meta);
        Ok(())
    }
    fn items(&mut self, _: usize, items: &mut IntoIter<A::In>, n: usize) {
        let Some(mut acc) = self.acc.take() else { return };
        let done = items.by_ref().take(n).try_for_each(|x| self.aggregate.add(&mut acc, x));
        (self.acc, self.touched) = (Some(acc), true);
        self.check(done);
    }
    fn part(&mut self, part: A::Acc) -> Option<A::Acc> {
        // The first stands for the start; the others exist only where merging is allowed.
        if std::mem::replace(&mut self.touched, true) {
            if let Some(mut acc) = self.acc.take() {
                let done = A::Algebra::merge(&self.aggregate, &mut acc, part);
                self.acc = Some(acc);
                self.check(done);
            }
        } else {
            self.acc = Some(part);
        }
        None
    }
    fn watermark(&mut self, w: Timestamp) {
        // All input has ended. The result leaves before this mark, or a window behind would fire without it.
        self.done |= w == Timestamp::MAX;
    }
    fn end(&mut self) {
        self.done = true;
    }
    fn fire(&mut self) -> Fire {
        if self.done
            && let Some(result) = self.acc.take().and_then(|acc| self.aggregate.take_result(acc))
        {
            self.next.push(result, ());
        }
        Fire::Done
    }
    fn schema(&self) -> String {
        let acc = <A::Acc as Keep<M>>::schema();
        Shape::Total.of(acc.map_or_else(String::new, |acc| format!("() -> {acc}")))
    }
    fn snapshot(&mut self, out: &mut Pieces) -> Result<()> {
        let out = out.of(0);
        match &self.acc {
            Some(acc) if self.touched => {
                out.push(1);
                acc.write(out)
            }
            Some(_) => Ok(()),
            None => {
                out.push(0);
                Ok(())
            }
        }
    }
    fn restore(&mut self, _: usize, mut bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let [kept] = take(&mut bytes)?;
        self.touched = true;
        self.acc = if kept == 0 { None } else { Some(A::Acc::read(&mut bytes)?) };
        if !bytes.is_empty() {
            return Err(Error::new(ErrorKind::State, "the state of an aggregate goes on behind its end"));
        }
        Ok(())
    }
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// What the aggregate makes of all records: one result, at the end. Of no records: `count`, `sum`, `fold`, `collect`
    /// and `count_distinct` give 0, the initial value or what is empty; the others give nothing.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// job.add(source(from_iter(1..5)).aggregate(|a| (a.count(), a.mean(|n| *n))).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [(4, 2.5)]);
    /// ```
    #[track_caller]
    pub fn aggregate<A: Aggregate<T, Acc: Keep<K::Mode>>>(
        self,
        make: impl FnOnce(Agg<T>) -> A,
    ) -> Stream<A::Out, K::Untimed, Proved<A::Out, Total<C, A, K::Mode>>>
    where
        K: Ends,
    {
        self.total("aggregate", make)
    }

    #[track_caller]
    fn total<A: Aggregate<T, Acc: Keep<K::Mode>>>(
        self,
        op: &'static str,
        make: impl FnOnce(Agg<T>) -> A,
    ) -> Stream<A::Out, K::Untimed, Proved<A::Out, Total<C, A, K::Mode>>> {
        let (aggregate, edge, meta) = (make(Agg::new()), EdgeRef::fresh(), Meta::new(op));
        Stream::of(Total { prev: self.chain, aggregate, edge, meta, mode: PhantomData })
    }

    /// How many records there are in all, at the end.
    #[track_caller]
    pub fn count(self) -> Stream<u64, K::Untimed, Total<C, Count, K::Mode>>
    where
        u64: Keep<K::Mode>,
        K: Ends,
    {
        self.total("count", |a| a.count())
    }

    /// The sum over all records, at the end; integer overflow ends the job.
    #[track_caller]
    pub fn sum<N: Summand, F>(
        self,
        number: F,
    ) -> Stream<N::Number, K::Untimed, Proved<N::Number, Total<C, Sum<F>, K::Mode>>>
    where
        N::Number: Keep<K::Mode>,
        K: Ends,
        F: Fn(&T) -> N + Clone + Send + 'static,
    {
        self.total("sum", |a| a.sum(number))
    }

    /// The sum over all records around the end of the type's range, at the end.
    #[track_caller]
    pub fn wrapping_sum<N: Summand, F>(
        self,
        number: F,
    ) -> Stream<N::Number, K::Untimed, Proved<N::Number, Total<C, WrappingSum<F>, K::Mode>>>
    where
        N::Number: Keep<K::Mode>,
        K: Ends,
        F: Fn(&T) -> N + Clone + Send + 'static,
    {
        self.total("wrapping_sum", |a| a.wrapping_sum(number))
    }

    /// The smallest value of all records, at the end; nothing if there is none.
    #[track_caller]
    pub fn min<N: Measure, F>(
        self,
        measure: F,
    ) -> Stream<N::Value, K::Untimed, Proved<N::Value, Total<C, Found<F>, K::Mode>>>
    where
        Option<N::Value>: Keep<K::Mode>,
        K: Ends,
        F: Fn(&T) -> N + Clone + Send + 'static,
    {
        self.total("min", |a| Found(a.min(measure)))
    }

    /// The largest value of all records, at the end; nothing if there is none.
    #[track_caller]
    pub fn max<N: Measure, F>(
        self,
        measure: F,
    ) -> Stream<N::Value, K::Untimed, Proved<N::Value, Total<C, Found<F>, K::Mode>>>
    where
        Option<N::Value>: Keep<K::Mode>,
        K: Ends,
        F: Fn(&T) -> N + Clone + Send + 'static,
    {
        self.total("max", |a| Found(a.max(measure)))
    }

    /// An accumulator that each record changes, at the end; `init` if there are no records.
    #[track_caller]
    pub fn fold<A, F>(self, init: A, fold: F) -> Stream<A, K::Untimed, Total<C, FoldWith<A, F>, K::Mode>>
    where
        T: Clone + Send,
        A: Clone + Send + Keep<K::Mode>,
        K: Ends,
        F: Fn(&mut A, T) + Clone + Send + 'static,
    {
        self.total("fold", |a| a.fold(init, fold))
    }

    /// All records put together two by two, at the end; nothing if there are none.
    #[track_caller]
    pub fn reduce<F>(self, f: F) -> Stream<T, K::Untimed, Total<C, ReduceWith<F>, K::Mode>>
    where
        T: Clone + Send,
        Option<T>: Keep<K::Mode>,
        K: Ends,
        F: Fn(T, T) -> T + Clone + Send + 'static,
    {
        self.total("reduce", |a| a.reduce(f))
    }
}
