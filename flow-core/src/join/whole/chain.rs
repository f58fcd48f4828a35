//! How a join of two streams that end is put behind them.

use super::head::{Finding, Hash, SortMerge, WholeHead};
use crate::external::Spill;
use crate::join::form::Whole;
use crate::join::joined::{JoinChain, JoinOp, Joined};
use crate::join::side::Crossing;
use crate::op::kind::{BeginsAnew, Ends};
use crate::op::proved::claim;
use crate::op::sort::SpillOf;
use crate::op::{Key, Kind, Proved, Stream};
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, HeadStage, Meta, Push};
use crate::time::Grid;
use std::marker::PhantomData;

/// A key that can be sorted, also on the disk.
pub trait Sortable: Ord + Spill {}
impl<Q: Ord + Spill> Sortable for Q {}

claim! {
    /// What keys `sort_merge` takes.
    #[diagnostic::on_unimplemented(
        message = "`sort_merge` cannot sort keys of type `{Self}`: they have no order, or cannot leave the memory",
        label = "keys of type `{Self}` are not `Ord + Serialize + DeserializeOwned`",
        note = "derive `PartialOrd` and `Ord` for `{Self}`, and `serde::Serialize` and `serde::Deserialize`; `.hash()` needs no order"
    )]
    pub trait MergedBy<P> for Q where Sortable
}

/// A join of all elements of a key, found in the way `A`.
pub struct WholeOp<F, A> {
    meta: Meta,
    types: PhantomData<fn() -> (F, A)>,
}

impl<F, A> Clone for WholeOp<F, A> {
    fn clone(&self) -> Self {
        WholeOp { meta: self.meta, types: PhantomData }
    }
}

impl<Q, L, R, F, A> JoinOp<Q, L, R> for WholeOp<F, A>
where
    Q: Key + Spill,
    L: Spill,
    R: Spill,
    F: Whole<L, R>,
    A: Finding<Q, L, R>,
{
    type Out = (Q, F::Out);
    type Stamp = ();
    fn build<N: Push<(Q, F::Out), ()>>(self, cx: &mut BuildCx, edges: [EdgeRef; 2], next: N) {
        let note = format!("{} of two sides that end, {}", F::NAME, A::EXPLAIN);
        let meta = cx.op(&self.meta, &note);
        // Event time ends here.
        edges.iter().for_each(|edge| edge.listen(Grid::none()));
        let head = WholeHead::<Q, L, R, F, A, N>::new(next, meta);
        let inputs = edges.map(|edge| (edge, EdgeKind::KeyBy));
        cx.head(&meta, Count::Parallelism, &inputs, HeadStage::new::<Crossing<Q, L, R>, _>(head));
    }
}

/// The chain behind it.
pub type WholeJoin<Q, L, R, F, A, E> = JoinChain<Q, L, R, WholeOp<F, A>, E>;

/// The kind of both together, without event time.
type Both<K, J> = <<K as Kind>::Untimed as Kind>::With<<J as Kind>::Untimed>;

/// The stream behind it, where keys and elements of both sides can leave the memory.
type Rows<Q, L, R, K, J, F, A, E, P, O, S> = Stream<
    (Q, <F as Whole<L, R>>::Out),
    Both<K, J>,
    Proved<P, Proved<O, Proved<S, WholeJoin<Q, L, R, F, A, E>>>>,
>;

impl<Q: Key, L, R, K: Kind, J, F, E> Joined<Q, L, R, K, J, F, E>
where
    L: Clone + Send + 'static,
    R: Clone + Send + 'static,
    J: Kind<Mode = K::Mode>,
    F: Whole<L, R>,
{
    /// All elements of a key on both sides, which have to end: a row for each pair, and for elements without one what `left_join` and its like say;
    /// `semi_join` and `anti_join` give left elements alone. Rows leave at the end, in no order, without event time.
    ///
    /// A table of the right side is made, so that should be the smaller one. Beyond the job's [`memory`](crate::Job::memory) both sides lie on the
    /// disk, divided by their keys, part by part; of a single key that is too large the right elements are taken in blocks. `spilled` counts the elements that
    /// were written, once for each time.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let (out, silent) = (Collected::new(), Collected::new());
    /// # let job = Job::build("doc", |job| {
    /// let people = || source(from_vec(vec![("ann", 34), ("bob", 27)])).batch().map(|p| (p.0.to_owned(), p.1));
    /// let calls = || source(from_vec(vec![("ann", 4), ("eve", 7), ("ann", 1)])).batch().map(|c| (c.0.to_owned(), c.1));
    /// let both = people().key_by(|p| p.0.clone()).full_join(calls().key_by(|c| c.0.clone())).hash();
    /// job.add(both.map(|(name, (p, c))| (name, p.map(|p| p.1), c.map(|c| c.1))).collect(&out));
    /// let without = people().key_by(|p| p.0.clone()).anti_join(calls().key_by(|c| c.0.clone())).hash();
    /// job.add(without.map(|(name, _)| name).collect(&silent));
    /// # });
    /// # job.run().unwrap();
    /// let mut rows = out.take();
    /// rows.sort();
    /// assert_eq!(rows[..2], [("ann".into(), Some(34), Some(1)), ("ann".into(), Some(34), Some(4))]);
    /// assert_eq!(rows[2..], [("bob".into(), Some(27), None), ("eve".into(), None, Some(7))]);
    /// assert_eq!(silent.take(), ["bob"]);
    /// ```
    #[track_caller]
    pub fn hash<P, O, S>(self) -> Rows<Q, L, R, K, J, F, Hash, E, P, O, S>
    where
        K: Ends + BeginsAnew,
        J: Ends,
        Q: SpillOf<P>,
        L: SpillOf<O>,
        R: SpillOf<S>,
    {
        Stream::of(JoinChain::of(self, WholeOp { meta: Meta::new("hash"), types: PhantomData }))
    }

    /// The same rows as [`hash`](Joined::hash) in order of their keys, on each instance: both sides are sorted, and go through side by side. Beyond the job's
    /// [`memory`](crate::Job::memory) they lie on the disk as sorted runs; no side should be the smaller one.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let people = source(from_vec(vec![(3u32, 34), (1, 27), (2, 50)])).batch();
    /// let calls = source(from_vec(vec![(1u32, 4), (3, 7), (1, 9)])).batch();
    /// let both = people.key_by(|p| p.0).semi_join(calls.key_by(|c| c.0)).sort_merge();
    /// job.add(both.map(|(_, person)| person).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [(1, 27), (3, 34)]);
    /// ```
    #[track_caller]
    pub fn sort_merge<P, O, S>(self) -> Rows<Q, L, R, K, J, F, SortMerge, E, P, O, S>
    where
        K: Ends + BeginsAnew,
        J: Ends,
        Q: MergedBy<P>,
        L: SpillOf<O>,
        R: SpillOf<S>,
    {
        Stream::of(JoinChain::of(self, WholeOp { meta: Meta::new("sort_merge"), types: PhantomData }))
    }
}
