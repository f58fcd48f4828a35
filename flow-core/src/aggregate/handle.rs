//! The typed handle from which aggregates are made: it names the record type, so closures need no annotation.

use super::{
    Aggregate, Best, Collect, Count, CountDistinct, FirstLast, FoldWith, Mean, ReduceWith, Sum, TopK,
    Variance, WrappingSum,
};
use crate::op::Proved;
use crate::op::rolling::{Measure, Summand};
use std::cmp::Ordering;
use std::hash::Hash;
use std::marker::PhantomData;

/// Makes aggregates of records of type `T`: what the closure of `.aggregate(|a| …)` is given.
pub struct Agg<T>(PhantomData<fn(T)>);

impl<T> Clone for Agg<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Agg<T> {}

impl<T> Agg<T> {
    pub(crate) fn new() -> Self {
        Agg(PhantomData)
    }

    /// How many records.
    pub fn count(self) -> Count {
        Count
    }

    /// The sum. `None` adds nothing; integer overflow ends the job.
    pub fn sum<N: Summand, F: Fn(&T) -> N + Clone + Send + 'static>(
        self,
        number: F,
    ) -> Proved<N::Number, Sum<F>> {
        Sum(number)
    }

    /// The sum around the end of the type's range.
    pub fn wrapping_sum<N: Summand, F: Fn(&T) -> N + Clone + Send + 'static>(
        self,
        number: F,
    ) -> Proved<N::Number, WrappingSum<F>> {
        WrappingSum(number)
    }

    /// The smallest value. Where the closure returns an `Option` so is the result: `None` when no record had a value.
    pub fn min<N: Measure, F: Fn(&T) -> N + Clone + Send + 'static>(
        self,
        measure: F,
    ) -> Proved<N::Value, Best<F>> {
        Best { measure, wanted: Ordering::Less }
    }

    /// The largest value. Where the closure returns an `Option` so is the result.
    pub fn max<N: Measure, F: Fn(&T) -> N + Clone + Send + 'static>(
        self,
        measure: F,
    ) -> Proved<N::Value, Best<F>> {
        Best { measure, wanted: Ordering::Greater }
    }

    /// The mean: the exact sum divided once. Where the closure returns an `Option` so is the result.
    pub fn mean<N: Summand, F: Fn(&T) -> N + Clone + Send + 'static>(
        self,
        number: F,
    ) -> Proved<N::Number, Mean<F>> {
        Mean(number)
    }

    /// The sample variance; `None` below two values.
    pub fn variance<N: Summand, F: Fn(&T) -> N + Clone + Send + 'static>(
        self,
        number: F,
    ) -> Proved<N::Number, Variance<F>> {
        Variance(number)
    }

    /// The record that came first.
    pub fn first(self) -> FirstLast {
        FirstLast { last: false }
    }

    /// The record that came last.
    pub fn last(self) -> FirstLast {
        FirstLast { last: true }
    }

    /// All records in order of arrival.
    pub fn collect(self) -> Collect {
        Collect
    }

    /// The k records with the largest values, largest first.
    pub fn top_k<N: Measure, F: Fn(&T) -> N + Clone + Send + 'static>(
        self,
        k: usize,
        measure: F,
    ) -> Proved<N::Value, TopK<F>> {
        TopK { k, measure }
    }

    /// How many different values.
    pub fn count_distinct<V, F>(self, value: F) -> CountDistinct<F>
    where
        V: Hash + Eq + Clone,
        F: Fn(&T) -> V + Clone + Send + 'static,
    {
        CountDistinct(value)
    }

    /// An accumulator that each record changes.
    pub fn fold<A: Clone, F: Fn(&mut A, T) + Clone + Send + 'static>(
        self,
        init: A,
        fold: F,
    ) -> FoldWith<A, F> {
        FoldWith { init, fold }
    }

    /// All records put together two by two.
    pub fn reduce<F: Fn(T, T) -> T + Clone + Send + 'static>(self, f: F) -> ReduceWith<F> {
        ReduceWith(f)
    }

    /// An aggregate of your own, where a closure would otherwise have to be annotated.
    pub fn by<A: Aggregate<T>>(self, aggregate: A) -> Proved<A::Out, A> {
        aggregate
    }
}
