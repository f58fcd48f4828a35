//! Where slices and windows begin. Pure: bounds are exact, time has no ends here.
//!
//! Windows begin each slide, and end each slide, so that between two beginnings there is at most one end: each slide has two slices
//! at most, however little size and slide have in common. ("Paired windows": Krishnamurthy, Wu and Franklin, "On-the-fly
//! sharing for streamed aggregation", 2006. Slices of the greatest common divisor would be many more: 10 s by 3.001 s has 10,000
//! of them in a window, and 7 of these.)

use crate::time::{Millis, Timestamp};
use crate::window::spec::{Span, aligned};

/// What describes sliding windows; all positive but the offset.
#[derive(Debug, Clone, Copy)]
pub struct Slices {
    pub size: Millis,
    pub slide: Millis,
    pub offset: Millis,
}

impl Slices {
    /// The slice of `t`. Where the slide is longer than the size, what lies between two windows is a slice too.
    #[inline]
    pub fn of(&self, t: Timestamp) -> Span {
        let start = aligned(t, self.slide, self.offset);
        let end = start + i128::from(self.slide.0);
        // How far behind a beginning the ends are.
        let rest = self.size.0 % self.slide.0;
        let middle = start + i128::from(rest);
        if rest == 0 {
            Span { start, end }
        } else if i128::from(t.0) < middle {
            Span { start, end: middle }
        } else {
            Span { start: middle, end }
        }
    }

    /// The window that begins there.
    pub fn window(&self, start: i128) -> Span {
        Span { start, end: start + i128::from(self.size.0) }
    }

    /// The beginning of the first window that begins at `t` or later.
    pub fn at_or_after(&self, t: i128) -> i128 {
        t + (i128::from(self.offset.0) - t).rem_euclid(self.slide.0.into())
    }

    /// The beginnings of the first and the last window of a slice; none in a gap.
    pub fn windows_of(&self, slice: &Span) -> Option<(i128, i128)> {
        let first = self.at_or_after(slice.start + 1 - i128::from(self.size.0));
        let last = slice.start - (slice.start - i128::from(self.offset.0)).rem_euclid(self.slide.0.into());
        (first <= last).then_some((first, last))
    }

    /// The beginning of the first window that watermark `w` has not passed, with so much lateness.
    pub fn first_open(&self, w: Timestamp, lateness: Millis) -> i128 {
        // The lowest stands for none: nothing is before the first element.
        if w == Timestamp::MIN {
            return i128::MIN;
        }
        // The end of the input passes everything, also what ends beyond the range of timestamps.
        if w == Timestamp::MAX {
            return i128::MAX;
        }
        self.at_or_after(i128::from(w.0) + 2 - i128::from(self.size.0) - i128::from(lateness.0))
    }

    /// In how many windows a record may be.
    pub fn windows_of_a_record(&self) -> i64 {
        self.size.0 / self.slide.0 + i64::from(self.size.0 % self.slide.0 != 0)
    }

    /// How many slices a window has.
    pub fn slices_of_a_window(&self) -> i128 {
        let whole = i128::from(self.size.0 / self.slide.0);
        if self.size.0 % self.slide.0 == 0 { whole } else { 2 * whole + 1 }
    }
}
