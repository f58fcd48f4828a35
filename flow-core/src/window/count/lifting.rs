//! How an element gets into the windows that hold it: where they lie apart, it is lifted once, before the exchange; where they
//! overlap, it crosses as it is and is lifted for each of them, since what is lifted can be added once only.

use crate::aggregate::Overflow;

/// [`Apart`] or [`Overlapping`].
pub trait Lifting: Send + 'static {
    /// What crosses: the lifted value `I`, or the rest of the record.
    type Load<I: Send + 'static, Rest: Send + 'static>: Send + 'static;
    /// Packs what crosses.
    fn load<I: Send + 'static, Rest: Send + 'static>(
        rest: Rest,
        lift: impl FnOnce(&Rest) -> I,
    ) -> Self::Load<I, Rest>;
    /// Adds it to each accumulator.
    ///
    /// # Errors
    /// When the aggregate leaves its range.
    fn add<'a, I: Send + 'static, Rest: Send + 'static, A: 'a>(
        load: Self::Load<I, Rest>,
        lift: impl Fn(&Rest) -> I,
        to: impl Iterator<Item = &'a mut A>,
        add: impl FnMut(&mut A, I) -> Result<(), Overflow>,
    ) -> Result<(), Overflow>;
}

/// No element is in two windows.
#[derive(Debug)]
pub enum Apart {}

impl Lifting for Apart {
    type Load<I: Send + 'static, Rest: Send + 'static> = I;
    #[inline(always)]
    fn load<I: Send + 'static, Rest: Send + 'static>(rest: Rest, lift: impl FnOnce(&Rest) -> I) -> I {
        lift(&rest)
    }
    #[inline(always)]
    fn add<'a, I: Send + 'static, Rest: Send + 'static, A: 'a>(
        load: I,
        _: impl Fn(&Rest) -> I,
        mut to: impl Iterator<Item = &'a mut A>,
        mut add: impl FnMut(&mut A, I) -> Result<(), Overflow>,
    ) -> Result<(), Overflow> {
        to.next().map_or(Ok(()), |acc| add(acc, load))
    }
}

/// Elements may be in several.
#[derive(Debug)]
pub enum Overlapping {}

impl Lifting for Overlapping {
    type Load<I: Send + 'static, Rest: Send + 'static> = Rest;
    #[inline(always)]
    fn load<I: Send + 'static, Rest: Send + 'static>(rest: Rest, _: impl FnOnce(&Rest) -> I) -> Rest {
        rest
    }
    #[inline(always)]
    fn add<'a, I: Send + 'static, Rest: Send + 'static, A: 'a>(
        load: Rest,
        lift: impl Fn(&Rest) -> I,
        mut to: impl Iterator<Item = &'a mut A>,
        mut add: impl FnMut(&mut A, I) -> Result<(), Overflow>,
    ) -> Result<(), Overflow> {
        to.try_for_each(|acc| add(acc, lift(&load)))
    }
}
