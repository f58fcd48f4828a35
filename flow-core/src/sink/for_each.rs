//! `for_each`, `try_for_each`, and the end of a side that nobody wants.

use crate::batch::Mark;
use crate::error::Result;
use crate::metrics::Counter;
use crate::op::kind::Repeats;
use crate::op::operator::{OpError, operator_error};
use crate::op::{Chain, Kind, Stream, Terminal, Visit};
use crate::stage::{BuildCx, Faults, Meta, OpenCx, Push, Stamp, Tail};
use crate::time::Grid;

/// See [`Stream::for_each`].
#[derive(Clone)]
pub struct ForEach<C, F> {
    prev: C,
    f: F,
    meta: Meta,
}

/// See [`Stream::try_for_each`].
#[derive(Clone)]
pub struct TryForEach<C, F> {
    prev: C,
    f: F,
    meta: Meta,
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// Ends the stream: gives each record to `f`. Each parallel instance works with a clone of it. What it captures does not stand in
    /// checkpoints, and after a restart `f` may see a record again: a [`durable`](Stream::durable) pipeline refuses it.
    #[track_caller]
    pub fn for_each<F: FnMut(T) + Clone + Send + 'static>(self, f: F) -> ForEach<C, F>
    where
        K: Repeats,
    {
        ForEach { prev: self.chain, f, meta: Meta::new("for_each") }
    }

    /// Ends the stream: gives each record to `f`, which may fail.
    ///
    /// # Errors
    /// The job ends with the closure's error, which names this operator.
    #[track_caller]
    pub fn try_for_each<E: Into<OpError>, F>(self, f: F) -> TryForEach<C, F>
    where
        F: FnMut(T) -> Result<(), E> + Clone + Send + 'static,
        K: Repeats,
    {
        TryForEach { prev: self.chain, f, meta: Meta::new("try_for_each") }
    }
}

impl<C: Chain, F: FnMut(C::Out) + Clone + Send + 'static> Terminal for ForEach<C, F> {
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V) {
        let ForEach { prev, f, meta } = self;
        cx.op(&meta, "");
        prev.build(cx, ForEachPush { f, taken: 0, out: Counter::default() }, visit);
    }
}

impl<C, E, F> Terminal for TryForEach<C, F>
where
    C: Chain,
    E: Into<OpError>,
    F: FnMut(C::Out) -> Result<(), E> + Clone + Send + 'static,
{
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V) {
        let meta = cx.op(&self.meta, "");
        let push = TryForEachPush {
            f: self.f,
            meta,
            failed: false,
            faults: Faults::default(),
            out: Counter::default(),
        };
        self.prev.build(cx, push, visit);
    }
}

/// The methods of [`Tail`] for the end of a stage that is always ready.
macro_rules! last_tail {
    () => {
        fn grid(&self) -> Grid {
            Grid::none()
        }
        fn room(&mut self) -> bool {
            true
        }
        fn enough(&self) -> bool {
            false
        }
    };
}
pub(super) use last_tail;

struct ForEachPush<F> {
    f: F,
    /// Counted here, and told to the counter once a batch.
    taken: u64,
    out: Counter,
}

impl<T: 'static, S: Stamp, F: FnMut(T) + Send + 'static> Push<T, S> for ForEachPush<F> {
    #[inline(always)]
    fn push(&mut self, item: T, _: S) {
        self.taken += 1;
        (self.f)(item);
    }
}

impl<F: Send + 'static> Tail for ForEachPush<F> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.out = cx.metrics().records_out.clone();
        Ok(())
    }
    fn mark(&mut self, _: Mark) {
        self.flush();
    }
    fn flush(&mut self) {
        self.out.add(std::mem::take(&mut self.taken));
    }
    last_tail!();
}

struct TryForEachPush<F> {
    f: F,
    meta: Meta,
    failed: bool,
    faults: Faults,
    out: Counter,
}

impl<T, S, E, F> Push<T, S> for TryForEachPush<F>
where
    T: 'static,
    S: Stamp,
    E: Into<OpError>,
    F: FnMut(T) -> Result<(), E> + Send + 'static,
{
    #[inline(always)]
    fn push(&mut self, item: T, _: S) {
        if self.failed {
            return;
        }
        self.out.add(1);
        if let Err(error) = (self.f)(item) {
            self.failed = true;
            self.faults.raise(operator_error(&self.meta, &error.into()));
        }
    }
}

impl<F: Send + 'static> Tail for TryForEachPush<F> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.faults = cx.faults().clone();
        self.out = cx.metrics().records_out.clone();
        Ok(())
    }
    fn mark(&mut self, _: Mark) {}
    fn flush(&mut self) {}
    last_tail!();
}

/// The end of a side that nobody wants.
#[derive(Clone)]
pub struct Ignore<C>(C);

/// Ends a stream without looking at it: `let (results, _late) = …`.
pub fn ignore<T: 'static, K: Kind, C: Clone>(stream: &Stream<T, K, C>) -> Ignore<C> {
    Ignore(stream.clone().chain)
}

impl<C: Chain> Terminal for Ignore<C> {
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V) {
        self.0.build(cx, Nothing, visit);
    }
}

struct Nothing;

impl<T: 'static, S: Stamp> Push<T, S> for Nothing {
    #[inline(always)]
    fn push(&mut self, _: T, _: S) {}
}

impl Tail for Nothing {
    fn open(&mut self, _: &mut OpenCx) -> Result<()> {
        Ok(())
    }
    fn mark(&mut self, _: Mark) {}
    fn flush(&mut self) {}
    last_tail!();
}
