//! When a loop ends although something comes back: a condition over all records of a superstep.

use crate::aggregate::{Mergeable, Overflow};
use std::marker::PhantomData;

/// A condition over what comes back in a superstep.
pub trait Until<T>: Clone + Send + 'static {
    /// What is known of some of the records.
    type Acc: Send + 'static;
    /// Of none.
    fn start(&self) -> Self::Acc;
    /// Looks at one more.
    ///
    /// # Errors
    /// When an integer leaves its range.
    fn look(&self, acc: &mut Self::Acc, record: &T) -> Result<(), Overflow>;
    /// Puts together what is known of two parts.
    ///
    /// # Errors
    /// When an integer leaves its range.
    fn merge(&self, acc: &mut Self::Acc, other: Self::Acc) -> Result<(), Overflow>;
    /// Whether the loop is over.
    fn is_enough(&self, acc: Self::Acc) -> bool;
}

/// No condition.
#[derive(Clone)]
pub struct Never;

impl<T> Until<T> for Never {
    type Acc = ();
    fn start(&self) {}
    #[inline(always)]
    fn look(&self, (): &mut (), _: &T) -> Result<(), Overflow> {
        Ok(())
    }
    fn merge(&self, (): &mut (), (): ()) -> Result<(), Overflow> {
        Ok(())
    }
    fn is_enough(&self, (): ()) -> bool {
        false
    }
}

/// Until what an aggregate makes of all records satisfies a condition.
pub struct When<T, A, F> {
    aggregate: A,
    condition: F,
    record: PhantomData<fn(T)>,
}

impl<T, A, F> When<T, A, F> {
    pub(super) fn new(aggregate: A, condition: F) -> Self {
        When { aggregate, condition, record: PhantomData }
    }
}

impl<T, A: Clone, F: Clone> Clone for When<T, A, F> {
    fn clone(&self) -> Self {
        When::new(self.aggregate.clone(), self.condition.clone())
    }
}

impl<T, A, F> Until<T> for When<T, A, F>
where
    T: 'static,
    A: Mergeable<T>,
    F: Fn(&A::Out) -> bool + Clone + Send + 'static,
{
    type Acc = A::Acc;
    fn start(&self) -> A::Acc {
        self.aggregate.start()
    }
    fn look(&self, acc: &mut A::Acc, record: &T) -> Result<(), Overflow> {
        self.aggregate.add(acc, self.aggregate.lift(record))
    }
    fn merge(&self, acc: &mut A::Acc, other: A::Acc) -> Result<(), Overflow> {
        self.aggregate.merge(acc, other)
    }
    fn is_enough(&self, acc: A::Acc) -> bool {
        self.aggregate.take_result(acc).is_some_and(|result| (self.condition)(&result))
    }
}
