//! Watermarks by a strategy: the user's own, or those that records carry.
//!
//! In a checkpoint stands the watermark told so far, as a little-endian `i64`, then what the strategy wrote. Where several instances
//! become one it goes on from the lowest of theirs.

use super::pulse::Pulse;
use super::stamped::Stamped;
use super::{AT_THE_END, EventTime, Waits};
use crate::batch::Mark;
use crate::error::{Error, ErrorKind, Result};
use crate::op::kind::{Bounded, Bounds, refuse_in_loop};
use crate::op::operator::OpError;
use crate::op::proved::claim;
use crate::op::{Chain, Kind, Proved, Stream, Visit};
use crate::stage::own::Own;
use crate::stage::own::take_i64;
use crate::stage::push::forward_tail;
use crate::stage::{BuildCx, Meta, OpenCx, Push, Stamp, Tail};
use crate::time::{Grid, IntoMillis, IntoTimestamp, IntoWatermark, Millis, Timestamp};
use std::marker::PhantomData;

/// How the watermark follows the records of a source partition.
///
/// Each partition has a clone of its own, which sees that partition's records in order. A watermark W promises that no
/// further record at or before W is on time; it takes effect right after the record that raised it, and never goes back, whatever the strategy says.
///
/// ```
/// use flow_core::prelude::*;
/// use flow_core::op::event_time::WatermarkStrategy;
///
/// /// Half way between the first and the newest record.
/// #[derive(Clone, Default)]
/// struct HalfWay { first: Option<i64>, newest: i64 }
///
/// impl WatermarkStrategy<(i64, char)> for HalfWay {
///     fn on_event(&mut self, _: &(i64, char), time: Timestamp) {
///         self.first.get_or_insert(time.0);
///         self.newest = self.newest.max(time.0);
///     }
///     fn watermark(&self) -> Timestamp {
///         self.first.map_or(Timestamp::MIN, |first| Timestamp((first + self.newest) / 2))
///     }
/// }
///
/// let out = Collected::new();
/// let job = Job::build("half way", |job| {
///     let letters = source(from_vec(vec![(0, 'a'), (30, 'b'), (9, 'c'), (20, 'd')]));
///     let windows = letters.event_time(|l| l.0).watermarks(HalfWay::default()).window(tumbling(Millis(10)));
///     job.add(windows.aggregate(|a| a.count()).map(|w| (w.start.0, w.value)).collect(&out));
/// });
/// let report = job.run().unwrap();
/// assert_eq!(out.take(), [(0, 1), (20, 1), (30, 1)]);
/// assert_eq!(report.late(), 1, "`c` came behind the watermark 15");
/// ```
pub trait WatermarkStrategy<T>: Clone + Send + 'static {
    /// A record has come.
    fn on_event(&mut self, event: &T, time: Timestamp);
    /// The highest watermark so far; [`Timestamp::MIN`] where none is known.
    fn watermark(&self) -> Timestamp;
    /// How often [`WatermarkStrategy::on_tick`] is called, whether or not records come; never unless said. An input that is pushed back is
    /// told when it may go on.
    fn tick_every(&self) -> Option<Millis> {
        None
    }
    /// That much time has passed, with or without records; it is `now` by the wall clock (in a simulation by the virtual one).
    fn on_tick(&mut self, now: Timestamp) {
        let _ = now;
    }
    /// Writes down what it needs to go on from a checkpoint; nothing unless said. The watermark told so far is kept in any case.
    fn save(&self, out: &mut Vec<u8>) {
        let _ = out;
    }
    /// Takes back what [`WatermarkStrategy::save`] wrote, if that was anything, before the first record.
    ///
    /// # Errors
    /// When that is nothing that it has written: the job does not start.
    fn restore(&mut self, state: &[u8]) -> Result<(), OpError> {
        Err(format!("{} bytes, and the strategy has no `restore`", state.len()).into())
    }
}

claim! {
    /// What `watermarks` takes: a [`WatermarkStrategy`].
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not a watermark strategy for records of type `{T}`",
        label = "says nothing about the watermark of a stream of `{T}`",
        note = "implement `flow_core::op::event_time::WatermarkStrategy<{T}>` for it, or write `disorder = 5s`"
    )]
    pub trait StrategyOf<P, T> for W where WatermarkStrategy<T>
}

/// The watermarks that records carry.
#[derive(Clone)]
pub struct Punctuated<P> {
    carried: P,
    watermark: Timestamp,
}

#[diagnostic::do_not_recommend]
impl<T, X: IntoWatermark, P: Fn(&T) -> X + Clone + Send + 'static> WatermarkStrategy<T> for Punctuated<P> {
    fn on_event(&mut self, event: &T, _: Timestamp) {
        if let Some(carried) = (self.carried)(event).into_watermark() {
            self.watermark = self.watermark.max(carried);
        }
    }
    fn watermark(&self) -> Timestamp {
        self.watermark
    }
    fn save(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.watermark.0.to_le_bytes());
    }
    fn restore(&mut self, state: &[u8]) -> Result<(), OpError> {
        let watermark = state.try_into().map_err(|_| "a watermark of another length")?;
        self.watermark = Timestamp(i64::from_le_bytes(watermark));
        Ok(())
    }
}

/// A chain whose records get timestamps, and watermarks by a strategy, on a stream of bounds `B`.
pub struct EventTimeBy<C, F, W, B = Bounded> {
    prev: C,
    time: F,
    strategy: W,
    says: &'static str,
    /// What was said before, and means nothing beside a strategy.
    beside: Option<&'static str>,
    pub(super) waits: Waits,
    meta: Meta,
    bounds: PhantomData<fn() -> B>,
}

impl<C: Clone, F: Clone, W: Clone, B> Clone for EventTimeBy<C, F, W, B> {
    fn clone(&self) -> Self {
        let (prev, time, strategy) = (self.prev.clone(), self.time.clone(), self.strategy.clone());
        EventTimeBy { prev, time, strategy, ..*self }
    }
}

impl<T: 'static, K: Kind, C, F, B> Stream<T, K, EventTime<C, F, B>> {
    /// A record may carry a watermark: that is the watermark from right behind it, unless it was higher before. Where no
    /// record says anything only the end does.
    ///
    /// In `dataflow!`: `.event_time(|e| e.time, punctuated = |e| e.watermark)`.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let events = source(from_vec(vec![(3, None), (12, Some(9)), (4, None)]));
    /// let counts = events.event_time(|e| e.0).punctuated(|e| e.1).window(tumbling(Millis(10))).count();
    /// job.add(counts.map(|w| (w.start.0, w.value)).collect(&out));
    /// # });
    /// # assert_eq!(job.run().unwrap().late(), 1);
    /// assert_eq!(out.take(), [(0, 1), (10, 1)]);
    /// ```
    pub fn punctuated<X: IntoWatermark, P>(
        self,
        carried: P,
    ) -> Stream<T, K, Proved<X::Mark, EventTimeBy<C, F, Punctuated<P>, B>>>
    where
        P: Fn(&T) -> X + Clone + Send + 'static,
    {
        let carried = Punctuated { carried, watermark: Timestamp::MIN };
        Stream::of(self.chain.by(carried, "watermark = the highest that a record has carried"))
    }

    /// Watermarks by a strategy of your own: see [`WatermarkStrategy`].
    pub fn watermarks<W: StrategyOf<P, T>, P>(
        self,
        strategy: W,
    ) -> Stream<T, K, Proved<P, EventTimeBy<C, F, W, B>>> {
        Stream::of(self.chain.by(strategy, "watermark = what the strategy says"))
    }
}

impl<T, K, C, F, W, B> Stream<T, K, EventTimeBy<C, F, W, B>> {
    /// After so long without a record this input holds back nobody, until its next record.
    pub fn idle(mut self, after: impl IntoMillis) -> Self {
        self.chain.waits.idle = Some(after.into_millis());
        self
    }

    /// As [`align`](Stream::align) behind `disorder`.
    pub fn align(mut self, ahead: impl IntoMillis) -> Self {
        self.chain.waits.align = Some(ahead.into_millis());
        self
    }
}

impl<C, F, B> EventTime<C, F, B> {
    fn by<W>(self, strategy: W, says: &'static str) -> EventTimeBy<C, F, W, B> {
        let EventTime { prev, time, disorder, max_ahead, waits, meta, bounds } = self;
        let beside = disorder.map(|_| "disorder").or(max_ahead.map(|_| "max_ahead"));
        EventTimeBy { prev, time, strategy, says, beside, waits, meta, bounds }
    }
}

impl<C, X, F, W, B> Chain for EventTimeBy<C, F, W, B>
where
    C: Chain,
    X: IntoTimestamp,
    F: Fn(&C::Out) -> X + Clone + Send + 'static,
    W: WatermarkStrategy<C::Out>,
    B: Bounds,
{
    type Out = C::Out;
    type Stamp = Timestamp;
    type Root = C::Root;
    fn build<N: Push<C::Out, Timestamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let meta = cx.op(&self.meta, if B::IS_BATCH { AT_THE_END } else { self.says });
        refuse_in_loop(B::IS_LOOPED, cx, &meta);
        if let Some(beside) = self.beside {
            let what = format!("`{beside}` beside another strategy: {}, so it would mean nothing", self.says);
            cx.fail(Error::new(ErrorKind::Plan, what).in_stage(meta.id()).at(meta.at()));
        }
        let pulse = self.waits.pulse(cx, &meta);
        let EventTimeBy { prev, time, strategy, .. } = self;
        if B::IS_BATCH {
            return prev.build(cx, Stamped { time, next }, visit);
        }
        let ticks = Ticks { every: None, last: 0 };
        let push = StrategyPush {
            time,
            next,
            strategy: Told { strategy, floor: Timestamp::MIN, of: std::marker::PhantomData },
            due: Timestamp::MIN,
            careful: true,
            pulse,
            ticks,
            own: Own::new(meta),
        };
        prev.build(cx, push, visit);
    }
}

/// A strategy, and the records it is for.
struct Told<T, W> {
    strategy: W,
    /// What was told before the checkpoint that the job started from.
    floor: Timestamp,
    of: std::marker::PhantomData<fn(&T)>,
}

impl<T, W: WatermarkStrategy<T>> Told<T, W> {
    /// The end of time is the end of the input's to tell.
    fn watermark(&self) -> Timestamp {
        self.strategy.watermark().min(Timestamp(i64::MAX - 1))
    }

    /// The same, but not lower than before the job started.
    fn so_far(&self) -> Timestamp {
        self.watermark().max(self.floor)
    }

    fn take_back(&mut self, own: &mut Own, cx: &OpenCx) -> Result<()> {
        let (mut lowest, mut state) = (None::<Timestamp>, Vec::new());
        own.open_with(cx, &mut |bytes| {
            let told = Timestamp(take_i64(bytes)?);
            let its = std::mem::take(bytes);
            if lowest.is_none_or(|other| told < other) {
                (lowest, state) = (Some(told), its.to_vec());
            }
            Ok(())
        })?;
        self.floor = lowest.unwrap_or(Timestamp::MIN);
        if state.is_empty() {
            return Ok(());
        }
        self.strategy.restore(&state).map_err(|error| own.broken(cx, &error.to_string(), state.len()))
    }
}

/// When the strategy is told the time.
struct Ticks {
    every: Option<Millis>,
    last: i64,
}

impl Ticks {
    fn deadline(&self) -> Option<i64> {
        self.every.map(|every| self.last.saturating_add(every.0.max(1)))
    }
}

/// Stamps records and raises the watermark as a strategy says.
struct StrategyPush<T, F, W, N> {
    time: F,
    next: N,
    strategy: Told<T, W>,
    /// The next watermark that matters.
    due: Timestamp,
    /// Whether single records matter beside the watermark that they raise.
    careful: bool,
    pulse: Pulse,
    ticks: Ticks,
    own: Own,
}

impl<T: 'static, F, W: WatermarkStrategy<T>, N: Tail> StrategyPush<T, F, W, N> {
    fn send(&mut self) {
        self.due = self.pulse.send(self.strategy.so_far(), &mut self.next);
    }
}

impl<T, S, X, F, W, N> Push<T, S> for StrategyPush<T, F, W, N>
where
    T: 'static,
    S: Stamp,
    X: IntoTimestamp,
    F: Fn(&T) -> X + Send + 'static,
    W: WatermarkStrategy<T>,
    N: Push<T, Timestamp>,
{
    #[inline]
    fn push(&mut self, item: T, _: S) {
        let time = (self.time)(&item).into_timestamp();
        if self.careful {
            self.pulse.wake(&mut self.next);
            if self.pulse.is_exact(time, self.strategy.watermark()) {
                self.send();
            }
        }
        self.strategy.strategy.on_event(&item, time);
        self.next.push(item, time);
        if self.strategy.watermark() >= self.due {
            self.send();
        }
    }
}

impl<T, F, W, N> Tail for StrategyPush<T, F, W, N>
where
    T: 'static,
    F: Send + 'static,
    W: WatermarkStrategy<T>,
    N: Tail,
{
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.strategy.take_back(&mut self.own, cx)?;
        self.pulse.open(cx, &mut self.next)?;
        self.careful = self.pulse.is_careful();
        self.ticks = Ticks { every: self.strategy.strategy.tick_every(), last: cx.clock().ticks() };
        self.send();
        Ok(())
    }
    fn mark(&mut self, mark: Mark) {
        if let Some(id) = self.own.at(mark) {
            let mut state = self.strategy.so_far().0.to_le_bytes().to_vec();
            self.strategy.strategy.save(&mut state);
            self.own.put(id, state);
        }
        self.pulse.mark(mark, &mut self.next);
    }
    fn grid(&self) -> Grid {
        Grid::none()
    }
    fn deadline(&self) -> Option<i64> {
        [self.ticks.deadline(), self.pulse.deadline(&self.next)].into_iter().flatten().min()
    }
    fn tick(&mut self, now: i64) {
        if self.ticks.deadline().is_some_and(|at| at <= now) {
            self.ticks.last = now;
            self.strategy.strategy.on_tick(self.pulse.wall());
            // Of a silent input nobody hears before its next record.
            if self.strategy.watermark() >= self.due && !self.pulse.is_silent() {
                self.send();
            }
        }
        if self.pulse.has_fallen_silent(now) {
            self.send();
            self.pulse.fall_silent(&mut self.next);
        }
        self.next.tick(now);
    }
    fn room(&mut self) -> bool {
        self.pulse.room(self.strategy.so_far(), &mut self.next)
    }
    forward_tail!(next: flush enough);
}
