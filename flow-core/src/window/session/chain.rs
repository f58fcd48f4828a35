//! `window(session(…)).aggregate(…)`: how sessions are put behind a stream.

use super::head::{SessionHead, SessionItem};
use super::spec::{Gap, Session};
use crate::aggregate::Aggregate;
use crate::error::Result;
use crate::op::key_fn::NoKey;
use crate::op::operator::OpError;
use crate::op::{Chain, KeyFn, Kind, Visit};
use crate::stage::{BuildCx, HeadStage, Push};
use crate::state::{Keep, Mode};
use crate::time::{Grid, Timestamp};
use crate::window::aggregate::fits;
use crate::window::base::{Lift, Load, Row};
use crate::window::late::Policy;
use crate::window::singly::{Pack, Singly};
use crate::window::windowing::{Merging, Parts, Windowing, instances};
use std::any::TypeId;
use std::marker::PhantomData;

#[diagnostic::do_not_recommend]
impl<G> Windowing for Session<G> {
    type Needs = Merging;
    type Kind<K: Kind> = K;
    type Chain<X, C, F, A, P, M> = SessionAgg<X, C, F, G, A, P, M>;
    fn chain<X, C, F, A, P, M>(self, parts: Parts<C, F, A, P>) -> SessionAgg<X, C, F, G, A, P, M> {
        SessionAgg { parts, gap: self.gap, types: PhantomData }
    }
}

/// A chain with aggregated sessions behind it.
pub struct SessionAgg<X, C, F, G, A, P, M> {
    parts: Parts<C, F, A, P>,
    gap: G,
    types: PhantomData<fn(X) -> M>,
}

impl<X, C: Clone, F: Clone, G: Clone, A: Clone, P: Clone, M> Clone for SessionAgg<X, C, F, G, A, P, M> {
    fn clone(&self) -> Self {
        SessionAgg { parts: self.parts.clone(), gap: self.gap.clone(), types: PhantomData }
    }
}

impl<X, C, F, G, A, P, M> Chain for SessionAgg<X, C, F, G, A, P, M>
where
    X: 'static,
    C: Chain<Out = X>,
    F: KeyFn<X, Key: Keep<M>>,
    G: Gap<F::Value>,
    A: Aggregate<F::Value, Acc: Keep<M>>,
    P: Policy<Row<X, F, A>, F::Value>,
    M: Mode,
{
    type Out = P::Emit;
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: Push<P::Emit, C::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let Parts { prev, key, aggregate, lateness, edge, meta, .. } = self.parts;
        let note = format!("{}: an ordered list a key; [{}]", self.gap.describe(), aggregate.name());
        let meta = cx.op(&meta, &note);
        if !fits(cx, &meta, lateness.allowed, self.gap.check().and(aggregate.check())) {
            return;
        }
        let (count, kind) = instances(TypeId::of::<F>() == TypeId::of::<NoKey>());
        // A session may end at any time.
        edge.listen(Grid::every().and(&next.grid()));
        let gap = self.gap.clone();
        let (to, of) = (key.clone(), aggregate.clone());
        let head =
            SessionHead::<X, F, G, A, P, C::Stamp, N, M>::new(key, gap, aggregate, lateness, next, meta);
        let stage = HeadStage::new::<SessionItem<X, F, G, A, P>, _>(head);
        cx.head(&meta, count, &[(edge.clone(), kind)], stage);
        cx.out(&edge);
        let pack = Lifted { gap: self.gap, aggregate: of, policy: PhantomData::<fn() -> P> };
        prev.build(cx, Singly::new(to, pack, edge, meta), visit);
    }
}

/// An element lifted, with its gap.
struct Lifted<G, A, P> {
    gap: G,
    aggregate: A,
    policy: PhantomData<fn() -> P>,
}

impl<X, F, G, A, P> Pack<X, F> for Lifted<G, A, P>
where
    F: KeyFn<X>,
    G: Gap<F::Value>,
    A: Aggregate<F::Value>,
    P: Policy<Row<X, F, A>, F::Value>,
{
    type Load = (G::Sent, Load<X, F, A, P>);
    #[inline(always)]
    fn pack(&self, key: &F, route: &F::Route, rest: F::Rest, time: Timestamp) -> Result<Self::Load, OpError> {
        let gap = self.gap.of(key.peek(route, &rest))?;
        let lift = |rest: &F::Rest| self.aggregate.lift_at(key.peek(route, rest), time);
        Ok((gap, P::load::<Lift<X, F, A>, F::Rest>(rest, lift)))
    }
}
