//! `window(count(…)).aggregate(…)`: how count windows are put behind a stream.

use super::head::{CountHead, CountItem};
use super::lifting::Lifting;
use super::spec::Counted;
use crate::aggregate::Aggregate;
use crate::op::key_fn::NoKey;
use crate::op::kind::refuse_in_loop;
use crate::op::operator::OpError;
use crate::op::{Chain, KeyFn, Kind, Visit};
use crate::stage::{BuildCx, HeadStage, Push};
use crate::state::{Keep, Mode};
use crate::time::{Grid, Timestamp};
use crate::window::aggregate::fits;
use crate::window::base::{Lift, Row};
use crate::window::late::Policy;
use crate::window::singly::{Pack, Singly};
use crate::window::windowing::{Adds, Parts, Windowing, instances};
use std::any::TypeId;
use std::marker::PhantomData;

#[diagnostic::do_not_recommend]
impl<L> Windowing for Counted<L> {
    type Needs = Adds;
    type Kind<K: Kind> = K;
    type Chain<X, C, F, A, P, M> = CountAgg<X, C, F, L, A, P, M>;
    fn chain<X, C, F, A, P, M>(self, parts: Parts<C, F, A, P>) -> CountAgg<X, C, F, L, A, P, M> {
        CountAgg { parts, window: self, types: PhantomData }
    }
}

/// A chain with aggregated count windows behind it.
pub struct CountAgg<X, C, F, L, A, P, M> {
    parts: Parts<C, F, A, P>,
    window: Counted<L>,
    types: PhantomData<fn(X) -> M>,
}

impl<X, C: Clone, F: Clone, L, A: Clone, P: Clone, M> Clone for CountAgg<X, C, F, L, A, P, M> {
    fn clone(&self) -> Self {
        CountAgg { parts: self.parts.clone(), window: self.window, types: PhantomData }
    }
}

impl<X, C, F, L, A, P, M> Chain for CountAgg<X, C, F, L, A, P, M>
where
    X: 'static,
    C: Chain<Out = X>,
    F: KeyFn<X, Key: Keep<M>>,
    L: Lifting,
    A: Aggregate<F::Value, Acc: Keep<M>>,
    P: Policy<Row<X, F, A>, F::Value>,
    M: Mode,
{
    type Out = P::Emit;
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: Push<P::Emit, C::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let Parts { prev, key, aggregate, lateness, edge, meta, looped } = self.parts;
        let window = self.window;
        let note = format!("{}: the open windows of each key; [{}]", window.describe(), aggregate.name());
        let meta = cx.op(&meta, &note);
        refuse_in_loop(looped, cx, &meta);
        if !fits(cx, &meta, lateness.allowed, window.check().and(aggregate.check())) {
            return;
        }
        let (count, kind) = instances(TypeId::of::<F>() == TypeId::of::<NoKey>());
        // What is left over at the end is behind the watermark: whoever reports by how much has to meet the exact one.
        let grid = next.grid();
        edge.listen(if grid.exact_late() { Grid::every().and(&grid) } else { grid });
        let (to, of) = (key.clone(), aggregate.clone());
        let head = CountHead::<X, F, A, L, P, C::Stamp, N, M>::new(key, aggregate, window, next, meta);
        cx.head(&meta, count, &[(edge.clone(), kind)], HeadStage::new::<CountItem<X, F, A, L>, _>(head));
        cx.out(&edge);
        let pack = Lifted { aggregate: of, lifting: PhantomData::<fn() -> L> };
        prev.build(cx, Singly::new(to, pack, edge, meta), visit);
    }
}

/// What crosses of an element.
struct Lifted<A, L> {
    aggregate: A,
    lifting: PhantomData<fn() -> L>,
}

impl<X, F: KeyFn<X>, A: Aggregate<F::Value>, L: Lifting> Pack<X, F> for Lifted<A, L> {
    type Load = L::Load<Lift<X, F, A>, F::Rest>;
    #[inline(always)]
    fn pack(&self, key: &F, route: &F::Route, rest: F::Rest, time: Timestamp) -> Result<Self::Load, OpError> {
        let lift = |rest: &F::Rest| self.aggregate.lift_at(key.peek(route, rest), time);
        Ok(L::load::<Lift<X, F, A>, F::Rest>(rest, lift))
    }
}
