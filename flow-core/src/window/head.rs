//! The window operator: adds elements to panes, and fires panes that the watermark has passed. A pane is a window.

use super::base::{Base, FIRED_AT_ONCE, Item, ItemOf, MergedOf, PanesOf, Row};
use super::late::Policy;
use super::merging::Merged;
use super::panes::Panes;
use super::saved;
use super::spans::Open;
use super::spec::Assign;
use crate::aggregate::{Aggregate, Algebra};
use crate::checkpoint::Groups;
use crate::error::Result;
use crate::op::KeyFn;
use crate::stage::{Fire, Head, OpenCx, Push, Stamp, Tail};
use crate::state::shape::Kind as Shape;
use crate::state::{Keep, Mode, schema_of};
use crate::time::Timestamp;
use std::vec::IntoIter;

/// The head of a window's stage.
pub struct WindowHead<X, F: KeyFn<X>, W, A: Aggregate<F::Value>, P, S, N, M: Mode> {
    base: Base<X, F, A, P, S, N>,
    assign: W,
    panes: PanesOf<X, F, A, M>,
    /// How many entries of the pane being fired have left; only where panes stay after firing.
    fired: usize,
}

impl<X, F: KeyFn<X>, W, A: Aggregate<F::Value>, P, S, N, M: Mode> WindowHead<X, F, W, A, P, S, N, M> {
    pub fn new(base: Base<X, F, A, P, S, N>, assign: W) -> Self {
        WindowHead { base, assign, panes: Panes::default(), fired: 0 }
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
    M: Mode,
{
    /// Takes one item for any pane, or none.
    #[inline(never)]
    fn add(&mut self, item: ItemOf<X, F, A, P>) {
        let Item { hash, time, route, load } = item;
        // An open pane is not late: it is removed as soon as no element can join it.
        if !self.panes.finds(time) {
            let span = self.assign.span(time);
            if let Some(by) = self.base.late_by(span) {
                return self.base.late(time, route, load, by);
            }
            self.panes.select(span, span.is_passed(self.base.watermark));
        }
        let x = self.base.lifted(load, &route, time);
        self.add_to_current(hash, &route, x);
    }

    /// Takes one item for each of its windows, of which each has a pane.
    #[inline(never)]
    fn add_to_each(&mut self, item: ItemOf<X, F, A, P>) {
        let Item { hash, time, route, load } = item;
        let windows = self.assign.windows(time);
        // In no window, so not late either.
        let Some(last) = windows.clone().last() else { return };
        if let Some(by) = self.base.late_by(last) {
            return self.base.late(time, route, load, by);
        }
        let x = self.base.lifted(load, &route, time);
        for span in windows {
            if self.base.late_by(span).is_none() {
                self.panes.select(span, span.is_passed(self.base.watermark));
                self.add_to_current(hash, &route, x.clone());
            }
        }
    }

    #[inline(always)]
    fn add_to_current(&mut self, hash: u64, route: &F::Route, x: A::In) {
        let Some(open) = self.panes.spans.current() else { return };
        let Some(table) = self.panes.table(open.slot) else { return };
        let (key, aggregate) = (&self.base.key, &self.base.aggregate);
        let insert = || (key.key(route), aggregate.start());
        let (k, acc) = table.entry(hash, |k| key.is(route, k), insert, &|k| key.hash(k));
        let added = aggregate.add(acc, x);
        if open.fired && added.is_ok() {
            let (k, value) = (k.clone(), aggregate.result(acc));
            self.base.emit(open.span, k, value);
        }
        if let Err(error) = added {
            self.base.overflow(error);
        }
    }

    /// Merges a part into a pane that has fired, and shows the updated results.
    #[cold]
    #[inline(never)]
    fn update(&mut self, open: Open, part: MergedOf<X, F, A>) {
        let mut entries = self.base.entries(part).into_iter();
        let merged = entries.try_for_each(|(hash, k, acc)| {
            let Some(table) = self.panes.table(open.slot) else { return Ok(()) };
            let (key, aggregate) = (&self.base.key, &self.base.aggregate);
            let start = || (k.clone(), aggregate.start());
            let (k, sum) = table.entry(hash, |other| key.same(other, &k), start, &|k| key.hash(k));
            A::Algebra::merge(aggregate, sum, acc)?;
            let (k, value) = (k.clone(), aggregate.result(sum));
            self.base.emit(open.span, k, value);
            Ok(())
        });
        if let Err(error) = merged {
            self.base.overflow(error);
        }
    }

    /// Emits the pane at place `at`, from where the last call stopped.
    fn fire_pane(&mut self, at: usize, open: Open) -> Fire {
        if self.base.keeps() { self.fire_and_keep(at, open) } else { self.fire_and_forget(at, open) }
    }

    /// Nothing can join the pane any more: its entries are given away, the first first.
    fn fire_and_forget(&mut self, at: usize, open: Open) -> Fire {
        loop {
            if !self.base.next.room() {
                return Fire::Paused;
            }
            self.panes.spans.set_fired(at);
            let Some(table) = self.panes.table(open.slot) else { return Fire::Done };
            for _ in 0..FIRED_AT_ONCE {
                let Some((key, acc)) = table.pop() else {
                    self.panes.forget(at);
                    return Fire::Done;
                };
                let value = self.base.aggregate.take_result(acc);
                self.base.emit(open.span, key, value);
            }
        }
    }

    /// Elements may still join the pane.
    fn fire_and_keep(&mut self, at: usize, open: Open) -> Fire {
        loop {
            if !self.base.next.room() {
                return Fire::Paused;
            }
            let Some(table) = self.panes.table(open.slot) else { return Fire::Done };
            if self.fired == 0 {
                table.settle();
            }
            for _ in 0..FIRED_AT_ONCE {
                let (key, value) = if let Some((key, acc)) = table.at(self.fired) {
                    self.fired += 1;
                    (key.clone(), self.base.aggregate.result(acc))
                } else if let Some((key, acc)) = table.show() {
                    (key, self.base.aggregate.take_result(acc))
                } else {
                    self.panes.spans.set_fired(at);
                    self.fired = 0;
                    return Fire::Done;
                };
                self.base.emit(open.span, key, value);
            }
        }
    }

    /// Forgets the panes that no element can join any more.
    fn forget(&mut self) {
        let (watermark, lateness) = (self.base.watermark, self.base.lateness.allowed);
        while let Some(at) = self.panes.spans.forgettable(watermark, lateness) {
            self.panes.forget(at);
        }
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
    M: Mode,
{
    type Part = MergedOf<X, F, A>;

    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.base.next
    }

    fn tail_ref(&self) -> &dyn Tail {
        &self.base.next
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.base.open_with(cx);
        let key = self.base.key.clone();
        self.panes.spill(self.base.space(cx)?, move |k| key.hash(k))
    }

    fn spills(&self) -> bool {
        true
    }

    fn items(&mut self, _: usize, items: &mut IntoIter<ItemOf<X, F, A, P>>, n: usize) {
        let mut left = n;
        while left > 0 && !self.base.failed {
            if !W::SEVERAL {
                left -= self.base.add_run(&mut self.panes, items, left);
            }
            if left > 0
                && !self.base.failed
                && let Some(item) = items.next()
            {
                if W::SEVERAL {
                    self.add_to_each(item)
                } else {
                    self.add(item)
                }
                left -= 1;
            }
        }
    }

    fn part(&mut self, part: MergedOf<X, F, A>) -> Option<MergedOf<X, F, A>> {
        // A part is never late: its sender's watermark, and so the merged one, has not passed the pane. But a pane that was
        // restored may have fired in an earlier run.
        let (Merged::Whole(span, _) | Merged::Part(span, _)) = &part;
        self.panes.select(*span, false);
        if let Some(open) = self.panes.spans.current().filter(|open| open.fired) {
            self.update(open, part);
            return None;
        }
        Some(self.base.merge(&mut self.panes, part))
    }

    fn watermark(&mut self, w: Timestamp) {
        self.base.watermark = w;
    }

    fn due(&self) -> Option<i128> {
        self.panes.spans.iter().next().map(|open| open.span.end - 1)
    }

    fn fire(&mut self) -> Fire {
        let w = self.base.watermark;
        // A pane that is being given away is marked as fired, and is first.
        let keeps = self.base.keeps();
        while let Some((at, open)) = self.panes.spans.due(w, keeps) {
            if self.fire_pane(at, open) == Fire::Paused {
                return Fire::Paused;
            }
        }
        self.forget();
        Fire::Done
    }

    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        let key = self.base.key.clone();
        saved::begin_save(&mut self.panes, out, move |k| key.hash(k))
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        saved::save_more(&mut self.panes, left)
    }

    fn schema(&self) -> Result<String> {
        Ok(Shape::Windows.in_windows(&self.assign.describe(), schema_of::<F::Key, A::Acc, M>()?))
    }

    fn restore(&mut self, _: usize, bytes: &[u8]) -> Result<()> {
        let key = &self.base.key;
        saved::restore(&mut self.panes, bytes, |k| key.hash(k), |_| Ok(()))
    }
}
