//! The window operator: adds elements to panes, and fires panes that the watermark has passed.

use super::late::{Late, Lateness, Policy, too_late};
use super::merging::Merged;
use super::panes::{Open, Panes};
use super::run::{add_run, merge_part, merge_whole};
use super::spec::{Assign, Span, Windowed};
use crate::aggregate::{Aggregate, Overflow};
use crate::error::Result;
use crate::metrics::Counter;
use crate::op::operator::operator_error;
use crate::op::{KeyFn, KeyTypes};
use crate::stage::{Faults, Fire, Head, Meta, OpenCx, Push, Stamp, Tail};
use crate::state::Keep;
use crate::time::{Millis, Timestamp};
use std::marker::PhantomData;
use std::vec::IntoIter;

/// The result of a window.
pub type Row<X, F, A> = Windowed<<F as KeyTypes<X>>::Key, <A as Aggregate<<F as KeyTypes<X>>::Value>>::Out>;

/// What crosses for one element: hash, time, the key's route, and what the policy wants of the rest.
pub struct Item<R, L> {
    pub hash: u64,
    pub time: Timestamp,
    pub route: R,
    pub load: L,
}

/// Shorthands for the types of a window over `X` with key function `F`, aggregate `A` and policy `P`.
pub type Lift<X, F, A> = <A as Aggregate<<F as KeyTypes<X>>::Value>>::In;
pub type Accu<X, F, A> = <A as Aggregate<<F as KeyTypes<X>>::Value>>::Acc;
pub type Load<X, F, A, P> =
    <P as Policy<Row<X, F, A>, <F as KeyTypes<X>>::Value>>::Load<Lift<X, F, A>, <F as KeyTypes<X>>::Rest>;
pub type ItemOf<X, F, A, P> = Item<<F as KeyTypes<X>>::Route, Load<X, F, A, P>>;
pub type MergedOf<X, F, A> = Merged<<F as KeyTypes<X>>::Key, Accu<X, F, A>>;

/// Entries fired between two looks at the room downstream.
pub const FIRED_AT_ONCE: usize = 256;

/// The head of a window's stage.
pub struct WindowHead<X, F: KeyFn<X>, W, A: Aggregate<F::Value>, P, S, N, M> {
    pub key: F,
    pub assign: W,
    pub aggregate: A,
    pub lateness: Lateness<P>,
    pub next: N,
    pub meta: Meta,
    state: State<F::Key, A::Acc>,
    faults: Faults,
    failed: bool,
    types: PhantomData<fn(X, S) -> M>,
}

/// What a window operator keeps.
struct State<K, A> {
    panes: Panes<K, A>,
    watermark: Timestamp,
    /// How many entries of the pane being fired have left; only where panes stay after firing.
    fired: usize,
    late: Counter,
}

impl<X, F: KeyFn<X>, W, A: Aggregate<F::Value>, P, S, N, M> WindowHead<X, F, W, A, P, S, N, M> {
    pub fn new(key: F, assign: W, aggregate: A, lateness: Lateness<P>, next: N, meta: Meta) -> Self {
        let state =
            State { panes: Panes::default(), watermark: Timestamp::MIN, fired: 0, late: Counter::default() };
        let (faults, failed, types) = (Faults::default(), false, PhantomData);
        WindowHead { key, assign, aggregate, lateness, next, meta, state, faults, failed, types }
    }

    /// Whether an element of `span` comes too late, and by how much.
    fn late_by(&self, span: &Span) -> Option<i128> {
        let last = span.end - 1 + i128::from(self.lateness.allowed.0);
        let by = i128::from(self.state.watermark.0) - last;
        (by >= 0 || self.state.watermark == Timestamp::MAX).then_some(by.max(0))
    }

    #[cold]
    #[inline(never)]
    fn overflow(&mut self, error: Overflow) {
        self.failed = true;
        self.faults.raise(operator_error(&self.meta, &error.into()));
    }
}

impl<X, F, W, A, P, S, N, M> WindowHead<X, F, W, A, P, S, N, M>
where
    X: 'static,
    F: KeyFn<X>,
    W: Assign,
    A: Aggregate<F::Value>,
    P: Policy<Row<X, F, A>, F::Value>,
    S: Stamp,
    N: Push<P::Emit, S>,
{
    /// Takes one item for any pane, or none.
    #[inline(never)]
    fn add(&mut self, item: ItemOf<X, F, A, P>) {
        let Item { hash, time, route, load } = item;
        // An open pane is not late: it is removed as soon as no element can join it.
        if !self.state.panes.is_current(time) && !self.state.panes.turn_to(time) {
            let span = self.assign.span(time);
            if let Some(by) = self.late_by(&span) {
                return self.late(time, route, load, by);
            }
            let passed = span.due() <= self.state.watermark;
            self.state.panes.select(span, passed);
        }
        let Some(pane) = self.state.panes.current() else { return };
        let (key, aggregate) = (&self.key, &self.aggregate);
        let x = P::lifted(load, |rest| aggregate.lift(key.peek(&route, rest)));
        let insert = || (key.key(&route), aggregate.start());
        let (k, acc) = pane.table.entry(hash, |k| key.is(&route, k), insert, |k| key.hash(k));
        let added = aggregate.add(acc, x);
        if pane.fired && added.is_ok() {
            let row = row(pane.span, k.clone(), aggregate.result(acc));
            emit::<_, _, P, _, S, _>(&mut self.next, row, pane.span);
        }
        if let Err(error) = added {
            self.overflow(error);
        }
    }

    #[cold]
    #[inline(never)]
    fn late(&mut self, time: Timestamp, route: F::Route, load: Load<X, F, A, P>, by: i128) {
        self.state.late.add(1);
        let late_by = Millis(i64::try_from(by).unwrap_or(i64::MAX));
        if P::FAILS {
            self.failed = true;
            self.faults.raise(too_late(&self.meta, time, late_by));
        } else if let Some(rest) = P::rest::<Lift<X, F, A>, F::Rest>(load) {
            let (_, value) = self.key.unite(route, rest);
            if let Some(late) = P::late(Late { value, timestamp: time, late_by }) {
                self.next.push(late, S::of(time));
            }
        }
    }

    /// Emits the pane at `at`, from where the last call stopped.
    fn fire_pane(&mut self, at: usize) -> Fire {
        if self.lateness.allowed.0 == 0 { self.fire_and_forget(at) } else { self.fire_and_keep(at) }
    }

    /// Nothing can join the pane any more: its entries are given away, the first first.
    fn fire_and_forget(&mut self, at: usize) -> Fire {
        loop {
            if !self.next.room() {
                return Fire::Paused;
            }
            let Some(pane) = self.state.panes.get(at) else { return Fire::Done };
            pane.fired = true;
            for _ in 0..FIRED_AT_ONCE {
                let Some((key, acc)) = pane.table.pop() else {
                    if let Some(Open { table, .. }) = self.state.panes.remove(at) {
                        self.state.panes.reuse(table);
                    }
                    return Fire::Done;
                };
                let row = row(pane.span, key, self.aggregate.take_result(acc));
                emit::<_, _, P, _, S, _>(&mut self.next, row, pane.span);
            }
        }
    }

    /// Elements may still join the pane.
    fn fire_and_keep(&mut self, at: usize) -> Fire {
        loop {
            if !self.next.room() {
                return Fire::Paused;
            }
            let Some(pane) = self.state.panes.get(at) else { return Fire::Done };
            for _ in 0..FIRED_AT_ONCE {
                let Some((key, acc)) = pane.table.at(self.state.fired) else {
                    pane.fired = true;
                    self.state.fired = 0;
                    return Fire::Done;
                };
                self.state.fired += 1;
                let row = row(pane.span, key.clone(), self.aggregate.result(acc));
                emit::<_, _, P, _, S, _>(&mut self.next, row, pane.span);
            }
        }
    }

    /// Forgets the panes that no element can join any more.
    fn forget(&mut self) {
        while let Some(at) = self.state.panes.first(|p| p.fired && self.late_by(&p.span).is_some()) {
            if let Some(pane) = self.state.panes.remove(at) {
                self.state.panes.reuse(pane.table);
            }
        }
    }
}

pub fn row<K, V>(span: Span, key: K, value: Option<V>) -> Option<Windowed<K, V>> {
    let (start, end) = span.shown();
    value.map(|value| Windowed { key, start, end, value })
}

#[inline(always)]
fn emit<R, T, P, E, S, N>(next: &mut N, row: Option<R>, span: Span)
where
    R: 'static,
    T: 'static,
    P: Policy<R, T, Emit = E>,
    E: 'static,
    S: Stamp,
    N: Push<E, S>,
{
    if let Some(row) = row {
        next.push(P::result(row), S::of(span.due()));
    }
}

/// Emits the result of a window at its end, where that belongs to it: of a session, or of so many elements.
#[inline(always)]
pub fn emit_at_end<K, V, T, P, S, N>(next: &mut N, row: Option<Windowed<K, V>>)
where
    K: 'static,
    V: 'static,
    T: 'static,
    P: Policy<Windowed<K, V>, T>,
    S: Stamp,
    N: Push<P::Emit, S>,
{
    if let Some(row) = row {
        let end = row.end;
        next.push(P::result(row), S::of(end));
    }
}

impl<X, F, W, A, P, S, N, M> Head<ItemOf<X, F, A, P>> for WindowHead<X, F, W, A, P, S, N, M>
where
    X: 'static,
    F: KeyFn<X, Key: Keep<M>>,
    W: Assign,
    A: Aggregate<F::Value, Acc: Keep<M>>,
    P: Policy<Row<X, F, A>, F::Value>,
    S: Stamp,
    N: Push<P::Emit, S>,
    M: 'static,
{
    type Part = MergedOf<X, F, A>;

    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.next
    }

    fn tail_ref(&self) -> &dyn Tail {
        &self.next
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.faults = cx.faults().clone();
        self.state.late = cx.metrics().counter(&format!("{}.late", self.meta.id()));
        Ok(())
    }

    fn items(&mut self, _: usize, items: &mut IntoIter<ItemOf<X, F, A, P>>, n: usize) {
        let mut left = n;
        while left > 0 && !self.failed {
            let (key, aggregate) = (&self.key, &self.aggregate);
            let lifted = |load, route: &_| P::lifted(load, |rest| aggregate.lift(key.peek(route, rest)));
            match add_run(&mut self.state.panes, items, left, key, aggregate, lifted) {
                Ok(taken) => left -= taken,
                Err(error) => return self.overflow(error),
            }
            if left > 0 {
                items.next().into_iter().for_each(|item| self.add(item));
                left -= 1;
            }
        }
    }

    fn part(&mut self, part: MergedOf<X, F, A>) -> Option<MergedOf<X, F, A>> {
        // A part is never late: its sender's watermark, and so the merged one, has not passed the pane.
        let (key, aggregate, panes) = (&self.key, &self.aggregate, &mut self.state.panes);
        let (merged, empty) = match part {
            Merged::Whole(span, mut table) => {
                let pane = panes.select(span, false);
                let merged = if pane.table.is_empty() {
                    std::mem::swap(&mut pane.table, &mut table);
                    Ok(())
                } else {
                    merge_whole(&mut pane.table, &mut table, key, aggregate)
                };
                table.clear();
                (merged, Merged::Whole(span, table))
            }
            Merged::Part(span, mut entries) => {
                let merged = merge_part(&mut panes.select(span, false).table, &mut entries, key, aggregate);
                entries.clear();
                (merged, Merged::Part(span, entries))
            }
        };
        if let Err(error) = merged {
            self.overflow(error);
        }
        Some(empty)
    }

    fn watermark(&mut self, w: Timestamp) {
        self.state.watermark = w;
    }

    fn fire(&mut self) -> Fire {
        let w = self.state.watermark;
        // A pane that is being given away is marked as fired, and is first.
        let keeps = self.lateness.allowed.0 != 0;
        while let Some(at) = self.state.panes.first(|p| p.span.due() <= w && !(keeps && p.fired)) {
            if self.fire_pane(at) == Fire::Paused {
                return Fire::Paused;
            }
        }
        self.forget();
        Fire::Done
    }

    fn snapshot(&mut self, group: usize, out: &mut Vec<u8>) -> Result<()> {
        let key = &self.key;
        super::saved::snapshot::<M, _, _>(&self.state.panes, group, out, |k| key.hash(k))
    }

    fn restore(&mut self, _: usize, bytes: &[u8]) -> Result<()> {
        let key = &self.key;
        super::saved::restore::<M, _, _>(&mut self.state.panes, bytes, |k| key.hash(k))
    }
}
