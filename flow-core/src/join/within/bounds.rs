//! How far elements of both sides reach.

use crate::error::{Error, ErrorKind, Result};
use crate::time::{Millis, Timestamp};

/// The bounds of an interval join, as they were said.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// From so long after the left element, or before it where it is negative.
    pub lower: Millis,
    /// To so long after it.
    pub upper: Millis,
    /// The lower bound itself does not match.
    pub above_lower: bool,
    /// The upper bound itself does not match.
    pub below_upper: bool,
}

/// How far an element of one side reaches: others match it from `from` to `to` after its time, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    pub from: i128,
    pub to: i128,
}

impl Bounds {
    /// How far left elements reach, with bounds that are included: time is in whole milliseconds.
    pub fn left(&self) -> Reach {
        let (lower, upper) = (i128::from(self.lower.0), i128::from(self.upper.0));
        Reach { from: lower + i128::from(self.above_lower), to: upper - i128::from(self.below_upper) }
    }

    /// How far right elements reach.
    pub fn right(&self) -> Reach {
        let Reach { from, to } = self.left();
        Reach { from: -to, to: -from }
    }

    /// Whether anything can match.
    ///
    /// # Errors
    /// When nothing can.
    pub fn check(&self) -> Result<()> {
        let Bounds { lower, upper, .. } = self;
        let what = if lower > upper {
            format!("nothing is within {lower} and {upper}: the lower bound is above the upper one")
        } else if self.left().from > self.left().to {
            format!("nothing is within {lower} and {upper}, since the bounds are left out")
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Plan, what))
    }

    /// In `explain`.
    pub fn describe(&self) -> String {
        let Bounds { lower, upper, above_lower, below_upper } = self;
        let (open, close) = (if *above_lower { '(' } else { '[' }, if *below_upper { ')' } else { ']' });
        format!("within {open}{lower}, {upper}{close}")
    }
}

impl Reach {
    /// The times that match an element at `time`.
    #[inline]
    pub fn of(&self, time: Timestamp) -> (Timestamp, Timestamp) {
        let (from, to) = (i128::from(time.0) + self.from, i128::from(time.0) + self.to);
        let (min, max) = (i128::from(i64::MIN), i128::from(i64::MAX));
        if from > max || to < min {
            // Beyond the ends of time: nothing is between these.
            return (Timestamp::MAX, Timestamp::MIN);
        }
        let at = |t: i128| Timestamp(t.clamp(min, max) as i64);
        (at(from), at(to))
    }

    /// The first watermark at which an element at `time` can match nothing that is still to come.
    #[inline]
    pub fn until(&self, time: Timestamp) -> i128 {
        i128::from(time.0) + self.to
    }

    /// How far the watermark is held back for elements of this side that may still leave alone.
    pub fn held_back(&self) -> Millis {
        Millis(self.to.clamp(0, i64::MAX.into()) as i64)
    }
}
