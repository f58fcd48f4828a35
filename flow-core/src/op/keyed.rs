//! Streams with a key: `key_by`, `key_by_ref`, and what keeps the key.
//!
//! A key is computed where the record is, and crosses with it. The exchange itself happens at the next operator that needs
//! all records of a key together; `filter`, `inspect` and `map_values` before that are fused with the sender.

use super::operator::{OpError, Operator, Then};
use super::proved::claim;
use super::{Kind, Proved, Stream};
use crate::exchange::hash_key;
use crate::stage::Meta;
use std::borrow::Borrow;
use std::hash::Hash;
use std::marker::PhantomData;

/// What a key may be: anything that can be hashed, compared and given to another thread.
pub trait Key: Hash + Eq + Clone + Send + 'static {}
impl<K: Hash + Eq + Clone + Send + 'static> Key for K {}

claim! {
    /// What the closure of `key_by` may return: a [`Key`].
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be a key: a key needs `Hash + Eq + Clone + Send`",
        label = "this closure returns `{Self}`, which is not a key",
        note = "a float is not `Eq`: wrap it, `key_by(|x| FloatKey::new(x.price))`; for your own type derive `Hash`, `PartialEq`, `Eq` and `Clone`"
    )]
    pub trait KeyOf<P> for Q where Key
}

/// A key function, with all that a table and an exchange need of the key. `X` is the record in the chain; a record
/// crosses as `Route`, which holds the key, and `Rest`.
pub trait KeyFn<X>: Clone + Send + 'static {
    /// The key as results and tables have it.
    type Key: Clone + Send + 'static;
    /// The record as the user sees it.
    type Value: 'static;
    /// What holds the key when a record crosses.
    type Route: Send + 'static;
    /// What else of the record crosses.
    type Rest: Send + 'static;

    /// Takes a record apart; the first is the key's hash.
    fn split(&self, x: X) -> (u64, Self::Route, Self::Rest);
    /// The user's record, taken apart.
    fn peek<'a>(&self, route: &'a Self::Route, rest: &'a Self::Rest) -> &'a Self::Value;
    /// The user's record, whole.
    fn look<'a>(&self, x: &'a X) -> &'a Self::Value;
    /// Key and record.
    fn unite(&self, route: Self::Route, rest: Self::Rest) -> (Self::Key, Self::Value);
    /// Whether the key in `route` is `key`.
    fn is(&self, route: &Self::Route, key: &Self::Key) -> bool;
    /// The key in `route`.
    fn key(&self, route: &Self::Route) -> Self::Key;
    /// The key, when nothing else of the record is wanted.
    fn own_key(&self, route: Self::Route) -> Self::Key;
    /// The hash of a key.
    fn hash(&self, key: &Self::Key) -> u64;
    /// Whether two keys are equal.
    fn same(&self, a: &Self::Key, b: &Self::Key) -> bool;
}

/// The key function of `key_by`.
#[derive(Clone)]
pub struct ByKey<F>(F);

impl<F> ByKey<F> {
    pub(crate) fn new(key: F) -> Self {
        ByKey(key)
    }
}

impl<X: Send + 'static, Q: Key, F: Fn(&X) -> Q + Clone + Send + 'static> KeyFn<X> for ByKey<F> {
    type Key = Q;
    type Value = X;
    type Route = Q;
    type Rest = X;
    #[inline(always)]
    fn split(&self, x: X) -> (u64, Q, X) {
        let key = (self.0)(&x);
        (hash_key(&key), key, x)
    }
    #[inline(always)]
    fn peek<'a>(&self, _: &'a Q, rest: &'a X) -> &'a X {
        rest
    }
    #[inline(always)]
    fn look<'a>(&self, x: &'a X) -> &'a X {
        x
    }
    #[inline(always)]
    fn unite(&self, route: Q, rest: X) -> (Q, X) {
        (route, rest)
    }
    #[inline(always)]
    fn is(&self, route: &Q, key: &Q) -> bool {
        route == key
    }
    #[inline(always)]
    fn key(&self, route: &Q) -> Q {
        route.clone()
    }
    #[inline(always)]
    fn own_key(&self, route: Q) -> Q {
        route
    }
    #[inline(always)]
    fn hash(&self, key: &Q) -> u64 {
        hash_key(key)
    }
    #[inline(always)]
    fn same(&self, a: &Q, b: &Q) -> bool {
        a == b
    }
}

/// The key function of `key_by_ref`: the key stays inside the record.
pub struct ByRef<F, Q: ?Sized>(F, PhantomData<fn(&Q)>);

impl<F: Clone, Q: ?Sized> Clone for ByRef<F, Q> {
    fn clone(&self) -> Self {
        ByRef(self.0.clone(), PhantomData)
    }
}

impl<X, Q, F> KeyFn<X> for ByRef<F, Q>
where
    X: Send + 'static,
    Q: ?Sized + Hash + Eq + ToOwned<Owned: Clone + Send + 'static> + 'static,
    F: Fn(&X) -> &Q + Clone + Send + 'static,
{
    type Key = Q::Owned;
    type Value = X;
    type Route = X;
    type Rest = ();
    #[inline(always)]
    fn split(&self, x: X) -> (u64, X, ()) {
        (hash_key((self.0)(&x)), x, ())
    }
    #[inline(always)]
    fn peek<'a>(&self, route: &'a X, (): &'a ()) -> &'a X {
        route
    }
    #[inline(always)]
    fn look<'a>(&self, x: &'a X) -> &'a X {
        x
    }
    #[inline(always)]
    fn unite(&self, route: X, (): ()) -> (Q::Owned, X) {
        ((self.0)(&route).to_owned(), route)
    }
    #[inline(always)]
    fn is(&self, route: &X, key: &Q::Owned) -> bool {
        (self.0)(route) == key.borrow()
    }
    #[inline(always)]
    fn key(&self, route: &X) -> Q::Owned {
        (self.0)(route).to_owned()
    }
    #[inline(always)]
    fn own_key(&self, route: X) -> Q::Owned {
        (self.0)(&route).to_owned()
    }
    #[inline(always)]
    fn hash(&self, key: &Q::Owned) -> u64 {
        hash_key(key.borrow())
    }
    #[inline(always)]
    fn same(&self, a: &Q::Owned, b: &Q::Owned) -> bool {
        a.borrow() == b.borrow()
    }
}

/// The key function behind `map_values`: records are pairs.
pub struct ByPair<Q, V>(PhantomData<fn() -> (Q, V)>);

impl<Q, V> Clone for ByPair<Q, V> {
    fn clone(&self) -> Self {
        ByPair(PhantomData)
    }
}

impl<Q: Key, V: Send + 'static> KeyFn<(Q, V)> for ByPair<Q, V> {
    type Key = Q;
    type Value = V;
    type Route = Q;
    type Rest = V;
    #[inline(always)]
    fn split(&self, (key, value): (Q, V)) -> (u64, Q, V) {
        (hash_key(&key), key, value)
    }
    #[inline(always)]
    fn peek<'a>(&self, _: &'a Q, rest: &'a V) -> &'a V {
        rest
    }
    #[inline(always)]
    fn look<'a>(&self, x: &'a (Q, V)) -> &'a V {
        &x.1
    }
    #[inline(always)]
    fn unite(&self, route: Q, rest: V) -> (Q, V) {
        (route, rest)
    }
    #[inline(always)]
    fn is(&self, route: &Q, key: &Q) -> bool {
        route == key
    }
    #[inline(always)]
    fn key(&self, route: &Q) -> Q {
        route.clone()
    }
    #[inline(always)]
    fn own_key(&self, route: Q) -> Q {
        route
    }
    #[inline(always)]
    fn hash(&self, key: &Q) -> u64 {
        hash_key(key)
    }
    #[inline(always)]
    fn same(&self, a: &Q, b: &Q) -> bool {
        a == b
    }
}

/// The key function of a stream without a key: everything goes to one instance.
#[derive(Clone, Copy)]
pub struct NoKey;

impl<X: Send + 'static> KeyFn<X> for NoKey {
    type Key = ();
    type Value = X;
    type Route = ();
    type Rest = X;
    #[inline(always)]
    fn split(&self, x: X) -> (u64, (), X) {
        (0, (), x)
    }
    #[inline(always)]
    fn peek<'a>(&self, (): &'a (), rest: &'a X) -> &'a X {
        rest
    }
    #[inline(always)]
    fn look<'a>(&self, x: &'a X) -> &'a X {
        x
    }
    #[inline(always)]
    fn unite(&self, (): (), rest: X) -> ((), X) {
        ((), rest)
    }
    #[inline(always)]
    fn is(&self, (): &(), (): &()) -> bool {
        true
    }
    #[inline(always)]
    fn key(&self, (): &()) {}
    #[inline(always)]
    fn own_key(&self, (): ()) {}
    #[inline(always)]
    fn hash(&self, (): &()) -> u64 {
        0
    }
    #[inline(always)]
    fn same(&self, (): &(), (): &()) -> bool {
        true
    }
}

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
    pub fn key_by<Q: KeyOf<P>, F, P>(self, key: F) -> KeyedStream<T, K, C, Proved<P, ByKey<F>>>
    where
        F: Fn(&T) -> Q + Clone + Send + 'static,
    {
        KeyedStream::of(self.chain, ByKey(key))
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
        KeyedStream::of(self.chain, ByRef(key, PhantomData))
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

impl<X: 'static, K: Kind, C, F: KeyFn<X>> KeyedStream<X, K, C, F> {
    /// The records for which `keep` says so; the key stays.
    #[track_caller]
    pub fn filter<G>(self, keep: G) -> KeyedStream<X, K, Then<C, Sift<F, G>>, F>
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
    ) -> KeyedStream<X, K, Then<C, Sift<F, impl Fn(&F::Value) -> bool + Clone + Send + 'static>>, F>
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
    ) -> KeyedStream<(F::Key, U), K, Then<C, MapValues<F, G>>, ByPair<F::Key, U>>
    where
        G: Fn(F::Value) -> U + Clone + Send + 'static,
    {
        let op = MapValues { key: self.key, map };
        KeyedStream::of(Then::new(self.chain, op, Meta::new("map_values")), ByPair(PhantomData))
    }
}
