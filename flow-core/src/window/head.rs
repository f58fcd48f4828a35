//! The window operator: adds elements to panes, and fires panes that the watermark has passed.

use super::late::{Late, Lateness, Policy};
use super::merging::Merged;
use super::panes::Panes;
use super::run::{add_run, entries, merge_part};
use super::spans::Open;
use super::spec::{Assign, Span, Windowed};
use crate::aggregate::{Aggregate, Algebra, Overflow};
use crate::error::{Error, ErrorKind, Result};
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
const FIRED_AT_ONCE: usize = 256;

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
        let panes = &mut self.state.panes;
        if !panes.finds(time) {
            let span = self.assign.span(time);
            if let Some(by) = span.late_by(self.state.watermark, self.lateness.allowed) {
                return self.late(time, route, load, by);
            }
            let passed = span.is_passed(self.state.watermark);
            panes.select(span, passed);
        }
        let Some(open) = panes.spans.current() else { return };
        let Some(table) = panes.table(open.slot) else { return };
        let (key, aggregate) = (&self.key, &self.aggregate);
        let x = P::lifted(load, |rest| aggregate.lift(key.peek(&route, rest)));
        let insert = || (key.key(&route), aggregate.start());
        let (k, acc) = table.entry(hash, |k| key.is(&route, k), insert, &|k| key.hash(k));
        let added = aggregate.add(acc, x);
        if open.fired && added.is_ok() {
            let row = row(open.span, k.clone(), aggregate.result(acc));
            emit::<_, _, P, _, S, _>(&mut self.next, row, open.span);
        }
        if let Err(error) = added {
            self.overflow(error);
        }
    }

    /// Merges a part into a pane that has fired, and shows the updated results.
    #[cold]
    #[inline(never)]
    fn update(&mut self, open: Open, part: MergedOf<X, F, A>) {
        let (key, aggregate) = (&self.key, &self.aggregate);
        let entries = match part {
            Merged::Whole(_, mut table) => entries(&mut table, |k| key.hash(k)),
            Merged::Part(_, entries) => entries,
        };
        let merged = entries.into_iter().try_for_each(|(hash, k, acc)| {
            let Some(table) = self.state.panes.table(open.slot) else { return Ok(()) };
            let start = || (k.clone(), aggregate.start());
            let (k, sum) = table.entry(hash, |other| key.same(other, &k), start, &|k| key.hash(k));
            A::Algebra::merge(aggregate, sum, acc)?;
            let row = row(open.span, k.clone(), aggregate.result(sum));
            emit::<_, _, P, _, S, _>(&mut self.next, row, open.span);
            Ok(())
        });
        if let Err(error) = merged {
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
            raise_late(&self.faults, &self.meta, time, late_by);
        } else if let Some(rest) = P::rest::<Lift<X, F, A>, F::Rest>(load) {
            let (_, value) = self.key.unite(route, rest);
            if let Some(late) = P::late(Late { value, timestamp: time, late_by }) {
                self.next.push(late, S::of(time));
            }
        }
    }

    /// Emits the pane at place `at`, from where the last call stopped.
    fn fire_pane(&mut self, at: usize, open: Open) -> Fire {
        if self.lateness.allowed.0 == 0 {
            self.fire_and_forget(at, open)
        } else {
            self.fire_and_keep(at, open)
        }
    }

    /// Nothing can join the pane any more: its entries are given away, the first first.
    fn fire_and_forget(&mut self, at: usize, open: Open) -> Fire {
        loop {
            if !self.next.room() {
                return Fire::Paused;
            }
            self.state.panes.spans.set_fired(at);
            let Some(table) = self.state.panes.table(open.slot) else { return Fire::Done };
            for _ in 0..FIRED_AT_ONCE {
                let Some((key, acc)) = table.pop() else {
                    self.state.panes.forget(at);
                    return Fire::Done;
                };
                let row = row(open.span, key, self.aggregate.take_result(acc));
                emit::<_, _, P, _, S, _>(&mut self.next, row, open.span);
            }
        }
    }

    /// Elements may still join the pane.
    fn fire_and_keep(&mut self, at: usize, open: Open) -> Fire {
        loop {
            if !self.next.room() {
                return Fire::Paused;
            }
            let Some(table) = self.state.panes.table(open.slot) else { return Fire::Done };
            for _ in 0..FIRED_AT_ONCE {
                let Some((key, acc)) = table.at(self.state.fired) else {
                    self.state.panes.spans.set_fired(at);
                    self.state.fired = 0;
                    return Fire::Done;
                };
                self.state.fired += 1;
                let row = row(open.span, key.clone(), self.aggregate.result(acc));
                emit::<_, _, P, _, S, _>(&mut self.next, row, open.span);
            }
        }
    }

    /// Forgets the panes that no element can join any more.
    fn forget(&mut self) {
        let State { panes, watermark, .. } = &mut self.state;
        while let Some(at) = panes.spans.forgettable(*watermark, self.lateness.allowed) {
            panes.forget(at);
        }
    }
}

/// Raises the error of an element that is late where none may be.
fn raise_late(faults: &Faults, meta: &Meta, time: Timestamp, late_by: Millis) {
    let what = format!("an element at {time} came {late_by} too late for its window");
    let error = Error::new(ErrorKind::Late, what).in_stage(meta.id()).at(meta.at());
    faults.raise(error.note("allow more disorder or lateness, or say `late = drop` or `late = side`"));
}

fn row<K, V>(span: Span, key: K, value: Option<V>) -> Option<Windowed<K, V>> {
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
            match add_run::<X, F, A, P>(&mut self.state.panes, items, left, key, aggregate) {
                Ok(taken) => left -= taken,
                Err(error) => return self.overflow(error),
            }
            if left > 0
                && let Some(item) = items.next()
            {
                self.add(item);
                left -= 1;
            }
        }
    }

    fn part(&mut self, mut part: MergedOf<X, F, A>) -> Option<MergedOf<X, F, A>> {
        let (key, aggregate, panes) = (&self.key, &self.aggregate, &mut self.state.panes);
        let (Merged::Whole(span, _) | Merged::Part(span, _)) = &part;
        panes.select(*span, false);
        let open = panes.spans.current()?;
        // A part is never late: its sender's watermark, and so the merged one, has not passed the pane. But a pane that was
        // restored may have fired in an earlier run.
        if open.fired {
            self.update(open, part);
            return None;
        }
        let home = panes.table(open.slot)?;
        let merged = match &mut part {
            Merged::Whole(_, table) if home.is_empty() => {
                std::mem::swap(home, table);
                Ok(())
            }
            Merged::Whole(_, table) => {
                let merged = merge_part(home, &mut entries(table, |k| key.hash(k)), key, aggregate);
                table.clear();
                merged
            }
            Merged::Part(_, entries) => merge_part(home, entries, key, aggregate),
        };
        if let Err(error) = merged {
            self.overflow(error);
        }
        Some(part)
    }

    fn watermark(&mut self, w: Timestamp) {
        self.state.watermark = w;
    }

    fn fire(&mut self) -> Fire {
        let w = self.state.watermark;
        // A pane that is being given away is marked as fired, and is first.
        let keeps = self.lateness.allowed.0 != 0;
        while let Some((at, open)) = self.state.panes.spans.due(w, keeps) {
            if self.fire_pane(at, open) == Fire::Paused {
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
