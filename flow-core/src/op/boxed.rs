//! Where a chain's type ends: `boxed` erases what came before, at the price of a virtual call a batch.
//!
//! A chain of more than about 115 operators would pass the compiler's recursion limit, and every operator makes the
//! type that is checked longer. `dataflow!` puts a box after every 24 fused operators; by hand it serves pipelines
//! that are put together at run time, whose streams need one type.

use super::{Chain, Flow, Kind, Stream, Terminal, Visit};
use crate::batch::Mark;
use crate::error::Result;
use crate::stage::push::forward_tail;
use crate::stage::{BuildCx, OpenCx, Push, Stamp, Tail};
use crate::time::Grid;
use std::any::Any;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

/// Records handed over at once.
const HANDOVER: usize = 256;

/// Where a chain begins, as a type: what its visitor is told.
pub trait RootKind: Send + 'static {
    /// Tells `visit`; `head` is what `Catch` kept.
    fn tell<V: Visit>(head: Option<Box<dyn Any>>, cx: &mut BuildCx, visit: V);
}

/// It begins at a source or an edge.
pub struct NoRoot;
impl RootKind for NoRoot {
    fn tell<V: Visit>(_: Option<Box<dyn Any>>, cx: &mut BuildCx, visit: V) {
        visit.rooted(cx);
    }
}

/// It is a branch of a stream with this record and stamp.
pub struct OpenRoot<T, S>(PhantomData<fn() -> (T, S)>);
impl<T: Send + 'static, S: Stamp> RootKind for OpenRoot<T, S> {
    fn tell<V: Visit>(head: Option<Box<dyn Any>>, cx: &mut BuildCx, visit: V) {
        match head.and_then(|head| head.downcast::<Handover<T, S>>().ok()) {
            Some(head) => visit.head::<T, S, _>(cx, *head),
            None => super::chain::Whole.reject(cx),
        }
    }
}

/// What lies behind a box.
type BoxedNext<T, S> = Box<dyn PushMany<T, S>>;
type Build<T, S> = dyn Fn(&mut BuildCx, BoxedNext<T, S>) -> Option<Box<dyn Any>> + Send + Sync;

/// A chain whose type is forgotten.
pub struct Boxed<T, S, R> {
    build: Arc<Build<T, S>>,
    root: PhantomData<fn() -> R>,
}

impl<T, S, R> Clone for Boxed<T, S, R> {
    fn clone(&self) -> Self {
        Boxed { build: Arc::clone(&self.build), root: PhantomData }
    }
}

impl<T: Send + 'static, S: Stamp, R: RootKind> Chain for Boxed<T, S, R> {
    type Out = T;
    type Stamp = S;
    type Root = R;
    fn build<N: Push<T, S>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let head = (self.build)(cx, Box::new(Unpack(next)));
        R::tell(head, cx, visit);
    }
}

/// Builds a clone of what is boxed; a closure has to be `Fn`, and a chain is consumed by its build.
struct Original<C>(Mutex<C>);

impl<C: Clone> Original<C> {
    fn new(it: C) -> Self {
        Original(Mutex::new(it))
    }
    fn copy(&self) -> C {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<T: Send + 'static, K: Kind, C: Flow<T, K>> Stream<T, K, C> {
    /// The same stream with a short type.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let mut numbers = source(from_iter(0..3)).boxed();
    /// for _ in 0..200 {
    ///     numbers = numbers.map(|n| n + 1).boxed();
    /// }
    /// job.add(numbers.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [200, 201, 202]);
    /// ```
    pub fn boxed(self) -> Stream<T, K, Boxed<T, K::Stamp, C::Root>> {
        let chain = Original::new(self.chain);
        let build = move |cx: &mut BuildCx, next: BoxedNext<T, K::Stamp>| {
            let mut caught = None;
            chain.copy().build(cx, Handover::new(next), Catch(&mut caught));
            caught
        };
        Stream::of(Boxed { build: Arc::new(build), root: PhantomData })
    }
}

/// An end whose type is forgotten.
pub struct BoxedEnd<R> {
    build: Arc<dyn Fn(&mut BuildCx) -> Option<Box<dyn Any>> + Send + Sync>,
    root: PhantomData<fn() -> R>,
}

impl<R> Clone for BoxedEnd<R> {
    fn clone(&self) -> Self {
        BoxedEnd { build: Arc::clone(&self.build), root: PhantomData }
    }
}

impl<R: RootKind> BoxedEnd<R> {
    /// Forgets the type of `end`, which begins at `R`.
    pub fn new<E: Terminal>(end: E) -> Self {
        let end = Original::new(end);
        let build = move |cx: &mut BuildCx| {
            let mut caught = None;
            end.copy().build_end(cx, Catch(&mut caught));
            caught
        };
        BoxedEnd { build: Arc::new(build), root: PhantomData }
    }
}

impl<R: RootKind> Terminal for BoxedEnd<R> {
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V) {
        let head = (self.build)(cx);
        R::tell(head, cx, visit);
    }
}

/// Keeps the head of a branch, its type reduced to record and stamp.
struct Catch<'a>(&'a mut Option<Box<dyn Any>>);

impl Visit for Catch<'_> {
    fn head<T: 'static, S: Stamp, H: Push<T, S>>(self, _: &mut BuildCx, head: H) {
        *self.0 = Some(Box::new(Handover::<T, S>::new(Box::new(Unpack(head)))));
    }
    fn rooted(self, _: &mut BuildCx) {}
}

/// What takes many records at once.
trait PushMany<T, S>: Tail {
    fn push_many(&mut self, items: &mut Vec<(T, S)>);
}

/// The receiving side of a box.
struct Unpack<N>(N);

impl<T: 'static, S: Stamp, N: Push<T, S>> PushMany<T, S> for Unpack<N> {
    fn push_many(&mut self, items: &mut Vec<(T, S)>) {
        for (item, stamp) in items.drain(..) {
            self.0.push(item, stamp);
        }
    }
}

impl<N: Tail> Tail for Unpack<N> {
    forward_tail!(0);
}

/// The sending side of a box.
struct Handover<T, S> {
    items: Vec<(T, S)>,
    next: BoxedNext<T, S>,
}

impl<T: 'static, S: Stamp> Handover<T, S> {
    fn new(next: BoxedNext<T, S>) -> Self {
        Handover { items: Vec::with_capacity(HANDOVER), next }
    }

    #[inline(never)]
    fn hand_over(&mut self) {
        self.next.push_many(&mut self.items);
    }
}

impl<T: Send + 'static, S: Stamp> Push<T, S> for Handover<T, S> {
    #[inline(always)]
    fn push(&mut self, item: T, stamp: S) {
        self.items.push((item, stamp));
        if self.items.len() >= HANDOVER {
            self.hand_over();
        }
    }
}

impl<T: Send + 'static, S: Stamp> Tail for Handover<T, S> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.next.open(cx)
    }
    fn mark(&mut self, mark: Mark) {
        self.hand_over();
        self.next.mark(mark);
    }
    fn grid(&self) -> Grid {
        self.next.grid()
    }
    fn room(&mut self) -> bool {
        self.next.room()
    }
    fn flush(&mut self) {
        self.hand_over();
        self.next.flush();
    }
    fn enough(&self) -> bool {
        self.next.enough()
    }
    fn deadline(&self) -> Option<i64> {
        self.next.deadline()
    }
    fn tick(&mut self, now: i64) {
        self.hand_over();
        self.next.tick(now);
    }
}
