//! How an interval join is put behind two streams.

use super::bounds::Bounds;
use super::way::Interval;
use crate::join::form::Form;
use crate::join::joined::{JoinChain, JoinOp, Joined};
use crate::join::side::Crossing;
use crate::join::timed::TimedHead;
use crate::op::kind::HasEventTime;
use crate::op::{Either, Key, Kind, Stream};
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, HeadStage, Meta, Push, Stamp};
use crate::state::{Keep, Mode};
use crate::time::{Grid, Millis};
use crate::window::aggregate::fits;
use crate::window::late::{DropLate, Policy};
use std::marker::PhantomData;

/// A join of elements whose times are within bounds of each other.
pub struct Within<F, P, S, M> {
    bounds: Bounds,
    policy: P,
    meta: Meta,
    types: PhantomData<fn() -> (F, S, M)>,
}

impl<F, P: Copy, S, M> Clone for Within<F, P, S, M> {
    fn clone(&self) -> Self {
        Within { bounds: self.bounds, policy: self.policy, meta: self.meta, types: PhantomData }
    }
}

impl<Q, L, R, F, P, S, M> JoinOp<Q, L, R> for Within<F, P, S, M>
where
    Q: Key + Keep<M>,
    L: Clone + Send + Keep<M>,
    R: Clone + Send + Keep<M>,
    F: Form<L, R, Out: Send>,
    P: Policy<(Q, F::Out), Either<L, R>>,
    S: Stamp,
    M: Mode,
{
    type Out = P::Emit;
    type Stamp = S;
    fn build<N: Push<P::Emit, S>>(self, cx: &mut BuildCx, edges: [EdgeRef; 2], next: N) {
        let Within { bounds, meta, .. } = self;
        let note =
            format!("{} {}: the elements of each key that may still match", F::NAME, bounds.describe());
        let meta = cx.op(&meta, &note);
        if !fits(cx, &meta, Millis(0), bounds.check()) {
            return;
        }
        // Whether an element is late, and when it leaves alone, depends on every watermark.
        let grid = Grid::every().and(&next.grid());
        edges.iter().for_each(|edge| edge.listen(grid.clone()));
        let head = TimedHead::<Q, L, R, _, P, S, N, M>::new(Interval::<F>::new(bounds), next, meta);
        let inputs = edges.map(|edge| (edge, EdgeKind::KeyBy));
        cx.head(&meta, Count::Parallelism, &inputs, HeadStage::new::<Crossing<Q, L, R>, _>(head));
    }
}

/// The chain behind an interval join.
pub type WithinJoin<Q, L, R, K, F, P, E> =
    JoinChain<Q, L, R, Within<F, P, <K as Kind>::Stamp, <K as Kind>::Mode>, E>;

/// What the setters of an interval join return for a policy `B`.
type WithPolicy<Q, L, R, T, K, F, B, S, M, E> =
    <B as Policy<T, Either<L, R>>>::Output<K, JoinChain<Q, L, R, Within<F, B, S, M>, E>>;

impl<Q: Key, L, R, K: HasEventTime, J, F, E> Joined<Q, L, R, K, J, F, E>
where
    L: Clone + Send + 'static,
    R: Clone + Send + 'static,
    J: Kind<Stamp = K::Stamp, Mode = K::Mode>,
    F: Form<L, R>,
{
    /// Each left element with the right elements of its key whose time is from `lower` to `upper` after its own, both included
    /// (and before it, where they are negative): `(K, (L, R))`, at the later of both times.
    ///
    /// An element that matches nothing leaves, where the join says so, once nothing can match it any more, at its own time; the
    /// watermark is held back for it. An element at or behind the watermark is late. `.lower_bound_exclusive(true)` and
    /// `.upper_bound_exclusive(true)` leave a bound out, and `.late(…)` says what becomes of late elements.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let orders = source(from_vec(vec![("a", 5), ("b", 9)])).event_time(|x| x.1).disorder(Millis(0));
    /// let paid = source(from_vec(vec![("a", 3), ("a", 6), ("a", 7)])).event_time(|x| x.1).disorder(Millis(0));
    /// let pairs = orders.key_by(|x| x.0).join(paid.key_by(|x| x.0)).within(Millis(-2), Millis(1));
    /// job.add(pairs.map(|(key, (order, paid))| (key, order.1, paid.1)).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// let mut rows = out.take();
    /// rows.sort();
    /// assert_eq!(rows, [("a", 5, 3), ("a", 5, 6)]);
    /// ```
    #[track_caller]
    pub fn within(
        self,
        lower: impl Into<Millis>,
        upper: impl Into<Millis>,
    ) -> Stream<(Q, F::Out), K::With<J>, WithinJoin<Q, L, R, K, F, DropLate, E>> {
        let bounds =
            Bounds { lower: lower.into(), upper: upper.into(), above_lower: false, below_upper: false };
        let op = Within { bounds, policy: DropLate, meta: Meta::new("within"), types: PhantomData };
        Stream::of(JoinChain::of(self, op))
    }
}

impl<T, Q, L, R, K, F, P, S, M, E> Stream<T, K, JoinChain<Q, L, R, Within<F, P, S, M>, E>> {
    /// Whether the lower bound itself is left out.
    pub fn lower_bound_exclusive(mut self, exclusive: bool) -> Self {
        self.chain.op.bounds.above_lower = exclusive;
        self
    }

    /// Whether the upper bound itself is left out.
    pub fn upper_bound_exclusive(mut self, exclusive: bool) -> Self {
        self.chain.op.bounds.below_upper = exclusive;
        self
    }

    /// What becomes of late elements of an interval join: see [`late`](crate::window::aggregate::WindowedStream::late).
    pub fn late<B>(self, policy: B) -> WithPolicy<Q, L, R, T, K, F, B, S, M, E>
    where
        L: 'static,
        R: 'static,
        T: 'static,
        B: Policy<T, Either<L, R>>,
    {
        let change = |within: Within<F, P, S, M>| {
            let Within { bounds, meta, .. } = within;
            Within { bounds, policy, meta, types: PhantomData }
        };
        B::output(Stream::of(self.chain.with(change)))
    }
}
