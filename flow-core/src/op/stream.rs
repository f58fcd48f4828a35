//! The handle of a pipeline while it is being written.

use super::Kind;
use std::marker::PhantomData;

/// A stream of records `T` of kind `K`, made of the chain `C`.
///
/// A stream does nothing by itself: its end is given to a [`Job`](crate::job::Job).
#[must_use = "a stream does nothing until its end is given to a job"]
pub struct Stream<T, K, C> {
    pub(crate) chain: C,
    typed: PhantomData<fn() -> (T, K)>,
}

impl<T, K, C: Clone> Clone for Stream<T, K, C> {
    fn clone(&self) -> Self {
        Stream::of(self.chain.clone())
    }
}

impl<T, K, C> Stream<T, K, C> {
    /// A stream made of `chain`.
    pub(crate) fn of(chain: C) -> Self {
        Stream { chain, typed: PhantomData }
    }
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// Gives the stream to `f` and goes on with what it returns: a sub-pipeline is an ordinary function.
    ///
    /// ```
    /// use flow_core::prelude::*;
    /// fn long<K: Kind>(s: Stream<String, K, impl Flow<String, K>>) -> Stream<String, K, impl Flow<String, K>> {
    ///     s.filter(|word| word.len() > 3)
    /// }
    /// let out = Collected::new();
    /// let words = ["to", "stream"].map(String::from).to_vec();
    /// let job = Job::build("words", |job| job.add(source(from_vec(words)).through(long).collect(&out)));
    /// job.run().unwrap();
    /// assert_eq!(out.take(), ["stream"]);
    /// ```
    pub fn through<R>(self, f: impl FnOnce(Self) -> R) -> R {
        f(self)
    }

    /// The same stream; the operator before stands under the `let` `name` in ids, errors and reports.
    pub fn named(self, name: &'static str) -> Stream<T, K, Named<C>> {
        Stream::of(Named { prev: self.chain, name })
    }
}

/// See [`Stream::named`].
#[derive(Clone)]
pub struct Named<C> {
    prev: C,
    name: &'static str,
}

impl<C: super::Chain> super::Chain for Named<C> {
    type Out = C::Out;
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: crate::stage::Push<C::Out, C::Stamp>, V: super::Visit>(
        self,
        cx: &mut crate::stage::BuildCx,
        next: N,
        visit: V,
    ) {
        cx.rename(self.name);
        self.prev.build(cx, next, visit);
    }
}
