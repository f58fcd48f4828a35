//! The operator: a call for each record and for each timer that is due.

use super::Process;
use super::around::{Around, In};
use super::context::Context;
use super::core::{AHEAD, Core, Keys};
use super::kinds::TimerKinds;
use super::saved::{begin_save, foreign, restore, save_more};
use super::states::Moment;
use crate::checkpoint::Groups;
use crate::error::Result;
use crate::op::KeyFn;
use crate::op::rolling::Item;
use crate::stage::{Fire, Head, Meta, OpenCx, Push, Stamp, Tail};
use crate::state::shape::Kind as Shape;
use crate::state::{Keep, Mode, schema_of_states};
use crate::time::Timestamp;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::vec::IntoIter;

/// The head of the stage of a process.
pub struct ProcessHead<X, F: KeyFn<X>, P: Process<F::Key, F::Value, S>, S: Stamp, N, M: Mode> {
    core: Core<F::Key, P::State, P::Out, S, P::Timers, N, M>,
    key: F,
    process: P,
    types: PhantomData<fn(X) -> M>,
}

impl<X, F, P, S, N, M> ProcessHead<X, F, P, S, N, M>
where
    F: KeyFn<X>,
    P: Process<F::Key, F::Value, S>,
    S: Stamp,
    ItemOf<F::Key, F::Value, S, P>: Send + 'static,
    N: Push<ItemOf<F::Key, F::Value, S, P>, <P::Timers as TimerKinds>::Stamp<S>>,
    M: Mode,
{
    pub fn new(key: F, process: P, next: N, meta: Meta) -> Self {
        ProcessHead { core: Core::new(next, meta), key, process, types: PhantomData }
    }

    /// How much is watched when it expires, and how many keys there are.
    #[cfg(test)]
    pub(super) fn kept(&self) -> (usize, usize) {
        (self.core.around.watched.len(), self.core.table.len())
    }
}

/// What leaves a process `P`.
pub type ItemOf<K, V, S, P> =
    <<P as Process<K, V, S>>::Timers as TimerKinds>::Item<<P as Process<K, V, S>>::Out>;

/// After a call: what has a time to live is watched anew.
#[inline(always)]
fn settle<K, V, P: Process<K, V, S>, S: Stamp>(
    process: &P,
    state: &mut P::State,
    cx: &mut Context<'_, K, P::Out, S, P::Timers>,
) {
    if P::LIVES {
        cx.settle(|now, expired, watch| process.settle(state, now, expired, watch));
    }
}

impl<X, F, P, S, N, M> Head<Item<X, F, S>> for ProcessHead<X, F, P, S, N, M>
where
    X: 'static,
    F: KeyFn<X, Key: Keep<M>>,
    P: Process<F::Key, F::Value, S, State: Keep<M>>,
    S: Stamp,
    ItemOf<F::Key, F::Value, S, P>: Send + 'static,
    N: Push<ItemOf<F::Key, F::Value, S, P>, <P::Timers as TimerKinds>::Stamp<S>>,
    M: Mode,
{
    type Part = Infallible;

    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.core.next
    }

    fn tail_ref(&self) -> &dyn Tail {
        &self.core.next
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        let key = self.key.clone();
        self.core.keep(cx, move |k| key.hash(k))?;
        let opened = self.process.open(cx.context());
        self.core.open(cx, P::LIVES, opened)
    }

    /// The tight loop of a process.
    #[inline(never)]
    fn items(&mut self, _: usize, items: &mut IntoIter<Item<X, F, S>>, n: usize) {
        let ProcessHead { core, key, process, .. } = self;
        let keys = Keys { same: |a: &F::Key, b: &F::Key| key.same(a, b), hash: |k: &F::Key| key.hash(k) };
        core.around.forget_now();
        if P::LIVES {
            core.sweep(&keys, |state, now, expired, watch| process.settle(state, now, expired, watch));
        }
        core.table.reserve(n, keys.hash);
        for (hash, ..) in items.as_slice().iter().take(AHEAD) {
            core.table.prefetch(*hash);
        }
        for _ in 0..n {
            if let Some((hash, ..)) = items.as_slice().get(AHEAD) {
                core.table.prefetch(*hash);
            }
            if core.failed {
                return;
            }
            let Some((hash, route, rest, stamp)) = items.next() else { return };
            let fresh = process.state();
            let own = |route: &(F::Route, F::Rest)| key.key(&route.0);
            let is = |item: &(F::Route, F::Rest), k: &F::Key| key.is(&item.0, k);
            core.call(&keys, hash, stamp, (route, rest), is, own, fresh, |(route, rest), state, cx| {
                process.event(key.value(route, rest), state, cx)?;
                settle::<F::Key, F::Value, P, S>(process, state, cx);
                Ok(())
            });
        }
    }

    fn watermark(&mut self, w: Timestamp) {
        self.core.around.rise(w);
    }

    fn end(&mut self) {
        self.core.around.end();
    }

    fn fire(&mut self) -> Fire {
        let ProcessHead { core, key, process, .. } = self;
        let keys = Keys { same: |a: &F::Key, b: &F::Key| key.same(a, b), hash: |k: &F::Key| key.hash(k) };
        let fired = core.fire(&keys, process, P::state, |process, (time, at), state, cx| {
            match time {
                In::Event => process.timer(at, state, cx),
                In::Processing => process.processing_timer(at, state, cx),
            }?;
            settle::<F::Key, F::Value, P, S>(process, state, cx);
            Ok(())
        });
        if P::LIVES && fired == Fire::Done {
            core.sweep(&keys, |state, now, expired, watch| process.settle(state, now, expired, watch));
        }
        fired
    }

    fn overdue(&mut self) -> bool {
        self.core.around.overdue()
    }

    fn deadline(&self) -> Option<i64> {
        self.core.around.deadline()
    }

    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        let (core, key) = (&mut self.core, self.key.clone());
        begin_save(&mut core.table, &mut core.around, out, move |k| key.hash(k))
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        save_more(&mut self.core.table, &mut self.core.around, left)
    }

    fn schema(&self) -> Result<String> {
        let mut names = Vec::new();
        self.process.describe(&mut names);
        Ok(Shape::Process.of(schema_of_states::<F::Key, P::State, M>(&names)?))
    }

    fn restore(&mut self, group: usize, bytes: &[u8]) -> Result<()> {
        let ProcessHead { core, key, process, .. } = self;
        let keys = Keys { same: |a: &F::Key, b: &F::Key| key.same(a, b), hash: |k: &F::Key| key.hash(k) };
        let watch = |state: &mut P::State, hash, around: &mut Around<F::Key>| {
            if P::LIVES {
                let watch = &mut |on, at| around.watched.add(on, at, hash);
                process.settle(state, Moment::ANEW, &mut 0, watch);
            }
        };
        restore(&mut core.table, &mut core.around, (group, bytes), &keys, watch, |_| Err(foreign()))
    }
}
