//! How long a state lives, and on which clock.

use crate::time::{Millis, Timestamp};
use std::fmt;

/// The clock of a time to live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// The host's.
    Clock,
    /// The watermark.
    Watermark,
}

/// What time it is on both.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// On the host's clock.
    pub clock: Timestamp,
    /// Where the watermark is.
    pub watermark: Timestamp,
    /// The time of the record: what is written before the first watermark was written then.
    pub record: Timestamp,
    /// Whether states are to ask again to be called when they expire, though they have.
    pub anew: bool,
}

/// What time it is on one of them.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// What was over by then has expired.
    pub read: i64,
    /// What is written is written then.
    pub write: i64,
}

/// What time it is where nobody has said yet that something expires: what is written then is stamped when that is said.
pub(super) const UNSTAMPED: Now = Now { read: i64::MIN, write: i64::MIN };

impl Moment {
    /// Where nobody asks.
    pub const NONE: Moment =
        Moment { clock: Timestamp::MIN, watermark: Timestamp::MIN, record: Timestamp::MIN, anew: false };

    /// Before all time, so that nothing has expired; all states ask to be called.
    pub const ANEW: Moment = Moment { anew: true, ..Moment::NONE };

    /// On the clock of `ttl`.
    pub fn on(self, ttl: Ttl) -> Now {
        match ttl.on {
            On::Clock => Now { read: self.clock.0, write: self.clock.0 },
            On::Watermark if self.watermark == Timestamp::MIN => {
                Now { read: self.watermark.0, write: self.record.0 }
            }
            On::Watermark => Now { read: self.watermark.0, write: self.watermark.0 },
        }
    }
}

/// How long a value lives after it was written: it has expired when `write + ttl ≤ now`.
///
/// ```
/// use flow_core::process::Ttl;
/// use flow_core::time::Millis;
/// let hour = Ttl::new(Millis(3_600_000)).on_watermark().renewed_by_reading();
/// assert!(hour.check().is_ok() && Ttl::new(Millis(0)).check().is_err());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Ttl {
    length: i64,
    on: On,
    /// Whether reading counts as writing.
    pub(super) renews: bool,
}

impl fmt::Display for Ttl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on = if self.on == On::Watermark { " on the watermark" } else { "" };
        let renew = if self.renews { ", renewed by reading" } else { "" };
        write!(f, "ttl {}{on}{renew}", Millis(self.length))
    }
}

impl Ttl {
    /// On the host's clock, renewed by writing.
    pub fn new(length: Millis) -> Self {
        Ttl { length: length.0, on: On::Clock, renews: false }
    }

    /// On the watermark.
    #[must_use]
    pub fn on_watermark(self) -> Self {
        Ttl { on: On::Watermark, ..self }
    }

    /// Reading a value counts as writing it.
    #[must_use]
    pub fn renewed_by_reading(self) -> Self {
        Ttl { renews: true, ..self }
    }

    /// # Errors
    /// When nothing would live.
    pub fn check(&self) -> Result<(), String> {
        let is = Millis(self.length);
        if self.length > 0 { Ok(()) } else { Err(format!("a time to live of {is}: it has to be positive")) }
    }

    /// [`Ttl::check`], on a stream that is `timed`: that has event time.
    pub(super) fn check_on(&self, timed: bool) -> Result<(), String> {
        if self.on == On::Watermark && !timed {
            return Err(
                "a time to live on the watermark, on a stream without event time: it would never be over"
                    .into(),
            );
        }
        self.check()
    }

    /// The first instant at which something is no longer there that was written at `written`; never, where time ends before that.
    pub(super) fn end(self, written: i64) -> Option<i64> {
        written.checked_add(self.length)
    }

    /// Whether something has expired that was written at `written`.
    pub(super) fn is_over(self, written: i64, now: i64) -> bool {
        self.end(written).is_some_and(|end| end <= now)
    }

    /// Asks to be called at `first`, unless it is `watched` already for then or before.
    pub(super) fn watch(
        self,
        first: Option<i64>,
        now: Moment,
        watched: &mut i64,
        watch: &mut dyn FnMut(On, i64),
    ) {
        if now.anew || *watched <= now.on(self).read {
            *watched = i64::MAX;
        }
        if let Some(first) = first.filter(|first| *first < *watched) {
            *watched = first;
            watch(self.on, first);
        }
    }
}
