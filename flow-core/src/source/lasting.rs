//! Sources of pipelines that take checkpoints.

use super::{Source, Src};
use crate::op::boxed::NoRoot;
use crate::op::kind::{AtLeastOnce, Durable, Replays};
use crate::op::{Chain, Kind, Stream, Visit};
use crate::stage::{BuildCx, Push};

/// See [`Stream::durable`] and [`Stream::at_least_once`].
#[derive(Clone)]
pub struct Lasting<C> {
    prev: C,
}

/// Directly behind `source(…)`: nothing that has state may stand before it.
impl<T: 'static, K: Kind, X: Source> Stream<T, K, Src<X>> {
    /// The same stream as the beginning of a checkpointed pipeline, of which each result counts **exactly once**: what `dataflow!` does under
    /// `#[checkpointed]`. All sources of a pipeline have to say it, and the job is told where its [`checkpoints`](crate::Job::checkpoints) go;
    /// without that it runs as any other, and keeps nothing.
    ///
    /// State of what follows has to be `serde::Serialize` and `serde::Deserialize`, the source has to be one that can be read again, and every
    /// end one that commits: [`collect`](Stream::collect), or a [`CommittingSink`](crate::sink::CommittingSink). The compiler says so where
    /// it is not.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let words = source(from_vec(vec!["a".to_owned(), "b".to_owned()])).durable();
    /// job.add(words.key_by(|w| w.clone()).count().collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// # assert_eq!(out.take().len(), 2);
    /// ```
    ///
    /// ```compile_fail
    /// # use flow_core::prelude::*;
    /// struct Unwritable;
    /// # impl Clone for Unwritable { fn clone(&self) -> Self { Unwritable } }
    /// let words = source(from_vec(vec![1, 2])).durable();
    /// let _ = words.key_by(|w| *w).fold(Unwritable, |_, _| ());
    /// ```
    pub fn durable(self) -> Stream<T, K::In<Durable>, Lasting<Src<X>>>
    where
        K: Replays,
    {
        Stream::of(Lasting { prev: self.chain })
    }

    /// The same stream as the beginning of a checkpointed pipeline that loses nothing, of which ends that do not commit may see a record
    /// again after a restart: what `dataflow!` does under `#[checkpointed(at_least_once)]`. See [`durable`](Stream::durable), from which it
    /// differs in that: it may end in anything, as in `for_each`.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let folder = tempfile::tempdir().unwrap();
    /// let job = Job::build("doc", |job| {
    ///     let words = source(from_vec(vec!["a".to_owned(), "b".to_owned()])).at_least_once();
    ///     job.add(words.key_by(|w| w.clone()).count().for_each(|(word, n)| println!("{word}: {n}")));
    /// });
    /// job.checkpoints(Checkpoints::to(folder.path())).run().unwrap();
    /// ```
    pub fn at_least_once(self) -> Stream<T, K::In<AtLeastOnce>, Lasting<Src<X>>>
    where
        K: Replays,
    {
        Stream::of(Lasting { prev: self.chain })
    }
}

impl<X: Source> Chain for Lasting<Src<X>> {
    type Out = X::Item;
    type Stamp = ();
    type Root = NoRoot;
    fn build<N: Push<X::Item, ()>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        cx.lasting();
        self.prev.build(cx, next, visit);
    }
}
