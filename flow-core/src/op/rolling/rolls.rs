//! The rolling operators: `count`, `sum`, `wrapping_sum`, `min`, `max`, `reduce`, `fold`, `scan`, `map_with_state`, `distinct`.

use super::{Measure, Number, Roll, Rolled, RolledAs, Rolling, Summand};
use crate::op::key_fn::{ByKey, Key, KeyTypes};
use crate::op::keyed::KeyedStream;
use crate::op::operator::{OpError, Operator, Then};
use crate::op::proved::claim;
use crate::op::{Kind, Proved, Stream};
use crate::state::Keep;
use std::cmp::Ordering;

/// `count`.
#[derive(Clone)]
pub struct Count;
impl<V> Roll<V> for Count {
    type State = u64;
    type Out = u64;
    fn start(&self) -> u64 {
        0
    }
    #[inline(always)]
    fn roll(&self, state: &mut u64, _: V) -> Result<Option<u64>, OpError> {
        *state += 1;
        Ok(Some(*state))
    }
    const ONE_ROW: bool = true;
    fn last(&self, state: u64) -> Option<u64> {
        Some(state)
    }
}

/// `sum`, and `wrapping_sum` where it `WRAPS` around the end of the type's range.
#[derive(Clone)]
pub struct Sum<G, const WRAPS: bool>(G);
impl<V, N: Summand, G: Fn(&V) -> N + Clone + Send + 'static, const WRAPS: bool> Roll<V> for Sum<G, WRAPS> {
    type State = N::Number;
    type Out = N::Number;
    fn start(&self) -> N::Number {
        N::Number::ZERO
    }
    #[inline(always)]
    fn roll(&self, state: &mut N::Number, value: V) -> Result<Option<N::Number>, OpError> {
        if let Some(n) = (self.0)(&value).number() {
            *state = if WRAPS { state.wrapping_plus(n) } else { state.plus(n)? };
        }
        Ok(Some(*state))
    }
    const ONE_ROW: bool = true;
    fn last(&self, state: N::Number) -> Option<N::Number> {
        Some(state)
    }
}

/// `min` and `max`: a value replaces the best when it compares as `wanted` to it.
#[derive(Clone)]
pub struct Best<G> {
    measure: G,
    wanted: Ordering,
}
impl<V, N: Measure, G: Fn(&V) -> N + Clone + Send + 'static> Roll<V> for Best<G> {
    type State = Option<N::Value>;
    type Out = N::Value;
    fn start(&self) -> Option<N::Value> {
        None
    }
    #[inline(always)]
    fn roll(&self, best: &mut Option<N::Value>, value: V) -> Result<Option<N::Value>, OpError> {
        self.add(best, value)?;
        Ok(best.clone())
    }
    const ONE_ROW: bool = true;
    #[inline(always)]
    fn add(&self, best: &mut Option<N::Value>, value: V) -> Result<(), OpError> {
        if let Some(new) = (self.measure)(&value).value()
            && best.as_ref().is_none_or(|old| N::compare(&new, old) == self.wanted)
        {
            *best = Some(new);
        }
        Ok(())
    }
    fn last(&self, best: Option<N::Value>) -> Option<N::Value> {
        best
    }
}

/// `reduce`.
#[derive(Clone)]
pub struct Reduce<G>(G);
impl<V: Clone + Send + 'static, G: Fn(V, V) -> V + Clone + Send + 'static> Roll<V> for Reduce<G> {
    type State = Option<V>;
    type Out = V;
    fn start(&self) -> Option<V> {
        None
    }
    #[inline(always)]
    fn roll(&self, state: &mut Option<V>, value: V) -> Result<Option<V>, OpError> {
        self.add(state, value)?;
        Ok(state.clone())
    }
    const ONE_ROW: bool = true;
    #[inline(always)]
    fn add(&self, state: &mut Option<V>, value: V) -> Result<(), OpError> {
        let new = match state.take() {
            Some(old) => (self.0)(old, value),
            None => value,
        };
        *state = Some(new);
        Ok(())
    }
    fn last(&self, state: Option<V>) -> Option<V> {
        state
    }
}

/// `fold`.
#[derive(Clone)]
pub struct Fold<A, G> {
    init: A,
    fold: G,
}
impl<V, A, G> Roll<V> for Fold<A, G>
where
    A: Clone + Send + 'static,
    G: Fn(&mut A, V) + Clone + Send + 'static,
{
    type State = A;
    type Out = A;
    fn start(&self) -> A {
        self.init.clone()
    }
    #[inline(always)]
    fn roll(&self, state: &mut A, value: V) -> Result<Option<A>, OpError> {
        self.add(state, value)?;
        Ok(Some(state.clone()))
    }
    const ONE_ROW: bool = true;
    #[inline(always)]
    fn add(&self, state: &mut A, value: V) -> Result<(), OpError> {
        (self.fold)(state, value);
        Ok(())
    }
    fn last(&self, state: A) -> Option<A> {
        Some(state)
    }
}

/// `scan` and `map_with_state`: the closure returns what is emitted.
#[derive(Clone)]
pub struct Scan<A, G> {
    init: A,
    scan: G,
}
impl<V, A, U, G> Roll<V> for Scan<A, G>
where
    A: Clone + Send + 'static,
    U: 'static,
    G: Fn(&mut A, V) -> Option<U> + Clone + Send + 'static,
{
    type State = A;
    type Out = U;
    fn start(&self) -> A {
        self.init.clone()
    }
    #[inline(always)]
    fn roll(&self, state: &mut A, value: V) -> Result<Option<U>, OpError> {
        Ok((self.scan)(state, value))
    }
}

impl<X: 'static, K: Kind, C, F: KeyTypes<X>> KeyedStream<X, K, C, F> {
    /// How many records of the key there have been, with each record.
    #[track_caller]
    pub fn count(self) -> Rolled<X, K, C, F, Count>
    where
        u64: Keep<K::Mode>,
    {
        self.rolling("count", Count)
    }

    /// The sum so far, with each record. `None` adds nothing.
    ///
    /// # Errors
    /// The job ends when an integer sum leaves the range of its type; [`KeyedStream::wrapping_sum`] goes on.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let sales = source(from_vec(vec![("a", 2), ("b", 5), ("a", 3)]));
    /// job.add(sales.key_by(|s| s.0).sum(|s| s.1).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [("a", 2), ("b", 5), ("a", 5)]);
    /// ```
    #[track_caller]
    pub fn sum<N: Summand, G>(self, number: G) -> RolledAs<X, K, C, F, Sum<G, false>, N::Number>
    where
        N::Number: Keep<K::Mode>,
        G: Fn(&F::Value) -> N + Clone + Send + 'static,
    {
        self.rolling("sum", Sum::<_, false>(number))
    }

    /// The sum so far, with each record, around the end of the type's range.
    #[track_caller]
    pub fn wrapping_sum<N: Summand, G>(self, number: G) -> RolledAs<X, K, C, F, Sum<G, true>, N::Number>
    where
        N::Number: Keep<K::Mode>,
        G: Fn(&F::Value) -> N + Clone + Send + 'static,
    {
        self.rolling("wrapping_sum", Sum::<_, true>(number))
    }

    /// The smallest value so far, with each record. `None` is skipped; nothing is emitted before there is a value.
    #[track_caller]
    pub fn min<N: Measure, G>(self, measure: G) -> RolledAs<X, K, C, F, Best<G>, N::Value>
    where
        Option<N::Value>: Keep<K::Mode>,
        G: Fn(&F::Value) -> N + Clone + Send + 'static,
    {
        self.rolling("min", Best { measure, wanted: Ordering::Less })
    }

    /// The largest value so far, with each record. `None` is skipped; nothing is emitted before there is a value.
    #[track_caller]
    pub fn max<N: Measure, G>(self, measure: G) -> RolledAs<X, K, C, F, Best<G>, N::Value>
    where
        Option<N::Value>: Keep<K::Mode>,
        G: Fn(&F::Value) -> N + Clone + Send + 'static,
    {
        self.rolling("max", Best { measure, wanted: Ordering::Greater })
    }

    /// The records so far put together by `f`, with each record; the first is emitted as it is.
    #[track_caller]
    pub fn reduce<G>(self, f: G) -> Rolled<X, K, C, F, Reduce<G>>
    where
        F::Value: Clone + Send,
        Option<F::Value>: Keep<K::Mode>,
        G: Fn(F::Value, F::Value) -> F::Value + Clone + Send + 'static,
    {
        self.rolling("reduce", Reduce(f))
    }

    /// An accumulator that each record changes; it is emitted with each record.
    #[track_caller]
    pub fn fold<A, G>(self, init: A, fold: G) -> Rolled<X, K, C, F, Fold<A, G>>
    where
        A: Clone + Send + Keep<K::Mode>,
        G: Fn(&mut A, F::Value) + Clone + Send + 'static,
    {
        self.rolling("fold", Fold { init, fold })
    }

    /// State that each record changes; what the closure returns as `Some` is emitted.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let prices = source(from_vec(vec![("x", 5), ("x", 7), ("y", 1), ("x", 6)]));
    /// let rises = prices.key_by(|p| p.0).scan(None, |last, p| {
    ///     let before = last.replace(p.1);
    ///     before.filter(|b| *b < p.1).map(|b| p.1 - b)
    /// });
    /// job.add(rises.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [("x", 2)]);
    /// ```
    #[track_caller]
    pub fn scan<A, U: 'static, G>(self, init: A, scan: G) -> Rolled<X, K, C, F, Scan<A, G>>
    where
        A: Clone + Send + Keep<K::Mode>,
        G: Fn(&mut A, F::Value) -> Option<U> + Clone + Send + 'static,
    {
        self.rolling("scan", Scan { init, scan })
    }

    /// `map` with state for each key, one result for each record.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let visits = source(from_vec(vec!["ann", "bob", "ann"]));
    /// let greeted = visits.key_by(|v| *v).map_with_state(false, |seen, _| {
    ///     if std::mem::replace(seen, true) { "again" } else { "hello" }
    /// });
    /// job.add(greeted.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [("ann", "hello"), ("bob", "hello"), ("ann", "again")]);
    /// ```
    #[track_caller]
    pub fn map_with_state<A, U: 'static, G>(
        self,
        init: A,
        map: G,
    ) -> Rolled<X, K, C, F, Scan<A, impl Fn(&mut A, F::Value) -> Option<U> + Clone + Send + 'static>>
    where
        A: Clone + Send + Keep<K::Mode>,
        G: Fn(&mut A, F::Value) -> U + Clone + Send + 'static,
    {
        self.rolling(
            "map_with_state",
            Scan { init, scan: move |state: &mut A, value| Some(map(state, value)) },
        )
    }
}

/// `distinct`: emits a key when it is new.
#[derive(Clone)]
pub struct First;
impl<V> Roll<V> for First {
    type State = bool;
    type Out = ();
    fn start(&self) -> bool {
        false
    }
    #[inline(always)]
    fn roll(&self, seen: &mut bool, _: V) -> Result<Option<()>, OpError> {
        Ok((!std::mem::replace(seen, true)).then_some(()))
    }
}

/// Gives out the key of `(key, ())`.
#[derive(Clone)]
pub struct KeyOnly;
#[diagnostic::do_not_recommend]
impl<T: 'static> Operator<(T, ())> for KeyOnly {
    type Out = T;
    const FALLIBLE: bool = false;
    fn name(&self) -> &'static str {
        "key"
    }
    #[inline(always)]
    fn item<O: FnMut(T)>(&mut self, (key, ()): (T, ()), out: &mut O) -> Result<(), OpError> {
        out(key);
        Ok(())
    }
}

/// The chain of `distinct`.
pub type Distinct<C, T, M> = Then<Rolling<C, ByKey<fn(&T) -> T>, First, M>, KeyOnly>;

claim! {
    /// What `distinct` can tell apart: a [`Key`].
    #[diagnostic::on_unimplemented(
        message = "`distinct` cannot tell records of type `{Self}` apart: they are not `Hash + Eq + Clone + Send`",
        label = "`{Self}` is not `Hash + Eq + Clone + Send`",
        note = "a float is not `Eq`: wrap it, `.map(|x| FloatKey::new(x))`; for your own type derive `Hash`, `PartialEq`, `Eq` and `Clone`"
    )]
    pub trait DistinctOf<P> for T where Key {
        /// The record as its own key.
        fn copy(it: &Self) -> Self { it.clone() }
    }
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// Each record once: the first time it comes. It remembers all it has seen.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// job.add(source(from_vec(vec![3, 1, 3, 2, 1])).distinct().collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [3, 1, 2]);
    /// ```
    #[track_caller]
    pub fn distinct<P>(self) -> Stream<T, K, Proved<P, Distinct<C, T, K::Mode>>>
    where
        T: DistinctOf<P>,
        bool: Keep<K::Mode>,
        T: Keep<K::Mode>,
    {
        let itself = ByKey::new(T::copy as fn(&T) -> T);
        Stream::of(Rolling::new("distinct", self.chain, itself, First)).then(KeyOnly)
    }
}
