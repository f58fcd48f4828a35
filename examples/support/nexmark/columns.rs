//! How columns of results are written: exact numbers with three decimals, days and times of day.

use serde::{Serialize, Serializer};
use std::time::{Duration, UNIX_EPOCH};

/// A number of thousandths, written with three decimals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thousandths(pub i128);

impl Thousandths {
    /// A quotient, rounded half away from zero.
    pub fn ratio(sum: i64, count: u64) -> Self {
        let (sum, count) = (i128::from(sum), i128::from(count));
        let rounded = (2 * 1000 * sum.abs() + count) / (2 * count);
        Thousandths(rounded * sum.signum())
    }

    /// A price in dollars, in euros.
    pub fn euros(dollars: i64) -> Self {
        Thousandths(i128::from(dollars) * 908)
    }
}

impl Serialize for Thousandths {
    fn serialize<S: Serializer>(&self, field: S) -> Result<S::Ok, S::Error> {
        let (sign, size) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        field.collect_str(&format_args!("{sign}{}.{:03}", size / 1000, size % 1000))
    }
}

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

/// The number of the day in UTC.
pub fn day(ms: i64) -> i64 {
    ms.div_euclid(DAY_MS)
}

/// The minute of the day in UTC.
pub fn minute(ms: i64) -> i64 {
    ms.rem_euclid(DAY_MS) / MINUTE_MS
}

/// A day, from 1970 on, as `2015-07-15`.
pub fn day_text(day: i64) -> String {
    let since = Duration::from_millis(u64::try_from(day * DAY_MS).unwrap_or(0));
    let text = humantime::format_rfc3339_seconds(UNIX_EPOCH + since).to_string();
    text.split('T').next().unwrap_or_default().to_owned()
}

/// A minute of the day as `23:59`.
pub fn minute_text(minute: i64) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}
