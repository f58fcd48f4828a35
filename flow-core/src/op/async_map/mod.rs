//! `async_map`: a request for each record, many under way at once.
//!
//! There is no executor here. A future is polled by the stage it stands in, on that stage's thread, when its waker has
//! rung; the waker wakes the thread as a ring does. Whatever needs a runtime, or computes for long, is spawned on the user's own, and its join handle
//! is the future. So nothing is built for those who do not use it, and nobody's runtime is forced on anybody.
//!
//! * `requests`: the requests under way, in their order between the marks, as a pure queue over boxed futures;
//! * here: the chain, and the `Push` it becomes.
//!
//! A mark (a watermark, the end) is a fence: it waits until all requests before it are answered. So no result crosses a watermark.
//! A checkpoint's barrier passes at once: the records of requests that have not gone on are written down, see `stage/held.rs`, and after a
//! restart they are requests again, answered before or not.

mod requests;
mod settings;

pub use settings::AsyncStream;

use super::kind::refuse_in_loop;
use super::operator::{OpError, operator_error};
use super::{Chain, Visit};
use crate::batch::Mark;
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::Counter;
use crate::stage::alarm::Alarm;
use crate::stage::held::{self, Held};
use crate::stage::own::{Own, refuse_at_a_cut};
use crate::stage::push::forward_tail;
use crate::stage::{BuildCx, Faults, Meta, OpenCx, Push, Stamp, Tail};
use crate::state::{Keep, Mode};
use crate::time::Timestamp;
use requests::{Answer, Request, Requests};
use settings::Settings;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

/// A request under way.
type Pending<U> = Pin<Box<dyn Future<Output = Result<U, OpError>> + Send>>;

/// What asks: makes a future of a record.
pub trait Ask<T>: Clone + Send + 'static {
    /// What an answer is.
    type Out: Send + 'static;
    /// Begins a request.
    fn ask(&self, record: T) -> Pending<Self::Out>;
}

/// `async_map`: every answer is one.
#[derive(Clone)]
pub struct Plain<F>(F);

impl<T, R, F> Ask<T> for Plain<F>
where
    R: Future<Output: Send + 'static> + Send + 'static,
    F: Fn(T) -> R + Clone + Send + 'static,
{
    type Out = R::Output;
    fn ask(&self, record: T) -> Pending<R::Output> {
        let request = (self.0)(record);
        Box::pin(async move { Ok(request.await) })
    }
}

/// `try_async_map`: an answer may be an error.
#[derive(Clone)]
pub struct Fallible<F>(F);

impl<T, R, U, E, F> Ask<T> for Fallible<F>
where
    U: Send + 'static,
    E: Into<OpError>,
    R: Future<Output = Result<U, E>> + Send + 'static,
    F: Fn(T) -> R + Clone + Send + 'static,
{
    type Out = U;
    fn ask(&self, record: T) -> Pending<U> {
        let request = (self.0)(record);
        Box::pin(async move { request.await.map_err(Into::into) })
    }
}

/// A chain with requests behind it; `D` says what stands in for one that is never answered.
pub struct AsyncMap<C, A, D, M> {
    prev: C,
    ask: A,
    instead: D,
    settings: Settings,
    meta: Meta,
    mode: PhantomData<fn() -> M>,
}

impl<C: Clone, A: Clone, D: Clone, M> Clone for AsyncMap<C, A, D, M> {
    fn clone(&self) -> Self {
        let (prev, ask, instead) = (self.prev.clone(), self.ask.clone(), self.instead.clone());
        AsyncMap { prev, ask, instead, settings: self.settings, meta: self.meta, mode: PhantomData }
    }
}

/// What is emitted when a request is not answered in time.
pub trait Instead<T, U>: Clone + Send + 'static {
    /// Nothing: the job ends.
    const FAILS: bool;
    /// What is emitted.
    fn instead(&self, record: T) -> Option<U>;
}

/// The job ends.
#[derive(Clone)]
pub struct Fails;

impl<T, U> Instead<T, U> for Fails {
    const FAILS: bool = true;
    fn instead(&self, _: T) -> Option<U> {
        None
    }
}

/// This is emitted.
#[derive(Clone)]
pub struct Value<G>(G);

impl<T, U, G: Fn(T) -> U + Clone + Send + 'static> Instead<T, U> for Value<G> {
    const FAILS: bool = false;
    fn instead(&self, record: T) -> Option<U> {
        Some((self.0)(record))
    }
}

impl<C, A, D, M> Chain for AsyncMap<C, A, D, M>
where
    C: Chain<Out: Clone + Send + Keep<M>>,
    A: Ask<C::Out>,
    D: Instead<C::Out, A::Out>,
    M: Mode,
{
    type Out = A::Out;
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: Push<A::Out, C::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let AsyncMap { prev, ask, instead, settings, meta, .. } = self;
        let meta = cx.op(&meta, &settings.note());
        refuse_in_loop(settings.looped, cx, &meta);
        if let Some(what) = settings.mistake() {
            cx.fail(Error::new(ErrorKind::Plan, what).in_stage(meta.id()).at(meta.at()));
        }
        let push = AsyncPush {
            next,
            ask,
            instead,
            requests: Requests::new(&settings),
            alarm: Alarm::default(),
            faults: Faults::default(),
            failed: false,
            timeouts: Counter::default(),
            retries: Counter::default(),
            meta,
            passed: Timestamp::MIN,
            own: Own::new(meta),
            types: String::new(),
            mode: PhantomData::<fn() -> M>,
        };
        prev.build(cx, push, visit);
    }
}

/// Asks, and passes on the answers.
struct AsyncPush<T, S, N, A: Ask<T>, D, M> {
    next: N,
    ask: A,
    instead: D,
    requests: Requests<T, S, A::Out>,
    alarm: Alarm,
    faults: Faults,
    failed: bool,
    timeouts: Counter,
    retries: Counter,
    meta: Meta,
    /// The last watermark that has gone on.
    passed: Timestamp,
    own: Own,
    /// What records look like when they are written down.
    types: String,
    mode: PhantomData<fn() -> M>,
}

impl<T, S, N, A, D, M> AsyncPush<T, S, N, A, D, M>
where
    T: Clone + Send + Keep<M>,
    S: Stamp,
    A: Ask<T>,
    D: Instead<T, A::Out>,
    N: Push<A::Out, S>,
{
    /// Begins what may begin, asks those that have news, gives up on those whose time is over, and passes on what is answered.
    fn drive(&mut self) {
        if self.failed || self.next.enough() {
            self.requests.forget();
        }
        let mut passed = false;
        // Who goes on makes place for others.
        while self.round() {
            passed = true;
        }
        if passed && !self.failed {
            // Whoever waits for room or for records does not look at what was sent meanwhile.
            self.next.flush();
        }
    }

    /// Whether anything was passed on.
    fn round(&mut self) -> bool {
        let ask = &self.ask;
        self.requests.poll(self.alarm.now(), |record| ask.ask(record));
        while let Some(request) = self.requests.next_overdue() {
            self.overdue(request);
        }
        let mut passed = false;
        while self.next.room() {
            match self.requests.pop() {
                Some(Answer::Record(Ok(out), stamp)) => self.next.push(out, stamp),
                Some(Answer::Record(Err(error), _)) => {
                    self.fail(operator_error(&self.meta, &error));
                    return false;
                }
                Some(Answer::Mark(mark)) => self.pass(mark),
                None => break,
            }
            passed = true;
        }
        passed
    }

    /// A request had no answer in time, or an error for one, and may be repeated or not.
    #[cold]
    fn overdue(&mut self, request: Request<T>) {
        self.timeouts.add(u64::from(request.timed_out));
        if request.tries_left > 0 {
            self.retries.add(1);
            let ask = &self.ask;
            return self.requests.again(request, self.alarm.now(), |record| ask.ask(record));
        }
        if D::FAILS {
            let text = format!("a request was not answered within {}", self.requests.timeout());
            let error = Error::new(ErrorKind::Operator, text).in_stage(self.meta.id()).at(self.meta.at());
            return self.fail(error.note("say what stands in for an answer: `instead = |record| …`"));
        }
        if let Some(out) = self.instead.instead(request.record) {
            self.requests.answer(request.number, out);
        }
    }

    fn pass(&mut self, mark: Mark) {
        if let Mark::Watermark(w) = mark {
            self.passed = w;
        }
        self.next.mark(mark);
    }

    /// Writes down the records that have not gone on.
    #[cold]
    fn save(&self, id: u64) {
        match held::write::<M, T, S>(self.passed, &self.types, self.requests.kept()) {
            Ok(bytes) => self.own.put(id, bytes),
            Err(error) => self.faults.raise(self.own.named(error)),
        }
    }

    /// Takes them back as records that have just come. Watermarks mean something to the records of their own instance only.
    fn take_back(&mut self, cx: &OpenCx) -> Result<()> {
        self.types = self.own.keeps::<T, M>(cx)?;
        let (own, types) = (self.own.is_as_before(cx), &self.types);
        let (requests, passed) = (&mut self.requests, &mut self.passed);
        self.own.open_with(cx, &mut |bytes| {
            let before = held::read::<M, T, S>(bytes, types, |kept| match kept {
                Held::Record(record, stamp) => requests.push(record, stamp),
                Held::Watermark(w) if own => requests.mark(Mark::Watermark(w)),
                Held::Watermark(_) => {}
            })?;
            if own {
                *passed = before;
            }
            Ok(())
        })
    }

    fn fail(&mut self, error: Error) {
        self.failed = true;
        self.faults.raise(error);
        // The next step tells.
        self.alarm.set(self.alarm.now());
    }
}

impl<T, S, N, A, D, M> Push<T, S> for AsyncPush<T, S, N, A, D, M>
where
    M: Mode,
    T: Clone + Send + Keep<M>,
    S: Stamp,
    A: Ask<T>,
    D: Instead<T, A::Out>,
    N: Push<A::Out, S>,
{
    fn push(&mut self, item: T, stamp: S) {
        self.requests.push(item, stamp);
    }
}

impl<T, S, N, A, D, M> Tail for AsyncPush<T, S, N, A, D, M>
where
    M: Mode,
    T: Clone + Send + Keep<M>,
    S: Stamp,
    A: Ask<T>,
    D: Instead<T, A::Out>,
    N: Push<A::Out, S>,
{
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        refuse_at_a_cut(&self.meta, cx, "requests under way")?;
        self.alarm = cx.alarm().clone();
        self.faults = cx.faults().clone();
        self.timeouts = cx.metrics().counter(&format!("{}.timeouts", self.meta.id()));
        self.retries = cx.metrics().counter(&format!("{}.retries", self.meta.id()));
        self.requests.open(cx.signal());
        self.take_back(cx)?;
        self.next.open(cx)?;
        if self.passed > Timestamp::MIN {
            self.next.mark(Mark::Watermark(self.passed));
        }
        Ok(())
    }
    fn mark(&mut self, mark: Mark) {
        if let Some(id) = self.own.at(mark) {
            self.save(id);
        }
        if self.requests.is_empty() || matches!(mark, Mark::Barrier(_)) {
            self.pass(mark);
        } else {
            self.requests.mark(mark);
        }
    }
    fn room(&mut self) -> bool {
        if !self.alarm.is_stepping() {
            // It is only asked, before a thread sleeps: requests begin, and have had their time, by the time of a step.
            let may_go = self.requests.has_room() || self.requests.has_answer();
            return self.requests.has_news() || may_go && self.next.room();
        }
        self.drive();
        if let Some(at) = self.requests.deadline() {
            self.alarm.set(at);
        }
        self.requests.has_room() && self.next.room()
    }
    fn deadline(&self) -> Option<i64> {
        [self.requests.deadline(), self.next.deadline()].into_iter().flatten().min()
    }
    forward_tail!(next: grid flush enough tick);
}
