//! `rate_limit`: no faster than so many records a second.
//!
//! A barrier passes at once: what is held is written down, see `stage/held.rs`. The rate itself is not: it begins anew.

use super::edges::CrossingOf;
use super::kind::{Bounds, refuse_in_loop};
use super::{Chain, Kind, Proved, Stream, Visit};
use crate::batch::Mark;
use crate::error::{Error, ErrorKind, Result};
use crate::stage::alarm::Alarm;
use crate::stage::held::{self, Held as Kept};
use crate::stage::own::Own;
use crate::stage::push::forward_tail;
use crate::stage::{BuildCx, Faults, Meta, OpenCx, Push, Stamp, Tail};
use crate::state::{Keep, Mode};
use crate::time::Timestamp;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What was not taken may be taken so many milliseconds later: a thread that is woken a little late does not lower the rate.
const CREDIT_MS: i64 = 10;

/// What a record costs, in thousandths of one: a millisecond brings `per_second` of them.
const COST: i128 = 1_000;

/// The rate of all instances together. A clone is the same.
#[derive(Clone)]
struct Shared {
    per_second: u64,
    /// It is in the body of a loop.
    looped: bool,
    /// When the next record may go, in milliseconds times `per_second`.
    next: Arc<Mutex<i128>>,
}

impl Shared {
    /// How many of `wanted` records may go at `now`, and from when on there may be more.
    fn grant(&self, now: i64, wanted: usize) -> (usize, i64) {
        let rate = i128::from(self.per_second);
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = (*next).max(i128::from(now.saturating_sub(CREDIT_MS)) * rate);
        let left = i128::from(now) * rate - *next;
        let granted = if left < 0 { 0 } else { (left / COST + 1).min(wanted as i128) };
        *next += granted * COST;
        let at = (*next + rate - 1).div_euclid(rate);
        (usize::try_from(granted).unwrap_or(wanted), i64::try_from(at).unwrap_or(i64::MAX))
    }
}

/// See [`Stream::rate_limit`].
pub struct RateLimit<C, M> {
    prev: C,
    shared: Shared,
    meta: Meta,
    mode: PhantomData<fn() -> M>,
}

impl<C: Clone, M> Clone for RateLimit<C, M> {
    fn clone(&self) -> Self {
        let (prev, shared) = (self.prev.clone(), self.shared.clone());
        RateLimit { prev, shared, meta: self.meta, mode: PhantomData }
    }
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// The same records, no more than so many a second over all parallel instances, whichever has one first. What is too fast waits
    /// and pushes back; nothing is lost. In any t milliseconds at most `n · (t + 10) / 1000 + 1` go.
    ///
    /// Watermarks wait with the records in front of them. An instance holds what it has taken at once, 1,024 records at
    /// most; when the job is asked to stop, those go on at once. They stand in checkpoints: a checkpoint does not wait for them.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// job.add(source(from_iter(0..50)).rate_limit(1_000).collect(&out));
    /// # });
    /// let begun = std::time::Instant::now();
    /// job.run().unwrap();
    /// assert!(begun.elapsed() >= std::time::Duration::from_millis(39));
    /// assert_eq!(out.take().len(), 50);
    /// ```
    #[track_caller]
    pub fn rate_limit<P>(self, per_second: u64) -> Stream<T, K, Proved<P, RateLimit<C, K::Mode>>>
    where
        T: CrossingOf<P> + Keep<K::Mode>,
    {
        // Nothing is given to those who come late to the first record.
        let next = Arc::new(Mutex::new(0));
        let shared = Shared { per_second, looped: <K::Bounds as Bounds>::IS_LOOPED, next };
        let meta = Meta::new("rate_limit");
        Stream::of(RateLimit { prev: self.chain, shared, meta, mode: PhantomData })
    }
}

impl<C: Chain<Out: Send + Keep<M>>, M: Mode> Chain for RateLimit<C, M> {
    type Out = C::Out;
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: Push<C::Out, C::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let RateLimit { prev, mut shared, meta, .. } = self;
        let meta = cx.op(&meta, &format!("{} a second over all instances", shared.per_second));
        // A run that begins again has a clock of its own.
        shared.next = cx.of_run().of(&shared.next, Mutex::default);
        refuse_in_loop(shared.looped, cx, &meta);
        if shared.per_second == 0 {
            let what = "a rate of 0: nothing would ever pass";
            cx.fail(Error::new(ErrorKind::Plan, what).in_stage(meta.id()).at(meta.at()));
            shared.per_second = 1;
        }
        let push = RateLimitPush {
            next,
            shared,
            held: VecDeque::new(),
            passed: Timestamp::MIN,
            alarm: Alarm::default(),
            stopping: Arc::default(),
            faults: Faults::default(),
            own: Own::new(meta),
            types: String::new(),
            mode: PhantomData::<fn() -> M>,
        };
        prev.build(cx, push, visit);
    }
}

/// A record that waits, or a mark behind one.
enum Held<T, S> {
    Record(T, S),
    Mark(Mark),
}

struct RateLimitPush<T, S, N, M> {
    next: N,
    shared: Shared,
    /// In order; empty whenever there is room.
    held: VecDeque<Held<T, S>>,
    /// The last watermark that was.
    passed: Timestamp,
    alarm: Alarm,
    stopping: Arc<AtomicBool>,
    faults: Faults,
    own: Own,
    /// What records look like when they are written down.
    types: String,
    mode: PhantomData<fn() -> M>,
}

impl<T: Keep<M>, S: Stamp, N: Push<T, S>, M> RateLimitPush<T, S, N, M> {
    fn pass(&mut self, mark: Mark) {
        if let Mark::Watermark(w) = mark {
            self.passed = w;
        }
        self.next.mark(mark);
    }

    /// Writes down what is held.
    #[cold]
    fn save(&self, id: u64) {
        let held = self.held.iter().filter_map(|held| match held {
            Held::Record(record, stamp) => Some(Kept::Record(record, *stamp)),
            Held::Mark(Mark::Watermark(w)) => Some(Kept::Watermark(*w)),
            Held::Mark(_) => None,
        });
        match held::write::<M, T, S>(self.passed, &self.types, held) {
            Ok(bytes) => self.own.put(id, bytes),
            Err(error) => self.faults.raise(self.own.named(error)),
        }
    }

    /// Takes it back. Watermarks mean something to the records of their own instance only.
    fn take_back(&mut self, cx: &OpenCx) -> Result<()> {
        self.types = self.own.keeps::<T, M>(cx)?;
        let (own, types) = (self.own.is_as_before(cx), &self.types);
        let (queue, passed) = (&mut self.held, &mut self.passed);
        self.own.open_with(cx, &mut |bytes| {
            let before = held::read::<M, T, S>(bytes, types, |kept| match kept {
                Kept::Record(record, stamp) => queue.push_back(Held::Record(record, stamp)),
                Kept::Watermark(w) if own => queue.push_back(Held::Mark(Mark::Watermark(w))),
                Kept::Watermark(_) => {}
            })?;
            if own {
                *passed = before;
            }
            Ok(())
        })
    }

    /// Passes on what may go by now, as long as there is room.
    fn release(&mut self) {
        let free = self.stopping.load(Ordering::Relaxed) || self.next.enough();
        while let Some(first) = self.held.front() {
            if matches!(first, Held::Record(..)) && !free {
                let (granted, at) = self.shared.grant(self.alarm.now(), 1);
                if granted == 0 {
                    return self.alarm.set(at);
                }
            }
            match self.held.pop_front() {
                Some(Held::Record(item, stamp)) => self.next.push(item, stamp),
                Some(Held::Mark(mark)) => self.pass(mark),
                None => return,
            }
            if !self.next.room() {
                return;
            }
        }
    }
}

impl<T: Send + Keep<M>, S: Stamp, N: Push<T, S>, M: Mode> Push<T, S> for RateLimitPush<T, S, N, M> {
    fn push(&mut self, item: T, stamp: S) {
        self.held.push_back(Held::Record(item, stamp));
    }
}

impl<T: Send + Keep<M>, S: Stamp, N: Push<T, S>, M: Mode> Tail for RateLimitPush<T, S, N, M> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        (self.alarm, self.stopping) = (cx.alarm().clone(), Arc::clone(cx.stopping()));
        self.faults = cx.faults().clone();
        self.take_back(cx)?;
        self.next.open(cx)?;
        if self.passed > Timestamp::MIN {
            self.next.mark(Mark::Watermark(self.passed));
        }
        Ok(())
    }
    fn mark(&mut self, mark: Mark) {
        if let Some(id) = self.own.at(mark) {
            self.save(id);
        }
        if self.held.is_empty() || matches!(mark, Mark::Barrier(_)) {
            self.pass(mark);
        } else {
            self.held.push_back(Held::Mark(mark));
        }
    }
    fn room(&mut self) -> bool {
        if !self.next.room() {
            return false;
        }
        self.release();
        if !self.held.is_empty() {
            // What waits for time alone: what has gone before it shall be seen.
            self.next.flush();
            return false;
        }
        // What has just gone may have filled it, the end among it.
        self.next.room()
    }
    forward_tail!(next: grid flush enough deadline tick);
}
