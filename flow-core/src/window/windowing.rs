//! From the description of windows to the operator that keeps them: one for windows that lie where time says, one for
//! sessions, one for count windows.

use super::late::Lateness;
use crate::aggregate::{Aggregate, Joins};
use crate::op::Kind;
use crate::stage::{Count, EdgeKind, EdgeRef, Meta};

/// A description of windows: what `.window(…)` takes.
pub trait Windowing: Sized {
    /// What the operator asks of an aggregate: [`Adds`], or [`Merging`].
    type Needs;
    /// The kind of the results, on a stream of kind `K`.
    type Kind<K: Kind>: Kind;
    /// The chain with the operator behind it.
    type Chain<X, C, F, A, P, M>;
    /// Puts the operator behind a chain.
    fn chain<X, C, F, A, P, M>(self, parts: Parts<C, F, A, P>) -> Self::Chain<X, C, F, A, P, M>;
}

/// What every window operator is made of, beside its description.
#[derive(Clone)]
pub struct Parts<C, F, A, P> {
    /// What lies before it.
    pub prev: C,
    /// The key.
    pub key: F,
    /// What is made of a window.
    pub aggregate: A,
    /// What becomes of late elements.
    pub lateness: Lateness<P>,
    /// The edge to its instances.
    pub edge: EdgeRef,
    /// Who it is.
    pub meta: Meta,
    /// Whether it stands in the body of a loop.
    pub looped: bool,
}

/// Elements are added one by one: any aggregate will do.
pub enum Adds {}
/// Windows become one: their accumulators have to merge.
pub enum Merging {}

/// An aggregate of `T` that does what windows [need](Windowing::Needs).
pub trait Suits<T, Needs> {}
impl<T, A> Suits<T, Adds> for A {}
impl<T, A: Aggregate<T, Algebra: Joins<T, A>>> Suits<T, Merging> for A {}

/// In how many instances a window runs and how records get there; without a key it is one.
pub(super) fn instances(keyless: bool) -> (Count, EdgeKind) {
    if keyless { (Count::Exactly(1), EdgeKind::Global) } else { (Count::Parallelism, EdgeKind::KeyBy) }
}
