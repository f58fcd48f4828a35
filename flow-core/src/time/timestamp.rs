//! A point in event time.

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Milliseconds since the epoch (UTC); negative before it.
///
/// ```
/// use flow_core::time::{Millis, Timestamp};
/// assert_eq!(Timestamp(1_500) - Millis(500), Timestamp(1_000));
/// assert_eq!(Timestamp::MAX + Millis(1), Timestamp::MAX, "arithmetic saturates");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);

// By hand: serde's derive would be the longest build of all dependencies.
impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}
impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        i64::deserialize(from).map(Timestamp)
    }
}

impl Timestamp {
    /// Before all others: the watermark of an input that has not said anything yet.
    pub const MIN: Self = Timestamp(i64::MIN);
    /// After all others: the watermark of an input that has ended.
    pub const MAX: Self = Timestamp(i64::MAX);

    /// The milliseconds.
    pub const fn millis(self) -> i64 {
        self.0
    }
}

impl std::ops::Add<super::Millis> for Timestamp {
    type Output = Self;
    fn add(self, d: super::Millis) -> Self {
        Timestamp(self.0.saturating_add(d.0))
    }
}

impl std::ops::Sub<super::Millis> for Timestamp {
    type Output = Self;
    fn sub(self, d: super::Millis) -> Self {
        Timestamp(self.0.saturating_sub(d.0))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// What a closure given to `event_time` may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a time: `event_time` needs a `Timestamp` or milliseconds since the epoch as `i64`",
    label = "this closure returns `{Self}`",
    note = "write `.event_time(|x| Timestamp(x.millis), …)` or return an `i64`"
)]
pub trait IntoTimestamp {
    /// [`Timestamp`]. Behind a closure that returns no time the stream has no known type, so that this is the only error.
    type Time;
    /// The point in event time.
    fn into_timestamp(self) -> Timestamp;
}

#[diagnostic::do_not_recommend]
impl IntoTimestamp for Timestamp {
    type Time = Self;
    #[inline]
    fn into_timestamp(self) -> Timestamp {
        self
    }
}

#[diagnostic::do_not_recommend]
impl IntoTimestamp for i64 {
    type Time = Timestamp;
    #[inline]
    fn into_timestamp(self) -> Timestamp {
        Timestamp(self)
    }
}

/// What a closure given to `punctuated` may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the watermark of a record: `punctuated` needs an `Option<Timestamp>` or an `Option<i64>`",
    label = "this closure returns `{Self}`",
    note = "return `Some(watermark)` for a record that carries one, and `None` for all others"
)]
pub trait IntoWatermark {
    /// [`Timestamp`], or no type at all: see [`IntoTimestamp::Time`].
    type Mark;
    /// The watermark, if there is one.
    fn into_watermark(self) -> Option<Timestamp>;
}

#[diagnostic::do_not_recommend]
impl<X: IntoTimestamp> IntoWatermark for Option<X> {
    type Mark = X::Time;
    #[inline]
    fn into_watermark(self) -> Option<Timestamp> {
        self.map(X::into_timestamp)
    }
}
