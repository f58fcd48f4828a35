//! Streams with a key: `key_by`, `key_by_ref`, and what keeps the key.
//!
//! A key is computed where the record is, and crosses with it. The exchange itself happens at the next operator that needs
//! all records of a key together; `filter`, `inspect` and `map_values` before that are fused with the sender.

use super::key_fn::{ByKey, ByPair, ByRef, KeyFn, KeyOf, KeyTypes};
use super::operator::{OpError, Operator, Then};
use super::proved::claim;
use super::{Kind, Proved, Stream};
use crate::stage::Meta;
use crate::state::Keep;
use std::hash::Hash;
use std::marker::PhantomData;

/// A stream of `X` with a key: what `key_by` returns.
#[must_use = "a stream does nothing until its end is given to a job"]
pub struct KeyedStream<X, K, C, F> {
    pub(crate) chain: C,
    pub(crate) key: F,
    typed: PhantomData<fn() -> (X, K)>,
}

impl<X, K, C, F> KeyedStream<X, K, C, F> {
    pub(crate) fn of(chain: C, key: F) -> Self {
        KeyedStream { chain, key, typed: PhantomData }
    }
}

claim! {
    /// What can be state in a pipeline of mode `M`: [`Keep`]. `P` is found where it can: see [`proved`](super::proved).
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be state of a checkpointed pipeline: it cannot be written down and read back",
        label = "state of type `{Self}`",
        note = "derive `serde::Serialize` and `serde::Deserialize` for it"
    )]
    pub trait KeptIn<P, M> for X where Keep<M>
}

/// What `dataflow!` asks in checkpointed pipelines where the user's own word is, so that nothing behind it says so once more.
impl<X, K: Kind, C, F: KeyTypes<X>> KeyedStream<X, K, C, F> {
    /// The operator behind it keeps a `T` for each key.
    #[doc(hidden)]
    pub fn kept<T: KeptIn<P, K::Mode>, P>(self) -> KeyedStream<X, K, Proved<P, C>, F> {
        KeyedStream::of(self.chain, self.key)
    }

    /// The operator behind it keeps the keys.
    #[doc(hidden)]
    pub fn kept_key<P>(self) -> KeyedStream<X, K, Proved<P, C>, F>
    where
        F::Key: KeptIn<P, K::Mode>,
    {
        KeyedStream::of(self.chain, self.key)
    }
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// Gives each record a key: all records of a key meet in one instance of the operator behind, in the order in which
    /// each sender sent them.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let words = source(from_vec(vec!["a", "b", "a"]));
    /// job.add(words.key_by(|w| *w).count().collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [("a", 1), ("b", 1), ("a", 2)]);
    /// ```
    pub fn key_by<Q: KeyOf<P>, F, P>(self, key: F) -> KeyedStream<T, K, Proved<P, C>, ByKey<F>>
    where
        F: Fn(&T) -> Q + Clone + Send + 'static,
    {
        KeyedStream::of(self.chain, ByKey::new(key))
    }

    /// `key_by` with a key that is part of the record and need not be cloned: it is looked up by reference, and owned
    /// once, when it is new.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let words = source(from_vec(vec![String::from("a"), String::from("a")]));
    /// job.add(words.key_by_ref(|w| w.as_str()).count().collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [("a".to_string(), 1), ("a".to_string(), 2)]);
    /// ```
    pub fn key_by_ref<Q, F>(self, key: F) -> KeyedStream<T, K, C, ByRef<F, Q>>
    where
        Q: ?Sized + Hash + Eq + ToOwned + 'static,
        F: Fn(&T) -> &Q + Clone + Send + 'static,
    {
        KeyedStream::of(self.chain, ByRef::new(key))
    }
}

/// `filter` and `inspect` behind a key see the user's record.
#[derive(Clone)]
pub struct Sift<F, G> {
    key: F,
    keep: G,
    name: &'static str,
}

#[diagnostic::do_not_recommend]
impl<X: 'static, F: KeyFn<X>, G: Fn(&F::Value) -> bool + Clone + Send + 'static> Operator<X> for Sift<F, G> {
    type Out = X;
    const FALLIBLE: bool = false;
    fn name(&self) -> &'static str {
        self.name
    }
    #[inline(always)]
    fn item<O: FnMut(X)>(&mut self, item: X, out: &mut O) -> Result<(), OpError> {
        if (self.keep)(self.key.look(&item)) {
            out(item);
        }
        Ok(())
    }
}

/// See [`KeyedStream::map_values`].
#[derive(Clone)]
pub struct MapValues<F, G> {
    key: F,
    map: G,
}

#[diagnostic::do_not_recommend]
impl<X: 'static, F: KeyFn<X>, U: 'static, G: Fn(F::Value) -> U + Clone + Send + 'static> Operator<X>
    for MapValues<F, G>
{
    type Out = (F::Key, U);
    const FALLIBLE: bool = false;
    fn name(&self) -> &'static str {
        "map_values"
    }
    #[inline(always)]
    fn item<O: FnMut((F::Key, U))>(&mut self, item: X, out: &mut O) -> Result<(), OpError> {
        let (_, route, rest) = self.key.split(item);
        let (key, value) = self.key.unite(route, rest);
        out((key, (self.map)(value)));
        Ok(())
    }
}

impl<X: 'static, K: Kind, C, F: KeyTypes<X> + Clone> KeyedStream<X, K, C, F> {
    /// The records for which `keep` says so; the key stays.
    #[track_caller]
    pub fn filter<G>(self, keep: G) -> KeyedStream<X, K, Proved<C, Then<C, Sift<F, G>>>, F>
    where
        G: Fn(&F::Value) -> bool + Clone + Send + 'static,
    {
        let op = Sift { key: self.key.clone(), keep, name: "filter" };
        KeyedStream::of(Then::new(self.chain, op, Meta::new("filter")), self.key)
    }

    /// Shows each record to `f`; the key stays.
    #[track_caller]
    pub fn inspect<G>(
        self,
        f: G,
    ) -> KeyedStream<X, K, Proved<C, Then<C, Sift<F, impl Fn(&F::Value) -> bool + Clone + Send + 'static>>>, F>
    where
        G: Fn(&F::Value) + Clone + Send + 'static,
    {
        let keep = move |x: &F::Value| {
            f(x);
            true
        };
        let op = Sift { key: self.key.clone(), keep, name: "inspect" };
        KeyedStream::of(Then::new(self.chain, op, Meta::new("inspect")), self.key)
    }

    /// One record for each record; the key stays what it was.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let pairs = source(from_vec(vec![("a", 1), ("b", 5), ("a", 2)]));
    /// job.add(pairs.key_by(|p| p.0).map_values(|p| p.1 * 10).sum(|v| *v).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [("a", 10), ("b", 50), ("a", 30)]);
    /// ```
    #[track_caller]
    pub fn map_values<U: Send + 'static, G>(
        self,
        map: G,
    ) -> KeyedStream<(F::Key, U), K, Proved<C, Then<C, MapValues<F, G>>>, ByPair<F::Key, U>>
    where
        G: Fn(F::Value) -> U + Clone + Send + 'static,
    {
        let op = MapValues { key: self.key, map };
        KeyedStream::of(Then::new(self.chain, op, Meta::new("map_values")), ByPair::new())
    }
}
