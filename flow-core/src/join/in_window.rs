//! `join(…).window(…)`: the elements of both sides that are in one window.
//!
//! Both edges end in the head of the window itself, which keeps the elements of both sides; there is no hop between.

use super::form::Grouping;
use super::grouped::Groups;
use super::joined::{JoinChain, JoinOp, Joined};
use super::rows::Rows;
use super::windows::{JoinWindow, Uncut, Whole};
use crate::op::{Either, Key, Kind, Stream};
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, Meta, Push, Stamp};
use crate::state::Keep;
use crate::time::Millis;
use crate::window::Windowed;
use crate::window::aggregate::fits;
use crate::window::late::{DropLate, Lateness, Policy};
use crate::window::spec::{Closing, Over};
use std::marker::PhantomData;

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
    M: crate::state::Mode,
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
        let next = Rows::<Q, L, R, F, P, S, N>::new(next);
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
