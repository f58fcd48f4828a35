//! The operator: a [`Core`](crate::process::core::Core) of the keys, and the value that every instance has.

use super::{BroadcastContext, BroadcastProcess};
use crate::checkpoint::Groups;
use crate::checkpoint::records::Part;
use crate::error::Result;
use crate::exchange::hash_key;
use crate::op::{Either, Key};
use crate::process::around::{Around, In};
use crate::process::context::Context;
use crate::process::core::{Core, Keys};
use crate::process::kinds::TimerKinds;
use crate::process::saved::{SHARED, begin_save, restore, save_more};
use crate::process::states::Moment;
use crate::stage::{Fire, Head, Meta, OpenCx, Push, Stamp, Tail};
use crate::state::shape::Kind as Shape;
use crate::state::{Keep, Mode, and_schema, read_all, schema_of_states};
use crate::time::Timestamp;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::vec::IntoIter;

/// What leaves a process `P`.
pub type ItemOf<Q, L, B, S, P> = <<P as BroadcastProcess<Q, L, B, S>>::Timers as TimerKinds>::Item<
    <P as BroadcastProcess<Q, L, B, S>>::Out,
>;

/// What crosses: a record of a key, with its hash, or one for all.
pub type Crossing<Q, L, B, S> = (S, Either<(u64, Q, L), B>);

/// The head of the stage.
pub struct BroadcastHead<Q, L, B, P: BroadcastProcess<Q, L, B, S>, S: Stamp, N, M: Mode> {
    core: Core<Q, P::State, P::Out, S, P::Timers, N, M>,
    shared: P::Shared,
    /// Whether a record has been taken that all get, so that there is something to keep.
    heard: bool,
    /// Whether one has been since the last checkpoint, or there has been none.
    news: bool,
    process: P,
    types: PhantomData<fn(L, B) -> M>,
}

impl<Q, L, B, P, S, N, M> BroadcastHead<Q, L, B, P, S, N, M>
where
    Q: Key,
    P: BroadcastProcess<Q, L, B, S>,
    S: Stamp,
    ItemOf<Q, L, B, S, P>: Send + 'static,
    N: Push<ItemOf<Q, L, B, S, P>, <P::Timers as TimerKinds>::Stamp<S>>,
    M: Mode,
{
    pub fn new(process: P, next: N, meta: Meta) -> Self {
        let (core, shared) = (Core::new(next, meta), process.shared());
        BroadcastHead { core, shared, heard: false, news: true, process, types: PhantomData }
    }
}

/// After a call: what has a time to live is watched anew.
#[inline(always)]
fn settle<Q, L, B, P: BroadcastProcess<Q, L, B, S>, S: Stamp>(
    process: &P,
    state: &mut P::State,
    cx: &mut Context<'_, Q, P::Out, S, P::Timers>,
) {
    if P::LIVES {
        cx.settle(|now, expired, watch| process.settle(state, now, expired, watch));
    }
}

/// How keys are compared and hashed.
fn keys<Q: Key>() -> Keys<fn(&Q, &Q) -> bool, fn(&Q) -> u64> {
    Keys { same: |a, b| a == b, hash: hash_key }
}

impl<Q, L, B, P, S, N, M> Head<Crossing<Q, L, B, S>> for BroadcastHead<Q, L, B, P, S, N, M>
where
    Q: Key + Keep<M>,
    L: Send + 'static,
    B: Send + 'static,
    P: BroadcastProcess<Q, L, B, S, State: Keep<M>, Shared: Keep<M>>,
    S: Stamp,
    ItemOf<Q, L, B, S, P>: Send + 'static,
    N: Push<ItemOf<Q, L, B, S, P>, <P::Timers as TimerKinds>::Stamp<S>>,
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
        self.core.keep(cx, hash_key)?;
        let opened = self.process.open(cx.context());
        self.core.open(cx, P::LIVES, opened)
    }

    #[inline(never)]
    fn items(&mut self, _: usize, items: &mut IntoIter<Crossing<Q, L, B, S>>, n: usize) {
        let BroadcastHead { core, shared, heard, news, process, .. } = self;
        let keys = keys::<Q>();
        core.around.forget_now();
        if P::LIVES {
            core.sweep(&keys, |state, now, expired, watch| process.settle(state, now, expired, watch));
        }
        core.table.reserve(n, keys.hash);
        for (stamp, item) in items.by_ref().take(n) {
            if core.failed {
                return;
            }
            match item {
                Either::A((hash, key, value)) => {
                    let fresh = process.state();
                    let own = |item: &(Q, L)| item.0.clone();
                    let is = |item: &(Q, L), key: &Q| item.0 == *key;
                    core.call(&keys, hash, stamp, (key, value), is, own, fresh, |(_, value), state, cx| {
                        process.event(value, state, shared, cx)?;
                        settle::<Q, L, B, P, S>(process, state, cx);
                        Ok(())
                    });
                }
                Either::B(record) => {
                    (*heard, *news) = (true, true);
                    if let Err(error) = process.broadcast(record, shared, &BroadcastContext { stamp }) {
                        core.fail(&error);
                    }
                }
            }
        }
    }

    fn watermark(&mut self, w: Timestamp) {
        self.core.around.rise(w);
    }

    fn end(&mut self) {
        self.core.around.end();
    }

    fn fire(&mut self) -> Fire {
        let BroadcastHead { core, shared, process, .. } = self;
        let (keys, mut user) = (keys::<Q>(), (process, &*shared));
        let fired = core.fire(
            &keys,
            &mut user,
            |user| user.0.state(),
            |(process, shared), (time, at), state, cx| {
                match time {
                    In::Event => process.timer(at, state, shared, cx),
                    In::Processing => process.processing_timer(at, state, shared, cx),
                }?;
                settle::<Q, L, B, P, S>(process, state, cx);
                Ok(())
            },
        );
        if P::LIVES && fired == Fire::Done {
            core.sweep(&keys, |state, now, expired, watch| user.0.settle(state, now, expired, watch));
        }
        fired
    }

    fn overdue(&mut self) -> bool {
        self.core.around.overdue()
    }

    fn deadline(&self) -> Option<i64> {
        self.core.around.deadline()
    }

    /// The value stands in each key group: who takes over any of them, at whatever parallelism, has it.
    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        let BroadcastHead { core, shared, heard, news, .. } = self;
        begin_save(&mut core.table, &mut core.around, out, hash_key)?;
        if *heard && (std::mem::take(news) || out.is_whole()) {
            let mut value = Vec::new();
            <P::Shared as Keep<M>>::write(shared, &mut value)?;
            out.put_everywhere(&out.section(Part::Head, SHARED, &[]), &[], &value);
        }
        Ok(())
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        save_more(&mut self.core.table, &mut self.core.around, left)
    }

    fn schema(&self) -> Result<String> {
        let mut names = Vec::new();
        self.process.describe(&mut names);
        let states = schema_of_states::<Q, P::State, M>(&names)?;
        Ok(Shape::BroadcastProcess.of(and_schema::<P::Shared, M>(states)?))
    }

    fn restore(&mut self, group: usize, bytes: &[u8]) -> Result<()> {
        let BroadcastHead { core, shared, heard, process, .. } = self;
        let watch = |state: &mut P::State, hash, around: &mut Around<Q>| {
            if P::LIVES {
                let watch = &mut |on, at| around.watched.add(on, at, hash);
                process.settle(state, Moment::ANEW, &mut 0, watch);
            }
        };
        restore(&mut core.table, &mut core.around, (group, bytes), &keys::<Q>(), watch, |value| {
            (*shared, *heard) = (read_all::<M, P::Shared>(value)?, true);
            Ok(())
        })
    }
}
