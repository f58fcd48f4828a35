//! How a join for ever is put behind two streams.

use super::head::ForeverHead;
use crate::error::{Error, ErrorKind};
use crate::join::form::Inner;
use crate::join::joined::{JoinChain, JoinOp, Joined};
use crate::join::side::Crossing;
use crate::op::{Key, Kind, Stream};
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, HeadStage, Meta, Push, Stamp};
use crate::state::{Keep, Mode};
use crate::time::Millis;
use std::marker::PhantomData;

/// A join whose rows are never wrong later: only elements that match leave one.
#[diagnostic::on_unimplemented(
    message = "what matches nothing today may match tomorrow: a join for ever has no rows of elements alone",
    label = "takes `join` only",
    note = "write `join` before it; rows of elements alone need an end: `.window(…)`, `.within(…)`"
)]
pub trait Matching {}
impl Matching for Inner {}

/// A join of all elements of a key.
pub struct Forever<S, M> {
    ttl: Option<Millis>,
    meta: Meta,
    types: PhantomData<fn() -> (S, M)>,
}

impl<S, M> Clone for Forever<S, M> {
    fn clone(&self) -> Self {
        Forever { ttl: self.ttl, meta: self.meta, types: PhantomData }
    }
}

impl<Q, L, R, S, M> JoinOp<Q, L, R> for Forever<S, M>
where
    Q: Key + Keep<M>,
    L: Clone + Send + Keep<M>,
    R: Clone + Send + Keep<M>,
    S: Stamp,
    M: Mode,
{
    type Out = (Q, (L, R));
    type Stamp = S;
    fn build<N: Push<(Q, (L, R)), S>>(self, cx: &mut BuildCx, edges: [EdgeRef; 2], next: N) {
        let meta = cx.op(&self.meta, &explain(self.ttl));
        if let Some(error) = self.ttl.filter(|ttl| ttl.0 <= 0).map(no_life) {
            return cx.fail(error.in_stage(meta.id()).at(meta.at()));
        }
        let grid = next.grid();
        edges.iter().for_each(|edge| edge.listen(grid.clone()));
        let head = ForeverHead::<Q, L, R, S, N, M>::new(self.ttl, next, meta);
        let inputs = edges.map(|edge| (edge, EdgeKind::KeyBy));
        cx.head(&meta, Count::Parallelism, &inputs, HeadStage::new::<Crossing<Q, L, R>, _>(head));
    }
}

fn explain(ttl: Option<Millis>) -> String {
    match ttl {
        Some(ttl) => format!("join of all elements of a key, each of which lives for {ttl}"),
        None => "join of all elements of a key, which are kept for ever".to_owned(),
    }
}

#[cold]
fn no_life(ttl: Millis) -> Error {
    Error::new(ErrorKind::Plan, format!("a time to live of {ttl}: it has to be positive"))
}

/// The chain behind a join for ever.
pub type ForeverJoin<Q, L, R, K, E> = JoinChain<Q, L, R, Forever<<K as Kind>::Stamp, <K as Kind>::Mode>, E>;

impl<Q: Key, L, R, K: Kind, J, F, E> Joined<Q, L, R, K, J, F, E>
where
    L: Clone + Send + 'static,
    R: Clone + Send + 'static,
    J: Kind<Stamp = K::Stamp, Mode = K::Mode>,
    F: Matching,
{
    /// Each element with all of its key on the other side, whichever comes first: `(K, (L, R))`, at the later of both times where there
    /// is event time. Both sides are kept for ever, or for as long as `.ttl(…)` behind it says.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let people = source(from_vec(vec![("ann", 1), ("bob", 2)]));
    /// let orders = source(from_vec(vec![("ann", "tea"), ("ann", "rum")]));
    /// let both = people.key_by(|p| p.0).join(orders.key_by(|o| o.0)).forever();
    /// job.add(both.map(|(name, (_, order))| (name, order.1)).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// let mut rows = out.take();
    /// rows.sort();
    /// assert_eq!(rows, [("ann", "rum"), ("ann", "tea")]);
    /// ```
    #[track_caller]
    pub fn forever(self) -> Stream<(Q, (L, R)), K::With<J>, ForeverJoin<Q, L, R, K, E>> {
        Stream::of(JoinChain::of(self, Forever { ttl: None, meta: Meta::new("forever"), types: PhantomData }))
    }
}

impl<T, Q, L, R, K, S, M, E> Stream<T, K, JoinChain<Q, L, R, Forever<S, M>, E>> {
    /// For so long on the host's clock an element is kept; then it is gone, and counted as `expired`.
    pub fn ttl(mut self, ttl: impl Into<Millis>) -> Self {
        self.chain.op.ttl = Some(ttl.into());
        self
    }
}
