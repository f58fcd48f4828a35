//! What all window operators have: the user's closures, how far time is, late elements, results.

use super::late::{Late, Lateness, Policy, too_late};
use super::merging::Merged;
use super::panes::Panes;
use super::run::{add_run, entries, merge_part};
use super::spec::{Span, Windowed};
use crate::aggregate::{Aggregate, Overflow};
use crate::error::Result;
use crate::metrics::Counter;
use crate::op::operator::operator_error;
use crate::op::{KeyFn, KeyTypes};
use crate::stage::{Faults, Meta, OpenCx, Push, Stamp};
use crate::state::{Mode, Space};
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
pub type PanesOf<X, F, A, M> = Panes<<F as KeyTypes<X>>::Key, Accu<X, F, A>, M>;

/// Entries fired between two looks at the room downstream.
pub const FIRED_AT_ONCE: usize = 256;

/// A window operator without its panes; what lies behind it is `next`.
pub struct Base<X, F, A, P, S, N> {
    pub key: F,
    pub aggregate: A,
    pub lateness: Lateness<P>,
    pub next: N,
    pub watermark: Timestamp,
    pub failed: bool,
    meta: Meta,
    late: Counter,
    faults: Faults,
    types: PhantomData<fn(X, S)>,
}

impl<X, F, A, P, S, N> Base<X, F, A, P, S, N> {
    pub fn new(key: F, aggregate: A, lateness: Lateness<P>, next: N, meta: Meta) -> Self {
        let (watermark, late, faults) = (Timestamp::MIN, Counter::default(), Faults::default());
        Base {
            key,
            aggregate,
            lateness,
            next,
            watermark,
            failed: false,
            meta,
            late,
            faults,
            types: PhantomData,
        }
    }

    pub fn open(&mut self, cx: &OpenCx) {
        self.faults = cx.faults().clone();
        self.late = cx.metrics().counter(&format!("{}.late", self.meta.id()));
    }

    /// The same, with what the aggregate asks for.
    pub fn open_with<T>(&mut self, cx: &OpenCx)
    where
        A: Aggregate<T>,
    {
        self.open(cx);
        self.aggregate.open(cx, &self.meta);
    }

    /// See [`OpenCx::space`].
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn space(&self, cx: &OpenCx) -> Result<Option<Space>> {
        cx.space(&self.meta)
    }

    /// Whether windows that have fired take elements, and so are kept.
    pub fn keeps(&self) -> bool {
        self.lateness.allowed.0 != 0
    }

    /// Whether an element comes too late for a window, and by how much.
    pub fn late_by(&self, window: Span) -> Option<i128> {
        window.late_by(self.watermark, self.lateness.allowed)
    }

    #[cold]
    #[inline(never)]
    pub fn overflow(&mut self, error: Overflow) {
        self.failed = true;
        self.faults.raise(operator_error(&self.meta, &error.into()));
    }
}

impl<X, F, A, P, S, N> Base<X, F, A, P, S, N>
where
    X: 'static,
    F: KeyFn<X>,
    A: Aggregate<F::Value>,
    P: Policy<Row<X, F, A>, F::Value>,
    S: Stamp,
    N: Push<P::Emit, S>,
{
    /// What the aggregate adds of what an item carries.
    #[inline(always)]
    pub fn lifted(&self, load: Load<X, F, A, P>, route: &F::Route, time: Timestamp) -> A::In {
        P::lifted(load, |rest| self.aggregate.lift_at(self.key.peek(route, rest), time))
    }

    /// See [`add_run`].
    pub fn add_run<M: Mode>(
        &mut self,
        panes: &mut PanesOf<X, F, A, M>,
        items: &mut IntoIter<ItemOf<X, F, A, P>>,
        n: usize,
    ) -> usize {
        add_run::<X, F, A, P, M>(panes, items, n, &self.key, &self.aggregate).unwrap_or_else(|error| {
            self.overflow(error);
            0
        })
    }

    /// Takes what a sender has merged, for a pane that has not fired; gives it back emptied.
    pub fn merge<M: Mode>(
        &mut self,
        panes: &mut PanesOf<X, F, A, M>,
        mut part: MergedOf<X, F, A>,
    ) -> MergedOf<X, F, A> {
        let (key, aggregate) = (&self.key, &self.aggregate);
        let (Merged::Whole(span, _) | Merged::Part(span, _)) = &part;
        let home = panes.select(*span, false);
        let merged = match &mut part {
            Merged::Whole(_, table) if home.is_empty() => {
                home.adopt(table);
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
        part
    }

    /// The entries of what a sender has merged, with the hashes of their keys.
    pub fn entries(&self, part: MergedOf<X, F, A>) -> Vec<(u64, F::Key, A::Acc)> {
        match part {
            Merged::Whole(_, mut table) => entries(&mut table, |k| self.key.hash(k)),
            Merged::Part(_, entries) => entries,
        }
    }

    /// Emits the result of a window, if there is one.
    #[inline(always)]
    pub fn emit(&mut self, span: Span, key: F::Key, value: Option<A::Out>) {
        if let Some(row) = row(span, key, value) {
            self.next.push(P::result(row), S::of(span.due()));
        }
    }

    /// Counts late elements, which may be an error. Returns how late they are.
    #[cold]
    #[inline(never)]
    pub fn count_late(&mut self, n: u64, time: Timestamp, by: i128) -> Millis {
        self.late.add(n);
        let late_by = Millis(i64::try_from(by).unwrap_or(i64::MAX));
        if P::FAILS {
            self.failed = true;
            self.faults.raise(too_late(&self.meta, time, late_by));
        }
        late_by
    }

    /// Counts a late element, and does with it what the policy says.
    #[cold]
    #[inline(never)]
    pub fn late(&mut self, time: Timestamp, route: F::Route, load: Load<X, F, A, P>, by: i128) {
        let late_by = self.count_late(1, time, by);
        if !P::FAILS
            && let Some(rest) = P::rest::<Lift<X, F, A>, F::Rest>(load)
        {
            let (_, value) = self.key.unite(route, rest);
            if let Some(late) = P::late(Late { value, timestamp: time, late_by }) {
                self.next.push(late, S::of(time));
            }
        }
    }
}

/// The row of a window, if there is a result.
pub fn row<K, V>(span: Span, key: K, value: Option<V>) -> Option<Windowed<K, V>> {
    let (start, end) = span.shown();
    value.map(|value| Windowed { key, start, end, value })
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
