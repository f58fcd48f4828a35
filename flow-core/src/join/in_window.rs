//! `join(…).window(…)`: the elements of both sides that are in one window.
//!
//! Both edges end in the head of the window itself, which keeps the elements of both sides; there is no hop between.

use super::form::Grouping;
use super::grouped::{Gather, Groups, Rows};
use super::joined::{JoinChain, JoinOp, Joined};
use super::side::Crossing;
use crate::error::Result;
use crate::op::key_fn::ByPair;
use crate::op::{Either, Key, Kind, Stream};
use crate::stage::{
    BuildCx, Count, EdgeKind, EdgeRef, Fire, Head, HeadStage, Meta, OpenCx, Push, Stamp, Tail,
};
use crate::state::{Keep, Mode};
use crate::time::{Grid, Millis, Timestamp};
use crate::window::aggregate::fits;
use crate::window::base::{Base, Item};
use crate::window::clocked::OnWatermark;
use crate::window::late::{DropLate, Lateness, Policy};
use crate::window::session::head::SessionHead;
use crate::window::session::{Fixed, Gap};
use crate::window::spec::{Assign, Closing, Everything, Over};
use crate::window::{Global, Session, Windowed};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::vec::IntoIter;

/// The key function of what crosses.
type Of<Q, L, R> = ByPair<Q, Either<L, R>>;
/// What crosses, as a record with its key.
type Pair<Q, L, R> = (Q, Either<L, R>);
/// A window's elements.
type Whole<Q, L, R> = Windowed<Q, Groups<L, R>>;

/// A late policy, for windows that give `T`, with which an element of either side crosses as it is.
pub trait Uncut<T: 'static, L: Send + 'static, R: Send + 'static>:
    Policy<T, Either<L, R>, Load<Either<L, R>, Either<L, R>> = Either<L, R>>
{
}
impl<P, T: 'static, L: Send + 'static, R: Send + 'static> Uncut<T, L, R> for P where
    P: Policy<T, Either<L, R>, Load<Either<L, R>, Either<L, R>> = Either<L, R>>
{
}

/// Windows in which two streams can be joined.
#[diagnostic::on_unimplemented(
    message = "two streams cannot be joined in windows of `{Self}`",
    label = "not a window of time",
    note = "write `.window(tumbling(1h))`, `.window(sliding(1h, 5min))`, `.window(session(30min))` or, of bounded input, `.window(global())`"
)]
pub trait JoinWindow: Clone + Send + 'static {
    /// The watermarks at which windows are due.
    fn due(&self, lateness: Millis) -> Grid;
    /// Whether the description makes sense.
    ///
    /// # Errors
    /// When it does not.
    fn fits(&self) -> Result<()>;
    /// Its name in `explain`.
    fn text(&self) -> String;
    /// The stage that keeps the elements of both sides by window.
    fn keeping<Q, L, R, P, S, N, M>(self, lateness: Lateness<P>, next: N, meta: Meta) -> HeadStage
    where
        Q: Key + Keep<M>,
        L: Clone + Send + 'static,
        R: Clone + Send + 'static,
        Groups<L, R>: Keep<M>,
        P: Uncut<Whole<Q, L, R>, L, R>,
        S: Stamp,
        N: Push<P::Emit, S>,
        M: Mode;
}

#[diagnostic::do_not_recommend]
impl<W: Assign> JoinWindow for W {
    fn due(&self, lateness: Millis) -> Grid {
        self.grid(lateness)
    }
    fn fits(&self) -> Result<()> {
        self.check()
    }
    fn text(&self) -> String {
        self.describe()
    }
    fn keeping<Q, L, R, P, S, N, M>(self, lateness: Lateness<P>, next: N, meta: Meta) -> HeadStage
    where
        Q: Key + Keep<M>,
        L: Clone + Send + 'static,
        R: Clone + Send + 'static,
        Groups<L, R>: Keep<M>,
        P: Uncut<Whole<Q, L, R>, L, R>,
        S: Stamp,
        N: Push<P::Emit, S>,
        M: Mode,
    {
        let base = Base::<Pair<Q, L, R>, Of<Q, L, R>, Gather, P, S, N>::new(
            ByPair::new(),
            Gather,
            lateness,
            next,
            meta,
        );
        // What it takes is what the sides send: the load of an `Uncut` policy is the element.
        self.stage::<Pair<Q, L, R>, Of<Q, L, R>, Gather, P, S, N, M, _>(base, OnWatermark)
    }
}

impl JoinWindow for Global {
    fn due(&self, lateness: Millis) -> Grid {
        Everything.due(lateness)
    }
    fn fits(&self) -> Result<()> {
        Ok(())
    }
    fn text(&self) -> String {
        Everything.text()
    }
    fn keeping<Q, L, R, P, S, N, M>(self, lateness: Lateness<P>, next: N, meta: Meta) -> HeadStage
    where
        Q: Key + Keep<M>,
        L: Clone + Send + 'static,
        R: Clone + Send + 'static,
        Groups<L, R>: Keep<M>,
        P: Uncut<Whole<Q, L, R>, L, R>,
        S: Stamp,
        N: Push<P::Emit, S>,
        M: Mode,
    {
        Everything.keeping(lateness, next, meta)
    }
}

impl JoinWindow for Session<Fixed> {
    fn due(&self, _: Millis) -> Grid {
        Grid::every()
    }
    fn fits(&self) -> Result<()> {
        Gap::<()>::check(&self.gap)
    }
    fn text(&self) -> String {
        Gap::<()>::describe(&self.gap)
    }
    fn keeping<Q, L, R, P, S, N, M>(self, lateness: Lateness<P>, next: N, meta: Meta) -> HeadStage
    where
        Q: Key + Keep<M>,
        L: Clone + Send + 'static,
        R: Clone + Send + 'static,
        Groups<L, R>: Keep<M>,
        P: Uncut<Whole<Q, L, R>, L, R>,
        S: Stamp,
        N: Push<P::Emit, S>,
        M: Mode,
    {
        let head = SessionHead::<Pair<Q, L, R>, Of<Q, L, R>, Fixed, Gather, P, S, N, M>::new(
            ByPair::new(),
            self.gap,
            Gather,
            lateness,
            next,
            meta,
        );
        HeadStage::new::<Crossing<Q, L, R>, _>(OfSides(head))
    }
}

/// Gives the head of sessions what it takes: an element and its gap, which is that of all.
struct OfSides<H>(H);

impl<Q, T, H> Head<Item<Q, T>> for OfSides<H>
where
    H: Head<Item<Q, ((), T)>, Part = Infallible>,
{
    type Part = Infallible;
    fn tail(&mut self) -> &mut dyn Tail {
        self.0.tail()
    }
    fn tail_ref(&self) -> &dyn Tail {
        self.0.tail_ref()
    }
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.0.open(cx)
    }
    fn items(&mut self, input: usize, items: &mut IntoIter<Item<Q, T>>, n: usize) {
        let with_gap = items.by_ref().take(n).map(|item| {
            let Item { hash, time, route, load } = item;
            Item { hash, time, route, load: ((), load) }
        });
        let mut with_gap = with_gap.collect::<Vec<_>>().into_iter();
        let n = with_gap.len();
        self.0.items(input, &mut with_gap, n);
    }
    fn watermark(&mut self, w: Timestamp) {
        self.0.watermark(w);
    }
    fn end(&mut self) {
        self.0.end();
    }
    fn fire(&mut self) -> Fire {
        self.0.fire()
    }
    fn begin_save(&mut self, out: &crate::checkpoint::Groups) -> Result<()> {
        self.0.begin_save(out)
    }
    fn save_more(&mut self, left: &mut usize) -> bool {
        self.0.save_more(left)
    }
    fn restore(&mut self, group: usize, bytes: &[u8]) -> Result<()> {
        self.0.restore(group, bytes)
    }
}

/// A join by windows `W`.
pub struct ByWindow<W, F, P, S, M> {
    window: W,
    lateness: Lateness<P>,
    meta: Meta,
    types: PhantomData<fn() -> (F, S, M)>,
}

impl<W: Clone, F, P: Copy, S, M> Clone for ByWindow<W, F, P, S, M> {
    fn clone(&self) -> Self {
        ByWindow { window: self.window.clone(), types: PhantomData, ..*self }
    }
}

impl<Q, L, R, W, F, P, S, M> JoinOp<Q, L, R> for ByWindow<W, F, P, S, M>
where
    Q: Key + Keep<M>,
    L: Clone + Send + 'static,
    R: Clone + Send + 'static,
    Groups<L, R>: Keep<M>,
    W: JoinWindow,
    F: Grouping<L, R>,
    P: Uncut<Whole<Q, L, R>, L, R> + Policy<Windowed<Q, F::Out>, Either<L, R>>,
    S: Stamp,
    M: Mode,
{
    type Out = <P as Policy<Windowed<Q, F::Out>, Either<L, R>>>::Emit;
    type Stamp = S;
    fn build<N: Push<Self::Out, S>>(self, cx: &mut BuildCx, edges: [EdgeRef; 2], next: N) {
        let ByWindow { window, lateness, meta, .. } = self;
        let meta = cx.op(&meta, &explain(F::NAME, &window.text()));
        if !fits(cx, &meta, lateness.allowed, window.fits()) {
            return;
        }
        let own = window.due(lateness.allowed);
        let own = if <P as Policy<Windowed<Q, F::Out>, Either<L, R>>>::REPORTS {
            own.with_exact_late()
        } else {
            own
        };
        let grid = own.and(&next.grid());
        edges.iter().for_each(|edge| edge.listen(grid.clone()));
        let next = Rows::<Q, L, R, F, P, N>::new(next);
        let stage = window.keeping::<Q, L, R, P, S, _, M>(lateness, next, meta);
        cx.head(&meta, Count::Parallelism, &edges.map(|edge| (edge, EdgeKind::KeyBy)), stage);
    }
}

fn explain(form: &str, window: &str) -> String {
    format!("{form} in {window}: the elements of both sides of each window and key")
}

/// The chain behind a join by windows.
pub type WindowJoin<Q, L, R, K, W, F, P, E> =
    JoinChain<Q, L, R, ByWindow<W, F, P, <K as Kind>::Stamp, <K as Kind>::Mode>, E>;

impl<Q: Key, L, R, K: Kind, J, F, E> Joined<Q, L, R, K, J, F, E>
where
    L: Clone + Send + 'static,
    R: Clone + Send + 'static,
    J: Kind<Mode = K::Mode>,
    F: Grouping<L, R>,
{
    /// The elements of both sides of each window and key: of `join` a row for each pair, of `co_group` one row.
    ///
    /// `.lateness(…)` and `.late(…)` behind it are those of a window, the late elements `Either` of the left or the right.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let asked = source(from_vec(vec![("tea", 6), ("rum", 7)])).event_time(|x| x.1).disorder(Millis(0));
    /// let sold = source(from_vec(vec![("tea", 7)])).event_time(|x| x.1).disorder(Millis(0));
    /// let both = asked.key_by(|x| x.0).left_join(sold.key_by(|x| x.0)).window(tumbling(Millis(2)));
    /// job.add(both.map(|w| (w.key, w.start.0, w.value.1.map(|sold| sold.1))).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// let mut rows = out.take();
    /// rows.sort();
    /// assert_eq!(rows, [("rum", 6, None), ("tea", 6, Some(7))]);
    /// ```
    #[track_caller]
    pub fn window<W>(
        self,
        window: W,
    ) -> Stream<Windowed<Q, F::Out>, K::With<J>, WindowJoin<Q, L, R, K, W, F, DropLate, E>>
    where
        J: Kind<Stamp = K::Stamp>,
        W: JoinWindow + Over<K> + Closing<K>,
    {
        let lateness = Lateness { allowed: Millis(0), policy: DropLate };
        let op = ByWindow { window, lateness, meta: Meta::new("window"), types: PhantomData };
        Stream::of(JoinChain::of(self, op))
    }
}

impl<T, Q, L, R, K, W, F, P, S, M, E> Stream<T, K, JoinChain<Q, L, R, ByWindow<W, F, P, S, M>, E>> {
    /// For so long after its end a window of a join takes elements; it fires again for each, for that element's key, with all
    /// rows.
    pub fn lateness(self, lateness: impl Into<Millis>) -> Self {
        let allowed = lateness.into();
        let change = |by: ByWindow<W, F, P, S, M>| {
            let lateness = Lateness { allowed, policy: by.lateness.policy };
            ByWindow { lateness, ..by }
        };
        Stream::of(self.chain.with(change))
    }

    /// What becomes of late elements of a join by windows: see [`late`](crate::window::aggregate::WindowedStream::late).
    pub fn late<B>(self, policy: B) -> B::Output<K, JoinChain<Q, L, R, ByWindow<W, F, B, S, M>, E>>
    where
        L: 'static,
        R: 'static,
        T: 'static,
        B: Policy<T, Either<L, R>>,
    {
        let change = |by: ByWindow<W, F, P, S, M>| {
            let ByWindow { window, lateness, meta, .. } = by;
            let lateness = Lateness { allowed: lateness.allowed, policy };
            ByWindow { window, lateness, meta, types: PhantomData }
        };
        B::output(Stream::of(self.chain.with(change)))
    }
}
