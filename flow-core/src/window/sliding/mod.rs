//! Sliding windows: `size` long, one each `slide`. They overlap, so a record is in several.
//!
//! A record is kept once, whatever size/slide: in its *slice*, a pane that lies in each window either whole or not at all. Windows are
//! composed of slices when they are due:
//!
//! * `slices`: where slices and windows begin; pure;
//! * `head`: the operator: slices, late elements, firing as a cursor;
//! * `running`: what the slices of the current window come to, kept up to date as slices enter and leave: by `invert` or `stacks`, in a
//!   `table`;
//! * `composed`: a window of which slices are not in memory;
//! * `again`: the results that an element within the lateness changes;
//! * `each`: where the order of records matters or accumulators do not merge: a pane for each window.

mod again;
mod composed;
mod each;
mod head;
mod invert;
mod running;
mod slices;
mod stacks;
mod table;
#[cfg(test)]
mod tests;

use super::base::{Base, Row};
use super::clocked::{Clocked, Processing, Tells};
use super::head::WindowHead;
use super::late::Policy;
use super::spec::{Assign, Can, Over, Span, grid};
use crate::aggregate::{Aggregate, Algebra};
use crate::error::{Error, ErrorKind, Result};
use crate::op::KeyFn;
use crate::op::kind::HasEventTime;
use crate::stage::{HeadStage, Push, Stamp};
use crate::state::{Keep, Mode};
use crate::time::{Grid, IntoMillis, Millis, Timestamp};
use each::Each;
use head::SlidingHead;
use invert::Invert;
use slices::Slices;
use stacks::Stacks;

/// Windows that an element may be in at most.
const OVERLAPPING_MAX: i128 = 100_000;

/// Windows of one size, which begin one slide after the other, aligned to the epoch plus an offset.
#[derive(Debug, Clone, Copy)]
pub struct Sliding {
    size: Millis,
    slide: Millis,
    offset: Millis,
    gaps: bool,
}

/// Windows of `size`, a new one each `slide`.
///
/// ```
/// use flow_core::prelude::*;
///
/// let out = Collected::new();
/// let job = Job::build("last_ten", |job| {
///     let sales = source(from_vec(vec![(1, "tea", 3), (7, "tea", 5), (12, "tea", 7)]));
///     let sums = sales
///         .event_time(|s| s.0)
///         .disorder(Millis(0))
///         .key_by(|s| s.1)
///         .window(sliding(Millis(10), Millis(5)))
///         .sum(|s| s.2);
///     job.add(sums.map(|w| (w.start.0, w.end.0, w.value)).collect(&out));
/// });
/// job.run()?;
/// assert_eq!(out.take(), [(-5, 5, 3), (0, 10, 8), (5, 15, 12), (10, 20, 7)]);
/// # Ok::<(), flow_core::Error>(())
/// ```
pub fn sliding(size: impl IntoMillis, slide: impl IntoMillis) -> Sliding {
    Sliding { size: size.into_millis(), slide: slide.into_millis(), offset: Millis(0), gaps: false }
}

impl Sliding {
    /// Moves the boundaries; less than the slide either way.
    #[must_use]
    pub fn offset(self, offset: impl IntoMillis) -> Self {
        Sliding { offset: offset.into_millis(), ..self }
    }

    /// Whether the slide may be longer than the size: what lies between two windows is in none, and not late.
    #[must_use]
    pub fn gaps(self, gaps: bool) -> Self {
        Sliding { gaps, ..self }
    }

    /// On the clock: an element happens when it arrives.
    pub fn time(self, _: Processing) -> Clocked<Self> {
        Clocked(self)
    }

    fn slices(&self) -> Slices {
        Slices { size: self.size, slide: self.slide, offset: self.offset }
    }
}

impl Assign for Sliding {
    #[inline]
    fn span(&self, t: Timestamp) -> Span {
        self.slices().of(t)
    }

    fn windows(&self, t: Timestamp) -> impl Iterator<Item = Span> + Clone + use<> {
        let slices = self.slices();
        let bounds = slices.windows_of(&slices.of(t));
        let (first, last) = bounds.unwrap_or((0, -1));
        // In steps of a slide, which `step_by` does not know for 128 bits.
        let next =
            move |start: &i128| Some(start + i128::from(slices.slide.0)).filter(|start| *start <= last);
        std::iter::successors(Some(first).filter(|first| *first <= last), next)
            .map(move |start| slices.window(start))
    }

    fn grid(&self, lateness: Millis) -> Grid {
        grid(i128::from(self.offset.0) + i128::from(self.size.0), self.slide, lateness)
    }

    fn check(&self) -> Result<()> {
        let Sliding { size, slide, offset, gaps } = self;
        let refuse = |what: String| Err(Error::new(ErrorKind::Plan, what));
        if size.0 <= 0 {
            return refuse(format!("a window of size {size}: the size has to be positive"));
        }
        if slide.0 <= 0 {
            return refuse(format!("windows each {slide}: the slide has to be positive"));
        }
        if offset.0.unsigned_abs() >= slide.0.unsigned_abs() {
            let what = format!("an offset of {offset} for windows each {slide}");
            return refuse(format!("{what}: it has to be less than the slide"));
        }
        if slide > size && !gaps {
            let what = format!("windows of {size}, one each {slide}, leave out what lies between them");
            return refuse(format!("{what}: say `gaps = true` if that is meant"));
        }
        if i128::from(size.0) > i128::from(slide.0) * OVERLAPPING_MAX {
            let windows = self.slices().windows_of_a_record();
            let what = format!("windows of {size}, one each {slide}: each element would be in {windows}");
            return refuse(format!("{what}, and {OVERLAPPING_MAX} are the limit"));
        }
        Ok(())
    }

    fn describe(&self) -> String {
        let Sliding { size, slide, offset, gaps } = self;
        let offset = if offset.0 == 0 { String::new() } else { format!(", offset = {offset}") };
        let gaps = if *gaps { ", gaps = true" } else { "" };
        format!("sliding({size}, {slide}{offset}{gaps})")
    }

    fn algorithm(&self, can: Can) -> String {
        if self.check().is_err() {
            return "refused".to_owned();
        }
        let how = match can {
            Can { invert: true, .. } => {
                "composed by a running table, to which slices that enter are added and from which those that leave are taken away"
            }
            Can { commute: true, .. } => {
                "composed by two stacks of slices, since the aggregate merges but nothing can be taken out of it"
            }
            Can { merge, .. } => {
                let why = if merge {
                    "the order of records matters to it"
                } else {
                    "its accumulators do not merge"
                };
                let windows = self.slices().windows_of_a_record();
                return format!(
                    "one table a window, each record added to up to {windows} of them: the aggregate allows no slices, {why}"
                );
            }
        };
        format!("one table a slice, {} slices a window; {how}", self.slices().slices_of_a_window())
    }

    fn stage<X, F, A, P, S, N, M, T>(self, base: Base<X, F, A, P, S, N>, time: T) -> HeadStage
    where
        X: 'static,
        F: KeyFn<X, Key: Keep<M>>,
        A: Aggregate<F::Value, Acc: Keep<M>>,
        P: Policy<Row<X, F, A>, F::Value>,
        S: Stamp,
        N: Push<P::Emit, S>,
        M: Mode,
        T: Tells,
    {
        // Known when compiling: a program has the one that its aggregate needs.
        if A::Algebra::INVERTS {
            let running = Invert::<F::Key, A::Acc>::default();
            time.stage(SlidingHead::<X, F, A, P, S, N, M, _>::new(base, self.slices(), running))
        } else if A::Algebra::COMMUTES {
            let running = Stacks::<F::Key, A::Acc>::default();
            time.stage(SlidingHead::<X, F, A, P, S, N, M, _>::new(base, self.slices(), running))
        } else {
            time.stage(WindowHead::<X, F, Each, A, P, S, N, M>::new(base, Each(self)))
        }
    }
}

impl<K: HasEventTime> Over<K> for Sliding {}
