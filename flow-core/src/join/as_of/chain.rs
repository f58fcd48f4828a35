//! How a temporal join is put behind two streams.

use super::way::Versions;
use crate::join::form::Leading;
use crate::join::joined::{JoinChain, JoinOp, Joined};
use crate::join::side::Crossing;
use crate::join::timed::TimedHead;
use crate::op::kind::HasEventTime;
use crate::op::{Either, Key, Kind, Stream};
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, HeadStage, Meta, Push, Stamp};
use crate::state::{Keep, Mode};
use crate::time::Grid;
use crate::window::late::{DropLate, Policy};
use std::marker::PhantomData;

/// A join of each left element with the version that held at its time.
pub struct AsOf<F, P, S, M> {
    policy: P,
    meta: Meta,
    types: PhantomData<fn() -> (F, S, M)>,
}

impl<F, P: Copy, S, M> Clone for AsOf<F, P, S, M> {
    fn clone(&self) -> Self {
        AsOf { policy: self.policy, meta: self.meta, types: PhantomData }
    }
}

impl<Q, L, R, F, P, S, M> JoinOp<Q, L, R> for AsOf<F, P, S, M>
where
    Q: Key + Keep<M>,
    L: Clone + Send + Keep<M>,
    R: Clone + Send + Keep<M>,
    F: Leading<L, R, Out: Send>,
    P: Policy<(Q, F::Out), Either<L, R>>,
    S: Stamp,
    M: Mode,
{
    type Out = P::Emit;
    type Stamp = S;
    fn build<N: Push<P::Emit, S>>(self, cx: &mut BuildCx, edges: [EdgeRef; 2], next: N) {
        let note = format!(
            "{} as of the left element's time: the versions of each key that may still be asked for",
            F::NAME
        );
        let meta = cx.op(&self.meta, &note);
        // Every watermark says that the versions up to it are there.
        let grid = Grid::every().and(&next.grid());
        edges.iter().for_each(|edge| edge.listen(grid.clone()));
        let head = TimedHead::<Q, L, R, _, P, S, N, M>::new(Versions::<F>::new(), next, meta);
        let inputs = edges.map(|edge| (edge, EdgeKind::KeyBy));
        cx.head(&meta, Count::Parallelism, &inputs, HeadStage::new::<Crossing<Q, L, R>, _>(head));
    }
}

/// The chain behind a temporal join.
pub type AsOfJoin<Q, L, R, K, F, P, E> =
    JoinChain<Q, L, R, AsOf<F, P, <K as Kind>::Stamp, <K as Kind>::Mode>, E>;

impl<Q: Key, L, R, K: HasEventTime, J, F, E> Joined<Q, L, R, K, J, F, E>
where
    L: Clone + Send + 'static,
    R: Clone + Send + 'static,
    J: Kind<Stamp = K::Stamp, Mode = K::Mode>,
    F: Leading<L, R>,
{
    /// Each left element with the right element of its key that held at its time: the last one at or before it, of equal times the
    /// one that arrived last. `(K, (L, R))` at the left element's time, in order of time; of `left_join`, `(K, (L, Option<R>))`.
    ///
    /// A left element waits until the watermark has come to its time. An element of either side at or behind the watermark is
    /// late; `.late(…)` says what becomes of it. The last version of each key is kept.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let paid = source(from_vec(vec![("USD", 3, 10.0), ("USD", 8, 10.0)])).event_time(|x| x.1).disorder(Millis(0));
    /// let rates = source(from_vec(vec![("USD", 1, 0.9), ("USD", 5, 0.8)])).event_time(|x| x.1).disorder(Millis(0));
    /// let both = paid.key_by(|x| x.0).join(rates.key_by(|x| x.0)).as_of();
    /// job.add(both.map(|(_, (paid, rate))| paid.2 * rate.2).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [9.0, 8.0]);
    /// ```
    #[track_caller]
    pub fn as_of(self) -> Stream<(Q, F::Out), K::With<J>, AsOfJoin<Q, L, R, K, F, DropLate, E>> {
        let op = AsOf { policy: DropLate, meta: Meta::new("as_of"), types: PhantomData };
        Stream::of(JoinChain::of(self, op))
    }
}

impl<T, Q, L, R, K, F, P, S, M, E> Stream<T, K, JoinChain<Q, L, R, AsOf<F, P, S, M>, E>> {
    /// What becomes of late elements of a temporal join: see [`late`](crate::window::aggregate::WindowedStream::late).
    pub fn late<B>(self, policy: B) -> B::Output<K, JoinChain<Q, L, R, AsOf<F, B, S, M>, E>>
    where
        L: 'static,
        R: 'static,
        T: 'static,
        B: Policy<T, Either<L, R>>,
    {
        B::output(Stream::of(self.chain.with(|as_of| AsOf { policy, meta: as_of.meta, types: PhantomData })))
    }
}
