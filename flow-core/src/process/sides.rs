//! Side outputs: what a process emits beside its results, each a stream of its own.
//!
//! They leave the process in one stream of `Either`, in the order in which they were emitted, and are taken apart behind it, as those of
//! `split`. Which sides there are is part of the kind of its timers, so that nothing changes for a process that has none.

use super::block::Closures;
use super::broadcast::{Beside, BroadcastOf, BroadcastProcess, ConnectedBroadcast};
use super::connect::{CoProcessOf, Connected};
use super::context::Context;
use super::declaring::{Declaring, Doing};
use super::kinds::{OnTheClock, TimerKinds};
use super::{Process, ProcessOf};
use crate::op::fork::{Forked, Sides};
use crate::op::{Either, Either3, Either4, KeyTypes, KeyedStream, Kind, Stream};
use crate::stage::Stamp;
use crate::state::Keep;
use std::marker::PhantomData;

/// A side of a process, for records `T`; `At` says which: [`First`], [`Second`] or [`Third`].
pub struct Side<T, At>(PhantomData<fn(T) -> At>);

impl<T, At> Side<T, At> {
    /// Where [`Context::output`] sends records.
    pub const fn new() -> Self {
        Side(PhantomData)
    }
}

impl<T, At> Default for Side<T, At> {
    fn default() -> Self {
        Side::new()
    }
}

impl<T, At> Clone for Side<T, At> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, At> Copy for Side<T, At> {}

/// Something to which a process sends records beside its results.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no side of this process",
    label = "not a side",
    note = "declare one in the block, `let name: Side<Type> = side();`, and write `ctx.output(name, record)`"
)]
pub trait IsSide: Copy {
    /// What it takes.
    type Record;
    /// Which it is.
    type At;
}

#[diagnostic::do_not_recommend]
impl<T, At> IsSide for Side<T, At> {
    type Record = T;
    type At = At;
}

/// The first side.
#[derive(Debug, Clone, Copy)]
pub enum First {}
/// The second side.
#[derive(Debug, Clone, Copy)]
pub enum Second {}
/// The third side.
#[derive(Debug, Clone, Copy)]
pub enum Third {}

/// Timers of kind `P`, in a process that has sides `W` beside its results: a tuple of the types of their records.
pub struct WithSides<P, W>(PhantomData<fn() -> (P, W)>);

/// One to three types: those of the sides of a process.
pub trait SideTypes: Send + 'static {
    /// What leaves, beside results `O`: `Either<O, Either<…>>`.
    type Item<O>;
    /// The same, as the sides of a fork.
    type All<O>;
    /// A result.
    fn result<O>(x: O) -> Self::Item<O>;
}

/// Sides, of which `At` takes records `T`.
#[diagnostic::on_unimplemented(
    message = "this process has no such side for records `{T}`",
    label = "not a side of this process",
    note = "declare it in the block: `let name: Side<{T}> = side();`"
)]
pub trait Takes<T, At>: TimerKinds {
    /// A record of that side.
    fn aside<O>(x: T) -> Self::Item<O>;
}

impl<P: TimerKinds, W: SideTypes> TimerKinds for WithSides<P, W> {
    const ON_CLOCK: bool = P::ON_CLOCK;
    type Stamp<S: Stamp> = P::Stamp<S>;
    type Kind<K: Kind> = P::Kind<K>;
    type Item<O> = W::Item<O>;
    #[inline(always)]
    fn stamp<S: Stamp>(stamp: S) -> P::Stamp<S> {
        P::stamp(stamp)
    }
    #[inline(always)]
    fn item<O>(x: O) -> W::Item<O> {
        W::result(x)
    }
}

#[diagnostic::do_not_recommend]
impl<P: OnTheClock, W: SideTypes> OnTheClock for WithSides<P, W> {}

/// Input: `(A, B), Either<O, Either<A, B>>, Either3<O, A, B>`
/// Output: the sides of these types.
macro_rules! sides {
    (($($side:ident),+), $item:ty, $all:ty) => {
        impl<$($side: Send + 'static),+> SideTypes for ($($side,)+) {
            type Item<O> = $item;
            type All<O> = $all;
            #[inline(always)]
            fn result<O>(x: O) -> $item {
                Either::A(x)
            }
        }
    };
}

/// Input: `(A, B), Second of B = Either::B`
/// Output: how a record becomes one of that side.
macro_rules! takes {
    (($($side:ident),+), $at:ident of $of:ident = $aside:expr) => {
        #[diagnostic::do_not_recommend]
        impl<P: TimerKinds, $($side: Send + 'static),+> Takes<$of, $at> for WithSides<P, ($($side,)+)> {
            #[inline(always)]
            fn aside<O>(x: $of) -> Self::Item<O> {
                Either::B($aside(x))
            }
        }
    };
}

sides!((A), Either<O, A>, Either<O, A>);
sides!((A, B), Either<O, Either<A, B>>, Either3<O, A, B>);
sides!((A, B, C), Either<O, Either<A, Either<B, C>>>, Either4<O, A, B, C>);
takes!((A), First of A = std::convert::identity);
takes!((A, B), First of A = Either::A);
takes!((A, B), Second of B = Either::B);
takes!((A, B, C), First of A = Either::A);
takes!((A, B, C), Second of B = |x| Either::B(Either::A(x)));
takes!((A, B, C), Third of C = |x| Either::B(Either::B(x)));

impl<K, O, S: Stamp, P: TimerKinds> Context<'_, K, O, S, P> {
    /// Emits `x` to a side, at the timestamp of the record, or at the time of the timer.
    #[inline(always)]
    pub fn output<Z: IsSide>(&mut self, side: Z, x: Z::Record)
    where
        P: Takes<Z::Record, Z::At>,
    {
        let _ = side;
        self.out.push((P::aside(x), P::stamp(self.stamp)));
    }
}

impl<U, W, P> Declaring<U, W, P> {
    /// There are sides, `A` a tuple of the types of their records: what `dataflow!` writes for `let small: Side<Small> = side();`.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// use flow_core::process::{First, Side};
    /// # let (large, small) = (Collected::new(), Collected::new());
    /// # let job = Job::build("doc", |job| {
    /// let numbers = source(from_vec(vec![30, 8, 50])).key_by(|n| n % 2);
    /// let sides = numbers
    ///     .declare(())
    ///     .with_sides::<(String,)>()
    ///     .on_event(|(), n: i64, ctx| match n {
    ///         0..10 => ctx.output(Side::<String, First>::new(), format!("{n}")),
    ///         _ => ctx.emit(n),
    ///     })
    ///     .apart();
    /// let (a, b) = sides.roots();
    /// let ends = (a.collect(&large), b.collect(&small));
    /// job.add(sides.fork(ends));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(large.take(), [30, 50]);
    /// assert_eq!(small.take(), ["8"]);
    /// ```
    pub fn with_sides<A: SideTypes>(self) -> Declaring<U, W, WithSides<P, A>> {
        Declaring::new(self.stream, self.seen)
    }
}

/// What a stream is made of.
pub trait Made {
    /// Its kind.
    type Kind;
    /// Its chain.
    type Chain;
    /// Taken apart into sides `X`.
    fn apart<X>(self) -> Forked<X, Self::Kind, Self::Chain>;
}

impl<T, K, C> Made for Stream<T, K, C> {
    type Kind = K;
    type Chain = C;
    fn apart<X>(self) -> Forked<X, K, C> {
        Forked::made(self)
    }
}

/// The results and the sides of a process whose stream is `M`.
pub type ApartOf<M, O, W> = Forked<<W as SideTypes>::All<O>, <M as Made>::Kind, <M as Made>::Chain>;

impl<X: 'static, K: Kind, C, F: KeyTypes<X>, D, P, W: SideTypes, O, E, T, Q>
    Doing<KeyedStream<X, K, C, F>, D, WithSides<P, W>, O, E, T, Q>
{
    /// The stream of what it emits, and those of its sides, as they were declared.
    #[track_caller]
    pub fn apart(self) -> ApartOf<ProcessOf<X, K, C, F, Closures<D, WithSides<P, W>, O, E, T, Q>>, O, W>
    where
        Closures<D, WithSides<P, W>, O, E, T, Q>: Process<F::Key, F::Value, K::Stamp, State: Keep<K::Mode>>,
        W::All<O>: Sides,
    {
        self.done().apart()
    }
}

impl<Q: 'static, L: 'static, R: 'static, K: Kind, C, D, P, W: SideTypes, O, E, T, H>
    Doing<Connected<Q, L, R, K, C>, D, WithSides<P, W>, O, E, T, H>
{
    /// The stream of what it emits, and those of its sides, as they were declared.
    #[track_caller]
    pub fn apart(self) -> ApartOf<CoProcessOf<Q, L, R, K, Closures<D, WithSides<P, W>, O, E, T, H>, C>, O, W>
    where
        Closures<D, WithSides<P, W>, O, E, T, H>: Process<Q, Either<L, R>, K::Stamp, State: Keep<K::Mode>>,
        W::All<O>: Sides,
    {
        self.done().apart()
    }
}

impl<Q: 'static, L: 'static, B: 'static, K: Kind, C, D, H, I, A, P, W: SideTypes, O, E, T, X>
    Doing<ConnectedBroadcast<Q, L, B, K, C>, Beside<D, H, I, A>, WithSides<P, W>, O, E, T, X>
{
    /// The stream of what it emits, and those of its sides, as they were declared.
    #[track_caller]
    pub fn apart(
        self,
    ) -> ApartOf<BroadcastOf<Q, L, B, K, Closures<Beside<D, H, I, A>, WithSides<P, W>, O, E, T, X>, C>, O, W>
    where
        Closures<Beside<D, H, I, A>, WithSides<P, W>, O, E, T, X>:
            BroadcastProcess<Q, L, B, K::Stamp, State: Keep<K::Mode>, Shared: Keep<K::Mode>>,
        W::All<O>: Sides,
    {
        self.done().apart()
    }
}
