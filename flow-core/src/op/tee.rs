//! A stream used more than once: its consumers hang on a typed root and stay fused with it.
//!
//! `stream.root()` is what a consumer begins with; `stream.tee(|o| o.both(a, b))` is the end that joins them.

use super::boxed::OpenRoot;
use super::proved::{Holds, Impossible, Never};
use super::{Chain, KeyedStream, Kind, Proved, Stream, Terminal, Visit};
use crate::batch::Mark;
use crate::error::Result;
use crate::stage::{BuildCx, Draft, OpenCx, Push, Stamp, Tail};
use crate::time::Grid;
use std::any::Any;
use std::marker::PhantomData;

/// Where a branch begins.
pub struct Root<T, S>(PhantomData<fn() -> (T, S)>);

impl<T, S> Clone for Root<T, S> {
    fn clone(&self) -> Self {
        Root(PhantomData)
    }
}

impl<T, S> Root<T, S> {
    pub(crate) fn new() -> Self {
        Root(PhantomData)
    }
}

impl<T: Send + 'static, S: Stamp> Chain for Root<T, S> {
    type Out = T;
    type Stamp = S;
    type Root = OpenRoot<T, S>;
    fn build<N: Push<T, S>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        visit.head::<T, S, N>(cx, next);
    }
}

/// The same type under two names, proved where the pipeline is built: the record of a trunk and that of its branches.
pub(crate) struct Cast<H, T, S> {
    head: H,
    types: PhantomData<fn() -> (T, S)>,
}

impl<H, T, S> Cast<H, T, S> {
    pub(crate) fn new(head: H) -> Self {
        Cast { head, types: PhantomData }
    }
}

/// `a` as the type it is. Safe code that leaves nothing behind when optimized: both checks are constants.
#[inline(always)]
fn same<A: 'static, B: 'static>(a: A) -> Option<B> {
    let mut slot = Some(a);
    (&mut slot as &mut dyn Any).downcast_mut::<Option<B>>().and_then(Option::take)
}

impl<T: 'static, S: Stamp, T2: 'static, S2: Stamp, H: Push<T, S>> Push<T2, S2> for Cast<H, T, S> {
    #[inline(always)]
    fn push(&mut self, item: T2, stamp: S2) {
        if let (Some(item), Some(stamp)) = (same::<T2, T>(item), same::<S2, S>(stamp)) {
            self.head.push(item, stamp);
        } else {
            wrong_branch();
        }
    }
}

#[cold]
fn wrong_branch() -> ! {
    panic!(
        "a branch hangs on the root of another stream: give each branch to the `tee` or `fork` of its own stream"
    )
}

impl<T: 'static, S: Stamp, H: Push<T, S>> Tail for Cast<H, T, S> {
    crate::stage::push::forward_tail!(head);
}

/// The methods of [`Tail`] for something with two tails.
macro_rules! both_tails {
    ($a:ident, $b:ident) => {
        $crate::op::tee::both_tails!($a, $b; enough);
        fn enough(&self) -> bool {
            self.$a.enough() && self.$b.enough()
        }
    };
    // But for `enough`.
    ($a:ident, $b:ident; enough) => {
        fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
            self.$a.open(cx)?;
            self.$b.open(cx)
        }
        fn mark(&mut self, mark: Mark) {
            self.$a.mark(mark);
            self.$b.mark(mark);
        }
        fn grid(&self) -> Grid {
            self.$a.grid().and(&self.$b.grid())
        }
        fn room(&mut self) -> bool {
            self.$a.room() & self.$b.room()
        }
        fn flush(&mut self) {
            self.$a.flush();
            self.$b.flush();
        }
        fn deadline(&self) -> Option<i64> {
            [self.$a.deadline(), self.$b.deadline()].into_iter().flatten().min()
        }
        fn tick(&mut self, now: i64) {
            self.$a.tick(now);
            self.$b.tick(now);
        }
    };
}
pub(crate) use both_tails;

/// Two consumers of every record.
struct TeePush<A, B> {
    a: A,
    b: B,
}

impl<T: Clone + 'static, S: Stamp, A: Push<T, S>, B: Push<T, S>> Push<T, S> for TeePush<A, B> {
    #[inline(always)]
    fn push(&mut self, item: T, stamp: S) {
        self.a.push(item.clone(), stamp);
        self.b.push(item, stamp);
    }
}

impl<A: Tail, B: Tail> Tail for TeePush<A, B> {
    both_tails!(a, b);
}

/// The uses of a stream.
pub enum Uses {}

/// Records `T` that several consumers can have; as a `claim!`.
#[diagnostic::on_unimplemented(
    message = "this stream is used more than once, and its records are not `Clone`",
    label = "each use but one gets a clone of every `{T}`",
    note = "derive `Clone` for `{T}`, or share it: `.map(Arc::new)`"
)]
pub trait Copies<P, T> {}
#[diagnostic::do_not_recommend]
impl<T: Clone> Copies<Holds, T> for Uses {}
#[diagnostic::do_not_recommend]
impl<T: Impossible> Copies<Never, T> for Uses {}

/// Joins branches: what `tee`'s closure is given.
pub struct TeeOf<T>(PhantomData<fn() -> T>);

impl<T> TeeOf<T> {
    /// Both branches get every record.
    pub fn both<A, B>(&self, a: A, b: B) -> Both<A, B, T> {
        Both { a, b, record: PhantomData }
    }
}

/// Two branches of one root, which are a branch again.
pub struct Both<A, B, T> {
    a: A,
    b: B,
    record: PhantomData<fn() -> T>,
}

impl<A: Clone, B: Clone, T> Clone for Both<A, B, T> {
    fn clone(&self) -> Self {
        Both { a: self.a.clone(), b: self.b.clone(), record: PhantomData }
    }
}

impl<T: Clone + 'static, A: Terminal, B: Terminal> Terminal for Both<A, B, T> {
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V) {
        self.a.build_end(cx, First { b: self.b, visit, record: PhantomData::<fn() -> T> });
    }
}

/// The first branch is built: builds the second.
struct First<B, V, T> {
    b: B,
    visit: V,
    record: PhantomData<fn() -> T>,
}

impl<T: Clone + 'static, B: Terminal, V: Visit> Visit for First<B, V, T> {
    fn head<T1: 'static, S: Stamp, H: Push<T1, S>>(self, cx: &mut BuildCx, head: H) {
        let a = Cast::<H, T1, S>::new(head);
        let before = cx.suspend();
        self.b.build_end(cx, Second { a, before, visit: self.visit, record: PhantomData::<fn() -> T> });
    }
    fn rooted(self, cx: &mut BuildCx) {
        self.b.build_end(cx, self.visit);
    }
}

/// Both branches are built: the tee of them is the head of what comes before.
struct Second<A, V, T> {
    a: A,
    before: Draft,
    visit: V,
    record: PhantomData<fn() -> T>,
}

impl<T, T1, S1, H1, V> Visit for Second<Cast<H1, T1, S1>, V, T>
where
    T: Clone + 'static,
    T1: 'static,
    S1: Stamp,
    H1: Push<T1, S1>,
    V: Visit,
{
    fn head<T2: 'static, S2: Stamp, H: Push<T2, S2>>(self, cx: &mut BuildCx, head: H) {
        cx.resume(self.before);
        let tee = TeePush { a: self.a, b: Cast::<H, T2, S2>::new(head) };
        self.visit.head::<T, S2, _>(cx, tee);
    }
    fn rooted(self, cx: &mut BuildCx) {
        cx.resume(self.before);
        self.visit.head::<T1, S1, _>(cx, self.a.head);
    }
}

/// A trunk with its branches.
#[derive(Clone)]
pub struct TeeEnd<C, A> {
    trunk: C,
    branches: A,
}

impl<C: Chain, A: Terminal> Terminal for TeeEnd<C, A> {
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V) {
        self.branches.build_end(cx, Trunk { trunk: self.trunk, visit });
    }
}

/// The branches are built: builds the trunk in front of them.
pub(crate) struct Trunk<C, V> {
    pub(crate) trunk: C,
    pub(crate) visit: V,
}

impl<C: Chain, V: Visit> Visit for Trunk<C, V> {
    fn head<T: 'static, S: Stamp, H: Push<T, S>>(self, cx: &mut BuildCx, head: H) {
        self.trunk.build(cx, Cast::<H, T, S>::new(head), self.visit);
    }
    fn rooted(self, cx: &mut BuildCx) {
        self.visit.rooted(cx);
    }
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// A branch of this stream: what one of several consumers begins with. Its end belongs into [`Stream::tee`].
    pub fn root(&self) -> Stream<T, K, Root<T, K::Stamp>> {
        Stream::of(Root::new())
    }

    /// Ends the stream in the consumers that were begun with [`Stream::root`]. `dataflow!` writes this for every stream
    /// that is used more than once.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let (even, all) = (Collected::new(), Collected::new());
    /// # let job = Job::build("doc", |job| {
    /// let numbers = source(from_iter(0..4));
    /// let a = numbers.root().filter(|n| n % 2 == 0).collect(&even);
    /// let b = numbers.root().collect(&all);
    /// job.add(numbers.tee(|o| o.both(a, b)));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!((even.take(), all.take()), (vec![0, 2], vec![0, 1, 2, 3]));
    /// ```
    pub fn tee<A, P>(self, join: impl FnOnce(TeeOf<T>) -> A) -> Proved<P, TeeEnd<C, A>>
    where
        Uses: Copies<P, T>,
    {
        TeeEnd { trunk: self.chain, branches: join(TeeOf(PhantomData)) }
    }
}

impl<X: 'static, K: Kind, C, F: Clone> KeyedStream<X, K, C, F> {
    /// A branch of this stream, with its key: as [`Stream::root`].
    pub fn root(&self) -> KeyedStream<X, K, Proved<C, Root<X, K::Stamp>>, F> {
        KeyedStream::of(Root::new(), self.key.clone())
    }

    /// Ends the stream in its consumers: as [`Stream::tee`].
    pub fn tee<A, P>(self, join: impl FnOnce(TeeOf<X>) -> A) -> Proved<P, TeeEnd<C, A>>
    where
        Uses: Copies<P, X>,
    {
        TeeEnd { trunk: self.chain, branches: join(TeeOf(PhantomData)) }
    }
}
