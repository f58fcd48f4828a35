//! `rate_limit`: no faster than so many records a second.

use super::edges::CrossingOf;
use super::{Chain, Kind, Proved, Stream, Visit};
use crate::batch::Mark;
use crate::error::{Error, ErrorKind, Result};
use crate::stage::alarm::Alarm;
use crate::stage::push::forward_tail;
use crate::stage::{BuildCx, Meta, OpenCx, Push, Stamp, Tail};
use std::collections::VecDeque;
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
#[derive(Clone)]
pub struct RateLimit<C> {
    prev: C,
    shared: Shared,
    meta: Meta,
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// The same records, no more than so many a second over all parallel instances, whichever has one first. What is too fast waits
    /// and pushes back; nothing is lost. In any t milliseconds at most `n · (t + 10) / 1000 + 1` go.
    ///
    /// Watermarks wait with the records in front of them. An instance holds what it has taken at once, 1,024 records at
    /// most; when the job is asked to stop, those go on at once.
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
    pub fn rate_limit<P>(self, per_second: u64) -> Stream<T, K, Proved<P, RateLimit<C>>>
    where
        T: CrossingOf<P>,
    {
        // Nothing is given to those who come late to the first record.
        let next = Arc::new(Mutex::new(0));
        let shared = Shared { per_second, next };
        Stream::of(RateLimit { prev: self.chain, shared, meta: Meta::new("rate_limit") })
    }
}

impl<C: Chain<Out: Send>> Chain for RateLimit<C> {
    type Out = C::Out;
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: Push<C::Out, C::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let RateLimit { prev, mut shared, meta } = self;
        let meta = cx.op(&meta, &format!("{} a second over all instances", shared.per_second));
        if shared.per_second == 0 {
            let what = "a rate of 0: nothing would ever pass";
            cx.fail(Error::new(ErrorKind::Plan, what).in_stage(meta.id()).at(meta.at()));
            shared.per_second = 1;
        }
        let (alarm, stopping, held) = (Alarm::default(), Arc::default(), VecDeque::new());
        prev.build(cx, RateLimitPush { next, shared, held, alarm, stopping }, visit);
    }
}

/// A record that waits, or a mark behind one.
enum Held<T, S> {
    Record(T, S),
    Mark(Mark),
}

struct RateLimitPush<T, S, N> {
    next: N,
    shared: Shared,
    /// In order; empty whenever there is room.
    held: VecDeque<Held<T, S>>,
    alarm: Alarm,
    stopping: Arc<AtomicBool>,
}

impl<T: 'static, S: Stamp, N: Push<T, S>> RateLimitPush<T, S, N> {
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
                Some(Held::Mark(mark)) => self.next.mark(mark),
                None => return,
            }
            if !self.next.room() {
                return;
            }
        }
    }
}

impl<T: Send + 'static, S: Stamp, N: Push<T, S>> Push<T, S> for RateLimitPush<T, S, N> {
    fn push(&mut self, item: T, stamp: S) {
        self.held.push_back(Held::Record(item, stamp));
    }
}

impl<T: Send + 'static, S: Stamp, N: Push<T, S>> Tail for RateLimitPush<T, S, N> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        (self.alarm, self.stopping) = (cx.alarm().clone(), Arc::clone(cx.stopping()));
        self.next.open(cx)
    }
    fn mark(&mut self, mark: Mark) {
        if self.held.is_empty() {
            self.next.mark(mark);
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
