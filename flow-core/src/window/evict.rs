//! Evictors: of the records of a window the last ones only, by number or by time.
//!
//! An evictor is an aggregate around the user's: it keeps what the window still has, in order of arrival, and makes the user's
//! accumulator of that when a result is due. So it works with every kind of window, and holds no more than it shows.

use super::late::Lates;
use super::spec::Closing;
use super::windowing::{Adds, Parts, Windowing};
use crate::aggregate::{Aggregate, Mergeable, Merges, Overflow};
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::Counter;
use crate::op::Kind;
use crate::op::kind::HasEventTime;
use crate::op::operator::operator_error;
use crate::stage::{Faults, Meta, OpenCx};
use crate::time::{IntoMillis, Millis, Timestamp};
use std::collections::VecDeque;

/// What a window still has: number of arrival, time, and what the aggregate needs of the record. By number of arrival, or by time
/// where time says what leaves.
type Kept<I> = VecDeque<(u64, Timestamp, I)>;

/// Which records of a window stay in it: [`last`], on streams of kind `K`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot choose among the records of this stream",
    label = "not an evictor of this stream",
    note = "write `.evict(last(10))` for the last ten records, or `.evict(last(5min))` for those of the last five minutes before the newest",
    note = "`last(5min)` goes by the time of the records: say upstream when an event happened, `.event_time(|x| x.time, disorder = 5s)`; in a function of streams ask for `K: flow_core::op::kind::HasEventTime`"
)]
pub trait EvictsOf<K>: Evictor {
    /// What is known only where this holds.
    #[doc(hidden)]
    type Holds;
}

/// What an evictor does.
pub trait Evictor: Copy + Send + 'static {
    /// Whether what leaves depends on the records' times.
    #[doc(hidden)]
    const BY_TIME: bool;
    /// Whether the oldest of `kept` records leaves, the newest being `newest`.
    #[doc(hidden)]
    fn leaves(&self, kept: usize, oldest: Timestamp, newest: Timestamp) -> bool;
    /// Whether it makes sense.
    #[doc(hidden)]
    fn check(&self) -> Result<()>;
    /// As it is written.
    #[doc(hidden)]
    fn describe(&self) -> String;
}

/// The last records of a window: [`last`].
#[derive(Debug, Clone, Copy)]
pub struct Latest<L>(L);

/// The last records of a window: so many, or those of so much time before the newest one.
///
/// ```
/// # use flow_core::prelude::*;
/// # let out = Collected::new();
/// # let job = Job::build("doc", |job| {
/// let prices = source(from_vec(vec![(1, 10), (2, 30), (3, 20), (12, 5)]));
/// let prices = prices.event_time(|p| p.0).disorder(Millis(0));
/// let smooth = prices.window(tumbling(Millis(10))).evict(last(2)).aggregate(|a| a.mean(|p| p.1));
/// job.add(smooth.map(|w| (w.start.0, w.value)).collect(&out));
/// # });
/// # job.run().unwrap();
/// assert_eq!(out.take(), [(0, 25.0), (10, 5.0)]);
/// ```
pub fn last<L>(length: L) -> Latest<L> {
    Latest(length)
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Evictor for Latest<$number> {
            const BY_TIME: bool = false;
            #[inline]
            fn leaves(&self, kept: usize, _: Timestamp, _: Timestamp) -> bool {
                // What is below zero keeps nothing, which is refused.
                usize::try_from(self.0).is_ok_and(|n| kept > n)
            }
            fn check(&self) -> Result<()> {
                if self.0 > 0 { Ok(()) } else { Err(keeps_nothing(&self.describe())) }
            }
            fn describe(&self) -> String {
                format!("last({})", self.0)
            }
        }
        #[diagnostic::do_not_recommend]
        impl<K: Kind> EvictsOf<K> for Latest<$number> {
            type Holds = ();
        }
    )*};
}
numbers!(i32, u32, u64, usize);

macro_rules! durations {
    ($($duration:ty),*) => {$(
        impl Evictor for Latest<$duration> {
            const BY_TIME: bool = true;
            #[inline]
            fn leaves(&self, _: usize, oldest: Timestamp, newest: Timestamp) -> bool {
                i128::from(oldest.0) + i128::from(self.0.into_millis().0) <= i128::from(newest.0)
            }
            fn check(&self) -> Result<()> {
                if self.0.into_millis().0 > 0 { Ok(()) } else { Err(keeps_nothing(&self.describe())) }
            }
            fn describe(&self) -> String {
                format!("last({})", self.0.into_millis())
            }
        }
        #[diagnostic::do_not_recommend]
        impl<K: HasEventTime> EvictsOf<K> for Latest<$duration> {
            type Holds = ();
        }
    )*};
}
durations!(Millis, std::time::Duration);

#[cold]
fn keeps_nothing(evictor: &str) -> Error {
    let what =
        format!("`{evictor}` keeps nothing of a window: it has to be at least one record, or some time");
    Error::new(ErrorKind::Plan, what)
}

/// Windows `W` that keep of their records what `E` says.
#[derive(Clone)]
pub struct Evicting<W, E> {
    pub(super) window: W,
    pub(super) evictor: E,
}

impl<W: Lates, E> Lates for Evicting<W, E> {}
#[diagnostic::do_not_recommend]
impl<K, W: Closing<K>, E> Closing<K> for Evicting<W, E> {}

#[diagnostic::do_not_recommend]
impl<W: Windowing, E: Evictor> Windowing for Evicting<W, E> {
    // What is kept of two windows that become one lies side by side, whatever is made of it.
    type Needs = Adds;
    type Kind<K: Kind> = W::Kind<K>;
    type Chain<X, C, F, A, P, M> = W::Chain<X, C, F, Evicted<A, E>, P, M>;
    fn chain<X, C, F, A, P, M>(self, parts: Parts<C, F, A, P>) -> Self::Chain<X, C, F, A, P, M> {
        let Parts { prev, key, aggregate, lateness, edge, meta, looped } = parts;
        let (evicted, faults) = (Counter::default(), Faults::default());
        let aggregate = Evicted { aggregate, evictor: self.evictor, evicted, faults, meta };
        self.window.chain(Parts { prev, key, aggregate, lateness, edge, meta, looped })
    }
}

/// An aggregate of what an evictor leaves of a window.
#[derive(Clone)]
pub struct Evicted<A, E> {
    aggregate: A,
    evictor: E,
    evicted: Counter,
    faults: Faults,
    meta: Meta,
}

impl<A, E: Evictor> Evicted<A, E> {
    /// Puts a record into its place, and takes those out that leave for it.
    fn keep<I>(&self, (arrived, kept): &mut (u64, Kept<I>), time: Timestamp, x: I) {
        let at = if E::BY_TIME { kept.partition_point(|(_, t, _)| *t <= time) } else { kept.len() };
        kept.insert(at, (*arrived, time, x));
        *arrived += 1;
        self.evict(kept);
    }

    fn evict<I>(&self, kept: &mut Kept<I>) {
        while let (Some((_, oldest, _)), Some((_, newest, _))) = (kept.front(), kept.back())
            && self.evictor.leaves(kept.len(), *oldest, *newest)
        {
            kept.pop_front();
            self.evicted.add(1);
        }
    }

    /// Makes the result, which is where an integer may leave its range.
    fn made<T>(&self, mut kept: Vec<(u64, Timestamp, A::In)>) -> Option<A::Out>
    where
        A: Aggregate<T>,
    {
        kept.sort_by_key(|(arrived, _, _)| *arrived);
        let mut acc = self.aggregate.start();
        for (_, _, x) in kept {
            if let Err(error) = self.aggregate.add(&mut acc, x) {
                self.faults.raise(operator_error(&self.meta, &error.into()));
                return None;
            }
        }
        self.aggregate.take_result(acc)
    }
}

#[diagnostic::do_not_recommend]
impl<T, A: Aggregate<T>, E: Evictor> Aggregate<T> for Evicted<A, E> {
    type In = (Timestamp, A::In);
    type Acc = (u64, Kept<A::In>);
    type Out = A::Out;
    type Algebra = Merges;
    fn name(&self) -> String {
        format!("{} of the {}", self.aggregate.name(), self.evictor.describe())
    }
    fn check(&self) -> Result<()> {
        self.evictor.check()?;
        self.aggregate.check()
    }
    fn open(&mut self, cx: &OpenCx, meta: &Meta) {
        self.evicted = cx.metrics().counter(&format!("{}.evicted", meta.id()));
        (self.faults, self.meta) = (cx.faults().clone(), *meta);
        self.aggregate.open(cx, meta);
    }
    fn start(&self) -> Self::Acc {
        (0, VecDeque::new())
    }
    fn lift(&self, record: &T) -> Self::In {
        self.lift_at(record, Timestamp::MIN)
    }
    #[inline]
    fn lift_at(&self, record: &T, time: Timestamp) -> Self::In {
        (time, self.aggregate.lift_at(record, time))
    }
    fn add(&self, acc: &mut Self::Acc, (time, x): Self::In) -> Result<(), Overflow> {
        self.keep(acc, time, x);
        Ok(())
    }
    fn result(&self, acc: &Self::Acc) -> Option<A::Out> {
        self.made(acc.1.iter().cloned().collect())
    }
    fn take_result(&self, acc: Self::Acc) -> Option<A::Out> {
        self.made(acc.1.into())
    }
}

impl<T, A: Aggregate<T>, E: Evictor> Mergeable<T> for Evicted<A, E> {
    fn merge(&self, acc: &mut Self::Acc, (arrived, later): Self::Acc) -> Result<(), Overflow> {
        let before = acc.0;
        for (at, time, x) in later {
            // Its records come behind those that are here.
            acc.0 = before + at;
            self.keep(acc, time, x);
        }
        acc.0 = before + arrived;
        Ok(())
    }
}
