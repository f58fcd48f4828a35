//! Timestamps and watermarks.
//!
//! Here: bounded disorder, of which `monotonic` is the case without any. `strategy`: watermarks that records carry, and strategies of the
//! user's own. `pulse`: what they have in common: idleness, and waiting for sources that are behind. `ahead`: the guard against
//! a timestamp from the far future.
//!
//! In a checkpoint stands the highest timestamp that counts, as a little-endian `i64`, then what `ahead` keeps, where the operator has
//! it. Where several instances become one it goes on from the lowest of theirs: nothing is late that was not.

mod ahead;
mod pulse;
mod stamped;
mod strategy;

pub use strategy::{EventTimeBy, Punctuated, StrategyOf, WatermarkStrategy};

use super::kind::{Bounded, Bounds, refuse_in_loop};
use super::{Chain, Kind, Proved, Stream, Visit};
use crate::batch::Mark;
use crate::error::{Error, ErrorKind, Result};
use crate::stage::own::Own;
use crate::stage::own::take_i64;
use crate::stage::push::forward_tail;
use crate::stage::{BuildCx, Meta, OpenCx, Push, Stamp, Tail};
use crate::time::{Grid, IntoMillis, IntoTimestamp, Millis, Timestamp};
use ahead::Ahead;
use pulse::Pulse;
use stamped::Stamped;
use std::marker::PhantomData;

/// What a picture says of a batch.
const AT_THE_END: &str = "one watermark, at the end";

/// A chain whose records get timestamps, on a stream of bounds `B`.
pub struct EventTime<C, F, B = Bounded> {
    prev: C,
    time: F,
    /// 0 unless said.
    disorder: Option<Millis>,
    max_ahead: Option<Millis>,
    waits: Waits,
    meta: Meta,
    bounds: PhantomData<fn() -> B>,
}

impl<C: Clone, F: Clone, B> Clone for EventTime<C, F, B> {
    fn clone(&self) -> Self {
        EventTime { prev: self.prev.clone(), time: self.time.clone(), ..*self }
    }
}

/// For what an input waits, and who for it.
#[derive(Clone, Copy, Default)]
struct Waits {
    idle: Option<Millis>,
    align: Option<Millis>,
}

impl Waits {
    fn pulse(&self, cx: &mut BuildCx, meta: &Meta) -> Pulse {
        if let Some(idle) = self.idle.filter(|idle| idle.0 <= 0) {
            let what = format!("an idle of {idle}: it has to be longer than zero");
            cx.fail(Error::new(ErrorKind::Plan, what).in_stage(meta.id()).at(meta.at()));
        }
        let member = self.align.map(|ahead| cx.align(meta, ahead));
        Pulse::new(self, member)
    }
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// Says when each event happened: a [`Timestamp`], or milliseconds since the epoch as `i64`. Follow it with
    /// `.disorder(…)`: the watermark trails the highest timestamp by that much and one millisecond, for each source
    /// partition by itself; or with one of the other strategies, [`monotonic`](Stream::monotonic), [`punctuated`](Stream::punctuated) and
    /// [`watermarks`](Stream::watermarks).
    ///
    /// In `dataflow!`: `.event_time(|e| e.time, disorder = 5s, idle = 1min)`.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let events = source(from_vec(vec![(3, 'a'), (1, 'b'), (12, 'c')]));
    /// let counts = events
    ///     .event_time(|e| e.0)
    ///     .disorder(Millis(5))
    ///     .window(tumbling(Millis(10)))
    ///     .aggregate(|a| a.count());
    /// job.add(counts.map(|w| (w.start, w.value)).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [(Timestamp(0), 2), (Timestamp(10), 1)]);
    /// ```
    #[track_caller]
    pub fn event_time<X: IntoTimestamp, F>(
        self,
        time: F,
    ) -> Stream<T, K::Timed, Proved<X::Time, EventTime<C, F, K::Bounds>>>
    where
        F: Fn(&T) -> X + Clone + Send + 'static,
    {
        let meta = Meta::new("event_time");
        Stream::of(EventTime {
            prev: self.chain,
            time,
            disorder: None,
            max_ahead: None,
            waits: Waits::default(),
            meta,
            bounds: PhantomData,
        })
    }
}

impl<T, K, C, F, B> Stream<T, K, EventTime<C, F, B>> {
    /// How far behind the newest event one may come and still be on time. 0 means ascending timestamps.
    pub fn disorder(mut self, disorder: impl IntoMillis) -> Self {
        self.chain.disorder = Some(disorder.into_millis());
        self
    }

    /// Timestamps never go back: a disorder of 0. Should one, its element is behind the watermark like any other, and the
    /// window it reaches judges it; nothing fails.
    pub fn monotonic(self) -> Self {
        self.disorder(Millis(0))
    }

    /// One timestamp that is so far ahead of the highest before it does not raise the watermark, with which it would make
    /// everything behind it late. Its element goes on. Three in a row are believed: then time has jumped, to the middle one
    /// of them. So are the first three of the input. Those that were not believed are counted in `ahead`.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let times = source(from_vec(vec![1i64, 2, 3, 9_999_999, 11, 12]));
    /// let counts = times.event_time(|t| *t).monotonic().max_ahead(Millis(60_000)).window(tumbling(Millis(10))).count();
    /// job.add(counts.map(|w| (w.start.0, w.value)).collect(&out));
    /// # });
    /// let report = job.run().unwrap();
    /// assert_eq!(out.take(), [(0, 3), (10, 2), (9_999_990, 1)]);
    /// assert_eq!((report.late(), report.counter("event_time.ahead")), (0, 1));
    /// ```
    pub fn max_ahead(mut self, ahead: impl IntoMillis) -> Self {
        self.chain.max_ahead = Some(ahead.into_millis());
        self
    }

    /// After so long without a record this input holds back nobody, until its next record.
    pub fn idle(mut self, after: impl IntoMillis) -> Self {
        self.chain.waits.idle = Some(after.into_millis());
        self
    }

    /// This source is not read while its watermark is more than so far ahead of the smallest among the sources of the job
    /// that say this too. So what has to wait for the slowest, in a union or a join, stays small. Sources that are idle or at
    /// their end hold nobody; one that has given nothing yet holds all, so give `idle` to one that may be silent.
    ///
    /// It has to stand right at its source: no exchange and no second aligned `event_time` between.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let slow = source(generate(100, |i| i as i64 * 10).rate(1_000)).event_time(|t| *t).monotonic().align(Millis(50));
    /// let fast = source(generate(1_000, |i| i as i64)).event_time(|t| *t).monotonic().align(Millis(50));
    /// job.add(slow.union(fast).window(tumbling(Millis(100))).count().map(|w| w.value).collect(&out));
    /// # });
    /// # job.simulate(1).unwrap();
    /// assert_eq!(out.take(), [110; 10]);
    /// ```
    pub fn align(mut self, ahead: impl IntoMillis) -> Self {
        self.chain.waits.align = Some(ahead.into_millis());
        self
    }
}

impl<C, X, F, B> Chain for EventTime<C, F, B>
where
    C: Chain,
    X: IntoTimestamp,
    F: Fn(&C::Out) -> X + Clone + Send + 'static,
    B: Bounds,
{
    type Out = C::Out;
    type Stamp = Timestamp;
    type Root = C::Root;
    fn build<N: Push<C::Out, Timestamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let disorder = self.disorder.unwrap_or_default();
        let note = if B::IS_BATCH {
            AT_THE_END.to_owned()
        } else {
            format!("watermark = highest timestamp − {disorder} − 1ms")
        };
        let meta = cx.op(&self.meta, &note);
        refuse_in_loop(B::IS_LOOPED, cx, &meta);
        check(cx, &meta, "a disorder", disorder);
        if let Some(ahead) = self.max_ahead {
            check(cx, &meta, "a max_ahead", ahead);
        }
        if B::IS_BATCH {
            return self.prev.build(cx, Stamped { time: self.time, next }, visit);
        }
        let push = EventTimePush {
            time: self.time,
            next,
            disorder,
            highest: Timestamp::MIN,
            threshold: Timestamp::MAX,
            careful: true,
            guard: self.max_ahead.map(Ahead::new),
            pulse: self.waits.pulse(cx, &meta),
            own: Own::new(meta),
            meta,
        };
        self.prev.build(cx, push, visit);
    }
}

/// The job cannot start with a distance below 0.
fn check(cx: &mut BuildCx, meta: &Meta, what: &str, distance: Millis) {
    if distance.0 < 0 {
        let what = format!("{what} of {distance}: it cannot be negative");
        cx.fail(Error::new(ErrorKind::Plan, what).in_stage(meta.id()).at(meta.at()));
    }
}

/// Takes over what an instance had, unless another was less far.
fn go_on(
    bytes: &mut &[u8],
    lowest: &mut Option<Timestamp>,
    highest: &mut Timestamp,
    guard: &mut Option<Ahead>,
) -> Result<()> {
    let time = Timestamp(take_i64(bytes)?);
    let less = lowest.is_none_or(|other| time < other);
    // Whether there is a guard may have changed.
    let mut unwanted = Ahead::default();
    let guard = guard.as_mut().filter(|_| less).unwrap_or(&mut unwanted);
    if !bytes.is_empty() {
        guard.restore(bytes)?;
    }
    if less {
        *lowest = Some(time);
        *highest = time;
    }
    Ok(())
}

/// Stamps records and raises the watermark.
struct EventTimePush<F, N> {
    time: F,
    next: N,
    /// The watermark is `highest − disorder − 1`.
    disorder: Millis,
    highest: Timestamp,
    /// The timestamp from which on a mark is due: one compare a record.
    threshold: Timestamp,
    /// Whether more than the threshold matters to single records: idleness, others that wait, a guard, or the exact watermark. Else
    /// `highest` is only kept up where a record reaches the threshold, which none before it has.
    careful: bool,
    guard: Option<Ahead>,
    pulse: Pulse,
    own: Own,
    meta: Meta,
}

impl<F, N: Tail> EventTimePush<F, N> {
    fn watermark(&self) -> Timestamp {
        self.highest - self.disorder - Millis(1)
    }

    #[cold]
    #[inline(never)]
    fn send(&mut self) {
        let due = self.pulse.send(self.highest - self.disorder - Millis(1), &mut self.next);
        self.threshold = due + self.disorder + Millis(1);
    }

    /// What a careful operator does before each record; the timestamp that counts.
    fn take_care(&mut self, time: Timestamp) -> Timestamp {
        self.pulse.wake(&mut self.next);
        if self.pulse.is_exact(time, self.watermark()) {
            self.send();
        }
        // A timestamp that is not believed raises nothing.
        let believed = self.guard.as_mut().map_or(Some(time), |guard| guard.believe(self.highest, time));
        let counts = believed.unwrap_or(self.highest);
        self.highest = self.highest.max(counts);
        counts
    }
}

impl<T, S, X, F, N> Push<T, S> for EventTimePush<F, N>
where
    T: 'static,
    S: Stamp,
    X: IntoTimestamp,
    F: Fn(&T) -> X + Send + 'static,
    N: Push<T, Timestamp>,
{
    #[inline(always)]
    fn push(&mut self, item: T, _: S) {
        let time = (self.time)(&item).into_timestamp();
        let mut counts = time;
        if self.careful {
            counts = self.take_care(time);
        }
        self.next.push(item, time);
        if counts >= self.threshold {
            self.highest = self.highest.max(counts);
            self.send();
        }
    }
}

impl<F: Send + 'static, N: Tail> Tail for EventTimePush<F, N> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        let (highest, guard) = (&mut self.highest, &mut self.guard);
        let mut lowest = None;
        self.own.open_with(cx, &mut |bytes| go_on(bytes, &mut lowest, highest, guard))?;
        self.pulse.open(cx, &mut self.next)?;
        self.careful = self.pulse.is_careful() || self.guard.is_some();
        if let Some(guard) = &mut self.guard {
            guard.ignored = cx.metrics().counter(&format!("{}.ahead", self.meta.id()));
        }
        self.send();
        Ok(())
    }
    fn mark(&mut self, mark: Mark) {
        if let (Mark::End, Some(guard)) = (mark, &mut self.guard) {
            guard.forget();
        }
        if let Some(id) = self.own.at(mark) {
            let mut state = self.highest.0.to_le_bytes().to_vec();
            if let Some(guard) = &self.guard {
                guard.save(&mut state);
            }
            self.own.put(id, state);
        }
        self.pulse.mark(mark, &mut self.next);
    }
    fn grid(&self) -> Grid {
        Grid::none()
    }
    fn deadline(&self) -> Option<i64> {
        self.pulse.deadline(&self.next)
    }
    fn tick(&mut self, now: i64) {
        if self.pulse.has_fallen_silent(now) {
            self.send();
            self.pulse.fall_silent(&mut self.next);
        }
        self.next.tick(now);
    }
    fn room(&mut self) -> bool {
        self.pulse.room(self.watermark(), &mut self.next)
    }
    forward_tail!(next: flush enough);
}
