//! Exchanges without a key: `rebalance`, `shuffle`, `broadcast`, `global`, `partition_by`, `boundary`.

use super::merge::receive;
use super::operator::OpError;
use super::proved::{Holds, Impossible, Never, claim};
use super::{Chain, Kind, Proved, Stream, Visit};
use crate::batch::Mark;
use crate::error::{Error, ErrorKind, Result};
use crate::stage::own::broken;
use crate::stage::{BuildCx, Count, EdgeKind, EdgeRef, Meta, OpenCx, Outs, Push, Stamp, Tail, split_mix};
use crate::time::Grid;

/// Says to which receiver a record goes.
///
/// ```
/// use flow_core::prelude::*;
/// use flow_core::op::edges::Partitioner;
///
/// /// Even numbers to the first instance, odd ones to the last.
/// #[derive(Clone)]
/// struct Parity;
/// impl Partitioner<u64> for Parity {
///     fn partition(&mut self, n: &u64, receivers: usize) -> usize {
///         if n % 2 == 0 { 0 } else { receivers - 1 }
///     }
/// }
/// let out = Collected::new();
/// let job = Job::build("parity", |job| job.add(source(from_iter(0..4)).partition_by(Parity).collect(&out)));
/// job.parallelism(2).run().unwrap();
/// assert_eq!(out.take(), [0, 2, 1, 3], "instance by instance, each in order");
/// ```
pub trait Partitioner<T>: Clone + Send + 'static {
    /// The receiver of `item`, below `receivers`; a number at or above it is taken modulo.
    fn partition(&mut self, item: &T, receivers: usize) -> usize;
    /// Told once how many sending instances there are before this one.
    fn start(&mut self, instance: usize) {
        let _ = instance;
    }
    /// Whether it keeps something that stands in checkpoints, so that records go where they would have gone.
    const KEEPS: bool = false;
    /// Writes down what it keeps, where it [`KEEPS`](Partitioner::KEEPS) something: when the records before a checkpoint have gone.
    fn save(&self, out: &mut Vec<u8>) {
        let _ = out;
    }
    /// Takes it back, right after [`Partitioner::start`], when the job starts from a checkpoint in which there is something for this
    /// sender: of several where their number has changed.
    ///
    /// # Errors
    /// When that is nothing that it has written: the job does not start.
    fn restore(&mut self, states: Vec<Vec<u8>>) -> Result<(), OpError> {
        let _ = states;
        Ok(())
    }
}

/// A number that a partitioner has written, as a little-endian `u64`: the first where there are several.
fn number(states: Vec<Vec<u8>>) -> Result<Option<u64>, OpError> {
    let Some(first) = states.into_iter().next() else { return Ok(None) };
    let number = first.try_into().map_err(|first: Vec<u8>| format!("{} bytes, not 8", first.len()))?;
    Ok(Some(u64::from_le_bytes(number)))
}

#[diagnostic::do_not_recommend]
impl<T, F: Fn(&T, usize) -> usize + Clone + Send + 'static> Partitioner<T> for F {
    #[inline]
    fn partition(&mut self, item: &T, receivers: usize) -> usize {
        self(item, receivers)
    }
}

claim! {
    /// Records that can go to another instance.
    #[diagnostic::on_unimplemented(
        message = "records of type `{Self}` cannot go to another instance: they are not `Send`",
        label = "another instance may run on another thread",
        note = "use `Arc` for `Rc`, and `Mutex` or atomics for `RefCell` and `Cell`"
    )]
    pub trait CrossingOf<P> for T where Send
}

claim! {
    /// What `partition_by` takes: a [`Partitioner`].
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not a partitioner of `{T}`",
        label = "cannot say where a `{T}` goes",
        note = "give a closure `|record, receivers| -> usize`, or implement `flow_core::op::edges::Partitioner<{T}>`"
    )]
    pub trait PartitionerOf<P, T> for X where Partitioner<T>
}

/// Each sender has one receiver.
#[derive(Clone, Default)]
pub struct Forward;
#[diagnostic::do_not_recommend]
impl<T> Partitioner<T> for Forward {
    #[inline(always)]
    fn partition(&mut self, _: &T, _: usize) -> usize {
        0
    }
}

/// In turn.
#[derive(Clone, Default)]
pub struct InTurn(usize);
#[diagnostic::do_not_recommend]
impl<T> Partitioner<T> for InTurn {
    #[inline]
    fn partition(&mut self, _: &T, receivers: usize) -> usize {
        let to = self.0 % receivers;
        self.0 = to + 1;
        to
    }
    fn start(&mut self, instance: usize) {
        self.0 = instance;
    }
    const KEEPS: bool = true;
    fn save(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.0 as u64).to_le_bytes());
    }
    fn restore(&mut self, states: Vec<Vec<u8>>) -> Result<(), OpError> {
        if let Some(at) = number(states)? {
            self.0 = usize::try_from(at).map_err(|_| "a number of a receiver that is too large")?;
        }
        Ok(())
    }
}

/// At random, from a seed.
#[derive(Clone)]
pub struct AtRandom(u64);
#[diagnostic::do_not_recommend]
impl<T> Partitioner<T> for AtRandom {
    #[inline]
    fn partition(&mut self, _: &T, receivers: usize) -> usize {
        (split_mix(&mut self.0) % receivers as u64) as usize
    }
    fn start(&mut self, instance: usize) {
        self.0 = self.0.wrapping_add(split_mix(&mut (instance as u64)));
    }
    const KEEPS: bool = true;
    fn save(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_le_bytes());
    }
    fn restore(&mut self, states: Vec<Vec<u8>>) -> Result<(), OpError> {
        self.0 = number(states)?.unwrap_or(self.0);
        Ok(())
    }
}

/// Sends each record to one receiver.
pub(crate) struct EdgePush<M, P> {
    outs: Outs<M>,
    edge: EdgeRef,
    partitioner: P,
    /// The exchange, for those that keep something.
    meta: Option<Meta>,
}

impl<M: Send + 'static, P> EdgePush<M, P> {
    pub(crate) fn new(edge: &EdgeRef, partitioner: P, meta: Option<Meta>) -> Self {
        EdgePush { outs: Outs::new(edge.id), edge: edge.clone(), partitioner, meta }
    }
}

impl<T: Send + 'static, S: Stamp, P: Partitioner<T>> Push<T, S> for EdgePush<(T, S), P> {
    #[inline(always)]
    fn push(&mut self, item: T, stamp: S) {
        let receivers = self.outs.receivers();
        let to = self.partitioner.partition(&item, receivers);
        self.outs.send(if to < receivers { to } else { to % receivers }, (item, stamp));
    }
}

/// The state of the senders: that of the exchange itself is the receivers'.
fn of_senders(meta: &Meta) -> String {
    format!("{} (senders)", meta.id())
}

impl<T: Send + 'static, S: Stamp, P: Partitioner<T>> EdgePush<(T, S), P> {
    #[cold]
    #[inline(never)]
    fn save(&self, id: u64) {
        if let Some(meta) = &self.meta
            && self.outs.saves().is_on()
        {
            let mut state = Vec::new();
            self.partitioner.save(&mut state);
            self.outs.saves().operator(id, &of_senders(meta), state);
        }
    }

    #[cold]
    #[inline(never)]
    fn take_back(&mut self, cx: &OpenCx) -> Result<()> {
        let Some(meta) = &self.meta else { return Ok(()) };
        let states = cx.take_back(&of_senders(meta))?;
        let bytes = states.iter().map(Vec::len).sum();
        if states.is_empty() {
            return Ok(());
        }
        self.partitioner.restore(states).map_err(|error| broken(meta, cx, &error.to_string(), bytes))
    }
}

/// The methods of [`Tail`] for the sender of an edge.
macro_rules! sender_tail {
    ($cx:ident, $self:ident $(, $opened:expr)?) => {
        fn open(&mut $self, $cx: &mut OpenCx) -> Result<()> {
            $($opened;)?
            $self.outs.open($cx);
            Ok(())
        }
        fn mark(&mut self, mark: Mark) {
            self.outs.mark(mark);
        }
        $crate::op::edges::sender_tail!(rest);
    };
    (rest) => {
        fn grid(&self) -> Grid {
            self.edge.grid()
        }
        fn room(&mut self) -> bool {
            self.outs.pump()
        }
        fn flush(&mut self) {
            self.outs.flush();
        }
        fn enough(&self) -> bool {
            self.outs.is_closed()
        }
    };
}
pub(crate) use sender_tail;

impl<T: Send + 'static, S: Stamp, P: Partitioner<T>> Tail for EdgePush<(T, S), P> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.partitioner.start(cx.context().instance());
        if P::KEEPS {
            self.take_back(cx)?;
        }
        self.outs.open(cx);
        Ok(())
    }
    fn mark(&mut self, mark: Mark) {
        if P::KEEPS
            && let Mark::Barrier(id) = mark
        {
            self.save(id);
        }
        self.outs.mark(mark);
    }
    sender_tail!(rest);
}

/// Sends each record to every receiver.
struct ToAll<M> {
    outs: Outs<M>,
    edge: EdgeRef,
}

impl<T: Clone + Send + 'static, S: Stamp> Push<T, S> for ToAll<(T, S)> {
    #[inline]
    fn push(&mut self, item: T, stamp: S) {
        let last = self.outs.receivers() - 1;
        for to in 0..last {
            self.outs.send(to, (item.clone(), stamp));
        }
        self.outs.send(last, (item, stamp));
    }
}

impl<M: Send + 'static> Tail for ToAll<M> {
    sender_tail!(cx, self);
}

/// A chain with an exchange behind it.
#[derive(Clone)]
pub struct Exchange<C, P> {
    prev: C,
    partitioner: P,
    edge: EdgeRef,
    kind: EdgeKind,
    count: Count,
    asked: Option<usize>,
    meta: Meta,
}

impl<C, P> Exchange<C, P> {
    pub(super) fn set_parallelism(&mut self, n: usize) {
        self.asked = Some(n);
    }
}

/// The number of instances behind an exchange that has `count` unless something else is asked for.
fn asked_for(cx: &mut BuildCx, meta: &Meta, count: Count, asked: Option<usize>) -> Count {
    let Some(n) = asked else { return count };
    cx.is_parallelism(meta, n);
    if count != Count::Parallelism {
        let what = format!("`{}` has a parallelism of its own: use `rebalance` for another", meta.op());
        cx.fail(Error::new(ErrorKind::Plan, what).in_stage(meta.id()).at(meta.at()));
    }
    Count::Exactly(n)
}

impl<C: Chain<Out: Send>, P: Partitioner<C::Out>> Chain for Exchange<C, P> {
    type Out = C::Out;
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: Push<C::Out, C::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let count = asked_for(cx, &self.meta, self.count, self.asked);
        let meta = receive(cx, &self.meta, count, &[(self.edge.clone(), self.kind)], next);
        cx.out(&self.edge);
        self.prev.build(cx, EdgePush::new(&self.edge, self.partitioner, Some(meta)), visit);
    }
}

/// A chain whose records go to all instances of what follows.
#[derive(Clone)]
pub struct Broadcast<C> {
    prev: C,
    edge: EdgeRef,
    asked: Option<usize>,
    meta: Meta,
}

impl<C> Broadcast<C> {
    pub(super) fn set_parallelism(&mut self, n: usize) {
        self.asked = Some(n);
    }
}

impl<C: Chain<Out: Clone + Send>> Chain for Broadcast<C> {
    type Out = C::Out;
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: Push<C::Out, C::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let count = asked_for(cx, &self.meta, Count::Parallelism, self.asked);
        receive(cx, &self.meta, count, &[(self.edge.clone(), EdgeKind::Broadcast)], next);
        cx.out(&self.edge);
        self.prev.build(cx, ToAll { outs: Outs::new(self.edge.id), edge: self.edge }, visit);
    }
}

/// All instances behind a `broadcast`.
pub enum Everyone {}

/// Records `T` of which everyone gets one; as a `claim!`.
#[diagnostic::on_unimplemented(
    message = "records of type `{T}` cannot go to every instance: they are not `Clone + Send`",
    label = "each instance gets a clone of every `{T}`",
    note = "derive `Clone` for `{T}`, or share it: `.map(Arc::new)`"
)]
pub trait Gets<P, T> {}
#[diagnostic::do_not_recommend]
impl<T: Clone + Send> Gets<Holds, T> for Everyone {}
#[diagnostic::do_not_recommend]
impl<T: Impossible> Gets<Never, T> for Everyone {}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    #[track_caller]
    fn exchange<X>(
        self,
        op: &'static str,
        partitioner: X,
        kind: EdgeKind,
        count: Count,
    ) -> Stream<T, K, Exchange<C, X>> {
        let meta = Meta::new(op);
        Stream::of(Exchange {
            prev: self.chain,
            partitioner,
            edge: EdgeRef::fresh(),
            kind,
            count,
            asked: None,
            meta,
        })
    }

    /// Distributes the records in turn over the job's parallelism.
    #[track_caller]
    pub fn rebalance<P>(self) -> Stream<T, K, Proved<P, Exchange<C, InTurn>>>
    where
        T: CrossingOf<P>,
    {
        self.exchange("rebalance", InTurn::default(), EdgeKind::Rebalance, Count::Parallelism)
    }

    /// Distributes the records at random over the job's parallelism; the same `seed`, the same distribution.
    #[track_caller]
    pub fn shuffle<P>(self, seed: u64) -> Stream<T, K, Proved<P, Exchange<C, AtRandom>>>
    where
        T: CrossingOf<P>,
    {
        self.exchange("shuffle", AtRandom(seed), EdgeKind::Shuffle, Count::Parallelism)
    }

    /// Brings all records to a single instance.
    #[track_caller]
    pub fn global<P>(self) -> Stream<T, K, Proved<P, Exchange<C, Forward>>>
    where
        T: CrossingOf<P>,
    {
        self.exchange("global", Forward, EdgeKind::Global, Count::Exactly(1))
    }

    /// Distributes the records as `partitioner` says: a [`Partitioner`] or a closure `|x: &T, receivers: usize| -> usize`.
    #[track_caller]
    pub fn partition_by<X: PartitionerOf<P, T>, P>(
        self,
        partitioner: X,
    ) -> Stream<T, K, Proved<P, Exchange<C, X>>> {
        self.exchange("partition_by", partitioner, EdgeKind::Custom, Count::Parallelism)
    }

    /// [`partition_by`](Self::partition_by) with a closure, of which rustc then knows what its parameters are: `dataflow!` calls
    /// it where a closure is written.
    #[doc(hidden)]
    #[track_caller]
    pub fn partition_by_closure<F, P>(self, partitioner: F) -> Stream<T, K, Proved<P, Exchange<C, F>>>
    where
        F: Fn(&T, usize) -> usize + PartitionerOf<P, T>,
    {
        self.partition_by(partitioner)
    }

    /// What follows runs in a stage of its own, on another thread where the host has one. Nothing else changes.
    #[track_caller]
    pub fn boundary<P>(self) -> Stream<T, K, Proved<P, Exchange<C, Forward>>>
    where
        T: CrossingOf<P>,
    {
        self.exchange("boundary", Forward, EdgeKind::Forward, Count::Upstream)
    }

    /// Every instance of what follows gets every record.
    #[track_caller]
    pub fn broadcast<P>(self) -> Stream<T, K, Proved<P, Broadcast<C>>>
    where
        Everyone: Gets<P, T>,
    {
        let (edge, meta) = (EdgeRef::fresh(), Meta::new("broadcast"));
        Stream::of(Broadcast { prev: self.chain, edge, asked: None, meta })
    }
}
