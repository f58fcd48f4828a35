//! What the body of a loop returns.

use crate::op::Kind;
use crate::op::Stream;
use crate::op::fork::Either;

/// What is done with a record `X` that comes out of the body: it goes into the next superstep, or leaves the loop.
pub trait Leaves<X>: Send + 'static {
    /// What goes on.
    type Again: Send + 'static;
    /// What leaves.
    type Out: 'static;
    /// Whether each record says so itself.
    const SAYS: bool;
    /// Which of both it is.
    fn leaves(record: X) -> Either<Self::Again, Self::Out>;
    /// What becomes of a record that came back last, when the loop is over.
    fn at_the_end(again: Self::Again) -> Option<Self::Out>;
}

/// All go on; those that came back last are the result.
pub enum Feeds {}

impl<T: Send + 'static> Leaves<T> for Feeds {
    type Again = T;
    type Out = T;
    const SAYS: bool = false;
    #[inline(always)]
    fn leaves(record: T) -> Either<T, T> {
        Either::A(record)
    }
    fn at_the_end(again: T) -> Option<T> {
        Some(again)
    }
}

/// Each says itself whether it goes on.
pub enum Says {}

impl<T: Send + 'static, D: Send + 'static> Leaves<Either<T, D>> for Says {
    type Again = T;
    type Out = D;
    const SAYS: bool = true;
    #[inline(always)]
    fn leaves(record: Either<T, D>) -> Either<T, D> {
        record
    }
    fn at_the_end(_: T) -> Option<D> {
        None
    }
}

/// What the body of a loop over `T` returns: a stream of `T` or of [`Either<T, D>`](Either), whose `B`s leave at once.
#[diagnostic::on_unimplemented(
    message = "the body of this loop does not give what it takes: records of type `{T}`",
    label = "the next superstep takes `{T}`",
    note = "end the body in a stream of `{T}`, as it begins; or of `Either<{T}, D>`, where `Either::A(x)` goes on and `Either::B(done)` leaves"
)]
pub trait Body<T> {
    /// What is done with a record.
    type Rule: Leaves<Self::Record, Again = T>;
    /// A record that comes out.
    type Record: Send + 'static;
    /// The kind of the stream.
    type Kind: Kind;
    /// What it is made of.
    type Chain;
    /// The chain.
    fn chain(self) -> Self::Chain;
}

#[diagnostic::do_not_recommend]
impl<T: Send + 'static, L: Kind, B> Body<T> for Stream<T, L, B> {
    type Rule = Feeds;
    type Record = T;
    type Kind = L;
    type Chain = B;
    fn chain(self) -> B {
        self.chain
    }
}

#[diagnostic::do_not_recommend]
impl<T: Send + 'static, D: Send + 'static, L: Kind, B> Body<T> for Stream<Either<T, D>, L, B> {
    type Rule = Says;
    type Record = Either<T, D>;
    type Kind = L;
    type Chain = B;
    fn chain(self) -> B {
        self.chain
    }
}
