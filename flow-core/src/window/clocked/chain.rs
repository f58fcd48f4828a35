//! `window(tumbling(10s, time = processing)).aggregate(…)`: how windows of processing time are put behind a stream.

use super::head::{OnClock, Tells};
use super::{Clocked, NeverLate};
use crate::aggregate::Aggregate;
use crate::error::Result;
use crate::op::key_fn::NoKey;
use crate::op::kind::refuse_in_loop;
use crate::op::operator::OpError;
use crate::op::{Chain, KeyFn, Kind, Visit};
use crate::stage::{BuildCx, HeadStage, Meta, Push};
use crate::state::{Keep, Mode};
use crate::time::{Grid, Millis, Timestamp};
use crate::window::aggregate::fits;
use crate::window::base::{Base, Row};
use crate::window::late::{DropLate, Lateness};
use crate::window::session::{Gap, Session, SessionHead};
use crate::window::singly::{Pack, Singly};
use crate::window::spec::{Assign, Closing, Over};
use crate::window::windowing::{Parts, Windowing, instances};
use std::any::TypeId;
use std::marker::PhantomData;

/// Windows that can lie on the clock.
pub trait ByClock<T>: Clone + Send + 'static {
    /// What of an element crosses with it.
    type Sent: Send + 'static;
    /// Both together: the element is lifted when it has its time.
    type Load<Rest: Send + 'static>: Send + 'static;
    /// What crosses with an element.
    ///
    /// # Errors
    /// Where the element has no place.
    fn sent(&self, record: &T) -> std::result::Result<Self::Sent, OpError>;
    /// Both together.
    fn load<Rest: Send + 'static>(sent: Self::Sent, rest: Rest) -> Self::Load<Rest>;
    /// Whether the description makes sense.
    ///
    /// # Errors
    /// When it does not.
    fn check(&self) -> Result<()>;
    /// Its name in `explain`.
    fn describe(&self) -> String;
    /// The stage of the operator.
    fn stage<X, F, A, N, M>(self, key: F, aggregate: A, next: N, meta: Meta) -> HeadStage
    where
        X: 'static,
        F: KeyFn<X, Value = T, Key: Keep<M>>,
        A: Aggregate<T, Acc: Keep<M>>,
        N: Push<Row<X, F, A>, ()>,
        M: Mode;
}

const NEVER_LATE: Lateness<NeverLate> = Lateness { allowed: Millis(0), policy: NeverLate };

#[diagnostic::do_not_recommend]
impl<T: 'static, W: Assign> ByClock<T> for W {
    type Sent = ();
    type Load<Rest: Send + 'static> = Rest;
    #[inline(always)]
    fn sent(&self, _: &T) -> std::result::Result<(), OpError> {
        Ok(())
    }
    #[inline(always)]
    fn load<Rest: Send + 'static>((): (), rest: Rest) -> Rest {
        rest
    }
    fn check(&self) -> Result<()> {
        Assign::check(self)
    }
    fn describe(&self) -> String {
        Assign::describe(self)
    }
    fn stage<X, F, A, N, M>(self, key: F, aggregate: A, next: N, meta: Meta) -> HeadStage
    where
        X: 'static,
        F: KeyFn<X, Value = T, Key: Keep<M>>,
        A: Aggregate<T, Acc: Keep<M>>,
        N: Push<Row<X, F, A>, ()>,
        M: Mode,
    {
        let base = Base::<X, F, A, NeverLate, (), N>::new(key, aggregate, NEVER_LATE, next, meta);
        Assign::stage::<X, F, A, NeverLate, (), N, M, _>(self, base, OnClock)
    }
}

#[diagnostic::do_not_recommend]
impl<T: 'static, G: Gap<T>> ByClock<T> for Session<G> {
    type Sent = G::Sent;
    type Load<Rest: Send + 'static> = (G::Sent, Rest);
    #[inline(always)]
    fn sent(&self, record: &T) -> std::result::Result<G::Sent, OpError> {
        self.gap.of(record)
    }
    #[inline(always)]
    fn load<Rest: Send + 'static>(sent: G::Sent, rest: Rest) -> (G::Sent, Rest) {
        (sent, rest)
    }
    fn check(&self) -> Result<()> {
        self.gap.check()
    }
    fn describe(&self) -> String {
        self.gap.describe()
    }
    fn stage<X, F, A, N, M>(self, key: F, aggregate: A, next: N, meta: Meta) -> HeadStage
    where
        X: 'static,
        F: KeyFn<X, Value = T, Key: Keep<M>>,
        A: Aggregate<T, Acc: Keep<M>>,
        N: Push<Row<X, F, A>, ()>,
        M: Mode,
    {
        let head = SessionHead::<X, F, G, A, NeverLate, (), N, M>::new(
            key, self.gap, aggregate, NEVER_LATE, next, meta,
        );
        OnClock.stage::<F::Route, (G::Sent, F::Rest), _>(head)
    }
}

impl<W> Clocked<W> {
    /// What a window says, and that it is one of the clock.
    fn described(window: &str) -> String {
        match window.strip_suffix(')') {
            Some(open) => format!("{open}, time = processing)"),
            None => window.to_owned(),
        }
    }
}

impl<K: Kind, W: Windowing> Over<K> for Clocked<W> {}
#[diagnostic::do_not_recommend]
impl<K: Kind, W> Closing<K> for Clocked<W> {}

#[diagnostic::do_not_recommend]
impl<W: Windowing> Windowing for Clocked<W> {
    type Needs = W::Needs;
    type Kind<K: Kind> = K::Untimed;
    type Chain<X, C, F, A, P, M> = ClockedAgg<X, C, F, W, A, P, M>;
    fn chain<X, C, F, A, P, M>(self, parts: Parts<C, F, A, P>) -> Self::Chain<X, C, F, A, P, M> {
        ClockedAgg { parts, window: self.0, types: PhantomData }
    }
}

/// A chain with aggregated windows of processing time behind it. Its results have no event time.
pub struct ClockedAgg<X, C, F, W, A, P, M> {
    parts: Parts<C, F, A, P>,
    window: W,
    types: PhantomData<fn(X) -> M>,
}

impl<X, C: Clone, F: Clone, W: Clone, A: Clone, P: Clone, M> Clone for ClockedAgg<X, C, F, W, A, P, M> {
    fn clone(&self) -> Self {
        ClockedAgg { parts: self.parts.clone(), window: self.window.clone(), types: PhantomData }
    }
}

impl<X, C, F, W, A, M> Chain for ClockedAgg<X, C, F, W, A, DropLate, M>
where
    X: 'static,
    C: Chain<Out = X>,
    F: KeyFn<X, Key: Keep<M>>,
    W: ByClock<F::Value>,
    A: Aggregate<F::Value, Acc: Keep<M>>,
    M: Mode,
{
    type Out = Row<X, F, A>;
    type Stamp = ();
    type Root = C::Root;
    fn build<N: Push<Row<X, F, A>, ()>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let Parts { prev, key, aggregate, edge, meta, looped, .. } = self.parts;
        let window = Clocked::<W>::described(&self.window.describe());
        let meta = cx.op(&meta, &format!("{window}: by the clock of each instance; [{}]", aggregate.name()));
        refuse_in_loop(looped, cx, &meta);
        if !fits(cx, &meta, Millis(0), self.window.check().and(aggregate.check())) {
            return;
        }
        let (count, kind) = instances(TypeId::of::<F>() == TypeId::of::<NoKey>());
        // Nobody here asks when something happened.
        edge.listen(Grid::none());
        let stage = self.window.clone().stage::<X, F, A, N, M>(key.clone(), aggregate, next, meta);
        cx.head(&meta, count, &[(edge.clone(), kind)], stage);
        cx.out(&edge);
        prev.build(cx, Singly::new(key, Whole(self.window), edge, meta), visit);
    }
}

/// An element as it is.
struct Whole<W>(W);

impl<X, F: KeyFn<X>, W: ByClock<F::Value>> Pack<X, F> for Whole<W> {
    type Load = W::Load<F::Rest>;
    #[inline(always)]
    fn pack(
        &self,
        key: &F,
        route: &F::Route,
        rest: F::Rest,
        _: Timestamp,
    ) -> std::result::Result<Self::Load, OpError> {
        Ok(W::load(self.0.sent(key.peek(route, &rest))?, rest))
    }
}
