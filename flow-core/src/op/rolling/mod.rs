//! Rolling operators: state for each key, one result for each element, at its timestamp.
//!
//! [`Roll`] is one of them (`count`, `sum`, `fold`, …: [`rolls`]); [`Rolling`] is the chain that brings the
//! records of a key together and keeps its state in a [`KeyTable`].

mod again;
mod aggregated;
mod keeping;
mod last;
mod last_rows;
mod numbers;
pub mod rolls;

pub use aggregated::Aggregated;
pub use keeping::{FirstOf, TopOf};
pub use last::LastOf;
pub use numbers::{Always, Measure, Number, Perhaps, Presence, Summand};

use super::edges::sender_tail;
use super::key_fn::{KeyFn, KeyTypes};
use super::keyed::KeyedStream;
use super::kind::{Bounded, Bounds};
use super::operator::{OpError, operator_error};
use super::{Chain, Kind, Proved, Stream, Visit};
use crate::batch::Mark;
use crate::checkpoint::Groups;
use crate::checkpoint::records::Part;
use crate::error::Result;
use crate::stage::{
    BuildCx, Count, EdgeKind, EdgeRef, Faults, Head, HeadStage, Meta, OpenCx, Outs, Push, Stamp, Tail,
};
use crate::state::{Keep, KeyTable, Mode, schema_of};
use crate::time::Grid;
use last_rows::LastRows;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::vec::IntoIter;

/// State for each key, changed by each value, with a result each time.
pub trait Roll<V>: Clone + Send + 'static {
    /// What is kept for a key.
    type State: Send + 'static;
    /// What is emitted.
    type Out: 'static;
    /// The state of a key that is new.
    fn start(&self) -> Self::State;
    /// Opens an instance of the operator `meta`.
    ///
    /// # Errors
    /// Ends the job before any record is read.
    fn open(&mut self, meta: &Meta, cx: &mut OpenCx) -> Result<(), OpError> {
        let _ = (meta, cx);
        Ok(())
    }
    /// A run of values begins. Whether states that are [over](Roll::is_over) are to be looked for, and forgotten.
    #[inline]
    fn begin(&mut self) -> bool {
        false
    }
    /// Whether a state may be forgotten.
    fn is_over(&self, state: &Self::State) -> bool {
        let _ = state;
        false
    }
    /// So many were.
    fn forgot(&self, states: usize) {
        let _ = states;
    }
    /// Takes a value.
    ///
    /// # Errors
    /// Ends the job.
    fn roll(&self, state: &mut Self::State, value: V) -> Result<Option<Self::Out>, OpError>;
    /// Whether each result is a new version of the one row of its key, of which in a batch only the last counts: then [`Roll::add`] and
    /// [`Roll::last`] take the place of [`Roll::roll`].
    const ONE_ROW: bool = false;
    /// Takes a value, and makes no result of it.
    ///
    /// # Errors
    /// Ends the job.
    #[inline(always)]
    fn add(&self, state: &mut Self::State, value: V) -> Result<(), OpError> {
        self.roll(state, value).map(drop)
    }
    /// The row of a state.
    fn last(&self, state: Self::State) -> Option<Self::Out> {
        let _ = state;
        None
    }
}

/// A chain with a rolling operator behind it, in a pipeline of mode `M`, on a stream of bounds `B`.
pub struct Rolling<C, F, R, M, B = Bounded> {
    prev: C,
    key: F,
    roll: R,
    edge: EdgeRef,
    meta: Meta,
    mode: PhantomData<fn() -> (M, B)>,
}

impl<C, F, R, M, B> Rolling<C, F, R, M, B> {
    #[track_caller]
    pub(super) fn new(op: &'static str, prev: C, key: F, roll: R) -> Self {
        Rolling { prev, key, roll, edge: EdgeRef::fresh(), meta: Meta::new(op), mode: PhantomData }
    }
}

impl<C: Clone, F: Clone, R: Clone, M, B> Clone for Rolling<C, F, R, M, B> {
    fn clone(&self) -> Self {
        Rolling {
            prev: self.prev.clone(),
            key: self.key.clone(),
            roll: self.roll.clone(),
            edge: self.edge.clone(),
            meta: self.meta,
            mode: PhantomData,
        }
    }
}

/// What crosses: the hash, the key with the rest of the record, the timestamp.
pub type Item<X, F, S> = (u64, <F as KeyTypes<X>>::Route, <F as KeyTypes<X>>::Rest, S);

impl<C, F, R, M, B> Chain for Rolling<C, F, R, M, B>
where
    C: Chain,
    F: KeyFn<C::Out, Key: Keep<M>>,
    R: Roll<F::Value, State: Keep<M>>,
    M: Mode,
    B: Bounds,
{
    type Out = (F::Key, R::Out);
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: Push<Self::Out, C::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let one_row = B::IS_BATCH && R::ONE_ROW;
        let note =
            if one_row { "one row for each key, at the end" } else { "keyed state, one look-up an element" };
        let meta = cx.op(&self.meta, note);
        // In a loop a row leaves at the end of each superstep, which is a watermark.
        self.edge.listen(if one_row { Grid::every() } else { next.grid() });
        let (key, roll) = (self.key.clone(), self.roll);
        let stage = if B::IS_BATCH && R::ONE_ROW {
            HeadStage::new::<Item<C::Out, F, C::Stamp>, _>(LastRows::<C::Out, F, R, N, M, C::Stamp>::new(
                key,
                roll,
                next,
                meta,
                B::IS_LOOPED,
            ))
        } else {
            let head = RollHead::<C::Out, F, R, N, M> {
                table: KeyTable::default(),
                key,
                roll,
                next,
                meta,
                faults: Faults::default(),
                failed: false,
                types: PhantomData,
            };
            HeadStage::new::<Item<C::Out, F, C::Stamp>, _>(head)
        };
        cx.head(&meta, Count::Parallelism, &[(self.edge.clone(), EdgeKind::KeyBy)], stage);
        cx.out(&self.edge);
        self.prev.build(cx, ByKeyGroup::new(self.key, self.edge), visit);
    }
}

/// Sends each record to the instance that owns its key group.
pub(crate) struct ByKeyGroup<X, F, M> {
    key: F,
    outs: Outs<M>,
    edge: EdgeRef,
    record: PhantomData<fn(X)>,
}

impl<X, F, M: Send + 'static> ByKeyGroup<X, F, M> {
    pub(crate) fn new(key: F, edge: EdgeRef) -> Self {
        ByKeyGroup { key, outs: Outs::new(edge.id), edge, record: PhantomData }
    }
}

impl<X: 'static, F: KeyFn<X>, S: Stamp> Push<X, S> for ByKeyGroup<X, F, Item<X, F, S>> {
    #[inline(always)]
    fn push(&mut self, item: X, stamp: S) {
        let (hash, route, rest) = self.key.split(item);
        let to = self.outs.of_key(hash);
        self.outs.send(to, (hash, route, rest, stamp));
    }
}

impl<X: 'static, F: Send + 'static, M: Send + 'static> Tail for ByKeyGroup<X, F, M> {
    sender_tail!(cx, self);
}

/// The head of a rolling operator's stage.
struct RollHead<X, F: KeyFn<X>, R: Roll<F::Value>, N, M: Mode> {
    table: KeyTable<F::Key, R::State, M>,
    key: F,
    roll: R,
    next: N,
    meta: Meta,
    faults: Faults,
    failed: bool,
    types: PhantomData<fn(X) -> M>,
}

impl<X, F: KeyFn<X>, R: Roll<F::Value>, N, M: Mode> RollHead<X, F, R, N, M> {
    #[cold]
    #[inline(never)]
    fn fail(&mut self, error: &OpError) {
        self.failed = true;
        self.faults.raise(operator_error(&self.meta, error));
    }
}

/// How many look-ups are under way at once.
const AHEAD: usize = 32;

impl<X, F, R, N, S, M> Head<Item<X, F, S>> for RollHead<X, F, R, N, M>
where
    X: 'static,
    F: KeyFn<X, Key: Keep<M>>,
    R: Roll<F::Value, State: Keep<M>>,
    S: Stamp,
    N: Push<(F::Key, R::Out), S>,
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
        self.faults = cx.faults().clone();
        let key = self.key.clone();
        self.table.spill(cx.space(&self.meta)?, move |k| key.hash(k))?;
        self.roll.open(&self.meta, cx).map_err(|error| operator_error(&self.meta, &error))
    }

    /// The tight loop of a rolling operator.
    #[inline(never)]
    fn items(&mut self, _: usize, items: &mut IntoIter<Item<X, F, S>>, n: usize) {
        if self.failed {
            return;
        }
        let RollHead { table, key, roll, next, .. } = &mut *self;
        if roll.begin() {
            let before = table.len();
            table.retain(|state| !roll.is_over(state), |k| key.hash(k));
            roll.forgot(before - table.len());
        }
        table.reserve(n, |k| key.hash(k));
        for (hash, ..) in items.as_slice().iter().take(AHEAD) {
            table.prefetch(*hash);
        }
        for _ in 0..n {
            if let Some((hash, ..)) = items.as_slice().get(AHEAD) {
                table.prefetch(*hash);
            }
            let Some((hash, route, rest, stamp)) = items.next() else { return };
            let (_, state) = table.entry(
                hash,
                |k| key.is(&route, k),
                |a, b| key.same(a, b),
                || key.key(&route),
                || roll.start(),
            );
            let (out_key, value) = key.unite(route, rest);
            match roll.roll(state, value) {
                Ok(Some(out)) => next.push((out_key, out), stamp),
                Ok(None) => {}
                Err(error) => return self.fail(&error),
            }
        }
    }

    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        let key = self.key.clone();
        self.table.begin_save(out, Part::Head, move |k| key.hash(k))
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        self.table.save_more(left)
    }

    fn schema(&self) -> Result<String> {
        schema_of::<F::Key, R::State, M>()
    }

    fn restore(&mut self, _: usize, bytes: &[u8]) -> Result<()> {
        let key = &self.key;
        self.table.restore(bytes, |k| key.hash(k))
    }
}

/// The stream behind a rolling operator.
pub type Rolled<X, K, C, F, R> = Stream<
    (<F as KeyTypes<X>>::Key, <R as Roll<<F as KeyTypes<X>>::Value>>::Out),
    K,
    Proved<C, Rolling<C, F, R, <K as Kind>::Mode, <K as Kind>::Bounds>>,
>;

/// The same, its results named: they are unknown where what a closure returns does not fit.
pub type RolledAs<X, K, C, F, R, Out> = Stream<
    (<F as KeyTypes<X>>::Key, Out),
    K,
    Proved<Out, Proved<C, Rolling<C, F, R, <K as Kind>::Mode, <K as Kind>::Bounds>>>,
>;

impl<X: 'static, K: Kind, C, F: KeyTypes<X>> KeyedStream<X, K, C, F> {
    #[track_caller]
    pub(crate) fn rolling<R>(self, op: &'static str, roll: R) -> Rolled<X, K, C, F, R>
    where
        R: Roll<F::Value, State: Keep<K::Mode>>,
    {
        Stream::of(Rolling::new(op, self.chain, self.key, roll))
    }
}
