//! The smallest or largest of all values, for a stream without key and window: there no value means no record.

use super::{Aggregate, Best, Commutative, Commutes, Mergeable, Overflow};
use crate::op::rolling::Measure;

/// [`Best`], whose result is the value itself: none where no record had one.
#[derive(Clone)]
pub struct Found<F>(pub(crate) Best<F>);

#[diagnostic::do_not_recommend]
impl<T, N: Measure, F: Fn(&T) -> N + Clone + Send + 'static> Aggregate<T> for Found<F> {
    type In = Option<N::Value>;
    type Acc = Option<N::Value>;
    type Out = N::Value;
    type Algebra = Commutes;
    fn name(&self) -> String {
        Aggregate::<T>::name(&self.0)
    }
    fn start(&self) -> Self::Acc {
        None
    }
    #[inline(always)]
    fn lift(&self, record: &T) -> Self::In {
        self.0.lift(record)
    }
    #[inline(always)]
    fn add(&self, acc: &mut Self::Acc, x: Self::In) -> Result<(), Overflow> {
        Aggregate::<T>::add(&self.0, acc, x)
    }
    fn result(&self, acc: &Self::Acc) -> Option<N::Value> {
        acc.clone()
    }
}
impl<T, N: Measure, F: Fn(&T) -> N + Clone + Send + 'static> Mergeable<T> for Found<F> {
    fn merge(&self, acc: &mut Self::Acc, later: Self::Acc) -> Result<(), Overflow> {
        Aggregate::<T>::add(&self.0, acc, later)
    }
}
impl<T, N: Measure, F: Fn(&T) -> N + Clone + Send + 'static> Commutative<T> for Found<F> {}
