//! Who meets whom: a left element waits until time has come to its own, when every version up to it is there.

use crate::join::form::Leading;
use crate::join::held::Held;
use crate::join::timed::{Sides, Way};
use crate::op::Either;
use crate::time::Timestamp;
use std::marker::PhantomData;

/// The way of a temporal join.
pub struct Versions<F>(PhantomData<fn() -> F>);

impl<F> Versions<F> {
    pub fn new() -> Self {
        Versions(PhantomData)
    }
}

impl<F> Clone for Versions<F> {
    fn clone(&self) -> Self {
        Self::new()
    }
}

/// Forgets the versions that no element can meet: each left one that waits or comes is after `now`.
fn forget<L, R>(sides: &mut Sides<L, R>, now: i128) {
    if let Ok(now) = i64::try_from(now)
        && sides.left.first().is_none_or(|first| first.time.0 > now)
    {
        sides.right.forget_before(Timestamp(now));
    }
}

impl<L, R, F> Way<L, R> for Versions<F>
where
    L: Clone + 'static,
    R: Clone + 'static,
    F: Leading<L, R, Out: Send>,
{
    type Out = F::Out;

    fn arrive(
        &self,
        sides: &mut Sides<L, R>,
        element: Held<Either<L, R>>,
        now: i128,
        _: &mut impl FnMut(F::Out, Timestamp),
    ) -> Option<i128> {
        let Held { time, born, matched, value } = element;
        match value {
            Either::A(value) => {
                sides.left.add(Held { time, born, matched, value });
                Some(time.0.into())
            }
            Either::B(value) => {
                sides.right.add(Held { time, born, matched, value });
                forget(sides, now);
                None
            }
        }
    }

    fn leaves_alone(&self, element: &Either<L, R>) -> bool {
        matches!(element, Either::A(_)) && F::LEFT
    }

    fn look(
        &self,
        sides: &mut Sides<L, R>,
        now: i128,
        leave: &mut impl FnMut(Timestamp, u64, F::Out),
    ) -> Option<i128> {
        while let Some(held) = sides.left.pop_if(|held| i128::from(held.time.0) <= now) {
            let row = match sides.right.as_of(held.time) {
                Some(version) => Some(F::pair(held.value, version.value.clone())),
                None => F::left(held.value),
            };
            if let Some(row) = row {
                leave(held.time, held.born, row);
            }
        }
        forget(sides, now);
        // A key with a version stays: its next left element may come at any time.
        sides.left.first().map(|first| first.time.0.into())
    }
}
