//! A stream whose records go to one of several sides: `split`, `partition`, `split_result`, `late = side`.

use super::chain::Whole;
use super::operator::Then;
use super::stateless::Map;
use super::tee::{Cast, Root, Trunk, both_tails};
use super::{Chain, Kind, Stream, Terminal, Visit};
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
    /// As pairs in pairs.
    fn nest(self) -> Self::Nested;
}

impl<A: 'static, B: 'static> Sides for Either<A, B> {
    type Nested = Either<A, B>;
    #[inline(always)]
    fn nest(self) -> Self {
        self
    }
}

impl<A: 'static, B: 'static, C: 'static> Sides for Either3<A, B, C> {
    type Nested = Either<A, Either<B, C>>;
    #[inline(always)]
    fn nest(self) -> Self::Nested {
        match self {
            Either3::A(a) => Either::A(a),
            Either3::B(b) => Either::B(Either::A(b)),
            Either3::C(c) => Either::B(Either::B(c)),
        }
    }
}

impl<A: 'static, B: 'static, C: 'static, D: 'static> Sides for Either4<A, B, C, D> {
    type Nested = Either<A, Either<B, Either<C, D>>>;
    #[inline(always)]
    fn nest(self) -> Self::Nested {
        match self {
            Either4::A(a) => Either::A(a),
            Either4::B(b) => Either::B(Either::A(b)),
            Either4::C(c) => Either::B(Either::B(Either::A(c))),
            Either4::D(d) => Either::B(Either::B(Either::B(d))),
        }
    }
}

/// A stream with several sides. [`Forked::roots`] gives the sides, [`Forked::fork`] takes their ends. `dataflow!` writes
/// both for `let (a, b) = …`.
#[must_use = "a forked stream does nothing until its sides end in a job"]
pub struct Forked<X, K, C> {
    chain: C,
    typed: PhantomData<fn() -> (X, K)>,
}

impl<X, K, C> Forked<X, K, C> {
    pub(crate) fn of(stream: Stream<X, K, C>) -> Self {
        Forked { chain: stream.chain, typed: PhantomData }
    }
}

/// The stream of one side.
pub type Side<T, K> = Stream<T, K, Root<T, <K as Kind>::Stamp>>;

fn side<T: 'static, K: Kind>() -> Side<T, K> {
    Stream::of(Root::new())
}

impl<A: 'static, B: 'static, K: Kind, C> Forked<Either<A, B>, K, C> {
    /// The two sides.
    pub fn roots(&self) -> (Side<A, K>, Side<B, K>) {
        (side(), side())
    }

    /// Ends the stream in the ends of its sides.
    pub fn fork<X, Y>(self, (a, b): (X, Y)) -> ForkEnd<C, Split<X, Y, A, B>> {
        ForkEnd { trunk: self.chain, sides: Split::new(a, b) }
    }
}

impl<A: 'static, B: 'static, C: 'static, K: Kind, Ch> Forked<Either3<A, B, C>, K, Ch> {
    /// The three sides.
    pub fn roots(&self) -> (Side<A, K>, Side<B, K>, Side<C, K>) {
        (side(), side(), side())
    }

    /// Ends the stream in the ends of its sides.
    #[expect(clippy::type_complexity, reason = "a nested pair for each further side")]
    pub fn fork<X, Y, Z>(
        self,
        (a, b, c): (X, Y, Z),
    ) -> ForkEnd<Ch, Split<X, Split<Y, Z, B, C>, A, Either<B, C>>> {
        ForkEnd { trunk: self.chain, sides: Split::new(a, Split::new(b, c)) }
    }
}

impl<A: 'static, B: 'static, C: 'static, D: 'static, K: Kind, Ch> Forked<Either4<A, B, C, D>, K, Ch> {
    /// The four sides.
    pub fn roots(&self) -> (Side<A, K>, Side<B, K>, Side<C, K>, Side<D, K>) {
        (side(), side(), side(), side())
    }

    /// Ends the stream in the ends of its sides.
    #[expect(clippy::type_complexity, reason = "a nested pair for each further side")]
    pub fn fork<W, X, Y, Z>(
        self,
        (a, b, c, d): (W, X, Y, Z),
    ) -> ForkEnd<Ch, Split<W, Split<X, Split<Y, Z, C, D>, B, Either<C, D>>, A, Either<B, Either<C, D>>>> {
        ForkEnd { trunk: self.chain, sides: Split::new(a, Split::new(b, Split::new(c, d))) }
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
    ) -> Forked<X, K, Route<C, impl Fn(T) -> X::Nested + Clone + Send + 'static>>
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

    #[track_caller]
    fn route<X: 'static, N: 'static, F>(self, name: &'static str, f: F) -> Forked<X, K, Route<C, F>>
    where
        F: Fn(T) -> N + Clone + Send + 'static,
    {
        Forked { chain: Then::new(self.chain, Map(f), Meta::new(name)), typed: PhantomData }
    }
}

impl<T: 'static, E: 'static, K: Kind, C> Stream<Result<T, E>, K, C> {
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
    pub fn split_result(
        self,
    ) -> Forked<Either<T, E>, K, Route<C, impl Fn(Result<T, E>) -> Either<T, E> + Clone + Send + 'static>>
    {
        self.route("split_result", |x| match x {
            Ok(x) => Either::A(x),
            Err(e) => Either::B(e),
        })
    }
}
