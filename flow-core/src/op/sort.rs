//! `sort_by` and `sort_by_key`: all records in order, at the end of the input.
//!
//! They meet on one instance. What does not fit into memory lies in files meanwhile, in sorted runs that are merged at the end: `external/sorter.rs`.

use super::edges::{EdgePush, Forward};
use super::kind::{BeginsAnew, Ends};
use super::proved::claim;
use super::{Chain, Kind, Proved, Stream, Visit};
use crate::error::{Error, Result};
use crate::external::{Merge, Order, Sorter, Spill};
use crate::metrics::Counter;
use crate::stage::{
    BuildCx, Count, EdgeKind, EdgeRef, Faults, Fire, Head, HeadStage, Meta, OpenCx, Push, Stamp, Tail,
};
use crate::time::{Grid, Timestamp};
use std::cmp::Ordering;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::vec::IntoIter;

claim! {
    /// What operators may take that need all their input: what can [leave the memory](Spill).
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot leave the memory: it cannot be written down and read back",
        label = "`{Self}` is not `Serialize + DeserializeOwned`",
        note = "an operator that needs all its input keeps what is too much for the memory on the disk: derive `serde::Serialize` and `serde::Deserialize` for `{Self}`"
    )]
    pub trait SpillOf<P> for T where Spill
}

claim! {
    /// What records can be sorted by.
    #[diagnostic::on_unimplemented(
        message = "records cannot be sorted by `{Self}`, which has no order",
        label = "this closure returns `{Self}`, which is not `Ord`",
        note = "floats have one by their bits: `.sort_by(|a, b| a.price.total_cmp(&b.price))`; for your own type derive `PartialOrd` and `Ord`"
    )]
    pub trait SortedBy<P> for Q where Ord
}

/// Records that leave between two looks at the room for them.
const AT_ONCE: usize = 256;

/// By what a closure says of two.
#[derive(Clone)]
pub struct Comparing<F>(F);
impl<T, F: Fn(&T, &T) -> Ordering + Clone + Send + 'static> Order<T> for Comparing<F> {
    #[inline]
    fn order(&self, a: &T, b: &T) -> Ordering {
        (self.0)(a, b)
    }
}

/// By what a closure makes of each.
#[derive(Clone)]
pub struct Keyed<F>(F);
impl<T, Q: Ord, F: Fn(&T) -> Q + Clone + Send + 'static> Order<T> for Keyed<F> {
    #[inline]
    fn order(&self, a: &T, b: &T) -> Ordering {
        (self.0)(a).cmp(&(self.0)(b))
    }
}

/// A chain with `sort_by` behind it.
pub struct Sorted<C, O> {
    prev: C,
    order: O,
    edge: EdgeRef,
    meta: Meta,
}

impl<C: Clone, O: Clone> Clone for Sorted<C, O> {
    fn clone(&self) -> Self {
        let (prev, order) = (self.prev.clone(), self.order.clone());
        Sorted { prev, order, edge: self.edge.clone(), meta: self.meta }
    }
}

impl<C: Chain<Out: Spill>, O: Order<C::Out>> Chain for Sorted<C, O> {
    type Out = C::Out;
    type Stamp = ();
    type Root = C::Root;
    fn build<N: Push<C::Out, ()>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let meta = cx.op(&self.meta, "one instance, all records in order at the end of the input");
        // Event time ends here.
        self.edge.listen(Grid::none());
        let order = self.order;
        let head = SortHead::<C::Out, O, N, C::Stamp> {
            order,
            sorting: None,
            ended: false,
            next,
            meta,
            faults: Faults::default(),
            spilled: Counter::default(),
            stamp: PhantomData,
        };
        let stage = HeadStage::new::<(C::Out, C::Stamp), _>(head);
        cx.head(&meta, Count::Exactly(1), &[(self.edge.clone(), EdgeKind::Global)], stage);
        cx.out(&self.edge);
        self.prev.build(cx, EdgePush::new(&self.edge, Forward, None), visit);
    }
}

/// The head of the stage.
struct SortHead<T, O, N, S> {
    order: O,
    /// Nothing, where it has failed.
    sorting: Option<Sorting<T, O>>,
    ended: bool,
    next: N,
    meta: Meta,
    faults: Faults,
    spilled: Counter,
    stamp: PhantomData<fn(S)>,
}

enum Sorting<T, O> {
    In(Sorter<T, O>),
    Out(Merge<T, O>),
}

impl<T: Spill, O: Order<T>, N: Push<T, ()>, S> SortHead<T, O, N, S> {
    #[cold]
    #[inline(never)]
    fn fail(&mut self, error: Error) {
        self.sorting = None;
        self.faults.raise(error.in_stage(self.meta.id()).at(self.meta.at()));
    }

    /// Emits as much as there is room for.
    fn emit(&mut self) -> Result<Fire> {
        if let Some(Sorting::In(sorter)) = self.sorting.take_if(|sorting| matches!(sorting, Sorting::In(_))) {
            self.spilled.add(sorter.spilled());
            self.sorting = Some(Sorting::Out(sorter.finish()?));
        }
        let Some(Sorting::Out(all)) = &mut self.sorting else { return Ok(Fire::Done) };
        loop {
            if !self.next.room() {
                return Ok(Fire::Paused);
            }
            for _ in 0..AT_ONCE {
                let Some(record) = all.next()? else {
                    self.sorting = None;
                    return Ok(Fire::Done);
                };
                self.next.push(record, ());
            }
        }
    }
}

impl<T, O, N, S> Head<(T, S)> for SortHead<T, O, N, S>
where
    T: Spill,
    O: Order<T>,
    N: Push<T, ()>,
    S: Stamp,
{
    type Part = Infallible;

    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.next
    }

    fn tail_ref(&self) -> &dyn Tail {
        &self.next
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.faults = cx.faults().clone();
        self.spilled = cx.metrics().counter(&format!("{}.spilled", self.meta.id()));
        self.sorting = Some(Sorting::In(Sorter::new(cx.memory(), self.order.clone())));
        Ok(())
    }

    fn items(&mut self, _: usize, items: &mut IntoIter<(T, S)>, n: usize) {
        let Some(Sorting::In(sorter)) = &mut self.sorting else { return };
        let taken = items.by_ref().take(n).try_for_each(|(record, _)| sorter.push(record));
        if let Err(error) = taken {
            self.fail(error);
        }
    }

    fn watermark(&mut self, w: Timestamp) {
        self.ended |= w == Timestamp::MAX;
    }

    fn end(&mut self) {
        self.ended = true;
    }

    fn ends_at_a_cut(&self) -> bool {
        true
    }

    fn fire(&mut self) -> Fire {
        if !self.ended {
            return Fire::Done;
        }
        self.emit().unwrap_or_else(|error| {
            self.fail(error);
            Fire::Done
        })
    }

    fn passes(&self, _: Timestamp) -> Timestamp {
        Timestamp::MIN
    }
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// All records in the order that `order` says of two, at the end of the input; equal ones in that in which they came, if they came from one sender.
    /// They are on one instance then, without event time, and what follows on it sees them in order.
    ///
    /// Beyond the job's [`memory`](crate::Job::memory) records lie on the disk, in sorted files: `spilled` counts them.
    ///
    /// # Errors
    /// The job ends when the disk is full.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let prices = source(from_vec(vec![3.5f64, -1.0, 2.25]));
    /// job.add(prices.sort_by(|a, b| a.total_cmp(b)).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [-1.0, 2.25, 3.5]);
    /// ```
    #[track_caller]
    pub fn sort_by<F, P>(self, order: F) -> Stream<T, K::Untimed, Proved<P, Sorted<C, Comparing<F>>>>
    where
        K: Ends + BeginsAnew,
        T: SpillOf<P>,
        F: Fn(&T, &T) -> Ordering + Clone + Send + 'static,
    {
        self.sorted("sort_by", Comparing(order))
    }

    /// The same by a key of each record, smallest first; the largest is first with [`std::cmp::Reverse`]. The key is made anew for each comparison, so it should cost little.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # use std::cmp::Reverse;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let words = source(from_vec(vec!["to", "be", "or", "not", "to", "be"])).batch().map(str::to_owned);
    /// let counts = words.key_by(|word| word.clone()).count();
    /// job.add(counts.sort_by_key(|(word, n)| (Reverse(*n), word.clone())).map(|c| c.0).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), ["be", "to", "not", "or"]);
    /// ```
    #[track_caller]
    pub fn sort_by_key<Q: SortedBy<B>, F, B, P>(
        self,
        key: F,
    ) -> Stream<T, K::Untimed, Proved<B, Proved<P, Sorted<C, Keyed<F>>>>>
    where
        K: Ends + BeginsAnew,
        T: SpillOf<P>,
        F: Fn(&T) -> Q + Clone + Send + 'static,
    {
        self.sorted("sort_by_key", Keyed(key))
    }

    #[track_caller]
    fn sorted<O>(self, op: &'static str, order: O) -> Stream<T, K::Untimed, Sorted<C, O>> {
        Stream::of(Sorted { prev: self.chain, order, edge: EdgeRef::fresh(), meta: Meta::new(op) })
    }
}
