//! A stream whose records go to one of several sides: `split`, `partition`, `split_result`, `late = side`.

use super::chain::Whole;
use super::operator::Then;
use super::stateless::Map;
use super::tee::{Cast, Root, Trunk, both_tails};
use super::{Chain, Kind, Proved, Stream, Terminal, Visit};
use crate::batch::Mark;
use crate::error::Result;
use crate::stage::{BuildCx, Draft, Meta, OpenCx, Push, Stamp, Tail};
use crate::time::Grid;
use std::marker::PhantomData;

/// One of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Either<A, B> {
    /// For the first side.
    A(A),
    /// For the second.
    B(B),
}

/// One of three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Either3<A, B, C> {
    /// For the first side.
    A(A),
    /// For the second.
    B(B),
    /// For the third.
    C(C),
}

/// One of four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Either4<A, B, C, D> {
    /// For the first side.
    A(A),
    /// For the second.
    B(B),
    /// For the third.
    C(C),
    /// For the fourth.
    D(D),
}

/// A record that says which of several sides it is for, as pairs in pairs: what `split`'s closure returns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say to which side a record goes",
    label = "the closure of `split` returns `{Self}`",
    note = "return `Either::A(x)` or `Either::B(x)` (`Either3`, `Either4` for more sides); for a yes or no use `partition`"
)]
pub trait Sides: 'static {
    /// `Either<A, Either<B, …>>`.
    type Nested: 'static;
    /// The streams of the sides.
    type Roots<K: Kind>;
    /// As pairs in pairs.
    fn nest(self) -> Self::Nested;
    /// The streams of the sides.
    fn roots<K: Kind>() -> Self::Roots<K>;
}

/// Sides that end in `E`, a tuple of their ends.
pub trait EndIn<E>: Sides {
    /// The end of all.
    type End;
    /// Puts them together.
    fn join(ends: E) -> Self::End;
}

#[diagnostic::do_not_recommend]
impl<A: 'static, B: 'static> Sides for Either<A, B> {
    type Nested = Either<A, B>;
    type Roots<K: Kind> = (Side<A, K>, Side<B, K>);
    #[inline(always)]
    fn nest(self) -> Self {
        self
    }
    fn roots<K: Kind>() -> (Side<A, K>, Side<B, K>) {
        (side(), side())
    }
}

#[diagnostic::do_not_recommend]
impl<A: 'static, B: 'static, C: 'static> Sides for Either3<A, B, C> {
    type Nested = Either<A, Either<B, C>>;
    type Roots<K: Kind> = (Side<A, K>, Side<B, K>, Side<C, K>);
    #[inline(always)]
    fn nest(self) -> Self::Nested {
        match self {
            Either3::A(a) => Either::A(a),
            Either3::B(b) => Either::B(Either::A(b)),
            Either3::C(c) => Either::B(Either::B(c)),
        }
    }
    fn roots<K: Kind>() -> (Side<A, K>, Side<B, K>, Side<C, K>) {
        (side(), side(), side())
    }
}

#[diagnostic::do_not_recommend]
impl<A: 'static, B: 'static, C: 'static, D: 'static> Sides for Either4<A, B, C, D> {
    type Nested = Either<A, Either<B, Either<C, D>>>;
    type Roots<K: Kind> = (Side<A, K>, Side<B, K>, Side<C, K>, Side<D, K>);
    #[inline(always)]
    fn nest(self) -> Self::Nested {
        match self {
            Either4::A(a) => Either::A(a),
            Either4::B(b) => Either::B(Either::A(b)),
            Either4::C(c) => Either::B(Either::B(Either::A(c))),
            Either4::D(d) => Either::B(Either::B(Either::B(d))),
        }
    }
    fn roots<K: Kind>() -> (Side<A, K>, Side<B, K>, Side<C, K>, Side<D, K>) {
        (side(), side(), side(), side())
    }
}

/// A stream with several sides. [`Forked::roots`] gives the sides, [`Forked::fork`] takes their ends. `dataflow!` writes
/// both for `let (a, b) = …`.
#[must_use = "a forked stream does nothing until its sides end in a job"]
pub struct Forked<X, K, C> {
    pub(super) chain: C,
    typed: PhantomData<fn() -> (X, K)>,
}

impl<X, K, C> Forked<X, K, C> {
    pub(crate) fn of(stream: Stream<X, K, C>) -> Self {
        Forked { chain: stream.chain, typed: PhantomData }
    }

    /// What leaves a process, nested already.
    pub(crate) fn made<N>(stream: Stream<N, K, C>) -> Self {
        Forked { chain: stream.chain, typed: PhantomData }
    }
}

/// The stream of one side.
pub type Side<T, K> = Stream<T, K, Root<T, <K as Kind>::Stamp>>;

fn side<T: 'static, K: Kind>() -> Side<T, K> {
    Stream::of(Root::new())
}

impl<X: Sides, K: Kind, C> Forked<X, K, C> {
    /// The streams of the sides.
    pub fn roots(&self) -> X::Roots<K> {
        X::roots()
    }

    /// Ends the stream in the ends of its sides, a tuple.
    pub fn fork<E>(self, ends: E) -> ForkEnd<C, X::End>
    where
        X: EndIn<E>,
    {
        ForkEnd { trunk: self.chain, sides: X::join(ends) }
    }
}

impl<A: 'static, B: 'static, X, Y> EndIn<(X, Y)> for Either<A, B> {
    type End = Split<X, Y, A, B>;
    fn join((a, b): (X, Y)) -> Self::End {
        Split::new(a, b)
    }
}

impl<A: 'static, B: 'static, C: 'static, X, Y, Z> EndIn<(X, Y, Z)> for Either3<A, B, C> {
    type End = Split<X, Split<Y, Z, B, C>, A, Either<B, C>>;
    fn join((a, b, c): (X, Y, Z)) -> Self::End {
        Split::new(a, Split::new(b, c))
    }
}

impl<A: 'static, B: 'static, C: 'static, D: 'static, W, X, Y, Z> EndIn<(W, X, Y, Z)> for Either4<A, B, C, D> {
    type End = Split<W, Split<X, Split<Y, Z, C, D>, B, Either<C, D>>, A, Either<B, Either<C, D>>>;
    fn join((a, b, c, d): (W, X, Y, Z)) -> Self::End {
        Split::new(a, Split::new(b, Split::new(c, d)))
    }
}

/// The ends of two sides, as the end of a stream of `Either<A, B>`.
pub struct Split<X, Y, A, B> {
    x: X,
    y: Y,
    records: PhantomData<fn() -> (A, B)>,
}

impl<X, Y, A, B> Split<X, Y, A, B> {
    fn new(x: X, y: Y) -> Self {
        Split { x, y, records: PhantomData }
    }
}

impl<X: Clone, Y: Clone, A, B> Clone for Split<X, Y, A, B> {
    fn clone(&self) -> Self {
        Split::new(self.x.clone(), self.y.clone())
    }
}

impl<X: Terminal, Y: Terminal, A: 'static, B: 'static> Terminal for Split<X, Y, A, B> {
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V) {
        self.x.build_end(cx, First { y: self.y, visit, records: PhantomData::<fn() -> (A, B)> });
    }
}

/// The first side is built: builds the second.
struct First<Y, V, A, B> {
    y: Y,
    visit: V,
    records: PhantomData<fn() -> (A, B)>,
}

impl<Y: Terminal, V: Visit, A: 'static, B: 'static> Visit for First<Y, V, A, B> {
    fn head<T: 'static, S: Stamp, H: Push<T, S>>(self, cx: &mut BuildCx, head: H) {
        let before = cx.suspend();
        let a = Cast::<H, T, S>::new(head);
        let stamp = PhantomData::<fn() -> S>;
        self.y.build_end(cx, Second { a, before, visit: self.visit, stamp, records: self.records });
    }
    fn rooted(self, cx: &mut BuildCx) {
        Whole.reject(cx);
    }
}

/// Both sides are built: together they are the head of the stream before.
struct Second<HA, V, S, A, B> {
    a: HA,
    before: Draft,
    visit: V,
    stamp: PhantomData<fn() -> S>,
    records: PhantomData<fn() -> (A, B)>,
}

impl<HA: Push<A, S>, V: Visit, S: Stamp, A: 'static, B: 'static> Visit for Second<HA, V, S, A, B> {
    fn head<T: 'static, S2: Stamp, H: Push<T, S2>>(self, cx: &mut BuildCx, head: H) {
        cx.resume(self.before);
        let fork = ForkPush { a: self.a, b: Cast::<H, T, S2>::new(head) };
        self.visit.head::<Either<A, B>, S, _>(cx, fork);
    }
    fn rooted(self, cx: &mut BuildCx) {
        Whole.reject(cx);
    }
}

/// Gives each record to its side.
struct ForkPush<X, Y> {
    a: X,
    b: Y,
}

impl<A: 'static, B: 'static, S: Stamp, X: Push<A, S>, Y: Push<B, S>> Push<Either<A, B>, S>
    for ForkPush<X, Y>
{
    #[inline(always)]
    fn push(&mut self, item: Either<A, B>, stamp: S) {
        match item {
            Either::A(a) => self.a.push(a, stamp),
            Either::B(b) => self.b.push(b, stamp),
        }
    }
}

impl<X: Tail, Y: Tail> Tail for ForkPush<X, Y> {
    both_tails!(a, b);
}

/// A forked stream with the ends of its sides.
#[derive(Clone)]
pub struct ForkEnd<C, E> {
    trunk: C,
    sides: E,
}

impl<C: Chain, E: Terminal> Terminal for ForkEnd<C, E> {
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V) {
        self.sides.build_end(cx, Trunk { trunk: self.trunk, visit });
    }
}

/// `split`, `partition`, `split_result` as the one-to-one operator in front of the fork.
type Route<C, F> = Then<C, Map<F>>;

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// Sends each record to the side that `f` names; the sides may have different types.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let (small, large) = (Collected::new(), Collected::new());
    /// # let job = Job::build("doc", |job| {
    /// let numbers = source(from_iter(0..5));
    /// let sides = numbers.split(|n| if n < 3 { Either::A(n) } else { Either::B(format!("{n}")) });
    /// let (a, b) = sides.roots();
    /// let ends = (a.collect(&small), b.collect(&large));
    /// job.add(sides.fork(ends));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(small.take(), [0, 1, 2]);
    /// assert_eq!(large.take(), ["3", "4"]);
    /// ```
    #[track_caller]
    pub fn split<X: Sides, F>(
        self,
        f: F,
    ) -> Forked<
        Proved<X::Nested, X>,
        K,
        Proved<X::Nested, Route<C, impl Fn(T) -> X::Nested + Clone + Send + 'static>>,
    >
    where
        F: Fn(T) -> X + Clone + Send + 'static,
    {
        self.route("split", move |x| f(x).nest())
    }

    /// The records for which `f` says so, and the others.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let (even, odd) = (Collected::new(), Collected::new());
    /// # let job = Job::build("doc", |job| {
    /// let sides = source(from_iter(0..5)).partition(|n| n % 2 == 0);
    /// let (a, b) = sides.roots();
    /// let ends = (a.collect(&even), b.collect(&odd));
    /// job.add(sides.fork(ends));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!((even.take(), odd.take()), (vec![0, 2, 4], vec![1, 3]));
    /// ```
    #[track_caller]
    pub fn partition<F>(
        self,
        f: F,
    ) -> Forked<Either<T, T>, K, Route<C, impl Fn(T) -> Either<T, T> + Clone + Send + 'static>>
    where
        F: Fn(&T) -> bool + Clone + Send + 'static,
    {
        self.route("partition", move |x| if f(&x) { Either::A(x) } else { Either::B(x) })
    }

    /// What is `Ok`, and what is `Err`.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let (good, bad) = (Collected::new(), Collected::new());
    /// # let job = Job::build("doc", |job| {
    /// let sides = source(from_vec(vec!["1", "x"])).map(|s| s.parse::<i32>()).split_result();
    /// let (a, b) = sides.roots();
    /// let ends = (a.collect(&good), b.collect(&bad));
    /// job.add(sides.fork(ends));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!((good.take(), bad.take().len()), (vec![1], 1));
    /// ```
    #[track_caller]
    pub fn split_result<A: 'static, B: 'static>(
        self,
    ) -> Forked<Either<A, B>, K, Proved<A, Route<C, impl Fn(T) -> Either<A, B> + Clone + Send + 'static>>>
    where
        T: Outcome<Good = A, Bad = B>,
    {
        self.route("split_result", T::sides)
    }

    #[track_caller]
    fn route<X: 'static, N: 'static, F>(self, name: &'static str, f: F) -> Forked<X, K, Route<C, F>>
    where
        F: Fn(T) -> N + Clone + Send + 'static,
    {
        Forked { chain: Then::new(self.chain, Map(f), Meta::new(name)), typed: PhantomData }
    }
}

/// A record that went well or did not: a `Result`.
#[diagnostic::on_unimplemented(
    message = "`split_result` needs a stream of `Result`, and these records are `{Self}`",
    label = "`{Self}` is not a `Result`",
    note = "to send records to sides as you say, use `partition` or `split`"
)]
pub trait Outcome: 'static {
    /// What is `Ok`.
    type Good: 'static;
    /// What is `Err`.
    type Bad: 'static;
    /// The side it is for.
    fn sides(self) -> Either<Self::Good, Self::Bad>;
}

#[diagnostic::do_not_recommend]
impl<T: 'static, E: 'static> Outcome for Result<T, E> {
    type Good = T;
    type Bad = E;
    #[inline(always)]
    fn sides(self) -> Either<T, E> {
        match self {
            Ok(x) => Either::A(x),
            Err(e) => Either::B(e),
        }
    }
}
