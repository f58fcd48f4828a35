//! Who meets whom: an element meets those of the other side that have come, waits for those that may come, and leaves alone when
//! none can.

use super::bounds::{Bounds, Reach};
use crate::join::form::Form;
use crate::join::held::Held;
use crate::join::timed::{Sides, Way};
use crate::op::Either;
use crate::time::Timestamp;
use std::marker::PhantomData;

/// The way of an interval join.
pub struct Interval<F> {
    left: Reach,
    right: Reach,
    form: PhantomData<fn() -> F>,
}

impl<F> Interval<F> {
    pub fn new(bounds: Bounds) -> Self {
        Interval { left: bounds.left(), right: bounds.right(), form: PhantomData }
    }
}

impl<F> Clone for Interval<F> {
    fn clone(&self) -> Self {
        Interval { left: self.left, right: self.right, form: PhantomData }
    }
}

/// Whether time has come to a moment; what is beyond the range of timestamps comes at the last of them.
fn is_over(until: i128, now: i128) -> bool {
    until.min(i64::MAX.into()) <= now
}

impl<L, R, F> Way<L, R> for Interval<F>
where
    L: Clone + 'static,
    R: Clone + 'static,
    F: Form<L, R, Out: Send>,
{
    type Out = F::Out;

    fn arrive(
        &self,
        sides: &mut Sides<L, R>,
        element: Held<Either<L, R>>,
        now: i128,
        emit: &mut impl FnMut(F::Out, Timestamp),
    ) -> Option<i128> {
        let Held { time, born, mut matched, value } = element;
        match value {
            Either::A(left) => {
                let (first, last) = self.left.of(time);
                for other in sides.right.between(first, last) {
                    (matched, other.matched) = (true, true);
                    emit(F::pair(left.clone(), other.value.clone()), time.max(other.time));
                }
                let until = self.left.until(time);
                if !is_over(until, now) {
                    sides.left.add(Held { time, born, matched, value: left });
                } else if let (false, Some(row)) = (matched, F::left(left)) {
                    emit(row, time);
                }
                Some(until)
            }
            Either::B(right) => {
                let (first, last) = self.right.of(time);
                for other in sides.left.between(first, last) {
                    (matched, other.matched) = (true, true);
                    emit(F::pair(other.value.clone(), right.clone()), time.max(other.time));
                }
                let until = self.right.until(time);
                if !is_over(until, now) {
                    sides.right.add(Held { time, born, matched, value: right });
                } else if let (false, Some(row)) = (matched, F::right(right)) {
                    emit(row, time);
                }
                Some(until)
            }
        }
    }

    fn leaves_alone(&self, element: &Either<L, R>) -> bool {
        match element {
            Either::A(_) => F::LEFT,
            Either::B(_) => F::RIGHT,
        }
    }

    fn look(
        &self,
        sides: &mut Sides<L, R>,
        now: i128,
        leave: &mut impl FnMut(Timestamp, u64, F::Out),
    ) -> Option<i128> {
        let Sides { left, right } = sides;
        while let Some(held) = left.pop_if(|held| is_over(self.left.until(held.time), now)) {
            if let (false, Some(row)) = (held.matched, F::left(held.value)) {
                leave(held.time, held.born, row);
            }
        }
        while let Some(held) = right.pop_if(|held| is_over(self.right.until(held.time), now)) {
            if let (false, Some(row)) = (held.matched, F::right(held.value)) {
                leave(held.time, held.born, row);
            }
        }
        let left = left.first().map(|held| self.left.until(held.time));
        let right = right.first().map(|held| self.right.until(held.time));
        [left, right].into_iter().flatten().min()
    }

    /// Elements that have not left alone yet are above this.
    fn passes(&self, w: Timestamp) -> Timestamp {
        let left = if F::LEFT { w - self.left.held_back() } else { w };
        let right = if F::RIGHT { w - self.right.held_back() } else { w };
        left.min(right)
    }
}
