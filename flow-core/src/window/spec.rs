//! What a window is: its description, and how its result looks.

use super::aggregate::WindowAgg;
use super::base::{Base, Row};
use super::clocked::{Clocked, Processing, Tells};
use super::fields::serde_fields;
use super::head::WindowHead;
use super::late::{Lates, Policy};
use super::windowing::{Adds, Parts, Windowing};
use crate::aggregate::Aggregate;
use crate::error::{Error, ErrorKind, Result};
use crate::op::kind::{Ends, HasEventTime};
use crate::op::proved::claim;
use crate::op::{KeyFn, Kind};
use crate::stage::{HeadStage, Push, Stamp};
use crate::state::{Keep, Mode};
use crate::time::{Grid, IntoMillis, Millis, Timestamp};

/// The result of a window. The window is always there: `[start, end)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Windowed<K, V> {
    /// The key; `()` on a stream without one.
    pub key: K,
    /// The first instant of the window.
    pub start: Timestamp,
    /// The first instant after it.
    pub end: Timestamp,
    /// What the aggregate made.
    pub value: V,
}
serde_fields!(Windowed<K, V> { key, start, end, value });

/// A pane: a stretch of event time whose records are kept together. Its bounds are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first instant.
    pub start: i128,
    /// The first instant after it.
    pub end: i128,
}

impl Span {
    /// The bounds as they are shown: within the range of timestamps.
    pub fn shown(&self) -> (Timestamp, Timestamp) {
        (saturate(self.start), saturate(self.end))
    }

    /// Whether the window is due at watermark `w`. The lowest one stands for none: nothing is before the first element.
    pub fn is_passed(&self, w: Timestamp) -> bool {
        w != Timestamp::MIN && self.due() <= w
    }

    /// Whether an element comes too late at watermark `w`, and by how much.
    pub fn late_by(&self, w: Timestamp, lateness: Millis) -> Option<i128> {
        if w == Timestamp::MIN {
            return None;
        }
        let last = self.end - 1 + i128::from(lateness.0);
        let by = i128::from(w.0) - last;
        (by >= 0 || w == Timestamp::MAX).then_some(by.max(0))
    }

    /// Whether an instant is in it.
    pub fn holds(&self, t: Timestamp) -> bool {
        (self.start..self.end).contains(&i128::from(t.0))
    }

    /// The first watermark at which the window is due.
    pub fn due(&self) -> Timestamp {
        saturate(self.end - 1)
    }
}

/// An exact point of time within the range of timestamps.
pub(super) fn saturate(t: i128) -> Timestamp {
    Timestamp(t.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
}

/// What the accumulators of an aggregate can do: see [`Algebra`](crate::aggregate::Algebra).
#[derive(Debug, Clone, Copy)]
pub struct Can {
    /// They merge.
    pub merge: bool,
    /// … and in any order.
    pub commute: bool,
    /// … and can be taken out again.
    pub invert: bool,
}

/// Assigns each record to its window.
pub trait Assign: Clone + Send + 'static {
    /// Whether a record may be in several windows, each with a pane of its own, or in none.
    const SEVERAL: bool = false;
    /// The pane of a record at `t`.
    fn span(&self, t: Timestamp) -> Span;
    /// The windows of a record at `t`, by their ends; asked where there may be `SEVERAL`.
    fn windows(&self, t: Timestamp) -> impl Iterator<Item = Span> + Clone + use<Self> {
        std::iter::once(self.span(t))
    }
    /// The watermarks at which windows are due.
    fn grid(&self, lateness: Millis) -> Grid;
    /// Whether the description makes sense.
    ///
    /// # Errors
    /// When it does not, with what to write instead.
    fn check(&self) -> Result<()>;
    /// Its name in `explain`.
    fn describe(&self) -> String;
    /// In `explain`: how results are made of an aggregate that can do so much.
    fn algorithm(&self, can: Can) -> String {
        let _ = can;
        "one table a pane".to_owned()
    }
    /// The stage of the operator.
    #[doc(hidden)]
    fn stage<X, F, A, P, S, N, M, T>(self, base: Base<X, F, A, P, S, N>, time: T) -> HeadStage
    where
        X: 'static,
        F: KeyFn<X, Key: Keep<M>>,
        A: Aggregate<F::Value, Acc: Keep<M>>,
        P: Policy<Row<X, F, A>, F::Value>,
        S: Stamp,
        N: Push<P::Emit, S>,
        M: Mode,
        T: Tells,
    {
        time.stage(WindowHead::<X, F, Self, A, P, S, N, M>::new(base, self))
    }
}

/// A window that can be used on streams of kind `K`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not describe windows",
    label = "not a window",
    note = "write `.window(tumbling(1h))`, `.window(sliding(1h, 5min))`, `.window(session(30min))`, `.window(count(100))` or `.window(global())`"
)]
pub trait Over<K>: Windowing {}

/// Windows that come to their ends on streams of kind `K`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has its result at the end of the input, but this stream never ends",
    label = "needs bounded input",
    note = "bound the source (`.take(n)`, a file, an iterator), or give each window its result: `.window(tumbling(1h))`"
)]
pub trait Closing<K> {}
#[diagnostic::do_not_recommend]
impl<K: Kind, W: Assign> Closing<K> for W {}

claim! {
    /// Windows that have results on streams of kind `K`: they come to their [ends](Closing), or a trigger fires them.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` has its result at the end of the input, but this stream never ends",
        label = "needs bounded input, or a trigger",
        note = "bound the source (`.take(n)`, a file, an iterator), or give each window its result: `.window(tumbling(1h))`",
        note = "or say when everything so far is a result: `.window(global()).trigger(|t| t.count(100))`"
    )]
    pub trait Closes<P, K> for W where Closing<K>
}

/// The watermarks that matter to windows that end at `end + k · step`.
pub(super) fn grid(end: i128, step: Millis, lateness: Millis) -> Grid {
    let at = |last: i128| Grid::steps(last.rem_euclid(step.0.into()) as i64, step.0);
    let due = at(end - 1);
    // With lateness a pane is forgotten later; it makes a difference to an element for it that comes in between.
    if lateness.0 == 0 { due } else { due.and(&at(end - 1 + i128::from(lateness.0))) }
}

/// The last of the points `offset + k · step` that is not after `t`. `step` is positive.
#[inline]
pub(super) fn aligned(t: Timestamp, step: Millis, offset: Millis) -> i128 {
    // In 64 bits where nothing overflows, which is everywhere but at the ends of time.
    if let Some(since) = t.0.checked_sub(offset.0)
        && let Some(start) = t.0.checked_sub(since.rem_euclid(step.0))
    {
        return start.into();
    }
    let (t, step, offset) = (i128::from(t.0), i128::from(step.0), i128::from(offset.0));
    t - (t - offset).rem_euclid(step)
}

/// Windows of one size, one after the other, aligned to the epoch plus an offset.
#[derive(Debug, Clone, Copy)]
pub struct Tumbling {
    size: Millis,
    offset: Millis,
}

/// Windows of `size`, one after the other.
///
/// ```
/// use flow_core::prelude::*;
/// // Hours that begin at a quarter past.
/// let hours = tumbling(Millis(3_600_000)).offset(Millis(900_000));
/// ```
pub fn tumbling(size: impl IntoMillis) -> Tumbling {
    Tumbling { size: size.into_millis(), offset: Millis(0) }
}

/// Days of a place whose clocks are so far from UTC: `days(8h)` in Singapore, `days(-5h)` in Lima, `days(5h + 30min)` in Delhi. The offset is
/// fixed: where clocks are put forward and back, a day of summer time is another one.
///
/// ```
/// # use flow_core::prelude::*;
/// # let out = Collected::new();
/// # let job = Job::build("doc", |job| {
/// let hour = 3_600_000;
/// let sales = source(from_vec(vec![15 * hour, 17 * hour])).event_time(|t| *t).disorder(Millis(0));
/// let by_day = sales.window(days(Millis(8 * hour))).count();
/// job.add(by_day.map(move |w| (w.start.0 / hour, w.end.0 / hour, w.value)).collect(&out));
/// # });
/// # job.run().unwrap();
/// // Between the two it is midnight in Singapore.
/// assert_eq!(out.take(), [(-8, 16, 1), (16, 40, 1)]);
/// ```
pub fn days(utc_offset: impl IntoMillis) -> Tumbling {
    Tumbling { size: DAY, offset: -utc_offset.into_millis() }
}

/// A day without leap seconds, as the epoch's milliseconds count.
const DAY: Millis = Millis(86_400_000);

impl Tumbling {
    /// Moves the boundaries; less than the size either way.
    #[must_use]
    pub fn offset(self, offset: impl IntoMillis) -> Self {
        Tumbling { offset: offset.into_millis(), ..self }
    }
}

impl Tumbling {
    /// On the clock, not by the records' times: an element happens when it arrives. Results have no event time; windows that are
    /// open when the input ends fire then.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let by_the_clock = source(from_vec(vec!["a", "b"])).window(tumbling(Millis(1_000)).time(processing)).count();
    /// job.add(by_the_clock.map(|w| (w.end - Millis(1_000) == w.start, w.value)).collect(&out));
    /// # });
    /// # job.simulate(1).unwrap();
    /// assert_eq!(out.take(), [(true, 2)]);
    /// ```
    pub fn time(self, _: Processing) -> Clocked<Self> {
        Clocked(self)
    }
}

impl Assign for Tumbling {
    #[inline]
    fn span(&self, t: Timestamp) -> Span {
        let start = aligned(t, self.size, self.offset);
        Span { start, end: start + i128::from(self.size.0) }
    }

    fn grid(&self, lateness: Millis) -> Grid {
        grid(self.offset.0.into(), self.size, lateness)
    }

    fn check(&self) -> Result<()> {
        let Tumbling { size, offset } = self;
        if size.0 <= 0 {
            let what = format!("a window of size {size}: the size has to be positive");
            return Err(Error::new(ErrorKind::Plan, what));
        }
        if offset.0.unsigned_abs() >= size.0.unsigned_abs() {
            let what =
                format!("an offset of {offset} for windows of size {size}: it has to be less than the size");
            return Err(Error::new(ErrorKind::Plan, what));
        }
        Ok(())
    }

    fn describe(&self) -> String {
        if self.offset.0 == 0 {
            format!("tumbling({})", self.size)
        } else {
            format!("tumbling({}, offset = {})", self.size, self.offset)
        }
    }
}

impl<K: HasEventTime> Over<K> for Tumbling {}

/// One window of everything; its result comes at the end of the input, or when a trigger says so.
#[derive(Debug, Clone, Copy)]
pub struct Global;

/// One window of everything, which fires at the end of a bounded input: the final value per key. On input without an end a
/// [trigger](crate::window::aggregate::WindowedStream::trigger) has to fire it.
pub fn global() -> Global {
    Global
}

/// The one window of everything, as the operator keeps it.
#[derive(Debug, Clone, Copy)]
pub struct Everything;

impl Assign for Everything {
    #[inline(always)]
    fn span(&self, _: Timestamp) -> Span {
        Span { start: i64::MIN.into(), end: i128::from(i64::MAX) + 1 }
    }

    fn grid(&self, _: Millis) -> Grid {
        Grid::none()
    }

    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn describe(&self) -> String {
        "global()".to_owned()
    }
}

impl Lates for Global {}
impl<K: Kind> Over<K> for Global {}
#[diagnostic::do_not_recommend]
impl<K: Ends> Closing<K> for Global {}

#[diagnostic::do_not_recommend]
impl Windowing for Global {
    type Needs = Adds;
    type Kind<K: Kind> = K;
    type Chain<X, C, F, A, P, M> = WindowAgg<X, C, F, Everything, A, P, M>;
    fn chain<X, C, F, A, P, M>(self, parts: Parts<C, F, A, P>) -> Self::Chain<X, C, F, A, P, M> {
        Everything.chain(parts)
    }
}
