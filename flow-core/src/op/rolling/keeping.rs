//! Rolling operators that keep some of the records: `dedup_first`, `top_n`.

use super::{Measure, Roll, Rolled, Rolling};
use crate::metrics::Counter;
use crate::op::key_fn::KeyTypes;
use crate::op::keyed::KeyedStream;
use crate::op::operator::OpError;
use crate::op::{Kind, Proved, Stream};
use crate::stage::{Meta, OpenCx};
use crate::state::Keep;
use crate::time::{Clock, IntoMillis, Millis, Timestamp};
use std::sync::Arc;

/// `dedup_first`: a record of a key that is new. The state is when that was; nobody asks where nothing is forgotten.
#[derive(Clone, Default)]
pub struct FirstOf {
    ttl: Option<Millis>,
    clock: Option<Arc<dyn Clock>>,
    now: Timestamp,
    /// When keys that are over are looked for.
    sweep: Timestamp,
    duplicates: Counter,
    expired: Counter,
}

impl FirstOf {
    fn has_passed(&self, first: Timestamp) -> bool {
        self.ttl.is_some_and(|ttl| first + ttl <= self.now)
    }
}

impl<V: 'static> Roll<V> for FirstOf {
    type State = Option<Timestamp>;
    type Out = V;
    fn start(&self) -> Option<Timestamp> {
        None
    }
    fn open(&mut self, meta: &Meta, cx: &mut OpenCx) -> Result<(), OpError> {
        self.duplicates = cx.metrics().counter(&format!("{}.duplicates", meta.id()));
        if let Some(ttl) = self.ttl {
            if ttl.0 <= 0 {
                return Err(format!("a ttl of {ttl}: it has to be longer than zero").into());
            }
            self.expired = cx.metrics().counter(&format!("{}.expired", meta.id()));
            self.clock = Some(Arc::clone(cx.clock()));
            self.sweep = cx.clock().wall() + ttl;
        }
        Ok(())
    }
    fn begin(&mut self) -> bool {
        let (Some(clock), Some(ttl)) = (&self.clock, self.ttl) else { return false };
        self.now = clock.wall();
        let due = self.now >= self.sweep;
        if due {
            self.sweep = self.now + ttl;
        }
        due
    }
    fn is_over(&self, first: &Option<Timestamp>) -> bool {
        first.is_some_and(|first| self.has_passed(first))
    }
    fn forgot(&self, states: usize) {
        self.expired.add(states as u64);
    }
    #[inline(always)]
    fn roll(&self, first: &mut Option<Timestamp>, value: V) -> Result<Option<V>, OpError> {
        match *first {
            Some(before) if !self.has_passed(before) => {
                self.duplicates.add(1);
                return Ok(None);
            }
            Some(_) => self.expired.add(1),
            None => {}
        }
        *first = Some(self.now);
        Ok(Some(value))
    }
}

/// `top_n`: the records with the largest values so far, largest first.
#[derive(Clone)]
pub struct TopOf<G> {
    n: usize,
    measure: G,
    outranked: Counter,
}

impl<V, N, G> Roll<V> for TopOf<G>
where
    V: Clone + Send + 'static,
    N: Measure,
    N::Value: Send,
    G: Fn(&V) -> N + Clone + Send + 'static,
{
    type State = Vec<(N::Value, V)>;
    type Out = Vec<V>;
    fn start(&self) -> Self::State {
        Vec::new()
    }
    fn open(&mut self, meta: &Meta, cx: &mut OpenCx) -> Result<(), OpError> {
        if self.n == 0 {
            return Err("the first 0 records: it has to be at least 1".into());
        }
        self.outranked = cx.metrics().counter(&format!("{}.outranked", meta.id()));
        Ok(())
    }
    fn roll(&self, top: &mut Self::State, record: V) -> Result<Option<Vec<V>>, OpError> {
        let changed = self.rank(top, record);
        Ok(changed.then(|| top.iter().map(|(_, record)| record.clone()).collect()))
    }
    const ONE_ROW: bool = true;
    fn add(&self, top: &mut Self::State, record: V) -> Result<(), OpError> {
        self.rank(top, record);
        Ok(())
    }
    fn last(&self, top: Self::State) -> Option<Vec<V>> {
        (!top.is_empty()).then(|| top.into_iter().map(|(_, record)| record).collect())
    }
}

impl<G> TopOf<G> {
    /// Puts a record in its place; whether it has one.
    fn rank<V, N: Measure>(&self, top: &mut Vec<(N::Value, V)>, record: V) -> bool
    where
        G: Fn(&V) -> N,
    {
        let value = (self.measure)(&record).value();
        // Behind its equals: the earlier one stays.
        let place = value.as_ref().map(|value| top.partition_point(|(v, _)| N::compare(v, value).is_ge()));
        let (Some(value), Some(at)) = (value, place.filter(|at| *at < self.n)) else {
            self.outranked.add(1);
            return false;
        };
        if top.len() == self.n {
            self.outranked.add(1);
            top.pop();
        }
        top.insert(at, (value, record));
        true
    }
}

/// The stream behind `top_n`: it is unknown where what the closure returns has no order.
pub type TopOfEach<X, K, C, F, G, N> = Stream<
    (<F as KeyTypes<X>>::Key, Vec<<F as KeyTypes<X>>::Value>),
    K,
    Proved<<N as Measure>::Value, Proved<C, Rolling<C, F, TopOf<G>, <K as Kind>::Mode, <K as Kind>::Bounds>>>,
>;

impl<X: 'static, K: Kind, C, F: KeyTypes<X>> KeyedStream<X, K, C, F> {
    /// The first record of each key, at its own timestamp; those that come later are counted in `duplicates`.
    ///
    /// It remembers every key, or, with [`ttl`](crate::op::Stream::ttl), so long.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let orders = source(from_vec(vec![(7, "new"), (8, "new"), (7, "again")]));
    /// job.add(orders.key_by(|o| o.0).dedup_first().map(|(_, order)| order).collect(&out));
    /// # });
    /// let report = job.run().unwrap();
    /// assert_eq!(out.take(), [(7, "new"), (8, "new")]);
    /// assert_eq!(report.counter("dedup_first.duplicates"), 1);
    /// ```
    #[track_caller]
    pub fn dedup_first(self) -> Rolled<X, K, C, F, FirstOf>
    where
        Option<Timestamp>: Keep<K::Mode>,
    {
        self.rolling("dedup_first", FirstOf::default())
    }

    /// The `n` records of the key with the largest values so far, largest first, whenever they change. Of equal values the
    /// earlier record stands first and stays; a record whose value is `None` is never among them. Records that leave, or never were
    /// there, are counted in `outranked`.
    ///
    /// For one list at the end use `.window(…).aggregate(|a| a.top_k(n, …))`.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let scores = source(from_vec(vec![("ann", 3), ("ann", 1), ("ann", 2), ("ann", 5)]));
    /// let best = scores.key_by(|s| s.0).map_values(|s| s.1).top_n(2, |score| *score);
    /// job.add(best.map(|(_, best)| best).collect(&out));
    /// # });
    /// let report = job.run().unwrap();
    /// assert_eq!(out.take(), [vec![3], vec![3, 1], vec![3, 2], vec![5, 3]]);
    /// assert_eq!(report.counter("top_n.outranked"), 2);
    /// ```
    #[track_caller]
    pub fn top_n<N: Measure, G>(self, n: usize, measure: G) -> TopOfEach<X, K, C, F, G, N>
    where
        F::Value: Clone + Send,
        N::Value: Send,
        Vec<(N::Value, F::Value)>: Keep<K::Mode>,
        G: Fn(&F::Value) -> N + Clone + Send + 'static,
    {
        self.rolling("top_n", TopOf { n, measure, outranked: Counter::default() })
    }
}

impl<T, K, C, F, M, B> Stream<T, K, Rolling<C, F, FirstOf, M, B>> {
    /// A key is forgotten so long after its first record, by the host's clock: the next one is a first one again. Keys that were
    /// forgotten are counted in `expired`.
    ///
    /// They are looked for as records come, once in that time: so those of twice as long are in memory at most.
    pub fn ttl(mut self, ttl: impl IntoMillis) -> Self {
        self.chain.roll.ttl = Some(ttl.into_millis());
        self
    }
}
