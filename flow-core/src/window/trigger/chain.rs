//! `window(…).trigger(…).aggregate(…)`: how windows with a trigger are put behind a stream.

use super::head::TriggerHead;
use super::places::Places;
use super::spec::{Rules, When};
use crate::aggregate::Aggregate;
use crate::op::key_fn::NoKey;
use crate::op::operator::OpError;
use crate::op::{Chain, KeyFn, KeyTypes, Kind, Visit};
use crate::stage::{BuildCx, HeadStage, Push};
use crate::state::{Keep, Mode};
use crate::time::{Grid, Timestamp};
use crate::window::aggregate::fits;
use crate::window::base::{Base, Item, Lift, Load, Row};
use crate::window::late::{Lates, Policy};
use crate::window::singly::{Pack, Singly};
use crate::window::spec::Closing;
use crate::window::windowing::{Parts, Windowing, instances};
use std::any::TypeId;
use std::marker::PhantomData;

/// What crosses for one element: what its windows and its trigger have to know, and what the policy wants of it.
pub type TriggerItem<X, F, W, A, P> =
    Item<<F as KeyTypes<X>>::Route, (<W as Places<<F as KeyTypes<X>>::Value>>::Sent, bool, Load<X, F, A, P>)>;

/// Windows `W` that a trigger fires.
#[derive(Clone)]
pub struct Triggered<W, G> {
    pub(in crate::window) window: W,
    pub(in crate::window) rules: Rules,
    pub(in crate::window) when: G,
}

impl<W: Lates, G> Lates for Triggered<W, G> {}
#[diagnostic::do_not_recommend]
impl<K: Kind, W, G> Closing<K> for Triggered<W, G> {}

#[diagnostic::do_not_recommend]
impl<W: Windowing, G> Windowing for Triggered<W, G> {
    type Needs = W::Needs;
    type Kind<K: Kind> = W::Kind<K>;
    type Chain<X, C, F, A, P, M> = TriggerAgg<X, C, F, W, A, P, M, G>;
    fn chain<X, C, F, A, P, M>(self, parts: Parts<C, F, A, P>) -> Self::Chain<X, C, F, A, P, M> {
        TriggerAgg { parts, windows: self, types: PhantomData }
    }
}

/// A chain with aggregated windows and their trigger behind it.
pub struct TriggerAgg<X, C, F, W, A, P, M, G> {
    parts: Parts<C, F, A, P>,
    windows: Triggered<W, G>,
    types: PhantomData<fn(X) -> M>,
}

impl<X, C: Clone, F: Clone, W: Clone, A: Clone, P: Clone, M, G: Clone> Clone
    for TriggerAgg<X, C, F, W, A, P, M, G>
{
    fn clone(&self) -> Self {
        TriggerAgg { parts: self.parts.clone(), windows: self.windows.clone(), types: PhantomData }
    }
}

impl<X, C, F, W, A, P, M, G> Chain for TriggerAgg<X, C, F, W, A, P, M, G>
where
    X: 'static,
    C: Chain<Out = X>,
    F: KeyFn<X, Key: Keep<M>>,
    W: Places<F::Value>,
    A: Aggregate<F::Value, Acc: Keep<M>>,
    P: Policy<Row<X, F, A>, F::Value>,
    M: Mode,
    G: When<F::Value>,
{
    type Out = P::Emit;
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: Push<P::Emit, C::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let Parts { prev, key, aggregate, lateness, edge, meta, .. } = self.parts;
        let Triggered { window, rules, when } = self.windows;
        let (asks, name) = (G::ASKS, aggregate.name());
        let meta = cx.op(&meta, &format!("{}: {}; [{name}]", window.describe(), rules.describe(asks)));
        let checked = window.check().and(rules.check(asks)).and(aggregate.check());
        if !fits(cx, &meta, lateness.allowed, checked) {
            return;
        }
        let rules = rules.in_effect();
        let (count, kind) = instances(TypeId::of::<F>() == TypeId::of::<NoKey>());
        edge.listen(listened(&window.grid(lateness.allowed), &rules, P::REPORTS).and(&next.grid()));
        let base = Base::<X, F, A, P, C::Stamp, N>::new(key.clone(), aggregate.clone(), lateness, next, meta);
        let head = TriggerHead::<X, F, W, A, P, C::Stamp, N, M>::new(base, window.clone(), rules);
        let stage = HeadStage::new::<TriggerItem<X, F, W, A, P>, _>(head);
        cx.head(&meta, count, &[(edge.clone(), kind)], stage);
        cx.out(&edge);
        let pack = Lifted { window, when, aggregate, policy: PhantomData::<fn() -> P> };
        prev.build(cx, Singly::new(key, pack, edge, meta), visit);
    }
}

/// The watermarks at which something fires.
fn listened(windows: &Grid, rules: &Rules, reports: bool) -> Grid {
    let early = rules.early.map_or(Grid::none(), |every| Grid::steps(-1, every.0));
    let all = early.and(windows);
    if reports { all.with_exact_late() } else { all }
}

/// An element lifted, with what its windows and its trigger have to know.
struct Lifted<W, G, A, P> {
    window: W,
    when: G,
    aggregate: A,
    policy: PhantomData<fn() -> P>,
}

impl<X, F, W, G, A, P> Pack<X, F> for Lifted<W, G, A, P>
where
    F: KeyFn<X>,
    W: Places<F::Value>,
    G: When<F::Value>,
    A: Aggregate<F::Value>,
    P: Policy<Row<X, F, A>, F::Value>,
{
    type Load = (W::Sent, bool, Load<X, F, A, P>);
    #[inline(always)]
    fn pack(&self, key: &F, route: &F::Route, rest: F::Rest, time: Timestamp) -> Result<Self::Load, OpError> {
        let record = key.peek(route, &rest);
        let (sent, at_once) = (self.window.sent(record)?, self.when.says(record));
        let lift = |rest: &F::Rest| self.aggregate.lift_at(key.peek(route, rest), time);
        Ok((sent, at_once, P::load::<Lift<X, F, A>, F::Rest>(rest, lift)))
    }
}
