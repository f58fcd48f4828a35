//! What has been made of all values so far: Flink's `ReducingState` and `AggregatingState`.

use super::ttl::{Now, Ttl, UNSTAMPED};
use super::{Declared, Entries, Moment, On};
use crate::aggregate::{Agg, Aggregate, Overflow};
use serde_core::de::Deserializer;
use serde_core::ser::Serializer;
use serde_core::{Deserialize, Serialize};
use std::cell::Cell;

/// A value that may be there, when it was written, and how long it lives.
struct Lasting<V> {
    value: Option<V>,
    written: Cell<i64>,
    ttl: Option<Ttl>,
    now: Now,
    watched: i64,
}

impl<V> Lasting<V> {
    fn of(value: Option<V>, written: i64) -> Self {
        Lasting { value, written: Cell::new(written), ttl: None, now: UNSTAMPED, watched: i64::MAX }
    }

    /// Of no values.
    fn none() -> Self {
        Lasting::of(None, UNSTAMPED.write)
    }

    fn renew(&self) {
        self.written.set(self.now.write.max(self.written.get()));
    }

    fn write(&mut self) -> &mut Option<V> {
        match self.value {
            Some(_) => self.renew(),
            None => self.written.set(self.now.write),
        }
        &mut self.value
    }

    fn read(&self) -> Option<&V> {
        if self.value.is_some() && self.ttl.is_some_and(|ttl| ttl.renews) {
            self.renew();
        }
        self.value.as_ref()
    }

    fn at(&mut self, ttl: Ttl, now: Now) -> u64 {
        // What is there was written in the beginning or in this call, when nobody had said yet that it expires.
        if self.ttl.replace(ttl).is_none() && self.written.get() == UNSTAMPED.write {
            self.written.set(now.write);
        }
        self.now = now;
        let gone = self.value.is_some() && ttl.is_over(self.written.get(), now.read);
        if gone {
            self.value = None;
        }
        u64::from(gone)
    }

    fn first(&self) -> Option<i64> {
        self.value.as_ref()?;
        Some(self.ttl?.end(self.written.get()).unwrap_or(i64::MAX))
    }
}

impl<V: Serialize> Serialize for Lasting<V> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (&self.value, self.written.get()).serialize(to)
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Lasting<V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (value, written) = <(Option<V>, i64)>::deserialize(from)?;
        Ok(Lasting::of(value, written))
    }
}

/// A state with a function, which is not written down with it.
pub trait Functional {
    /// Whether the function is there.
    fn has_function(&self) -> bool;
    /// Takes that of another, which is new.
    fn take_function(&mut self, of: Self);
}

/// A state that may have been restored without its function: it gets that of a new one.
#[derive(Clone)]
pub struct WithFunction<D>(pub D);

impl<D: Declared<Stored: Functional>> Declared for WithFunction<D> {
    type Stored = D::Stored;
    type View<'a> = D::View<'a>;
    const LIVES: bool = D::LIVES;
    fn ttl(&self) -> Option<Ttl> {
        self.0.ttl()
    }
    fn check(&self, timed: bool) -> Result<(), String> {
        self.0.check(timed)
    }
    fn fresh(&self) -> D::Stored {
        self.0.fresh()
    }
    #[inline(always)]
    fn view<'a>(&self, stored: &'a mut D::Stored, now: Moment, expired: &mut u64) -> D::View<'a> {
        if !stored.has_function() {
            stored.take_function(self.0.fresh());
        }
        self.0.view(stored, now, expired)
    }
    fn settle(
        &self,
        stored: &mut D::Stored,
        now: Moment,
        expired: &mut u64,
        watch: &mut dyn FnMut(On, i64),
    ) -> bool {
        self.0.settle(stored, now, expired, watch)
    }
}

/// All values added so far, made one by a function. With a time to live it is there until so long after the last was added.
///
/// ```
/// # use flow_core::prelude::*;
/// # let out = Collected::new();
/// # dataflow! { fn largest(out: Collected<u32>) {
/// # let numbers = source(from_vec(vec![3, 8, 5, 1]));
/// let largest = numbers.key_by(|n| n % 2).process({
///     let mut largest: ReducingState<u32> = ReducingState::new(|a, b| a.max(b));
///     on_event(|n, ctx| {
///         largest.add(n);
///         ctx.emit(*largest.get().unwrap_or(&0));
///     });
/// });
/// # largest.collect(&out);
/// # } }
/// # largest(out.clone()).run().unwrap();
/// assert_eq!(out.take(), [3, 8, 5, 5]);
/// ```
pub struct ReducingState<T> {
    reduce: Option<fn(T, T) -> T>,
    all: Lasting<T>,
}

impl<T> ReducingState<T> {
    /// Of no values; `reduce` makes one of two, the first of which came before.
    pub fn new(reduce: fn(T, T) -> T) -> Self {
        ReducingState { reduce: Some(reduce), all: Lasting::none() }
    }

    /// Adds `value`.
    pub fn add(&mut self, value: T) {
        let (reduce, all) = (self.reduce, self.all.write());
        *all = Some(match (all.take(), reduce) {
            (Some(before), Some(reduce)) => reduce(before, value),
            _ => value,
        });
    }

    /// What has been made of all values; `None` of no values.
    pub fn get(&self) -> Option<&T> {
        self.all.read()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.all.value = None;
    }
}

impl<T> Functional for ReducingState<T> {
    fn has_function(&self) -> bool {
        self.reduce.is_some()
    }
    fn take_function(&mut self, of: Self) {
        self.reduce = of.reduce;
    }
}

/// An aggregate of all values added so far, as those of windows: `AggregatingState<T, _>` where it is made of closures. With a time to live it
/// is there until so long after the last value was added.
///
/// ```
/// # use flow_core::prelude::*;
/// # let out = Collected::new();
/// # dataflow! { fn means(out: Collected<(u32, f64)>) {
/// # let numbers = source(from_vec(vec![3, 8, 5, 1]));
/// let means = numbers.key_by(|n| n % 2).process({
///     let mut all: AggregatingState<u32, _> = AggregatingState::new(|a| a.mean(|n| *n));
///     on_event(|n, ctx| {
///         all.add(&n)?;
///         ctx.emit((n, all.get().unwrap_or(0.0)));
///         Ok::<(), Overflow>(())
///     });
/// });
/// # means.collect(&out);
/// # } }
/// # use flow_core::aggregate::Overflow;
/// # means(out.clone()).run().unwrap();
/// assert_eq!(out.take(), [(3, 3.0), (8, 8.0), (5, 4.0), (1, 3.0)]);
/// ```
pub struct AggregatingState<T, A: Aggregate<T>> {
    aggregate: Option<A>,
    all: Lasting<A::Acc>,
}

impl<T, A: Aggregate<T>> AggregatingState<T, A> {
    /// Of no values: `AggregatingState::new(|a| (a.count(), a.mean(|x| x.price)))`, or `|_| MyAggregate`.
    pub fn new(aggregate: impl FnOnce(Agg<T>) -> A) -> Self {
        AggregatingState { aggregate: Some(aggregate(Agg::new())), all: Lasting::none() }
    }

    /// Adds `value`.
    ///
    /// # Errors
    /// When an integer leaves its range.
    pub fn add(&mut self, value: &T) -> Result<(), Overflow> {
        let Some(aggregate) = &self.aggregate else { return Ok(()) };
        let all = self.all.write().get_or_insert_with(|| aggregate.start());
        aggregate.add(all, aggregate.lift(value))
    }

    /// The result; `None` of no values, and where the aggregate has none.
    pub fn get(&self) -> Option<A::Out> {
        self.aggregate.as_ref()?.result(self.all.read()?)
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.all.value = None;
    }
}

impl<T, A: Aggregate<T>> Functional for AggregatingState<T, A> {
    fn has_function(&self) -> bool {
        self.aggregate.is_some()
    }
    fn take_function(&mut self, of: Self) {
        self.aggregate = of.aggregate;
    }
}

/// Input: `[T: Send + 'static] ReducingState<T>, value: T, without: reduce`
/// Output: it expires as a whole, and is written down without its function.
macro_rules! whole {
    ([$($generics:tt)*] $state:ty, $name:ident, $value:ty, $function:ident) => {
        impl<$($generics)*> Entries for $state {
            fn at(&mut self, ttl: Ttl, now: Now) -> u64 {
                self.all.at(ttl, now)
            }
            fn first(&self) -> Option<i64> {
                self.all.first()
            }
            fn watched(&mut self) -> &mut i64 {
                &mut self.all.watched
            }
        }

        impl<$($generics)*> Serialize for $state
        where
            $value: Serialize,
        {
            fn serialize<Z: Serializer>(&self, to: Z) -> Result<Z::Ok, Z::Error> {
                self.all.serialize(to)
            }
        }

        impl<'de, $($generics)*> Deserialize<'de> for $state
        where
            $value: Deserialize<'de>,
        {
            fn deserialize<Z: Deserializer<'de>>(from: Z) -> Result<Self, Z::Error> {
                Ok($name { $function: None, all: Lasting::deserialize(from)? })
            }
        }
    };
}

whole!([T: Send + 'static] ReducingState<T>, ReducingState, T, reduce);
whole!([T: 'static, A: Aggregate<T>] AggregatingState<T, A>, AggregatingState, A::Acc, aggregate);
