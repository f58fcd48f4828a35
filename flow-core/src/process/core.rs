//! The state of all keys of an instance, and one call of the user's code: what every operator with timers is made of.

use super::around::{Around, In};
use super::context::Context;
use super::kinds::TimerKinds;
use super::states::{Moment, On};
use crate::error::Result;
use crate::op::operator::{OpError, operator_error};
use crate::stage::{Faults, Fire, Meta, OpenCx, Push, Stamp};
use crate::state::{Keep, KeyTable, Mode, Timer};
use crate::time::Timestamp;

/// Timers that fire between two looks at the room downstream.
const FIRED_AT_ONCE: usize = 256;

/// So many times that fire before the stage is asked again: one advance of time may fire timers without end, and the host wants to
/// be heard in between.
const LOOKS: usize = 64;

/// Keys whose state is looked at between two batches because some of it has expired.
const SWEPT_AT_ONCE: usize = 4096;

/// How many look-ups are under way at once.
pub const AHEAD: usize = 32;

/// State `St` of keys `K` and what is around it, with `N` behind it, in a pipeline of mode `M`.
pub struct Core<K, St, O, S: Stamp, P: TimerKinds, N, M: Mode> {
    /// The state of each key.
    pub table: KeyTable<K, St, M>,
    /// Timers, watermark and clock.
    pub around: Around<K>,
    /// What lies behind.
    pub next: N,
    /// Whether a call has failed: nothing is called any more.
    pub failed: bool,
    /// What a call has emitted.
    out: Vec<(P::Item<O>, P::Stamp<S>)>,
    meta: Meta,
    faults: Faults,
}

/// Takes out of a state what has expired, as [`Process::settle`](super::Process::settle).
type Settle<'a, St> = dyn Fn(&mut St, Moment, &mut u64, &mut dyn FnMut(On, i64)) -> bool + 'a;

/// How keys are compared and hashed.
pub struct Keys<Same, Hash> {
    /// Whether two are equal.
    pub same: Same,
    /// The hash of one.
    pub hash: Hash,
}

impl<K, St, O, S, P, N, M> Core<K, St, O, S, P, N, M>
where
    K: Clone,
    P::Item<O>: 'static,
    S: Stamp,
    P: TimerKinds,
    N: Push<P::Item<O>, P::Stamp<S>>,
    M: Mode,
{
    /// With nothing kept.
    pub fn new(next: N, meta: Meta) -> Self {
        Core {
            table: KeyTable::default(),
            around: Around::default(),
            next,
            failed: false,
            out: Vec::new(),
            meta,
            faults: Faults::default(),
        }
    }

    /// Connects it to what its stage gives; `lives` says that state expires, `opened` says how the user's own `open` went.
    ///
    /// # Errors
    /// What `opened` says.
    pub fn open(&mut self, cx: &OpenCx, lives: bool, opened: Result<(), OpError>) -> Result<()> {
        self.faults = cx.faults().clone();
        self.around.open(cx, &self.meta.id(), lives);
        opened.map_err(|error| operator_error(&self.meta, &error))
    }

    /// Says where states go that do not fit into memory, and that large ones are kept in pages.
    ///
    /// # Errors
    /// When the state backend cannot be opened.
    pub fn keep(&mut self, cx: &OpenCx, hash_of: impl Fn(&K) -> u64 + Send + 'static) -> Result<()>
    where
        K: Keep<M>,
        St: Keep<M>,
    {
        self.table.page(cx.space(&self.meta)?, hash_of)
    }

    /// Calls `f` for `item` with the state of the key that `is` the item's, or with `fresh` where there is none, and passes on
    /// what it emits. Room for a new key has been reserved.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "two of three closures borrow what the last uses up")]
    pub fn call<I, Same: Fn(&K, &K) -> bool, Hash: Fn(&K) -> u64>(
        &mut self,
        keys: &Keys<Same, Hash>,
        hash: u64,
        stamp: S,
        item: I,
        is: impl Fn(&I, &K) -> bool,
        own: impl FnOnce(&I) -> K,
        fresh: St,
        f: impl FnOnce(I, &mut St, &mut Context<'_, K, O, S, P>) -> Result<(), OpError>,
    ) {
        let (key, state) = self.table.entry(hash, |k| is(&item, k), &keys.same, || own(&item), || fresh);
        let (out, around) = (&mut self.out, &mut self.around);
        let mut cx = Context { key, hash, same: &keys.same, stamp, out, around, clear: false };
        let called = f(item, state, &mut cx);
        if cx.clear {
            let key = key.clone();
            self.clear(keys, hash, &key);
            // Asked here alone, so that a call costs no more for it.
            if let Some(what) = self.around.wrong.take() {
                return self.fail(&what.into());
            }
        }
        if let Err(error) = called {
            return self.fail(&error);
        }
        if !self.out.is_empty() {
            for (x, stamp) in self.out.drain(..) {
                self.next.push(x, stamp);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn clear<Same: Fn(&K, &K) -> bool, Hash: Fn(&K) -> u64>(
        &mut self,
        keys: &Keys<Same, Hash>,
        hash: u64,
        key: &K,
    ) {
        self.table.remove(hash, |k| (keys.same)(k, key), &keys.hash);
    }

    #[cold]
    #[inline(never)]
    pub(super) fn fail(&mut self, error: &OpError) {
        self.failed = true;
        self.out.clear();
        self.faults.raise(operator_error(&self.meta, error));
    }

    /// Takes out what has expired of the states, a bounded part at once; `settle` does it for one.
    #[inline(never)]
    pub fn sweep<Same: Fn(&K, &K) -> bool, Hash: Fn(&K) -> u64>(
        &mut self,
        keys: &Keys<Same, Hash>,
        settle: impl Fn(&mut St, Moment, &mut u64, &mut dyn FnMut(On, i64)) -> bool,
    ) {
        if self.around.watched.len() == 0 || self.around.is_ending() {
            return;
        }
        if self.around.watched.is_crowded(self.table.len()) {
            self.watch_anew(&keys.hash, &settle);
        }
        let now = self.around.moment(Timestamp::MIN);
        for _ in 0..SWEPT_AT_ONCE {
            let Some(hash) = self.around.watched.next(now) else { return };
            let Some((key, state)) = self.table.find(hash, |k| (keys.hash)(k) == hash) else { continue };
            let (around, mut expired) = (&mut self.around, 0);
            if settle(state, now, &mut expired, &mut |on, at| around.watched.add(on, at, hash)) {
                let key = key.clone();
                self.clear(keys, hash, &key);
            }
            self.around.expired.add(expired);
        }
    }

    /// Asks every state that is watched when it expires, and forgets what else there was: see [`Watched`](super::watched::Watched).
    #[cold]
    #[inline(never)]
    fn watch_anew(&mut self, hash_of: &dyn Fn(&K) -> u64, settle: &Settle<'_, St>) {
        for hash in self.around.watched.take() {
            let Some((_, state)) = self.table.find(hash, |k| hash_of(k) == hash) else { continue };
            let watched = &mut self.around.watched;
            settle(state, Moment::ANEW, &mut 0, &mut |on, at| watched.add(on, at, hash));
        }
        self.around.watched.asked(self.table.len());
    }

    /// Fires the timers that are due, as far as there is room: `f` is called with `user` for each, `new` makes the state of a key
    /// that has none.
    #[inline(never)]
    pub fn fire<U, Same: Fn(&K, &K) -> bool, Hash: Fn(&K) -> u64>(
        &mut self,
        keys: &Keys<Same, Hash>,
        user: &mut U,
        new: impl Fn(&U) -> St,
        f: impl Fn(&mut U, (In, Timestamp), &mut St, &mut Context<'_, K, O, S, P>) -> Result<(), OpError>,
    ) -> Fire {
        self.around.forget_now();
        for _ in 0..LOOKS {
            if !self.next.room() {
                break;
            }
            for _ in 0..FIRED_AT_ONCE {
                if self.failed {
                    return Fire::Done;
                }
                let Some((time, Timer { key, hash, at, .. })) = self.around.pop(&keys.same) else {
                    return Fire::Done;
                };
                let stamp = S::of(if time == In::Event { at } else { self.around.watermark });
                self.table.reserve(1, &keys.hash);
                let (is, fresh) = (|own: &K, k: &K| (keys.same)(own, k), new(user));
                let call =
                    |_, state: &mut St, cx: &mut Context<'_, K, O, S, P>| f(user, (time, at), state, cx);
                self.call(keys, hash, stamp, key, is, K::clone, fresh, call);
            }
        }
        Fire::Paused
    }
}
