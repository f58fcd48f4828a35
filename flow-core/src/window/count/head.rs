//! The operator: an element goes into the open windows of its key, and shows the one that it fills.

use super::lifting::Lifting;
use super::open::Windows;
use super::saved::{form, restore, write};
use super::spec::Counted;
use crate::aggregate::{Aggregate, Overflow};
use crate::checkpoint::Groups;
use crate::error::Result;
use crate::op::operator::operator_error;
use crate::op::{KeyFn, KeyTypes};
use crate::stage::{Faults, Fire, Head, Meta, OpenCx, Push, Stamp, Tail};
use crate::state::shape::Kind as Shape;
use crate::state::{Keep, Mode, Pane, schema_of};
use crate::time::Timestamp;
use crate::window::base::{FIRED_AT_ONCE, Item, Lift, Row, emit_at_end, row};
use crate::window::late::Policy;
use crate::window::spec::Span;
use std::any::TypeId;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::vec::IntoIter;

/// What crosses for one element.
pub type CountItem<X, F, A, L> =
    Item<<F as KeyTypes<X>>::Route, <L as Lifting>::Load<Lift<X, F, A>, <F as KeyTypes<X>>::Rest>>;

/// The head of the stage of count windows.
pub struct CountHead<X, F: KeyFn<X>, A: Aggregate<F::Value>, L, P, S, N, M: Mode> {
    key: F,
    aggregate: A,
    window: Counted<L>,
    next: N,
    meta: Meta,
    /// By key, in the order in which they first appeared: that of the windows left over at the end.
    keys: Pane<F::Key, Windows<A::Acc>, M>,
    /// Whether the last checkpoint has them, as they were then.
    saved: bool,
    ending: bool,
    faults: Faults,
    failed: bool,
    types: PhantomData<fn(X, P, S)>,
}

impl<X, F: KeyFn<X>, A: Aggregate<F::Value>, L, P, S, N, M: Mode> CountHead<X, F, A, L, P, S, N, M> {
    pub fn new(key: F, aggregate: A, window: Counted<L>, next: N, meta: Meta) -> Self {
        let (keys, faults) = (Pane::default(), Faults::default());
        let (saved, ending, failed, types) = (false, false, false, PhantomData);
        CountHead { key, aggregate, window, next, meta, keys, saved, ending, faults, failed, types }
    }

    #[cold]
    #[inline(never)]
    fn overflow(&mut self, error: Overflow) {
        self.failed = true;
        self.faults.raise(operator_error(&self.meta, &error.into()));
    }
}

impl<X, F, A, L, P, S, N, M> CountHead<X, F, A, L, P, S, N, M>
where
    X: 'static,
    F: KeyFn<X>,
    A: Aggregate<F::Value>,
    L: Lifting,
    P: Policy<Row<X, F, A>, F::Value>,
    S: Stamp,
    N: Push<P::Emit, S>,
    M: Mode,
{
    #[inline]
    fn add(&mut self, item: CountItem<X, F, A, L>) -> Result<(), Overflow> {
        let Item { hash, time, route, load } = item;
        let (key, aggregate, window) = (&self.key, &self.aggregate, &self.window);
        let born = self.keys.len() as u64;
        let insert = || (key.key(&route), Windows::new(window.size, born));
        let (k, windows) = self.keys.entry(hash, |k| key.is(&route, k), insert, &|k| key.hash(k));
        let holding = windows.arrive(time, window.every, || aggregate.start());
        let lift = |rest: &F::Rest| aggregate.lift_at(key.peek(&route, rest), time);
        L::add::<Lift<X, F, A>, F::Rest, _>(load, lift, holding, |acc, x| aggregate.add(acc, x))?;
        if let Some((span, acc)) = windows.filled(window.every) {
            let row = row(shown::<S>(span), k.clone(), aggregate.take_result(acc));
            emit_at_end::<_, _, _, P, S, _>(&mut self.next, row);
        }
        Ok(())
    }
}

/// The bounds of a window as its result has them: without event time there are none.
fn shown<S: Stamp>(span: Span) -> Span {
    if TypeId::of::<S>() == TypeId::of::<()>() {
        return Span { start: i64::MIN.into(), end: i64::MAX.into() };
    }
    span
}

impl<X, F, A, L, P, S, N, M> Head<CountItem<X, F, A, L>> for CountHead<X, F, A, L, P, S, N, M>
where
    X: 'static,
    F: KeyFn<X, Key: Keep<M>>,
    A: Aggregate<F::Value, Acc: Keep<M>>,
    L: Lifting,
    P: Policy<Row<X, F, A>, F::Value>,
    S: Stamp,
    N: Push<P::Emit, S>,
    M: Mode,
{
    type Part = Infallible;

    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.next
    }

    fn tail_ref(&self) -> &dyn Tail {
        &self.next
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.faults = cx.faults().clone();
        self.aggregate.open(cx, &self.meta);
        let key = self.key.clone();
        self.keys.spill_alone(cx.space(&self.meta)?, move |k| key.hash(k), form::<M, A::Acc>())
    }

    fn spills(&self) -> bool {
        true
    }

    fn items(&mut self, _: usize, items: &mut IntoIter<CountItem<X, F, A, L>>, n: usize) {
        for item in items.by_ref().take(n) {
            if self.failed {
                return;
            }
            if let Err(error) = self.add(item) {
                self.overflow(error);
            }
        }
    }

    fn watermark(&mut self, w: Timestamp) {
        // All input has ended. What is left over leaves before this mark, or a window behind would fire without it.
        self.ending |= w == Timestamp::MAX;
    }

    fn end(&mut self) {
        self.ending = true;
    }

    fn fire(&mut self) -> Fire {
        if !self.ending || self.window.exact {
            return Fire::Done;
        }
        loop {
            if !self.next.room() {
                return Fire::Paused;
            }
            for _ in 0..FIRED_AT_ONCE {
                let Some((key, mut windows)) = self.keys.pop() else {
                    self.keys.finish_save();
                    self.keys.clear();
                    self.saved = false;
                    return Fire::Done;
                };
                if let Some((span, acc)) = windows.left_over() {
                    let row = row(shown::<S>(span), key, self.aggregate.take_result(acc));
                    emit_at_end::<_, _, _, P, S, _>(&mut self.next, row);
                }
            }
        }
    }

    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        let key = self.key.clone();
        self.keys.begin_save_alone(out, &mut self.saved, move |k| key.hash(k), write::<M, A::Acc>)
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        self.keys.save_more(left)
    }

    fn schema(&self) -> Result<String> {
        Ok(Shape::CountWindows.of(schema_of::<F::Key, A::Acc, M>()?))
    }

    fn restore(&mut self, _: usize, bytes: &[u8]) -> Result<()> {
        let key = &self.key;
        restore(&mut self.keys, bytes, |k| key.hash(k))
    }
}
