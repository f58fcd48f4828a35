//! Dead letters: `map_or_dead`, `try_map_or_dead`. Records for which a closure panics or fails each time go aside, and the job goes on.
//!
//! The closure sees its record by reference, so the operator still has it when the closure is through with it; nothing is cloned. That
//! is also why it may go on behind a panic: the closure is `Fn` and has a shared reference, so neither it nor the record is half changed by a
//! call that did not end, but for what it shares by itself (a `Cell`, a `Mutex`), which is said in the manual. `UnwindSafe` would
//! forbid just that, and with it every closure that holds an `Arc` of a client; so it is asserted, not asked for.

use super::fork::{Either, Forked};
use super::operator::OpError;
use super::{Chain, Kind, Stream, Visit};
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::Counter;
use crate::stage::push::forward_tail;
use crate::stage::{BuildCx, Meta, OpenCx, Push, Stamp, Tail, panics};
use crate::window::fields::serde_fields;
use std::fmt::Display;

/// Calls of a closure for one record, at most.
const TRIES_MAX: u32 = 100;

/// A record for which a closure has panicked or failed each time: what `map_or_dead` and `try_map_or_dead` give aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dead<T> {
    /// The record.
    pub value: T,
    /// The error of the last call, or the text of its panic and where that was.
    pub message: String,
}
serde_fields!(Dead<T> { value, message });

/// A closure that is called for a record, and may be called again.
pub trait Attempt<T>: Clone + Send + 'static {
    /// What it gives.
    type Good: 'static;
    /// One call; not the panic of one.
    ///
    /// # Errors
    /// Those of the closure, as text.
    fn attempt(&self, record: &T) -> Result<Self::Good, String>;
}

/// `map_or_dead`: a call gives something, or panics.
#[derive(Clone)]
pub struct Plain<F>(F);
#[diagnostic::do_not_recommend]
impl<T, U: 'static, F: Fn(&T) -> U + Clone + Send + 'static> Attempt<T> for Plain<F> {
    type Good = U;
    #[inline(always)]
    fn attempt(&self, record: &T) -> Result<U, String> {
        Ok((self.0)(record))
    }
}

/// `try_map_or_dead`: it may return an error, too.
#[derive(Clone)]
pub struct Fallible<F>(F);
#[diagnostic::do_not_recommend]
impl<T, U: 'static, E: Into<OpError>, F> Attempt<T> for Fallible<F>
where
    F: Fn(&T) -> Result<U, E> + Clone + Send + 'static,
{
    type Good = U;
    #[inline(always)]
    fn attempt(&self, record: &T) -> Result<U, String> {
        (self.0)(record).map_err(|error| shown(&error.into()))
    }
}

#[cold]
#[inline(never)]
fn shown(error: &dyn Display) -> String {
    error.to_string()
}

/// A chain with an operator behind it that sorts out dead letters.
#[derive(Clone)]
pub struct OrDead<C, A> {
    prev: C,
    attempt: A,
    tries: u32,
    meta: Meta,
}

impl<C: Chain, A: Attempt<C::Out>> Chain for OrDead<C, A> {
    type Out = Either<A::Good, Dead<C::Out>>;
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: Push<Self::Out, C::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let OrDead { prev, attempt, tries, meta } = self;
        let meta = cx.op(&meta, "");
        check(cx, &meta, tries);
        prev.build(cx, OrDeadPush { next, attempt, letters: Letters::new(tries, meta) }, visit);
    }
}

fn check(cx: &mut BuildCx, meta: &Meta, tries: u32) {
    if !(1..=TRIES_MAX).contains(&tries) {
        let what = format!("{tries} tries: it has to be at least 1 and at most {TRIES_MAX}");
        cx.fail(Error::new(ErrorKind::Plan, what).in_stage(meta.id()).at(meta.at()));
    }
}

/// Sorts out dead letters.
struct OrDeadPush<N, A> {
    next: N,
    attempt: A,
    letters: Letters,
}

/// What of it knows no types.
struct Letters {
    tries: u32,
    dead: Counter,
    retries: Counter,
    meta: Meta,
}

impl Letters {
    fn new(tries: u32, meta: Meta) -> Self {
        Letters { tries, dead: Counter::default(), retries: Counter::default(), meta }
    }

    fn open(&mut self, cx: &OpenCx) {
        self.dead = cx.metrics().counter(&format!("{}.dead", self.meta.id()));
        self.retries = cx.metrics().counter(&format!("{}.retries", self.meta.id()));
    }

    /// A call has not gone well: is there another?
    fn again(&self, calls: u32) -> bool {
        let again = calls < self.tries;
        if again { &self.retries } else { &self.dead }.add(1);
        again
    }
}

impl<N, A> OrDeadPush<N, A> {
    #[inline(always)]
    fn call<T>(&self, record: &T) -> Result<A::Good, String>
    where
        A: Attempt<T>,
    {
        panics::caught(|| self.attempt.attempt(record)).unwrap_or_else(|error| Err(shown(&error)))
    }

    /// The calls behind one that has not gone well.
    #[cold]
    #[inline(never)]
    fn retry<T>(&self, value: T, mut message: String) -> Either<A::Good, Dead<T>>
    where
        A: Attempt<T>,
    {
        let mut calls = 1;
        while self.letters.again(calls) {
            calls += 1;
            match self.call(&value) {
                Ok(good) => return Either::A(good),
                Err(error) => message = error,
            }
        }
        Either::B(Dead { value, message })
    }
}

impl<T: 'static, S: Stamp, A: Attempt<T>, N: Push<Either<A::Good, Dead<T>>, S>> Push<T, S>
    for OrDeadPush<N, A>
{
    #[inline(always)]
    fn push(&mut self, item: T, stamp: S) {
        let sorted = match self.call(&item) {
            Ok(good) => Either::A(good),
            Err(message) => self.retry(item, message),
        };
        self.next.push(sorted, stamp);
    }
}

impl<N: Tail, A: Send + 'static> Tail for OrDeadPush<N, A> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.letters.open(cx);
        self.next.open(cx)
    }
    forward_tail!(next: mark grid room flush enough deadline tick);
}

/// A stream that has dead letters beside it: its settings follow.
pub type WithDead<T, U, K, C, A> = Forked<Either<U, Dead<T>>, K, OrDead<C, A>>;

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// `map` that survives poisoned records: one for which `f` panics leaves as a [`Dead`] letter by a second stream, and all others
    /// go on. [`tries`](Forked::tries) says how often `f` is called for a record before that, once unless said.
    ///
    /// `f` gets its record by reference, so that it is still there when `f` fails. Panics of operators behind this one are not caught
    /// here. Not caught at all are overflow of the stack, memory that is not there, `abort`, and panics in a program built with
    /// `panic = "abort"`. What `f` shares with others (a `Cell`, a `Mutex`) is as the panic has left it.
    ///
    /// Closures that change state have no such form, since they have changed half of it: do what may fail in front of them.
    ///
    /// The report counts `dead` letters, and `retries`. In `dataflow!`: `let (shares, dead) = totals.map_or_dead(|n| 100 / n, tries = 3);`.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let (good, bad) = (Collected::new(), Collected::new());
    /// # let job = Job::build("doc", |job| {
    /// let sides = source(from_vec(vec![4, 0, 5])).map_or_dead(|n| 100 / n);
    /// let (shares, dead) = sides.roots();
    /// let ends = (shares.collect(&good), dead.collect(&bad));
    /// job.add(sides.fork(ends));
    /// # });
    /// let report = job.run().unwrap();
    /// assert_eq!(report.counter("map_or_dead.dead"), 1);
    /// assert_eq!(good.take(), [25, 20]);
    /// let dead = bad.take().remove(0);
    /// assert_eq!(dead.value, 0);
    /// assert!(dead.message.contains("divide by zero"), "{}", dead.message);
    /// ```
    #[track_caller]
    pub fn map_or_dead<U: 'static, F>(self, f: F) -> WithDead<T, U, K, C, Plain<F>>
    where
        F: Fn(&T) -> U + Clone + Send + 'static,
    {
        or_dead("map_or_dead", self, Plain(f))
    }

    /// [`map_or_dead`](Stream::map_or_dead) with a closure that may fail as well as panic: an `Err` each time makes a dead letter, too.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let (good, bad) = (Collected::new(), Collected::new());
    /// # let job = Job::build("doc", |job| {
    /// let sides = source(from_vec(vec!["7", "seven"])).try_map_or_dead(|s| s.parse::<i32>()).tries(2);
    /// let (numbers, dead) = sides.roots();
    /// let ends = (numbers.collect(&good), dead.collect(&bad));
    /// job.add(sides.fork(ends));
    /// # });
    /// # let report = job.run().unwrap();
    /// # assert_eq!(report.counter("try_map_or_dead.retries"), 1);
    /// assert_eq!(good.take(), [7]);
    /// let dead = bad.take().remove(0);
    /// assert_eq!((dead.value, dead.message.as_str()), ("seven", "invalid digit found in string"));
    /// ```
    #[track_caller]
    pub fn try_map_or_dead<U: 'static, E: Into<OpError>, F>(self, f: F) -> WithDead<T, U, K, C, Fallible<F>>
    where
        F: Fn(&T) -> Result<U, E> + Clone + Send + 'static,
    {
        or_dead("try_map_or_dead", self, Fallible(f))
    }
}

#[track_caller]
fn or_dead<T, U, K, C, A>(
    name: &'static str,
    stream: Stream<T, K, C>,
    attempt: A,
) -> WithDead<T, U, K, C, A> {
    let chain = OrDead { prev: stream.chain, attempt, tries: 1, meta: Meta::new(name) };
    Forked::made(Stream::<(), K, _>::of(chain))
}

impl<X, K, C, A> Forked<X, K, OrDead<C, A>> {
    /// How often the closure is called for a record before it is a dead letter, without a pause between: 1 unless said, and 100 at
    /// most.
    pub fn tries(mut self, calls: u32) -> Self {
        self.chain.tries = calls;
        self
    }
}
