//! A signed duration.

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::time::Duration;

/// A duration in milliseconds. It may be negative, as a window's offset may.
///
/// In `dataflow!` it is written `500ms`, `5s`, `15min`, `1h`, `1d`.
///
/// ```
/// use flow_core::time::Millis;
/// use std::time::Duration;
/// assert_eq!(Millis::from(Duration::from_secs(2)), Millis(2_000));
/// assert_eq!("15min".parse(), Ok(Millis(900_000)));
/// assert!("15".parse::<Millis>().unwrap_err().contains("unit"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Millis(pub i64);

/// The units a duration may be written in, and their length in milliseconds.
const UNITS: [(&str, i64); 5] =
    [("ms", 1), ("s", 1_000), ("min", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

// By hand: serde's derive would be the longest build of all dependencies.
impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}
impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        i64::deserialize(from).map(Millis)
    }
}

impl Millis {
    /// The non-negative part as the standard library's duration.
    pub fn to_duration(self) -> Duration {
        Duration::from_millis(u64::try_from(self.0).unwrap_or(0))
    }
}

impl std::ops::Neg for Millis {
    type Output = Self;
    fn neg(self) -> Self {
        Millis(self.0.saturating_neg())
    }
}

impl std::ops::Add for Millis {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Millis(self.0.saturating_add(other.0))
    }
}

impl From<Duration> for Millis {
    /// Rounds down to milliseconds; saturates.
    fn from(d: Duration) -> Self {
        Millis(i64::try_from(d.as_millis()).unwrap_or(i64::MAX))
    }
}

impl std::str::FromStr for Millis {
    type Err = String;

    /// A duration as it is written in the macro and on the examples' command lines.
    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = &text[digits.len()..];
        let Some((_, length)) = UNITS.iter().find(|u| u.0 == unit) else {
            return Err(format!("`{text}` needs a unit: write ms, s, min, h or d, as in `15min`"));
        };
        let count: i64 =
            digits.parse().map_err(|_| format!("`{digits}` in `{text}` is not a whole number"))?;
        count.checked_mul(*length).map(Millis).ok_or_else(|| format!("`{text}` is too long"))
    }
}

impl fmt::Display for Millis {
    /// In the largest unit that divides it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = UNITS.iter().rev().find(|u| self.0 != 0 && self.0 % u.1 == 0).unwrap_or(&UNITS[0]);
        write!(f, "{}{}", self.0 / unit.1, unit.0)
    }
}

/// What a duration may be given as, or what a closure that says how long something takes may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a duration",
    label = "a duration is needed, and this is `{Self}`",
    note = "give `Millis` or a `std::time::Duration`: `Millis(5_000)`; in a pipeline a literal as `5s` is one"
)]
pub trait IntoMillis {
    /// [`Millis`]. Behind a closure that returns no duration nothing has a known type, so that this is the only error.
    type Length;
    /// The duration.
    fn into_millis(self) -> Millis;
}

#[diagnostic::do_not_recommend]
impl IntoMillis for Millis {
    type Length = Self;
    #[inline]
    fn into_millis(self) -> Millis {
        self
    }
}

#[diagnostic::do_not_recommend]
impl IntoMillis for Duration {
    type Length = Millis;
    #[inline]
    fn into_millis(self) -> Millis {
        self.into()
    }
}
