//! What a stream is made of, and how it becomes stages.
//!
//! A chain is declared forwards (`map` wraps `filter` wraps `source`) and built backwards: [`Chain::build`] gets what
//! lies behind it as `next`, wraps itself around it and hands the result to the chain before it. A chain that begins at
//! a [`Root`](super::tee::Root) is a branch of a stream used more than once: it hands its finished head to the *visitor*,
//! which builds the next branch or the trunk. So the type of a stage exists only when it is built; nothing of it appears in
//! a user's error messages.

use super::Kind;
use super::boxed::RootKind;
use crate::error::{Error, ErrorKind};
use crate::stage::{BuildCx, Push, Stamp};

/// What a stream is made of. Operators put no bound on it: it is proved once, where the pipeline ends.
#[diagnostic::on_unimplemented(
    message = "this is not a complete stream: `{Self}` cannot be built",
    label = "an operator before this one does not fit",
    note = "closures of operators are `Fn + Clone + Send + 'static` and own what they use"
)]
pub trait Chain: Clone + Send + 'static {
    /// The record.
    type Out: 'static;
    /// What each record carries.
    type Stamp: Stamp;
    /// Where it begins: at a source or an edge, or at the root of a branch.
    type Root: RootKind;
    /// Builds this pass's instance in front of `next`; the branch's head, if any, goes to `visit`.
    fn build<N: Push<Self::Out, Self::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V);
}

/// What happens at the beginning of a chain.
pub trait Visit {
    /// It began at a typed root: `head` is what hangs on it.
    fn head<T: 'static, S: Stamp, H: Push<T, S>>(self, cx: &mut BuildCx, head: H);
    /// It began at a source or an edge: nothing is left to build.
    fn rooted(self, cx: &mut BuildCx);
}

/// The end of a pipeline: what `for_each`, `sink` and `collect` return and [`Job`](crate::job::Job) takes.
#[diagnostic::on_unimplemented(
    message = "the pipeline cannot be built from here: `{Self}` is not a complete end of a stream",
    label = "not an end of a stream",
    note = "end it with `.for_each(…)`, `.sink(…)` or `.collect(…)`"
)]
pub trait Terminal: Clone + Send + 'static {
    /// Builds this pass's instance.
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V);
}

/// Any chain with this record and kind, for signatures of functions over streams.
///
/// ```
/// use flow_core::prelude::*;
/// fn even<K: Kind>(numbers: Stream<u32, K, impl Flow<u32, K>>) -> Stream<u32, K, impl Flow<u32, K>> {
///     numbers.filter(|n| n % 2 == 0)
/// }
/// let out = Collected::new();
/// let job = Job::build("even", |job| job.add(even(source(from_iter(0..6))).collect(&out)));
/// job.run().unwrap();
/// assert_eq!(out.take(), [0, 2, 4]);
/// ```
pub trait Flow<T: 'static, K: Kind>: Chain<Out = T, Stamp = K::Stamp> {}
#[diagnostic::do_not_recommend]
impl<T: 'static, K: Kind, C: Chain<Out = T, Stamp = K::Stamp>> Flow<T, K> for C {}

/// The visitor of an end that is given to the job: whatever it hangs on has to be built already.
pub struct Whole;

impl Visit for Whole {
    fn head<T: 'static, S: Stamp, H: Push<T, S>>(self, cx: &mut BuildCx, _: H) {
        self.reject(cx);
    }
    fn rooted(self, _: &mut BuildCx) {}
}

impl Whole {
    /// The job cannot start: a branch and its trunk do not belong together.
    pub(crate) fn reject(self, cx: &mut BuildCx) {
        let error =
            Error::new(ErrorKind::Plan, "a branch of a stream was added to the job without its trunk");
        cx.fail(
            error.note("add `stream.tee(…)` or `forked.fork(…)`, which joins the branches of that stream"),
        );
    }
}
