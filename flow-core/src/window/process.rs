//! Whole-window functions: what a closure makes of a window that fires, with its key, its bounds, and state of the key that outlives
//! the window.

use super::aggregate::WindowedStream;
use super::base::Row;
use super::late::Policy;
use super::spec::{Closes, Windowed};
use super::windowing::{Suits, Windowing};
use crate::aggregate::{Agg, Aggregate, Collect};
use crate::checkpoint::Groups;
use crate::checkpoint::records::Part;
use crate::error::Result;
use crate::op::{Chain, Either, KeyFn, KeyTypes, Kind, Proved, Stream, Visit};
use crate::stage::push::forward_tail;
use crate::stage::{BuildCx, OpenCx, Push, Stamp, Tail};
use crate::state::{Keep, KeyTable, Mode};
use crate::time::Timestamp;
use std::marker::PhantomData;

/// What a whole-window function is given beside the records: the window, its key, and the key's state.
pub struct WindowCx<'a, K, I, U> {
    key: &'a K,
    bounds: (Timestamp, Timestamp),
    state: &'a mut I,
    forget: &'a mut bool,
    emit: &'a mut dyn FnMut(U),
}

impl<K, I, U> WindowCx<'_, K, I, U> {
    /// The key; `()` on a stream without one.
    pub fn key(&self) -> &K {
        self.key
    }

    /// The first instant of the window.
    pub fn start(&self) -> Timestamp {
        self.bounds.0
    }

    /// The first instant after it.
    pub fn end(&self) -> Timestamp {
        self.bounds.1
    }

    /// The key's state: what the windows of the key that fired before have left.
    pub fn state(&mut self) -> &mut I {
        self.state
    }

    /// Gives the key's state up when the call is over: with its next window the key begins anew, and it takes no memory until then.
    pub fn forget(&mut self) {
        *self.forget = true;
    }

    /// Emits a result, at the timestamp of the window's.
    pub fn emit(&mut self, result: U) {
        (self.emit)(result);
    }
}

/// The chain of windows `W` with an aggregate and a whole-window function behind them.
pub type ProcessedWindow<X, K, C, F, W, A, I, U, G, P, Z> = Proved<
    Z,
    Processed<
        X,
        <W as Windowing>::Chain<X, C, F, A, P, <K as Kind>::Mode>,
        F,
        <A as Aggregate<<F as KeyTypes<X>>::Value>>::Out,
        I,
        U,
        G,
        P,
        <K as Kind>::Mode,
    >,
>;

impl<X: 'static, K: Kind, C, F: KeyTypes<X>, W: Windowing, P> WindowedStream<X, K, C, F, W, P> {
    /// Calls a function for each window and key that fires, with all its records in order of arrival. It emits any number of results,
    /// and has state for each key, `init` at first, that outlives the window; `()` where none is needed. The state of a key is kept
    /// until [`forget`](WindowCx::forget) is called, or to the end.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let sales = source(from_vec(vec![("tea", 1, 3), ("tea", 4, 5), ("tea", 12, 5), ("tea", 21, 9)]));
    /// let sales = sales.event_time(|s| s.1).disorder(Millis(0)).key_by(|s| s.0);
    /// // The sales that are larger than all of the windows before.
    /// let records = sales.window(tumbling(Millis(10))).process_window(0, |w, sales| {
    ///     let largest = sales.iter().map(|s| s.2).max().unwrap_or(0);
    ///     if largest > *w.state() {
    ///         *w.state() = largest;
    ///         w.emit((*w.key(), w.start().0, largest));
    ///     }
    /// });
    /// job.add(records.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [("tea", 0, 5), ("tea", 20, 9)]);
    /// ```
    #[track_caller]
    pub fn process_window<I, U, G, Z>(
        self,
        init: I,
        f: G,
    ) -> <P as Policy<U, F::Value>>::Output<W::Kind<K>, ProcessedWindow<X, K, C, F, W, Collect, I, U, G, P, Z>>
    where
        W: Closes<Z, K>,
        F: Clone,
        F::Value: Clone + Send,
        Vec<F::Value>: Keep<K::Mode>,
        I: Clone + Send + Keep<K::Mode>,
        U: 'static,
        G: Fn(&mut WindowCx<'_, F::Key, I, U>, Vec<F::Value>) + Clone + Send + 'static,
        P: Policy<Row<X, F, Collect>, F::Value> + Policy<U, F::Value>,
    {
        self.processed::<_, _, U, _, Z>("process_window", Agg::collect, init, f)
    }

    /// The same, with an aggregate in front: the function sees what that makes of the records, which are not kept.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let sales = source(from_vec(vec![("tea", 1, 3), ("tea", 4, 5), ("tea", 12, 5)]));
    /// let sales = sales.event_time(|s| s.1).disorder(Millis(0)).key_by(|s| s.0);
    /// // By how much more was sold than in the window before.
    /// let growth = sales.window(tumbling(Millis(10))).aggregate_window(|a| a.sum(|s| s.2), 0, |w, sum| {
    ///     let before = std::mem::replace(w.state(), sum);
    ///     w.emit((w.start().0, sum - before));
    /// });
    /// job.add(growth.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [(0, 8), (10, -3)]);
    /// ```
    #[track_caller]
    pub fn aggregate_window<A, I, U, G, Z>(
        self,
        make: impl FnOnce(Agg<F::Value>) -> A,
        init: I,
        f: G,
    ) -> <P as Policy<U, F::Value>>::Output<
        W::Kind<K>,
        Proved<A::Out, ProcessedWindow<X, K, C, F, W, A, I, U, G, P, Z>>,
    >
    where
        W: Closes<Z, K>,
        F: Clone,
        A: Aggregate<F::Value, Acc: Keep<K::Mode>> + Suits<F::Value, W::Needs>,
        I: Clone + Send + Keep<K::Mode>,
        U: 'static,
        G: Fn(&mut WindowCx<'_, F::Key, I, U>, A::Out) + Clone + Send + 'static,
        P: Policy<Row<X, F, A>, F::Value> + Policy<U, F::Value>,
    {
        self.processed::<_, _, U, _, Z>("aggregate_window", make, init, f)
    }

    #[track_caller]
    fn processed<A, I, U, G, Z>(
        self,
        op: &'static str,
        make: impl FnOnce(Agg<F::Value>) -> A,
        init: I,
        f: G,
    ) -> <P as Policy<U, F::Value>>::Output<W::Kind<K>, ProcessedWindow<X, K, C, F, W, A, I, U, G, P, Z>>
    where
        W: Closes<Z, K>,
        F: Clone,
        A: Aggregate<F::Value>,
        U: 'static,
        P: Policy<U, F::Value>,
    {
        let key = self.key.clone();
        let prev = self.closed(op, make);
        <P as Policy<U, F::Value>>::output(Stream::of(Processed { prev, key, init, f, types: PhantomData }))
    }
}

/// A chain of windows whose results, of values `V`, become what a function emits.
pub struct Processed<X, C, F, V, I, U, G, P, M> {
    prev: C,
    key: F,
    init: I,
    f: G,
    types: PhantomData<fn(X, V) -> (U, P, M)>,
}

impl<X, C: Clone, F: Clone, V, I: Clone, U, G: Clone, P, M> Clone for Processed<X, C, F, V, I, U, G, P, M> {
    fn clone(&self) -> Self {
        let (prev, key) = (self.prev.clone(), self.key.clone());
        Processed { prev, key, init: self.init.clone(), f: self.f.clone(), types: PhantomData }
    }
}

/// The result of a window with values `V`.
type RowOf<X, F, V> = Windowed<<F as KeyTypes<X>>::Key, V>;

impl<X, C, F, V, I, U, G, P, M> Chain for Processed<X, C, F, V, I, U, G, P, M>
where
    X: 'static,
    F: KeyFn<X, Key: Keep<M>>,
    V: 'static,
    C: Chain<Out = <P as Policy<RowOf<X, F, V>, F::Value>>::Emit>,
    I: Clone + Send + Keep<M>,
    U: 'static,
    G: Fn(&mut WindowCx<'_, F::Key, I, U>, V) + Clone + Send + 'static,
    P: Policy<RowOf<X, F, V>, F::Value> + Policy<U, F::Value>,
    M: Mode,
{
    type Out = <P as Policy<U, F::Value>>::Emit;
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: Push<Self::Out, C::Stamp>, Z: Visit>(self, cx: &mut BuildCx, next: N, visit: Z) {
        let Processed { prev, key, init, f, types } = self;
        let states = KeyTable::default();
        prev.build(cx, Process::<X, F, V, I, U, G, P, M, N> { key, init, f, states, next, types }, visit);
    }
}

/// What lies directly behind a window's head.
struct Process<X, F: KeyTypes<X>, V, I, U, G, P, M: Mode, N> {
    key: F,
    init: I,
    f: G,
    /// The state of the keys of which a window has fired.
    states: KeyTable<F::Key, I, M>,
    next: N,
    types: PhantomData<fn(X, V) -> (U, P, M)>,
}

impl<X, F, V, I, U, G, P, M, N, S> Push<<P as Policy<RowOf<X, F, V>, F::Value>>::Emit, S>
    for Process<X, F, V, I, U, G, P, M, N>
where
    X: 'static,
    F: KeyFn<X, Key: Keep<M>>,
    V: 'static,
    I: Clone + Send + Keep<M>,
    U: 'static,
    G: Fn(&mut WindowCx<'_, F::Key, I, U>, V) + Clone + Send + 'static,
    P: Policy<RowOf<X, F, V>, F::Value> + Policy<U, F::Value>,
    M: Mode,
    S: Stamp,
    N: Push<<P as Policy<U, F::Value>>::Emit, S>,
{
    fn push(&mut self, emitted: <P as Policy<RowOf<X, F, V>, F::Value>>::Emit, stamp: S) {
        match <P as Policy<RowOf<X, F, V>, F::Value>>::open(emitted) {
            Either::A(Windowed { key, start, end, value }) => {
                let (of, hash) = (&self.key, self.key.hash(&key));
                self.states.reserve(1, |k| of.hash(k));
                let (_, state) = self.states.entry(
                    hash,
                    |k| of.same(k, &key),
                    |a, b| of.same(a, b),
                    || key.clone(),
                    || self.init.clone(),
                );
                let emit = &mut |result| self.next.push(<P as Policy<U, F::Value>>::result(result), stamp);
                // What has no size is not worth an entry.
                let (bounds, forget) = ((start, end), &mut (size_of::<I>() == 0));
                (self.f)(&mut WindowCx { key: &key, bounds, state, forget, emit }, value);
                if *forget {
                    self.states.remove(hash, |k| of.same(k, &key), |k| of.hash(k));
                }
            }
            Either::B(late) => {
                if let Some(late) = <P as Policy<U, F::Value>>::late(late) {
                    self.next.push(late, stamp);
                }
            }
        }
    }
}

impl<X, F, V, I, U, G, P, M, N> Tail for Process<X, F, V, I, U, G, P, M, N>
where
    X: 'static,
    F: KeyFn<X, Key: Keep<M>>,
    V: 'static,
    I: Clone + Send + Keep<M>,
    U: 'static,
    G: Send + 'static,
    P: 'static,
    M: Mode,
    N: Tail,
{
    forward_tail!(next: mark grid room flush enough deadline tick);

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        let key = self.key.clone();
        self.states.spill(cx.space_of_stage()?, move |k| key.hash(k))?;
        self.next.open(cx)
    }

    fn keeps_state(&self) -> bool {
        true
    }

    fn state_schema(&self) -> Result<String> {
        Ok(<I as Keep<M>>::schema()?.unwrap_or_default())
    }

    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        let key = self.key.clone();
        self.states.begin_save(out, Part::Behind, move |k| key.hash(k))
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        self.states.save_more(left)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        let key = &self.key;
        self.states.restore(bytes, |k| key.hash(k))
    }
}
