//! `map`, `filter`, `flat_map`, `filter_map`, `inspect`, `map_init`.

use super::operator::{OpError, Operator, Then};
use super::{Kind, Proved, Stream};
use crate::stage::Context;

/// See [`Stream::map`].
#[derive(Clone)]
pub struct Map<F>(pub(crate) F);
#[diagnostic::do_not_recommend]
impl<T: 'static, U: 'static, F: Fn(T) -> U + Clone + Send + 'static> Operator<T> for Map<F> {
    type Out = U;
    const FALLIBLE: bool = false;
    fn name(&self) -> &'static str {
        "map"
    }
    #[inline(always)]
    fn item<O: FnMut(U)>(&mut self, item: T, out: &mut O) -> Result<(), OpError> {
        out((self.0)(item));
        Ok(())
    }
}

/// See [`Stream::filter`].
#[derive(Clone)]
pub struct Filter<F>(F);
#[diagnostic::do_not_recommend]
impl<T: 'static, F: Fn(&T) -> bool + Clone + Send + 'static> Operator<T> for Filter<F> {
    type Out = T;
    const FALLIBLE: bool = false;
    fn name(&self) -> &'static str {
        "filter"
    }
    #[inline(always)]
    fn item<O: FnMut(T)>(&mut self, item: T, out: &mut O) -> Result<(), OpError> {
        if (self.0)(&item) {
            out(item);
        }
        Ok(())
    }
}

/// See [`Stream::flat_map`].
#[derive(Clone)]
pub struct FlatMap<F>(F);
#[diagnostic::do_not_recommend]
impl<T: 'static, I: IntoIterator<Item: 'static>, F: Fn(T) -> I + Clone + Send + 'static> Operator<T>
    for FlatMap<F>
{
    type Out = I::Item;
    const FALLIBLE: bool = false;
    fn name(&self) -> &'static str {
        "flat_map"
    }
    #[inline(always)]
    fn item<O: FnMut(I::Item)>(&mut self, item: T, out: &mut O) -> Result<(), OpError> {
        (self.0)(item).into_iter().for_each(out);
        Ok(())
    }
}

/// See [`Stream::filter_map`].
#[derive(Clone)]
pub struct FilterMap<F>(F);
#[diagnostic::do_not_recommend]
impl<T: 'static, U: 'static, F: Fn(T) -> Option<U> + Clone + Send + 'static> Operator<T> for FilterMap<F> {
    type Out = U;
    const FALLIBLE: bool = false;
    fn name(&self) -> &'static str {
        "filter_map"
    }
    #[inline(always)]
    fn item<O: FnMut(U)>(&mut self, item: T, out: &mut O) -> Result<(), OpError> {
        if let Some(y) = (self.0)(item) {
            out(y);
        }
        Ok(())
    }
}

/// See [`Stream::inspect`].
#[derive(Clone)]
pub struct Inspect<F>(F);
#[diagnostic::do_not_recommend]
impl<T: 'static, F: Fn(&T) + Clone + Send + 'static> Operator<T> for Inspect<F> {
    type Out = T;
    const FALLIBLE: bool = false;
    fn name(&self) -> &'static str {
        "inspect"
    }
    #[inline(always)]
    fn item<O: FnMut(T)>(&mut self, item: T, out: &mut O) -> Result<(), OpError> {
        (self.0)(&item);
        out(item);
        Ok(())
    }
}

/// See [`Stream::map_init`].
pub struct MapInit<I, F, R> {
    init: I,
    map: F,
    resource: Option<R>,
}
impl<I: Clone, F: Clone, R> Clone for MapInit<I, F, R> {
    /// A clone makes its own resource when it opens.
    fn clone(&self) -> Self {
        MapInit { init: self.init.clone(), map: self.map.clone(), resource: None }
    }
}
#[diagnostic::do_not_recommend]
impl<T, R, U, I, F> Operator<T> for MapInit<I, F, R>
where
    T: 'static,
    R: Send + 'static,
    U: 'static,
    I: Fn(&Context) -> R + Clone + Send + 'static,
    F: Fn(&mut R, T) -> U + Clone + Send + 'static,
{
    type Out = U;
    const FALLIBLE: bool = false;
    fn name(&self) -> &'static str {
        "map_init"
    }
    fn open(&mut self, cx: &Context) -> Result<(), OpError> {
        self.resource = Some((self.init)(cx));
        Ok(())
    }
    #[inline(always)]
    fn item<O: FnMut(U)>(&mut self, item: T, out: &mut O) -> Result<(), OpError> {
        if let Some(resource) = &mut self.resource {
            out((self.map)(resource, item));
        }
        Ok(())
    }
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// One record for each record. Behind `key_by`, use `map_values`, which keeps the key.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// job.add(source(from_iter(1..4)).map(|n| n * 10).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [10, 20, 30]);
    /// ```
    #[track_caller]
    pub fn map<U: 'static, F>(self, f: F) -> Stream<U, K, Then<C, Map<F>>>
    where
        F: Fn(T) -> U + Clone + Send + 'static,
    {
        self.then(Map(f))
    }

    /// The records for which `f` says so.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// job.add(source(from_iter(1..6)).filter(|n| n % 2 == 1).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [1, 3, 5]);
    /// ```
    #[track_caller]
    pub fn filter<F>(self, f: F) -> Stream<T, K, Then<C, Filter<F>>>
    where
        F: Fn(&T) -> bool + Clone + Send + 'static,
    {
        self.then(Filter(f))
    }

    /// All that the returned iterator gives, in order. An iterator has to end: it is run to its end at once. The record is given away,
    /// so what borrows from it has to be collected first, as here, or to be an iterator of your own that owns it.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let lines = source(from_vec(vec!["to be or".to_owned(), "not to be".to_owned()]));
    /// let words = lines.flat_map(|line| line.split(' ').map(ShortString::from).collect::<Vec<_>>());
    /// job.add(words.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), ["to", "be", "or", "not", "to", "be"]);
    /// ```
    #[track_caller]
    pub fn flat_map<I: IntoIterator<Item: 'static>, F>(
        self,
        f: F,
    ) -> Stream<I::Item, K, Proved<I::Item, Then<C, FlatMap<F>>>>
    where
        F: Fn(T) -> I + Clone + Send + 'static,
    {
        self.then(FlatMap(f))
    }

    /// What `f` returns as `Some`.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// job.add(source(from_vec(vec!["1", "x", "3"])).filter_map(|s| s.parse::<i32>().ok()).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [1, 3]);
    /// ```
    #[track_caller]
    pub fn filter_map<U: 'static, F>(self, f: F) -> Stream<U, K, Then<C, FilterMap<F>>>
    where
        F: Fn(T) -> Option<U> + Clone + Send + 'static,
    {
        self.then(FilterMap(f))
    }

    /// Shows each record to `f` and passes it on.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// job.add(source(from_iter(0..3)).inspect(|n| eprintln!("{n}")).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [0, 1, 2]);
    /// ```
    #[track_caller]
    pub fn inspect<F>(self, f: F) -> Stream<T, K, Then<C, Inspect<F>>>
    where
        F: Fn(&T) + Clone + Send + 'static,
    {
        self.then(Inspect(f))
    }

    /// `map` with a resource that each parallel instance opens for itself: a connection, a counter, a buffer.
    ///
    /// The resource does not stand in checkpoints: it is made anew by each run. What has to survive belongs into a state of a key, or an
    /// [`Operator`] that keeps it.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let job = Job::build("doc", |job| {
    /// let lengths = source(from_vec(vec!["a", "bc"])).map_init(
    ///     |cx| cx.counter("bytes"),
    ///     |bytes, word| {
    ///         bytes.add(word.len() as u64);
    ///         word.len()
    ///     },
    /// );
    /// job.add(lengths.for_each(|_| ()));
    /// # });
    /// assert_eq!(job.run().unwrap().counter("bytes"), 3);
    /// ```
    #[track_caller]
    pub fn map_init<R, U: 'static, I, F>(self, init: I, map: F) -> Stream<U, K, Then<C, MapInit<I, F, R>>>
    where
        R: Send + 'static,
        I: Fn(&Context) -> R + Clone + Send + 'static,
        F: Fn(&mut R, T) -> U + Clone + Send + 'static,
    {
        self.then(MapInit { init, map, resource: None })
    }
}
