//! What a window is: its description, and how its result looks.

use super::fields::serde_fields;
use crate::error::{Error, ErrorKind, Result};
use crate::op::kind::{Ends, HasEventTime};
use crate::time::{Grid, Millis, Timestamp};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

fn saturate(t: i128) -> Timestamp {
    Timestamp(t.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
}

/// Assigns each record to its window.
pub trait Assign: Clone + Send + 'static {
    /// The window of a record at `t`.
    fn span(&self, t: Timestamp) -> Span;
    /// The watermarks at which windows are due.
    fn grid(&self, lateness: Millis) -> Grid;
    /// Whether the description makes sense.
    ///
    /// # Errors
    /// When it does not, with what to write instead.
    fn check(&self) -> Result<()>;
    /// Its name in `explain`.
    fn describe(&self) -> String;
}

/// A window that can be used on streams of kind `K`.
pub trait Over<K> {}

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
/// // Days of UTC+8.
/// let days = tumbling(Millis(86_400_000)).offset(Millis(-28_800_000));
/// ```
pub fn tumbling(size: impl Into<Millis>) -> Tumbling {
    Tumbling { size: size.into(), offset: Millis(0) }
}

impl Tumbling {
    /// Moves the boundaries; less than the size either way.
    #[must_use]
    pub fn offset(self, offset: impl Into<Millis>) -> Self {
        Tumbling { offset: offset.into(), ..self }
    }
}

impl Assign for Tumbling {
    #[inline]
    fn span(&self, t: Timestamp) -> Span {
        let (size, offset) = (self.size.0, self.offset.0);
        // In 64 bits where nothing overflows, which is everywhere but at the ends of time.
        if let Some(since) = t.0.checked_sub(offset)
            && let Some(start) = t.0.checked_sub(since.rem_euclid(size))
        {
            return Span { start: start.into(), end: i128::from(start) + i128::from(size) };
        }
        let (t, size, offset) = (i128::from(t.0), i128::from(size), i128::from(offset));
        let start = t - (t - offset).rem_euclid(size);
        Span { start, end: start + size }
    }

    fn grid(&self, lateness: Millis) -> Grid {
        let due = Grid::steps(self.offset.0.saturating_sub(1), self.size.0);
        // With lateness a pane is forgotten later; it makes a difference to an element for it that comes in between.
        let shift =
            (i128::from(self.offset.0) - 1 + i128::from(lateness.0)).rem_euclid(i128::from(self.size.0));
        if lateness.0 == 0 { due } else { due.and(&Grid::steps(shift as i64, self.size.0)) }
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

/// One window of everything; its result comes at the end of the input.
#[derive(Debug, Clone, Copy)]
pub struct Global;

/// One window of everything, which fires at the end of a bounded input: the final value per key.
pub fn global() -> Global {
    Global
}

impl Assign for Global {
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

impl<K: Ends> Over<K> for Global {}
