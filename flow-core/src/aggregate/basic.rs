//! Counts, extremes, first and last, folds.

use super::{Aggregate, Commutative, Commutes, Invertible, Inverts, Mergeable, Merges, Overflow, Plain};
use crate::op::rolling::{Measure, Presence};
use std::cmp::Ordering;

/// How many records; 0 for none.
#[derive(Clone)]
pub struct Count;

#[diagnostic::do_not_recommend]
impl<T> Aggregate<T> for Count {
    type In = ();
    type Acc = u64;
    type Out = u64;
    type Algebra = Inverts;
    fn name(&self) -> String {
        "count".into()
    }
    #[inline(always)]
    fn start(&self) -> u64 {
        0
    }
    #[inline(always)]
    fn lift(&self, _: &T) {}
    #[inline(always)]
    fn add(&self, acc: &mut u64, (): ()) -> Result<(), Overflow> {
        *acc += 1;
        Ok(())
    }
    #[inline(always)]
    fn result(&self, acc: &u64) -> Option<u64> {
        Some(*acc)
    }
}
impl<T> Mergeable<T> for Count {
    #[inline(always)]
    fn merge(&self, acc: &mut u64, later: u64) -> Result<(), Overflow> {
        *acc += later;
        Ok(())
    }
}
impl<T> Commutative<T> for Count {}
impl<T> Invertible<T> for Count {
    fn remove(&self, acc: &mut u64, part: &u64) -> Result<(), Overflow> {
        *acc -= part;
        Ok(())
    }
}

/// The smallest or largest value; none for no records. An `Option` where the closure returns one.
#[derive(Clone)]
pub struct Best<F> {
    pub(super) measure: F,
    pub(super) wanted: Ordering,
}

#[diagnostic::do_not_recommend]
impl<T, N: Measure, F: Fn(&T) -> N + Clone + Send + 'static> Aggregate<T> for Best<F> {
    type In = Option<N::Value>;
    type Acc = Option<N::Value>;
    type Out = <N::Presence as Presence>::Of<N::Value>;
    type Algebra = Commutes;
    fn name(&self) -> String {
        if self.wanted == Ordering::Less { "min".into() } else { "max".into() }
    }
    #[inline(always)]
    fn start(&self) -> Option<N::Value> {
        None
    }
    #[inline(always)]
    fn lift(&self, record: &T) -> Option<N::Value> {
        (self.measure)(record).value()
    }
    #[inline(always)]
    fn add(&self, acc: &mut Option<N::Value>, x: Option<N::Value>) -> Result<(), Overflow> {
        if let Some(new) = x
            && acc.as_ref().is_none_or(|old| N::compare(&new, old) == self.wanted)
        {
            *acc = Some(new);
        }
        Ok(())
    }
    #[inline(always)]
    fn result(&self, acc: &Option<N::Value>) -> Option<Self::Out> {
        N::Presence::of(acc.clone())
    }
}
impl<T, N: Measure, F: Fn(&T) -> N + Clone + Send + 'static> Mergeable<T> for Best<F> {
    #[inline(always)]
    fn merge(&self, acc: &mut Option<N::Value>, later: Option<N::Value>) -> Result<(), Overflow> {
        Aggregate::<T>::add(self, acc, later)
    }
}
impl<T, N: Measure, F: Fn(&T) -> N + Clone + Send + 'static> Commutative<T> for Best<F> {}

/// The first or last record in order of arrival; none for no records.
#[derive(Clone)]
pub struct FirstLast {
    pub(super) last: bool,
}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + 'static> Aggregate<T> for FirstLast {
    type In = T;
    type Acc = Option<T>;
    type Out = T;
    type Algebra = Merges;
    fn name(&self) -> String {
        if self.last { "last".into() } else { "first".into() }
    }
    fn start(&self) -> Option<T> {
        None
    }
    #[inline]
    fn lift(&self, record: &T) -> T {
        record.clone()
    }
    #[inline]
    fn add(&self, acc: &mut Option<T>, x: T) -> Result<(), Overflow> {
        if self.last || acc.is_none() {
            *acc = Some(x);
        }
        Ok(())
    }
    fn result(&self, acc: &Option<T>) -> Option<T> {
        acc.clone()
    }
    fn take_result(&self, acc: Option<T>) -> Option<T> {
        acc
    }
}
impl<T: Clone + Send + 'static> Mergeable<T> for FirstLast {
    fn merge(&self, acc: &mut Option<T>, later: Option<T>) -> Result<(), Overflow> {
        later.map_or(Ok(()), |x| self.add(acc, x))
    }
}

/// An accumulator that each record changes.
#[derive(Clone)]
pub struct FoldWith<A, F> {
    pub(super) init: A,
    pub(super) fold: F,
}

#[diagnostic::do_not_recommend]
impl<T, A, F> Aggregate<T> for FoldWith<A, F>
where
    T: Clone + Send + 'static,
    A: Clone + Send + 'static,
    F: Fn(&mut A, T) + Clone + Send + 'static,
{
    type In = T;
    type Acc = A;
    type Out = A;
    type Algebra = Plain;
    fn name(&self) -> String {
        "fold".into()
    }
    fn start(&self) -> A {
        self.init.clone()
    }
    #[inline]
    fn lift(&self, record: &T) -> T {
        record.clone()
    }
    #[inline]
    fn add(&self, acc: &mut A, x: T) -> Result<(), Overflow> {
        (self.fold)(acc, x);
        Ok(())
    }
    fn result(&self, acc: &A) -> Option<A> {
        Some(acc.clone())
    }
    fn take_result(&self, acc: A) -> Option<A> {
        Some(acc)
    }
}

/// All records put together two by two; none for no records. A single record is the result as it is.
#[derive(Clone)]
pub struct ReduceWith<F>(pub(super) F);

#[diagnostic::do_not_recommend]
impl<T, F> Aggregate<T> for ReduceWith<F>
where
    T: Clone + Send + 'static,
    F: Fn(T, T) -> T + Clone + Send + 'static,
{
    type In = T;
    type Acc = Option<T>;
    type Out = T;
    type Algebra = Plain;
    fn name(&self) -> String {
        "reduce".into()
    }
    fn start(&self) -> Option<T> {
        None
    }
    #[inline]
    fn lift(&self, record: &T) -> T {
        record.clone()
    }
    #[inline]
    fn add(&self, acc: &mut Option<T>, x: T) -> Result<(), Overflow> {
        *acc = Some(match acc.take() {
            Some(old) => (self.0)(old, x),
            None => x,
        });
        Ok(())
    }
    fn result(&self, acc: &Option<T>) -> Option<T> {
        acc.clone()
    }
    fn take_result(&self, acc: Option<T>) -> Option<T> {
        acc
    }
}
