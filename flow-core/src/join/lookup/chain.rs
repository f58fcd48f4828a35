//! How a lookup is put behind two streams.

use super::head::LookupHead;
use crate::join::form::Leading;
use crate::join::joined::{JoinChain, JoinOp, Joined};
use crate::join::side::Crossing;
use crate::op::kind::{Batch, Bounded, Finite, Replay};
use crate::op::{Is, Key, Kind, Stream};
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, HeadStage, Meta, Push, Stamp};
use crate::state::{Keep, Mode};
use crate::time::Grid;
use std::marker::PhantomData;

/// A stream that is read whole before another flows: it ends.
#[diagnostic::on_unimplemented(
    message = "the right side of `lookup` never ends, but it is read whole before the left side flows",
    label = "needs a right side that ends",
    note = "bound it (`.take(n)`, a file, an iterator), or join with a table that changes: `.as_of()`",
    note = "in a loop in another: a stream of the outer body goes on as long as the inner loop waits for it; let what is needed of it go through the inner loop as part of its records"
)]
pub trait ReadWhole: Kind<Bounds: Finite> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Mode> ReadWhole for Is<S, Bounded, R, M> {}
#[diagnostic::do_not_recommend]
impl<S: Stamp, R: Replay, M: Mode> ReadWhole for Is<S, Batch, R, M> {}

/// A join of each left element with all right ones of its key.
pub struct Lookup<F, S, M> {
    meta: Meta,
    types: PhantomData<fn() -> (F, S, M)>,
}

impl<F, S, M> Clone for Lookup<F, S, M> {
    fn clone(&self) -> Self {
        Lookup { meta: self.meta, types: PhantomData }
    }
}

impl<Q, L, R, F, S, M> JoinOp<Q, L, R> for Lookup<F, S, M>
where
    Q: Key + Keep<M>,
    L: Clone + Send + Keep<M>,
    R: Clone + Send + Keep<M>,
    F: Leading<L, R>,
    S: Stamp,
    M: Mode,
{
    type Out = (Q, F::Out);
    type Stamp = S;
    fn build<N: Push<(Q, F::Out), S>>(self, cx: &mut BuildCx, edges: [EdgeRef; 2], next: N) {
        let note = format!(
            "{} by looking up: the right side is read whole first, and meanwhile the left one waits in memory",
            F::NAME
        );
        let meta = cx.op(&self.meta, &note);
        edges[0].listen(next.grid());
        // Only its end matters.
        edges[1].listen(Grid::none());
        let head = LookupHead::<Q, L, R, F, S, N, M>::new(next, meta);
        let inputs = edges.map(|edge| (edge, EdgeKind::KeyBy));
        cx.head(&meta, Count::Parallelism, &inputs, HeadStage::new::<Crossing<Q, L, R>, _>(head));
    }
}

/// The chain behind a lookup.
pub type LookupJoin<Q, L, R, K, F, E> =
    JoinChain<Q, L, R, Lookup<F, <K as Kind>::Stamp, <K as Kind>::Mode>, E>;

impl<Q: Key, L, R, K: Kind, J, F, E> Joined<Q, L, R, K, J, F, E>
where
    L: Clone + Send + 'static,
    R: Clone + Send + 'static,
    F: Leading<L, R>,
{
    /// Each left element with all right elements of its key: a row for each, in order of arrival. The right side, which has to end, is read
    /// whole first; it needs no event time. `(K, (L, R))` at the left element's time; of `left_join`, `(K, (L, Option<R>))`.
    ///
    /// Left elements that come before that wait in memory (`waited` counts them), so both sides may be one stream.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let calls = source(from_vec(vec![("ann", 4), ("bob", 7)]));
    /// let towns = source(from_vec(vec![("ann", "Rome")]));
    /// let both = calls.key_by(|c| c.0).left_join(towns.key_by(|t| t.0)).lookup();
    /// job.add(both.map(|(name, (call, town))| (name, call.1, town.map(|t| t.1))).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [("ann", 4, Some("Rome")), ("bob", 7, None)]);
    /// ```
    #[track_caller]
    pub fn lookup(self) -> Stream<(Q, F::Out), K, LookupJoin<Q, L, R, K, F, E>>
    where
        J: ReadWhole,
    {
        Stream::of(JoinChain::of(self, Lookup { meta: Meta::new("lookup"), types: PhantomData }))
    }
}
