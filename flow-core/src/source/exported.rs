//! Sources of exported batches.

use super::{Source, Src};
use crate::op::boxed::NoRoot;
use crate::op::kind::{EndsAsHistory, Exported};
use crate::op::{Chain, Kind, Stream, Visit};
use crate::stage::{BuildCx, Push};

/// See [`Stream::exported`].
#[derive(Clone)]
pub struct Exporting<C> {
    prev: C,
}

/// Directly behind `source(…)`: nothing that has state may stand before it.
impl<T: 'static, K: Kind, X: Source> Stream<T, K, Src<X>> {
    /// The same stream as the **history** of one that goes on: what `dataflow!` does under `#[batch(exported)]`. All sources of a pipeline have to say it, and the
    /// job is told where its savepoint goes, [`Job::savepoint_to`](crate::Job::savepoint_to); another job starts from it, with
    /// [`Checkpoints::begin_from`](crate::checkpoint::Checkpoints::begin_from).
    ///
    /// The end of the input is a cut, not the end of time: what a stream would give up to there the batch gives, and nothing more. Windows that are open, timers
    /// that are not due and what operators keep of keys stand in the savepoint. So the rows of the batch and those of the job that starts from it are together those
    /// of one run over both. State has to be `serde::Serialize` and `serde::Deserialize`; sources, sinks and operators that need all their input may be any.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let (savepoint, checkpoints) = (folder.path().join("savepoint"), folder.path().join("checkpoints"));
    /// let (before, after) = (Collected::new(), Collected::new());
    /// let history = Job::build("history", |job| {
    ///     let words = source(from_vec(vec!["a", "b", "a"])).exported().map(str::to_owned);
    ///     job.add(words.key_by(|w| w.clone()).count().named("counts").collect(&before));
    /// });
    /// history.savepoint_to(&savepoint).run().unwrap();
    ///
    /// let live = Job::build("live", |job| {
    ///     let words = source(from_vec(vec!["a", "c"])).durable().map(str::to_owned);
    ///     job.add(words.key_by(|w| w.clone()).count().named("counts").collect(&after));
    /// });
    /// live.checkpoints(Checkpoints::to(checkpoints).begin_from(savepoint)).run().unwrap();
    /// assert_eq!(after.take(), [("a".to_owned(), 3), ("c".to_owned(), 1)]);
    /// ```
    pub fn exported(self) -> Stream<T, K::In<Exported>, Exporting<Src<X>>>
    where
        K: EndsAsHistory,
    {
        Stream::of(Exporting { prev: self.chain })
    }
}

impl<X: Source> Chain for Exporting<Src<X>> {
    type Out = X::Item;
    type Stamp = ();
    type Root = NoRoot;
    fn build<N: Push<X::Item, ()>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        cx.exported();
        self.prev.build(cx, next, visit);
    }
}
