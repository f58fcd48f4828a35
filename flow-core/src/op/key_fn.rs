//! Key functions: how an operator gets at the key of a record, whether it was computed, borrowed or paired.

use super::proved::claim;
use crate::exchange::hash_key;
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

/// The types of a key function, which are known whatever may be a key. `X` is the record in the chain; a record crosses as
/// `Route`, which holds the key, and `Rest`.
pub trait KeyTypes<X> {
    /// The key as results and tables have it.
    type Key: 'static;
    /// The record as the user sees it.
    type Value: 'static;
    /// What holds the key when a record crosses.
    type Route: 'static;
    /// What else of the record crosses.
    type Rest: 'static;
}

/// A key function, with all that a table and an exchange need of the key.
pub trait KeyFn<X>: KeyTypes<X, Key: Clone + Send, Route: Send, Rest: Send> + Clone + Send + 'static {
    /// Takes a record apart; the first is the key's hash.
    fn split(&self, x: X) -> (u64, Self::Route, Self::Rest);
    /// The user's record, taken apart.
    fn peek<'a>(&self, route: &'a Self::Route, rest: &'a Self::Rest) -> &'a Self::Value;
    /// The user's record, whole.
    fn look<'a>(&self, x: &'a X) -> &'a Self::Value;
    /// Key and record.
    fn unite(&self, route: Self::Route, rest: Self::Rest) -> (Self::Key, Self::Value);
    /// The record, when the key is known already.
    fn value(&self, route: Self::Route, rest: Self::Rest) -> Self::Value;
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

impl<X: 'static, Q: 'static, F: Fn(&X) -> Q> KeyTypes<X> for ByKey<F> {
    type Key = Q;
    type Value = X;
    type Route = Q;
    type Rest = X;
}

impl<X: Send + 'static, Q: Key, F: Fn(&X) -> Q + Clone + Send + 'static> KeyFn<X> for ByKey<F> {
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
    fn value(&self, _: Q, rest: X) -> X {
        rest
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

impl<F, Q: ?Sized> ByRef<F, Q> {
    pub(super) fn new(key: F) -> Self {
        ByRef(key, PhantomData)
    }
}

impl<F: Clone, Q: ?Sized> Clone for ByRef<F, Q> {
    fn clone(&self) -> Self {
        ByRef(self.0.clone(), PhantomData)
    }
}

impl<X: 'static, Q: ?Sized + ToOwned<Owned: 'static>, F> KeyTypes<X> for ByRef<F, Q> {
    type Key = Q::Owned;
    type Value = X;
    type Route = X;
    type Rest = ();
}

impl<X, Q, F> KeyFn<X> for ByRef<F, Q>
where
    X: Send + 'static,
    Q: ?Sized + Hash + Eq + ToOwned<Owned: Clone + Send + 'static> + 'static,
    F: Fn(&X) -> &Q + Clone + Send + 'static,
{
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
    fn value(&self, route: X, (): ()) -> X {
        route
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

impl<Q, V> ByPair<Q, V> {
    pub(crate) fn new() -> Self {
        ByPair(PhantomData)
    }
}

impl<Q, V> Clone for ByPair<Q, V> {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl<Q: 'static, V: 'static> KeyTypes<(Q, V)> for ByPair<Q, V> {
    type Key = Q;
    type Value = V;
    type Route = Q;
    type Rest = V;
}

impl<Q: Key, V: Send + 'static> KeyFn<(Q, V)> for ByPair<Q, V> {
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
    fn value(&self, _: Q, rest: V) -> V {
        rest
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

impl<X: 'static> KeyTypes<X> for NoKey {
    type Key = ();
    type Value = X;
    type Route = ();
    type Rest = X;
}

impl<X: Send + 'static> KeyFn<X> for NoKey {
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
    fn value(&self, (): (), rest: X) -> X {
        rest
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
