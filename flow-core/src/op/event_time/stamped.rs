//! Timestamps in a batch: there is one watermark, which is the end.

use crate::batch::Mark;
use crate::stage::push::forward_tail;
use crate::stage::{Push, Stamp, Tail};
use crate::time::{Grid, IntoTimestamp, Timestamp};

/// Stamps records.
pub(super) struct Stamped<F, N> {
    pub time: F,
    pub next: N,
}

impl<T, S, X, F, N> Push<T, S> for Stamped<F, N>
where
    T: 'static,
    S: Stamp,
    X: IntoTimestamp,
    F: Fn(&T) -> X + Send + 'static,
    N: Push<T, Timestamp>,
{
    #[inline(always)]
    fn push(&mut self, item: T, _: S) {
        let time = (self.time)(&item).into_timestamp();
        self.next.push(item, time);
    }
}

impl<F: Send + 'static, N: Tail> Tail for Stamped<F, N> {
    fn mark(&mut self, mark: Mark) {
        // Of event time that was given before nothing is left.
        if !matches!(mark, Mark::Watermark(_)) {
            self.next.mark(mark);
        }
    }
    fn grid(&self) -> Grid {
        Grid::none()
    }
    forward_tail!(next: open room flush enough deadline tick);
}
