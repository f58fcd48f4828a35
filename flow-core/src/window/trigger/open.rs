//! An open window of a key, and when something is to be done about it. Pure: no edges, no clock.

use super::spec::Rules;
use crate::time::{Millis, Timestamp};
use crate::window::session::{Entry, is_due};
use crate::window::spec::Span;
use std::collections::VecDeque;
use std::ops::Range;

/// Never.
pub const NEVER: i128 = i128::MAX;

/// What time it is.
pub struct Now {
    /// The watermark.
    pub watermark: Timestamp,
    /// The highest that there has been, in an earlier run too: what was early then is not to be again.
    pub reached: Timestamp,
    /// What the clock said last.
    pub clock: Timestamp,
}

/// An open window of a key.
pub struct Open<A> {
    /// Its bounds.
    pub span: Span,
    /// The watermark at which it ends.
    pub due: i128,
    /// Who the window is: those that opened earlier have smaller numbers. It fires in the order of these among those of equal time.
    pub born: u64,
    /// Elements that no firing has shown.
    pub unshown: u64,
    /// Whether the watermark has passed its end: an element that joins it has to be shown at once.
    pub passed: bool,
    /// The watermark at which it fires early; [`NEVER`] where it does not.
    pub early: i128,
    /// The time of the clock at which it does.
    pub clock: i128,
    /// When it is looked at next: the time of its entry in the queue by watermark,
    pub queued: i128,
    /// … and of that by the clock.
    pub ticking: i128,
    /// What its elements have become.
    pub acc: A,
}

impl<A> Open<A> {
    /// A window without an element.
    pub fn new(span: Span, due: i128, born: u64, acc: A) -> Self {
        let (early, clock, queued, ticking) = (NEVER, NEVER, NEVER, NEVER);
        Open { span, due, born, unshown: 0, passed: false, early, clock, queued, ticking, acc }
    }

    /// The same window of another accumulator.
    pub fn with<B>(self, acc: B) -> Open<B> {
        let Open { span, due, born, unshown, passed, early, clock, queued, ticking, .. } = self;
        Open { span, due, born, unshown, passed, early, clock, queued, ticking, acc }
    }

    /// Stretches it over another, which lies beside it or in it.
    pub fn stretch(&mut self, span: Span, due: i128) {
        self.span = Span { start: self.span.start.min(span.start), end: self.span.end.max(span.end) };
        self.due = self.due.max(due);
    }

    /// Takes another in, but for what its elements have become.
    pub fn unite(&mut self, other: &Open<impl Sized>) {
        self.stretch(other.span, other.due);
        self.unshown += other.unshown;
        self.early = self.early.min(other.early);
        self.clock = self.clock.min(other.clock);
    }

    /// One more element has come, which says `at_once` or not. Whether the window fires.
    pub fn arrive(&mut self, now: &Now, at_once: bool, rules: &Rules) -> bool {
        self.unshown += 1;
        self.passed = is_passed(self.due, now.watermark);
        if self.passed || at_once && !rules.whole || rules.count.is_some_and(|n| self.unshown >= n) {
            return true;
        }
        if let Some(every) = rules.early {
            // After the window has begun, which a session may have earlier than was known, and at a watermark that is still to come.
            let early = next(self.span.start.max(i128::from(now.reached.0) + 1), every) - 1;
            self.early = self.early.min(early);
        }
        if let (NEVER, Some(every)) = (self.clock, rules.clock) {
            self.clock = next(now.clock.0.into(), every);
        }
        false
    }

    /// All its elements have been shown.
    pub fn shown(&mut self) {
        (self.unshown, self.early, self.clock) = (0, NEVER, NEVER);
    }

    /// When something is to be done about it at a watermark: it fires, or can be forgotten.
    pub fn next(&self, lateness: Millis) -> i128 {
        if self.passed { self.due + i128::from(lateness.0) } else { self.early.min(self.due) }
    }
}

/// The first multiple after `t`.
fn next(t: i128, every: Millis) -> i128 {
    let every = i128::from(every.0);
    (t.div_euclid(every) + 1) * every
}

/// Whether watermark `w` has come to `time`. The lowest one stands for none.
pub fn is_passed(time: i128, w: Timestamp) -> bool {
    w != Timestamp::MIN && is_due(time, w)
}

/// The windows at the end of a list that are joined.
pub fn joined<A>(windows: &VecDeque<Open<A>>, span: Span, due: i128) -> Range<usize> {
    // Sessions lie apart, so that their ends are in the order of their starts.
    let from = windows.partition_point(|w| w.due < span.start);
    let to = windows.partition_point(|w| w.span.start <= due);
    from..to.max(from)
}

/// The place of the window of an entry, if it `counts`. No two begin at once; and one that has grown since it was queued has taken
/// in whatever lay between where it began and where it begins.
pub fn find<A>(
    windows: &VecDeque<Open<A>>,
    entry: &Entry<i128>,
    counts: impl Fn(&Open<A>) -> bool,
) -> Option<usize> {
    let place = windows.partition_point(|w| w.span.start <= entry.inside).checked_sub(1)?;
    windows.get(place).filter(|w| w.born == entry.born && counts(w)).map(|_| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(start: i128, due: i128, born: u64) -> Open<()> {
        Open { queued: 7, ..Open::new(Span { start, end: due + 1 }, due, born, ()) }
    }

    /// Where it is follows from where it began, however many there are.
    #[test]
    fn the_window_of_an_entry_is_found() {
        let mut windows: VecDeque<_> =
            (0..100).map(|n| window(10 * n, 10 * n + 25, 100 - n as u64)).collect();
        let entry = |born, inside| Entry { time: 7, born, slot: 0, inside };
        let find = |windows: &VecDeque<_>, entry| find(windows, &entry, |w| w.queued == 7);
        for n in 0..100 {
            assert_eq!(find(&windows, entry(100 - n as u64, 10 * n)), Some(n as usize));
        }
        assert_eq!(find(&windows, entry(100, -1)), None);
        assert_eq!(find(&windows, entry(3, 10)), None, "it has been taken in by another");
        windows[4].queued = NEVER;
        assert_eq!(find(&windows, entry(96, 40)), None, "it has been queued anew");
        // The last one has grown over the one before.
        windows.remove(98);
        windows[98].stretch(Span { start: 980, end: 1006 }, 1005);
        assert_eq!(find(&windows, entry(1, 990)), Some(98));
    }
}
