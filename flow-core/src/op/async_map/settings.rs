//! What is said of requests: how many at once, how long each, how often again, in which order.

use super::{AsyncMap, Fails, Fallible, Plain, Value};
use crate::op::kind::Bounds;
use crate::op::operator::OpError;
use crate::op::proved::{Holds, Impossible, Never};
use crate::op::{Kind, Proved, Stream};
use crate::stage::Meta;
use crate::state::Keep;
use crate::time::{IntoMillis, Millis};
use std::future::Future;
use std::marker::PhantomData;

/// Requests under way at once, unless the pipeline says otherwise: Flink's default.
const CAPACITY: usize = 100;
/// The most it may say.
const CAPACITY_MAX: usize = 1 << 16;

/// See the module.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    pub timeout: Millis,
    pub capacity: usize,
    pub retries: u32,
    pub ordered: bool,
    /// It is in the body of a loop.
    pub looped: bool,
}

impl Settings {
    /// What cannot be.
    pub fn mistake(&self) -> Option<String> {
        if self.timeout.0 <= 0 {
            return Some(format!("a timeout of {}: it has to be longer than zero", self.timeout));
        }
        let fits = (1..=CAPACITY_MAX).contains(&self.capacity);
        (!fits).then(|| {
            format!("a capacity of {}: it has to be at least 1 and at most {CAPACITY_MAX}", self.capacity)
        })
    }

    /// For `explain`.
    pub fn note(&self) -> String {
        let order = if self.ordered { "in order" } else { "as they come between two watermarks" };
        format!("up to {} requests at once, answers {order}", self.capacity)
    }
}

/// Requests that are made again.
pub enum Again {}

/// Records `T` that can be asked for again; as a `claim!`. It is no claim about `T`, for rustc would say that a reference to `T`
/// could be.
#[diagnostic::on_unimplemented(
    message = "records of type `{T}` cannot be asked for again: they are not `Clone + Send`",
    label = "a request that is not answered in time is repeated with a clone of its `{T}`",
    note = "derive `Clone` for `{T}`, or put it into an `Arc`"
)]
pub trait Asks<P, T> {}
#[diagnostic::do_not_recommend]
impl<T: Clone + Send> Asks<Holds, T> for Again {}
#[diagnostic::do_not_recommend]
impl<T: Impossible> Asks<Never, T> for Again {}

/// What the closure of `async_map` returns: a future. `P` is found only where it is one: see [`crate::op::proved`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a future: `async_map` makes a request of each record",
    label = "this closure returns `{Self}`",
    note = "write `|record| async move {{ … }}`, or use `map`"
)]
pub trait RequestOf<P> {
    /// What it gives.
    type Answer;
}
#[diagnostic::do_not_recommend]
impl<R: Future> RequestOf<Holds> for R {
    type Answer = R::Output;
}
#[diagnostic::do_not_recommend]
impl<R: Impossible> RequestOf<Never> for R {
    type Answer = ();
}

/// What the closure of `try_async_map` returns: a future of a `Result`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a future of a `Result`: `try_async_map` makes a request of each record that may fail",
    label = "this closure returns `{Self}`",
    note = "write `|record| async move {{ … Ok(answer) }}` with an error that is `Into<Box<dyn Error + Send + Sync>>`, or use `async_map`"
)]
pub trait TryRequestOf<P> {
    /// What it gives, unless it fails.
    type Answer;
}
#[diagnostic::do_not_recommend]
impl<U, E: Into<OpError>, R: Future<Output = Result<U, E>>> TryRequestOf<Holds> for R {
    type Answer = U;
}
#[diagnostic::do_not_recommend]
impl<R: Impossible> TryRequestOf<Never> for R {
    type Answer = ();
}

/// The stream behind `async_map`; its settings follow.
pub type AsyncStream<U, K, C, A, P, Q> =
    Stream<U, K, Proved<P, Proved<Q, AsyncMap<C, A, Fails, <K as Kind>::Mode>>>>;

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// Makes a request for each record, many at once, and passes on the answers in the order of the records (or, with
    /// [`unordered`](Stream::unordered), as they come, but never across a watermark). A record that has to wait pushes back.
    ///
    /// `f` returns a future. It is polled on the thread of its stage, so it must not block or compute for long. What needs a runtime is
    /// spawned there: `move |id| { let client = client.clone(); runtime.spawn(async move { client.get(id).await }) }`.
    ///
    /// A request that is not answered within `timeout` is repeated ([`retries`](Stream::retries)) or ends the job, unless
    /// [`instead`](Stream::instead) says what stands in for the answer. It is counted in `timeouts` each time, and in `retries` where it is
    /// repeated.
    ///
    /// A checkpoint does not wait for requests: the records of those whose answers have not gone on stand in it. So a request may be
    /// made again after a restart, also one that was answered: let it do no harm twice.
    ///
    /// In `dataflow!`: `.async_map(|id| fetch(id), timeout = 5s, capacity = 50, retries = 2, unordered = true)`.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// async fn price(id: u64) -> u64 { id * 10 }
    ///
    /// let ids = source(from_iter(1..4u64));
    /// job.add(ids.async_map(|id| async move { (id, price(id).await) }, Millis(5_000)).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [(1, 10), (2, 20), (3, 30)]);
    /// ```
    #[track_caller]
    pub fn async_map<R, F, P, Q>(
        self,
        f: F,
        timeout: impl IntoMillis,
    ) -> AsyncStream<R::Answer, K, C, Plain<F>, P, Q>
    where
        T: Keep<K::Mode>,
        Again: Asks<P, T>,
        R: RequestOf<Q, Answer: Send> + Send + 'static,
        F: Fn(T) -> R + Clone + Send + 'static,
    {
        Stream::of(AsyncMap::new(
            "async_map",
            self.chain,
            Plain(f),
            timeout.into_millis(),
            <K::Bounds as Bounds>::IS_LOOPED,
        ))
    }

    /// [`async_map`](Stream::async_map) with futures that may fail: an `Err` is asked again as often as a timeout, and then ends the job.
    #[track_caller]
    pub fn try_async_map<R, F, P, Q>(
        self,
        f: F,
        timeout: impl IntoMillis,
    ) -> AsyncStream<R::Answer, K, C, Fallible<F>, P, Q>
    where
        T: Keep<K::Mode>,
        Again: Asks<P, T>,
        R: TryRequestOf<Q, Answer: Send> + Send + 'static,
        F: Fn(T) -> R + Clone + Send + 'static,
    {
        Stream::of(AsyncMap::new(
            "try_async_map",
            self.chain,
            Fallible(f),
            timeout.into_millis(),
            <K::Bounds as Bounds>::IS_LOOPED,
        ))
    }
}

impl<C, A, M> AsyncMap<C, A, Fails, M> {
    #[track_caller]
    fn new(op: &'static str, prev: C, ask: A, timeout: Millis, looped: bool) -> Self {
        let settings = Settings { timeout, capacity: CAPACITY, retries: 0, ordered: true, looped };
        AsyncMap { prev, ask, instead: Fails, settings, meta: Meta::new(op), mode: PhantomData }
    }
}

impl<U, K, C, A, D, M> Stream<U, K, AsyncMap<C, A, D, M>> {
    /// How many requests of an instance are under way at once, those counted that are answered and wait for one before them; 100 unless
    /// said.
    pub fn capacity(mut self, requests: usize) -> Self {
        self.chain.settings.capacity = requests;
        self
    }

    /// How often a request is repeated that was not answered in time, or with an error; not at all unless said.
    pub fn retries(mut self, times: u32) -> Self {
        self.chain.settings.retries = times;
        self
    }

    /// Answers go on as they come. None crosses a watermark: between two of them the order is free.
    pub fn unordered(mut self) -> Self {
        self.chain.settings.ordered = false;
        self
    }
}

impl<U, K, C, A, M> Stream<U, K, AsyncMap<C, A, Fails, M>> {
    /// What goes on in place of an answer that has not come in time; without it the job ends.
    pub fn instead<T, G>(self, instead: G) -> Stream<U, K, AsyncMap<C, A, Value<G>, M>>
    where
        C: crate::op::Chain<Out = T>,
        G: Fn(T) -> U + Clone + Send + 'static,
    {
        let AsyncMap { prev, ask, settings, meta, .. } = self.chain;
        Stream::of(AsyncMap { prev, ask, instead: Value(instead), settings, meta, mode: PhantomData })
    }
}
