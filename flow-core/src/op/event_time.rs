//! Timestamps and watermarks: bounded disorder, and idleness.

use super::{Chain, Kind, Proved, Stream, Visit};
use crate::batch::Mark;
use crate::error::{Error, ErrorKind, Result};
use crate::stage::push::forward_tail;
use crate::stage::{BuildCx, Meta, OpenCx, Push, Stamp, Tail};
use crate::time::{Grid, IntoTimestamp, Millis, Timestamp};

/// A chain whose records get timestamps.
#[derive(Clone)]
pub struct EventTime<C, F> {
    prev: C,
    time: F,
    disorder: Millis,
    idle: Option<Millis>,
    meta: Meta,
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// Says when each event happened: a [`Timestamp`], or milliseconds since the epoch as `i64`. Follow it with
    /// `.disorder(…)`: the watermark trails the highest timestamp by that much and one millisecond, for each source
    /// partition by itself.
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
    ) -> Stream<T, K::Timed, Proved<X::Time, EventTime<C, F>>>
    where
        F: Fn(&T) -> X + Clone + Send + 'static,
    {
        let meta = Meta::new("event_time");
        Stream::of(EventTime { prev: self.chain, time, disorder: Millis(0), idle: None, meta })
    }
}

impl<T, K, C, F> Stream<T, K, EventTime<C, F>> {
    /// How far behind the newest event one may come and still be on time. 0 means ascending timestamps.
    pub fn disorder(mut self, disorder: impl Into<Millis>) -> Self {
        self.chain.disorder = disorder.into();
        self
    }

    /// After so long without a record this input holds back nobody, until its next record.
    pub fn idle(mut self, after: impl Into<Millis>) -> Self {
        self.chain.idle = Some(after.into());
        self
    }
}

impl<C: Chain, X: IntoTimestamp, F: Fn(&C::Out) -> X + Clone + Send + 'static> Chain for EventTime<C, F> {
    type Out = C::Out;
    type Stamp = Timestamp;
    type Root = C::Root;
    fn build<N: Push<C::Out, Timestamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let meta = cx.op(&self.meta, &format!("watermark = highest timestamp − {} − 1ms", self.disorder));
        if self.disorder.0 < 0 {
            let what = format!("a disorder of {}: it cannot be negative", self.disorder);
            cx.fail(Error::new(ErrorKind::Plan, what).in_stage(meta.id()).at(meta.at()));
        }
        let push = EventTimePush {
            time: self.time,
            next,
            disorder: self.disorder,
            grid: Grid::none(),
            highest: Timestamp::MIN,
            sent: Timestamp::MIN,
            threshold: Timestamp::MAX,
            careful: true,
            idle: self.idle.map(Idle::after),
        };
        self.prev.build(cx, push, visit);
    }
}

/// Stamps records and raises the watermark.
struct EventTimePush<F, N> {
    time: F,
    next: N,
    /// The watermark is `highest − disorder − 1`.
    disorder: Millis,
    grid: Grid,
    highest: Timestamp,
    /// The last watermark that was sent.
    sent: Timestamp,
    /// The timestamp from which on a mark is due: one compare a record.
    threshold: Timestamp,
    /// Whether more than the threshold matters to single records: idleness, or the exact watermark. Else `highest` is only kept
    /// up where a record reaches the threshold, which none before it has.
    careful: bool,
    idle: Option<Idle>,
}

/// Idleness: since when nothing has come.
struct Idle {
    after: i64,
    last: i64,
    silent: bool,
    seen: bool,
}

impl Idle {
    fn after(after: Millis) -> Self {
        Idle { after: after.0.max(1), last: 0, silent: false, seen: false }
    }
}

impl<F, N: Tail> EventTimePush<F, N> {
    fn watermark(&self) -> Timestamp {
        self.highest - self.disorder - Millis(1)
    }

    #[cold]
    #[inline(never)]
    fn send(&mut self) {
        let w = self.watermark();
        if w > self.sent {
            self.sent = w;
            self.next.mark(Mark::Watermark(w));
        }
        let due = self.grid.next_after(self.sent);
        self.threshold = due + self.disorder + Millis(1);
    }

    /// What a careful operator does before each record.
    fn take_care(&mut self, time: Timestamp) {
        self.wake();
        // Whoever reports by how much an element is late has to know the exact watermark it met.
        if self.grid.exact_late() && time <= self.watermark() {
            self.send();
        }
        self.highest = self.highest.max(time);
    }

    /// The input speaks again.
    fn wake(&mut self) {
        if let Some(idle) = &mut self.idle {
            idle.seen = true;
            if std::mem::replace(&mut idle.silent, false) {
                self.next.mark(Mark::Active);
            }
        }
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
        if self.careful {
            self.take_care(time);
        }
        self.next.push(item, time);
        if time >= self.threshold {
            self.highest = self.highest.max(time);
            self.send();
        }
    }
}

impl<F: Send + 'static, N: Tail> Tail for EventTimePush<F, N> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.next.open(cx)?;
        self.grid = self.next.grid();
        self.careful = self.idle.is_some() || self.grid.exact_late();
        self.send();
        if let Some(idle) = &mut self.idle {
            idle.last = cx.clock().ticks();
        }
        Ok(())
    }
    fn mark(&mut self, mark: Mark) {
        match mark {
            // Event time begins here: watermarks from before are of another time.
            Mark::Watermark(_) => {}
            other => self.next.mark(other),
        }
    }
    fn grid(&self) -> Grid {
        Grid::none()
    }
    fn deadline(&self) -> Option<i64> {
        let own =
            self.idle.as_ref().filter(|idle| !idle.silent).map(|idle| idle.last.saturating_add(idle.after));
        [own, self.next.deadline()].into_iter().flatten().min()
    }
    fn tick(&mut self, now: i64) {
        let mut fell_silent = false;
        if let Some(idle) = &mut self.idle {
            if std::mem::replace(&mut idle.seen, false) {
                idle.last = now;
            } else if !idle.silent && now >= idle.last.saturating_add(idle.after) {
                idle.silent = true;
                fell_silent = true;
            }
        }
        if fell_silent {
            self.send();
            self.next.mark(Mark::Idle);
        }
        self.next.tick(now);
    }
    fn room(&mut self) -> bool {
        let room = self.next.room();
        if let Some(idle) = &mut self.idle {
            // What cannot go on is not silent.
            idle.seen |= !room;
        }
        room
    }
    forward_tail!(next: flush enough);
}
