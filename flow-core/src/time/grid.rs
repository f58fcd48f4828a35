//! Which watermarks an operator can tell apart.
//!
//! A chain is built from its end, so each operator can ask what lies behind it: a tumbling window only cares when the
//! watermark passes `offset + k·size − 1`. `event_time` then sends a mark when the watermark crosses such a point,
//! instead of one a record; nothing downstream can notice the difference.

use super::Timestamp;

/// A set of points of event time; a watermark matters when it passes one of them.
///
/// ```
/// use flow_core::time::{Grid, Timestamp};
/// let hours = Grid::steps(-1, 3_600_000);
/// assert_eq!(hours.next_after(Timestamp(0)), Timestamp(3_599_999));
/// assert_eq!(Grid::none().next_after(Timestamp(0)), Timestamp::MAX);
/// assert_eq!(hours.and(&Grid::every()).next_after(Timestamp(7)), Timestamp(8));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grid {
    steps: Vec<(i64, i64)>,
    exact: bool,
}

impl Grid {
    /// Nobody listens.
    pub fn none() -> Self {
        Self::default()
    }

    /// Every watermark matters.
    pub fn every() -> Self {
        Self::steps(0, 1)
    }

    /// `offset + k · size` for every whole k. `size` is at least 1.
    pub fn steps(offset: i64, size: i64) -> Self {
        Grid { steps: vec![(offset, size.max(1))], exact: false }
    }

    /// The same points, and the exact watermark whenever an element arrives behind it (for `late_by`).
    #[must_use]
    pub fn with_exact_late(mut self) -> Self {
        self.exact = true;
        self
    }

    /// Whether somebody reports by how much an element is late.
    pub fn exact_late(&self) -> bool {
        self.exact
    }

    /// The union of both.
    #[must_use]
    pub fn and(mut self, other: &Grid) -> Self {
        for step in &other.steps {
            if !self.steps.contains(step) {
                self.steps.push(*step);
            }
        }
        self.exact |= other.exact;
        self
    }

    /// The first point after `w`; [`Timestamp::MAX`] where there is none (the end of the input is told anyway).
    pub fn next_after(&self, w: Timestamp) -> Timestamp {
        let next = self.steps.iter().map(|(offset, size)| {
            let (w, offset, size) = (i128::from(w.0), i128::from(*offset), i128::from(*size));
            offset + ((w - offset).div_euclid(size) + 1) * size
        });
        let next = next.min().unwrap_or(i128::MAX);
        Timestamp(i64::try_from(next).unwrap_or(i64::MAX))
    }
}
