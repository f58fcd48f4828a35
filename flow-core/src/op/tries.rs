//! Operators whose closure may fail: `try_map`, `try_filter_map`, `try_flat_map`. An error ends the job and names the
//! operator and its place.

use super::operator::{OpError, Operator, Then};
use super::{Kind, Proved, Stream};

/// See [`Stream::try_map`].
#[derive(Clone)]
pub struct TryMap<F>(F);
#[diagnostic::do_not_recommend]
impl<T: 'static, U: 'static, E: Into<OpError>, F> Operator<T> for TryMap<F>
where
    F: Fn(T) -> Result<U, E> + Clone + Send + 'static,
{
    type Out = U;
    fn name(&self) -> &'static str {
        "try_map"
    }
    #[inline(always)]
    fn item<O: FnMut(U)>(&mut self, item: T, out: &mut O) -> Result<(), OpError> {
        out((self.0)(item).map_err(Into::into)?);
        Ok(())
    }
}

/// See [`Stream::try_filter_map`].
#[derive(Clone)]
pub struct TryFilterMap<F>(F);
#[diagnostic::do_not_recommend]
impl<T: 'static, U: 'static, E: Into<OpError>, F> Operator<T> for TryFilterMap<F>
where
    F: Fn(T) -> Result<Option<U>, E> + Clone + Send + 'static,
{
    type Out = U;
    fn name(&self) -> &'static str {
        "try_filter_map"
    }
    #[inline(always)]
    fn item<O: FnMut(U)>(&mut self, item: T, out: &mut O) -> Result<(), OpError> {
        if let Some(y) = (self.0)(item).map_err(Into::into)? {
            out(y);
        }
        Ok(())
    }
}

/// See [`Stream::try_flat_map`].
#[derive(Clone)]
pub struct TryFlatMap<F>(F);
#[diagnostic::do_not_recommend]
impl<T: 'static, I: IntoIterator<Item: 'static>, E: Into<OpError>, F> Operator<T> for TryFlatMap<F>
where
    F: Fn(T) -> Result<I, E> + Clone + Send + 'static,
{
    type Out = I::Item;
    fn name(&self) -> &'static str {
        "try_flat_map"
    }
    #[inline(always)]
    fn item<O: FnMut(I::Item)>(&mut self, item: T, out: &mut O) -> Result<(), OpError> {
        (self.0)(item).map_err(Into::into)?.into_iter().for_each(out);
        Ok(())
    }
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// `map` with a closure that may fail.
    ///
    /// # Errors
    /// The job ends with the closure's error, which names this operator.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// let job = Job::build("doc", |job| {
    ///     let numbers = source(from_vec(vec!["7", "seven"])).try_map(|s| s.parse::<i32>());
    ///     job.add(numbers.for_each(|n| println!("{n}")));
    /// });
    /// let error = job.run().unwrap_err();
    /// assert!(error.to_string().contains("invalid digit"), "{error}");
    /// assert_eq!(error.stage(), Some("try_map"));
    /// ```
    #[track_caller]
    pub fn try_map<U: 'static, E: Into<OpError>, F>(self, f: F) -> Stream<U, K, Then<C, TryMap<F>>>
    where
        F: Fn(T) -> Result<U, E> + Clone + Send + 'static,
    {
        self.then(TryMap(f))
    }

    /// `filter_map` with a closure that may fail.
    ///
    /// # Errors
    /// The job ends with the closure's error, which names this operator.
    #[track_caller]
    pub fn try_filter_map<U: 'static, E: Into<OpError>, F>(
        self,
        f: F,
    ) -> Stream<U, K, Then<C, TryFilterMap<F>>>
    where
        F: Fn(T) -> Result<Option<U>, E> + Clone + Send + 'static,
    {
        self.then(TryFilterMap(f))
    }

    /// `flat_map` with a closure that may fail.
    ///
    /// # Errors
    /// The job ends with the closure's error, which names this operator.
    #[track_caller]
    pub fn try_flat_map<I: IntoIterator<Item: 'static>, E: Into<OpError>, F>(
        self,
        f: F,
    ) -> Stream<I::Item, K, Proved<I::Item, Then<C, TryFlatMap<F>>>>
    where
        F: Fn(T) -> Result<I, E> + Clone + Send + 'static,
    {
        self.then(TryFlatMap(f))
    }
}
