//! What can be done with the accumulators of an aggregate.
//!
//! A user implements [`Mergeable`], [`Commutative`], [`Invertible`] and says with `type Algebra` how far the runtime may
//! rely on them. The associated type is how the runtime sees it: Rust cannot ask whether a type implements a trait.

use super::{Aggregate, Overflow};

/// Two accumulators can become one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says that its accumulators merge, but does not say how",
    note = "of your own: implement `flow_core::aggregate::Mergeable<{T}>` for it, or say `type Algebra = Plain`",
    note = "`until` takes what can be put together from parts, in whatever order: `max`, `min`, `count`, a `sum` of whole numbers; no `fold` or `reduce`, and no sum of floats: scale them to whole numbers, or take the `max` of the changes"
)]
pub trait Mergeable<T>: Aggregate<T> {
    /// `acc` becomes the accumulator of its own records followed by those of `later`.
    ///
    /// # Errors
    /// When an integer leaves its range.
    fn merge(&self, acc: &mut Self::Acc, later: Self::Acc) -> Result<(), Overflow>;
}

/// The order of records makes no difference.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says that the order of its records makes no difference, but does not implement `Commutative`",
    note = "implement `flow_core::aggregate::Commutative<{T}>` for it, or say `type Algebra = Merges`"
)]
pub trait Commutative<T>: Mergeable<T> {}

/// Records can be taken out again.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says that records can be taken out again, but does not say how",
    note = "implement `flow_core::aggregate::Invertible<{T}>` for it, or say `type Algebra = Commutes`"
)]
pub trait Invertible<T>: Commutative<T> {
    /// Whether what is left is exactly what it would be without them. It is not for sums of floats: what a large one has
    /// swallowed does not come back.
    const EXACT: bool = true;
    /// Takes the records of `part` out of `acc`.
    ///
    /// # Errors
    /// When an integer leaves its range.
    fn remove(&self, acc: &mut Self::Acc, part: &Self::Acc) -> Result<(), Overflow>;
}

/// How far the runtime may go.
pub trait Algebra<T, A: Aggregate<T>>: 'static {
    /// Accumulators merge.
    const MERGES: bool;
    /// … and in any order.
    const COMMUTES: bool;
    /// … and can be taken out again, without a trace.
    const INVERTS: bool;
    /// [`Mergeable::merge`]; only called where `MERGES`.
    ///
    /// # Errors
    /// When an integer leaves its range.
    fn merge(aggregate: &A, acc: &mut A::Acc, later: A::Acc) -> Result<(), Overflow>;
    /// [`Invertible::remove`]; only called where `INVERTS`.
    ///
    /// # Errors
    /// When an integer leaves its range.
    fn remove(aggregate: &A, acc: &mut A::Acc, part: &A::Acc) -> Result<(), Overflow> {
        let _ = (aggregate, acc, part);
        debug_assert!(false, "an aggregate that does not invert was asked to: a bug of the caller");
        Ok(())
    }
}

/// Records are added one by one, in order.
pub struct Plain;
/// The aggregate is [`Mergeable`].
pub struct Merges;
/// The aggregate is [`Commutative`].
pub struct Commutes;
/// The aggregate is [`Invertible`].
pub struct Inverts;

impl<T, A: Aggregate<T>> Algebra<T, A> for Plain {
    const MERGES: bool = false;
    const COMMUTES: bool = false;
    const INVERTS: bool = false;
    fn merge(_: &A, _: &mut A::Acc, _: A::Acc) -> Result<(), Overflow> {
        debug_assert!(false, "a plain aggregate was asked to merge: a bug of the caller");
        Ok(())
    }
}

/// The accumulators of aggregate `A` merge: what windows ask for that become one, as sessions do.
#[diagnostic::on_unimplemented(
    message = "the accumulators of `{A}` do not merge, but two sessions become one when an element joins them",
    label = "sessions need an aggregate that merges",
    note = "`count`, `sum`, `min`, `max`, `mean`, `first`, `last`, `collect` and their like do; a fold over a session is `collect` and a `map` behind it, or implement `flow_core::aggregate::Mergeable<{T}>` for an aggregate of your own"
)]
pub trait Joins<T, A: Aggregate<T>>: Algebra<T, A> {}

macro_rules! algebras {
    ($($name:ident: $bound:ident, $commutes:literal, $inverts:expr $(, $remove:item)?;)*) => {$(
        impl<T, A: $bound<T>> Algebra<T, A> for $name {
            const MERGES: bool = true;
            const COMMUTES: bool = $commutes;
            const INVERTS: bool = $inverts;
            #[inline]
            fn merge(aggregate: &A, acc: &mut A::Acc, later: A::Acc) -> Result<(), Overflow> {
                aggregate.merge(acc, later)
            }
            $($remove)?
        }
        #[diagnostic::do_not_recommend]
        impl<T, A: $bound<T>> Joins<T, A> for $name {}
    )*};
}
algebras! {
    Merges: Mergeable, false, false;
    Commutes: Commutative, true, false;
    Inverts: Invertible, true, A::EXACT, #[inline]
    fn remove(aggregate: &A, acc: &mut A::Acc, part: &A::Acc) -> Result<(), Overflow> {
        aggregate.remove(acc, part)
    };
}
