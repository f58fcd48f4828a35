//! `aggregate` behind a key: an aggregate, or a tuple of several, as a rolling operator.

use super::{Roll, RolledAs};
use crate::aggregate::{Agg, Aggregate};
use crate::op::Kind;
use crate::op::key_fn::KeyTypes;
use crate::op::keyed::KeyedStream;
use crate::op::operator::OpError;
use crate::stage::{Meta, OpenCx};
use crate::state::Keep;

/// An aggregate of all values of a key so far.
#[derive(Clone)]
pub struct Aggregated<A>(A);

impl<V, A: Aggregate<V>> Roll<V> for Aggregated<A> {
    type State = A::Acc;
    type Out = A::Out;
    fn start(&self) -> A::Acc {
        self.0.start()
    }
    fn open(&mut self, meta: &Meta, cx: &mut OpenCx) -> Result<(), OpError> {
        self.0.open(cx, meta);
        Ok(self.0.check()?)
    }
    #[inline(always)]
    fn roll(&self, acc: &mut A::Acc, value: V) -> Result<Option<A::Out>, OpError> {
        self.add(acc, value)?;
        Ok(self.0.result(acc))
    }
    const ONE_ROW: bool = true;
    #[inline(always)]
    fn add(&self, acc: &mut A::Acc, value: V) -> Result<(), OpError> {
        Ok(self.0.add(acc, self.0.lift(&value))?)
    }
    fn last(&self, acc: A::Acc) -> Option<A::Out> {
        self.0.take_result(acc)
    }
}

impl<X: 'static, K: Kind, C, F: KeyTypes<X>> KeyedStream<X, K, C, F> {
    /// What an aggregate, or a tuple of several, makes of the records of the key so far, with each record; in a batch, and in a superstep of a loop, one row for each key, at
    /// the end. Of several in one operator each record needs one look-up.
    ///
    /// Per window there is `.window(…).aggregate(…)`.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let sales = source(from_vec(vec![("a", 2u32), ("b", 5), ("a", 3)])).batch();
    /// let totals = sales.key_by(|s| s.0).aggregate(|a| (a.count(), a.sum(|s| s.1), a.max(|s| s.1)));
    /// job.add(totals.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [("a", (2, 5, 3)), ("b", (1, 5, 5))]);
    /// ```
    #[track_caller]
    pub fn aggregate<A>(
        self,
        make: impl FnOnce(Agg<F::Value>) -> A,
    ) -> RolledAs<X, K, C, F, Aggregated<A>, A::Out>
    where
        A: Aggregate<F::Value, Acc: Keep<K::Mode>>,
    {
        self.rolling("aggregate", Aggregated(make(Agg::new())))
    }
}
