//! One side of a join, up to the exchange: each element goes to the instance that owns its key, and says on which side it was.

use crate::batch::Mark;
use crate::error::Result;
use crate::op::edges::sender_tail;
use crate::op::{Chain, Either, KeyFn, Terminal, Visit};
use crate::stage::{BuildCx, EdgeRef, OpenCx, Outs, Push, Stamp, Tail};
use crate::time::Grid;
use crate::window::base::Item;
use std::marker::PhantomData;

/// What crosses of an element of either side.
pub type Crossing<Q, L, R> = Item<Q, Either<L, R>>;

/// Which side an element is on.
pub trait Tag<T>: Send + 'static {
    /// An element of either side.
    type Either: Send + 'static;
    /// One of this side.
    fn tag(value: T) -> Self::Either;
}

/// The left side of a join with records `R` on the other.
pub struct OnLeft<R>(PhantomData<fn() -> R>);
/// The right side of a join with records `L` on the other.
pub struct OnRight<L>(PhantomData<fn() -> L>);

impl<L: Send + 'static, R: Send + 'static> Tag<L> for OnLeft<R> {
    type Either = Either<L, R>;
    #[inline(always)]
    fn tag(left: L) -> Either<L, R> {
        Either::A(left)
    }
}

impl<L: Send + 'static, R: Send + 'static> Tag<R> for OnRight<L> {
    type Either = Either<L, R>;
    #[inline(always)]
    fn tag(right: R) -> Either<L, R> {
        Either::B(right)
    }
}

/// The end of a stream in one side of a join.
pub struct SideEnd<X, C, F, G> {
    prev: C,
    key: F,
    edge: EdgeRef,
    types: PhantomData<fn(X) -> G>,
}

impl<X, C, F, G> SideEnd<X, C, F, G> {
    pub(super) fn new(prev: C, key: F, edge: EdgeRef) -> Self {
        SideEnd { prev, key, edge, types: PhantomData }
    }
}

impl<X, C: Clone, F: Clone, G> Clone for SideEnd<X, C, F, G> {
    fn clone(&self) -> Self {
        Self::new(self.prev.clone(), self.key.clone(), self.edge.clone())
    }
}

impl<X, C, F, G> Terminal for SideEnd<X, C, F, G>
where
    X: 'static,
    C: Chain<Out = X>,
    F: KeyFn<X>,
    G: Tag<F::Value>,
{
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V) {
        cx.out(&self.edge);
        let SideEnd { prev, key, edge, .. } = self;
        let send = SideSend::<X, F, G> { key, outs: Outs::new(edge.id), edge, record: PhantomData };
        prev.build(cx, send, visit);
    }
}

/// The sender of one side.
struct SideSend<X, F: KeyFn<X>, G: Tag<F::Value>> {
    key: F,
    outs: Outs<Item<F::Key, G::Either>>,
    edge: EdgeRef,
    record: PhantomData<fn(X)>,
}

impl<X: 'static, F: KeyFn<X>, G: Tag<F::Value>, S: Stamp> Push<X, S> for SideSend<X, F, G> {
    #[inline(always)]
    fn push(&mut self, item: X, stamp: S) {
        let (hash, route, rest) = self.key.split(item);
        let (key, value) = self.key.unite(route, rest);
        let to = self.outs.of_key(hash);
        self.outs.send(to, Item { hash, time: stamp.time(), route: key, load: G::tag(value) });
    }
}

impl<X: 'static, F: KeyFn<X>, G: Tag<F::Value>> Tail for SideSend<X, F, G> {
    sender_tail!(cx, self);
}
