//! Windows with a single, simple aggregate: `.window(…).count()` for `.window(…).aggregate(|a| a.count())`.

use super::aggregate::{WindowChain, WindowedStream};
use super::base::Row;
use super::late::Policy;
use super::spec::{Closes, Windowed};
use super::windowing::{Suits, Windowing};
use crate::aggregate::{Best, Count, FoldWith, ReduceWith, Sum, WrappingSum};
use crate::op::rolling::{Measure, Presence, Summand};
use crate::op::{KeyTypes, Kind, Proved};
use crate::state::Keep;

/// What a window over `X` gives with aggregate `A`: a stream of results, or two with `late = side`.
type Output<X, K, C, F, W, A, P, Z> = <P as Policy<Row<X, F, A>, <F as KeyTypes<X>>::Value>>::Output<
    <W as Windowing>::Kind<K>,
    WindowChain<X, K, C, F, W, A, P, Z>,
>;

/// A result of a window over `X`.
type RowOf<X, F, V> = Windowed<<F as KeyTypes<X>>::Key, V>;

/// As [`Output`], its values `V` named: they are unknown where what a closure returns does not fit.
type OutputOf<X, K, C, F, W, A, P, V, Z> = <P as Policy<RowOf<X, F, V>, <F as KeyTypes<X>>::Value>>::Output<
    <W as Windowing>::Kind<K>,
    Proved<Z, Proved<C, Proved<V, <W as Windowing>::Chain<X, C, F, A, P, <K as Kind>::Mode>>>>,
>;

/// The smallest or largest of values: an `Option` where records may have none.
type BestOf<N> = <<N as Measure>::Presence as Presence>::Of<<N as Measure>::Value>;

impl<X: 'static, K: Kind, C, F: KeyTypes<X>, W: Windowing, P> WindowedStream<X, K, C, F, W, P> {
    /// How many records there are in each window.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let words = source(from_vec(vec!["a", "b", "a"]));
    /// job.add(words.key_by(|w| *w).window(global()).count().map(|w| (w.key, w.value)).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [("a", 2), ("b", 1)]);
    /// ```
    #[track_caller]
    pub fn count<Z>(self) -> Output<X, K, C, F, W, Count, P, Z>
    where
        W: Closes<Z, K>,
        u64: Keep<K::Mode>,
        P: Policy<Row<X, F, Count>, F::Value>,
    {
        self.aggregate_as("count", |a| a.count())
    }

    /// The sum over each window; integer overflow ends the job.
    #[track_caller]
    pub fn sum<N: Summand, G, Z>(self, number: G) -> OutputOf<X, K, C, F, W, Sum<G>, P, N::Number, Z>
    where
        W: Closes<Z, K>,
        G: Fn(&F::Value) -> N + Clone + Send + 'static,
        N::Number: Keep<K::Mode>,
        P: Policy<RowOf<X, F, N::Number>, F::Value>,
    {
        self.aggregate_as("sum", |a| a.sum(number))
    }

    /// The sum over each window, around the end of the type's range.
    #[track_caller]
    pub fn wrapping_sum<N: Summand, G, Z>(
        self,
        number: G,
    ) -> OutputOf<X, K, C, F, W, WrappingSum<G>, P, N::Number, Z>
    where
        W: Closes<Z, K>,
        G: Fn(&F::Value) -> N + Clone + Send + 'static,
        N::Number: Keep<K::Mode>,
        P: Policy<RowOf<X, F, N::Number>, F::Value>,
    {
        self.aggregate_as("wrapping_sum", |a| a.wrapping_sum(number))
    }

    /// The smallest value of each window.
    #[track_caller]
    pub fn min<N: Measure, G, Z>(self, measure: G) -> OutputOf<X, K, C, F, W, Best<G>, P, BestOf<N>, Z>
    where
        W: Closes<Z, K>,
        G: Fn(&F::Value) -> N + Clone + Send + 'static,
        Option<N::Value>: Keep<K::Mode>,
        P: Policy<RowOf<X, F, BestOf<N>>, F::Value>,
    {
        self.aggregate_as("min", |a| a.min(measure))
    }

    /// The largest value of each window.
    #[track_caller]
    pub fn max<N: Measure, G, Z>(self, measure: G) -> OutputOf<X, K, C, F, W, Best<G>, P, BestOf<N>, Z>
    where
        W: Closes<Z, K>,
        G: Fn(&F::Value) -> N + Clone + Send + 'static,
        Option<N::Value>: Keep<K::Mode>,
        P: Policy<RowOf<X, F, BestOf<N>>, F::Value>,
    {
        self.aggregate_as("max", |a| a.max(measure))
    }

    /// An accumulator for each window that each record changes.
    #[track_caller]
    pub fn fold<A, G, Z>(self, init: A, fold: G) -> Output<X, K, C, F, W, FoldWith<A, G>, P, Z>
    where
        W: Closes<Z, K>,
        A: Clone + Send + Keep<K::Mode>,
        F::Value: Clone + Send,
        G: Fn(&mut A, F::Value) + Clone + Send + 'static,
        FoldWith<A, G>: Suits<F::Value, W::Needs>,
        P: Policy<Row<X, F, FoldWith<A, G>>, F::Value>,
    {
        self.aggregate_as("fold", |a| a.fold(init, fold))
    }

    /// The records of each window put together two by two; a single one is the result as it is.
    #[track_caller]
    pub fn reduce<G, Z>(self, f: G) -> Output<X, K, C, F, W, ReduceWith<G>, P, Z>
    where
        W: Closes<Z, K>,
        F::Value: Clone + Send,
        Option<F::Value>: Keep<K::Mode>,
        G: Fn(F::Value, F::Value) -> F::Value + Clone + Send + 'static,
        ReduceWith<G>: Suits<F::Value, W::Needs>,
        P: Policy<Row<X, F, ReduceWith<G>>, F::Value>,
    {
        self.aggregate_as("reduce", |a| a.reduce(f))
    }
}
