//! The results that an element within the lateness changes: those of its key, in each of its windows that the watermark has passed.
//!
//! All these windows have the slice of the element in common. So a window is what lies between its beginning and that slice,
//! composed once for all from right to left, and what lies behind it, from left to right: one step a slice, not one for each slice of each window.

use super::head::SlidingHead;
use super::running::{Inside, Running};
use crate::aggregate::{Aggregate, Overflow};
use crate::op::KeyFn;
use crate::stage::{Push, Stamp};
use crate::state::Mode;
use crate::window::base::{Base, Row};
use crate::window::late::Policy;
use crate::window::spec::Span;

impl<X, F, A, P, S, N, M, R> SlidingHead<X, F, A, P, S, N, M, R>
where
    X: 'static,
    F: KeyFn<X>,
    A: Aggregate<F::Value>,
    P: Policy<Row<X, F, A>, F::Value>,
    S: Stamp,
    N: Push<P::Emit, S>,
    M: Mode,
    R: Running<X, F, A, M>,
{
    /// Emits the results of `k` in the windows of `slice` that have passed and still take elements, by their ends.
    pub(super) fn fire_again(&mut self, slice: &Span, hash: u64, k: &F::Key) -> Result<(), Overflow> {
        let slide = i128::from(self.slices.slide.0);
        let Some((first, last)) = self.slices.windows_of(slice) else { return Ok(()) };
        let first = first.max(self.slices.first_open(self.base.watermark, self.base.lateness.allowed));
        let last = last.min(self.next.saturating_sub(slide));
        if first > last {
            return Ok(());
        }
        let mut lefts = self.lefts(slice, first, last, hash, k)?;
        let (mut window, mut right, mut behind) = (self.slices.window(first), None, slice.end);
        while let Some(left) = lefts.pop() {
            let Base { key, aggregate, .. } = &self.base;
            let inside = Inside { key, aggregate, panes: &self.panes, low: behind, high: window.end };
            for part in inside.slices().filter_map(|(_, other)| inside.part(other, hash, k)) {
                right = Some(inside.joined(right, &part)?);
            }
            let all = inside.before(&left, right.as_ref())?;
            let value = aggregate.take_result(all);
            self.base.emit(window, k.clone(), value);
            behind = window.end;
            window = self.slices.window(window.start + slide);
        }
        Ok(())
    }

    /// For each window that begins from `first` to `last`: what the key has in it up to the end of `slice`; the first window last.
    fn lefts(
        &self,
        slice: &Span,
        first: i128,
        last: i128,
        hash: u64,
        k: &F::Key,
    ) -> Result<Vec<A::Acc>, Overflow> {
        let Base { key, aggregate, .. } = &self.base;
        let inside = Inside { key, aggregate, panes: &self.panes, low: first, high: slice.end };
        let mut slices = inside.slices().rev().peekable();
        let (mut left, mut lefts, mut start) = (None::<A::Acc>, Vec::new(), last);
        while start >= first {
            while let Some((_, other)) = slices.next_if(|(open, _)| open.span.start >= start) {
                if let Some(part) = inside.part(other, hash, k) {
                    left = Some(inside.before(&part, left.as_ref())?);
                }
            }
            lefts.extend(left.clone());
            start -= i128::from(self.slices.slide.0);
        }
        Ok(lefts)
    }
}
