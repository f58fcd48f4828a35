//! The operator of sliding windows over slices: adds elements to slices, and fires windows that the watermark has passed.

use super::composed::Composed;
use super::running::{Inside, Joined, Running};
use super::slices::Slices;
use crate::aggregate::{Aggregate, Algebra, Overflow};
use crate::checkpoint::Groups;
use crate::checkpoint::records::Part;
use crate::error::{Error, ErrorKind, Result};
use crate::op::{KeyFn, KeyTypes};
use crate::stage::{Fire, Head, OpenCx, Push, Stamp, Tail};
use crate::state::shape::Kind as Shape;
use crate::state::{Keep, Mode, Only, schema_of};
use crate::time::{Millis, Timestamp};
use crate::window::base::{Accu, Base, FIRED_AT_ONCE, Item, ItemOf, MergedOf, PanesOf, Row};
use crate::window::late::Policy;
use crate::window::merging::Merged;
use crate::window::panes::Panes;
use crate::window::saved;
use crate::window::spec::{Span, saturate};
use std::vec::IntoIter;

/// The head of a sliding window's stage. A pane is a slice; one that is marked as fired has entered `running`, or has missed it.
pub struct SlidingHead<X, F: KeyFn<X>, A: Aggregate<F::Value>, P, S, N, M: Mode, R> {
    pub(super) base: Base<X, F, A, P, S, N>,
    pub(super) slices: Slices,
    pub(super) panes: PanesOf<X, F, A, M>,
    /// What the slices that begin from `low` on and before `high` come to.
    running: R,
    low: i128,
    high: i128,
    /// The beginning of the first window that the watermark has not passed; while firing, of the first that has not fired.
    pub(super) next: i128,
    /// The window that is being given out, and how many entries of `running` have been looked at.
    firing: Option<Span>,
    given: usize,
    /// The same of one that is not in memory; then `running` has nothing.
    composed: ComposedOf<X, F, A, M>,
}

/// What a pipeline of mode `M` has of [`Composed`].
type ComposedOf<X, F, A, M> = <M as Mode>::Only<Composed<<F as KeyTypes<X>>::Key, Accu<X, F, A>>>;

impl<X, F, A, P, S, N, M, R> SlidingHead<X, F, A, P, S, N, M, R>
where
    X: 'static,
    F: KeyFn<X>,
    A: Aggregate<F::Value>,
    P: Policy<Row<X, F, A>, F::Value>,
    S: Stamp,
    N: Push<P::Emit, S>,
    M: Mode,
    R: Running<X, F, A, M>,
{
    pub fn new(base: Base<X, F, A, P, S, N>, slices: Slices, running: R) -> Self {
        let (panes, never) = (Panes::default(), i128::MIN);
        let (firing, given) = (None, 0);
        let (low, high, next, composed) = (never, never, never, Default::default());
        SlidingHead { base, slices, panes, running, low, high, next, firing, given, composed }
    }

    /// Takes one item for any slice, or none.
    #[inline(never)]
    fn add(&mut self, item: ItemOf<X, F, A, P>) {
        let Item { hash, time, route, load } = item;
        // An open slice is not late: it is removed as soon as no element can join its last window.
        if !self.panes.finds(time) {
            let slice = self.slices.of(time);
            // In a gap it is in no window, so not late either.
            let Some((first, last)) = self.slices.windows_of(&slice) else { return };
            if let Some(by) = self.base.late_by(self.slices.window(last)) {
                return self.base.late(time, route, load, by);
            }
            self.panes.select(slice, first < self.next);
        }
        let x = self.base.lifted(load, &route, time);
        let Some(open) = self.panes.spans.current() else { return };
        let Some(table) = self.panes.table(open.slot) else { return };
        let again = open.fired.then(|| x.clone());
        let (key, aggregate, before) = (&self.base.key, &self.base.aggregate, table.len());
        let insert = || (key.key(&route), aggregate.start());
        let (k, acc) = table.entry(hash, |k| key.is(&route, k), insert, &|k| key.hash(k));
        let added = aggregate.add(acc, x);
        let joined = match (added, again) {
            (Ok(()), Some(lifted)) => {
                let (k, slice) = (k.clone(), open.span);
                let new = table.len() > before;
                self.join(slice, Joined { slice: slice.start, hash, key: &k, new, lifted })
            }
            (added, _) => added,
        };
        self.check(joined);
    }

    /// An element has joined a slice of which a window has fired.
    fn join(&mut self, slice: Span, joined: Joined<'_, F::Key, A::In>) -> Result<(), Overflow> {
        let (hash, key) = (joined.hash, joined.key);
        self.keep_running();
        if (self.low..self.high).contains(&slice.start) {
            let Base { key, aggregate, .. } = &self.base;
            let inside = Inside { key, aggregate, panes: &self.panes, low: self.low, high: self.high };
            self.running.join(joined, &inside)?;
        }
        if self.base.keeps() { self.fire_again(&slice, hash, key) } else { Ok(()) }
    }

    /// Merges a part into a slice of which windows have fired, and shows the updated results. It is not in `running`, which
    /// has only what the watermark has passed in this run.
    #[cold]
    #[inline(never)]
    fn update(&mut self, slice: Span, part: MergedOf<X, F, A>) {
        let mut entries = self.base.entries(part).into_iter();
        let merged = entries.try_for_each(|(hash, k, acc)| {
            let (key, aggregate) = (&self.base.key, &self.base.aggregate);
            let start = || (k.clone(), aggregate.start());
            let table = self.panes.select(slice, true);
            let (_, sum) = table.entry(hash, |other| key.same(other, &k), start, &|k| key.hash(k));
            A::Algebra::merge(aggregate, sum, acc)?;
            if self.base.keeps() { self.fire_again(&slice, hash, &k) } else { Ok(()) }
        });
        self.check(merged);
    }

    /// Counts what a part is made of where all its windows fired in an earlier run; by its entries, for nothing knows its elements.
    #[cold]
    #[inline(never)]
    fn late_part(&mut self, slice: &Span, part: MergedOf<X, F, A>, by: i128) {
        let entries = self.base.entries(part).len() as u64;
        self.base.count_late(entries, saturate(slice.start), by);
    }

    fn check(&mut self, done: Result<(), Overflow>) {
        if let Err(error) = done {
            self.base.overflow(error);
        }
    }

    /// The first window that is due and not empty; what lies before it is skipped at once, however long it is.
    fn next_due(&self) -> Option<Span> {
        let start = self.next_start()?;
        (start < self.slices.first_open(self.base.watermark, Millis(0))).then(|| self.slices.window(start))
    }

    /// The beginning of the first window that is not empty and has not fired.
    fn next_start(&self) -> Option<i128> {
        let (slice, _) = self.panes.within(self.next, i128::MAX).next()?;
        let (first, _) = self.slices.windows_of(&slice.span)?;
        Some(first.max(self.next))
    }

    /// What runs looks at its slices: once they have left the memory it is of no use. It is made again of those of a later window.
    #[inline(always)]
    fn keep_running(&mut self) {
        if self.panes.scattered_within(self.low, self.high) {
            self.running.clear();
            self.high = self.low;
        }
    }

    /// Where slices of `window` are not in memory: it is composed as they are read. Whether it is.
    #[inline(always)]
    fn compose(&mut self, window: Span) -> bool {
        let Some(composed) = self.composed.get() else { return false };
        if !self.panes.scattered_within(window.start, window.end) {
            return false;
        }
        let slots: Vec<usize> =
            self.panes.spans.within(window.start, window.end).map(|open| open.slot).collect();
        for slot in &slots {
            if let Some(slice) = self.panes.table(*slot) {
                slice.leave();
            }
        }
        composed.begin(slots);
        self.running.clear();
        (self.low, self.high, self.next) = (window.start, window.start, window.start);
        self.panes.fire_within(window.start, window.end);
        true
    }

    /// The slices of `window` enter that have not yet.
    fn enter(&mut self, window: Span) -> Result<(), Overflow> {
        if self.compose(window) {
            return Ok(());
        }
        self.leave(window.start)?;
        let Base { key, aggregate, .. } = &self.base;
        for (_, slice) in self.panes.within(self.high, window.end) {
            self.running.enter(slice, key, aggregate)?;
        }
        self.panes.fire_within(self.high, window.end);
        self.high = window.end;
        Ok(())
    }

    /// No window before `start` is to fire any more: the slices leave that are in none of the others.
    fn leave(&mut self, start: i128) -> Result<(), Overflow> {
        self.next = start;
        self.keep_running();
        if start >= self.high {
            self.running.clear();
            self.high = start;
        } else {
            let Base { key, aggregate, .. } = &self.base;
            let (panes, high) = (&self.panes, self.high);
            for (open, slice) in panes.within(self.low, start) {
                let inside = Inside { key, aggregate, panes, low: open.span.start, high };
                self.running.leave(slice, &inside)?;
            }
        }
        self.low = start;
        Ok(())
    }

    /// Emits what `running` has of `window`, from where the last call stopped.
    fn give(&mut self, window: Span) -> Fire {
        loop {
            if !self.base.next.room() {
                return Fire::Paused;
            }
            if let Some(parts) = self.composed.get().and_then(Composed::parts) {
                for _ in 0..FIRED_AT_ONCE {
                    match parts.next::<X, F, A, M>(&self.panes, &self.base.key, &self.base.aggregate) {
                        Ok(Some((k, acc))) => {
                            let value = self.base.aggregate.take_result(acc);
                            self.base.emit(window, k, value);
                        }
                        done => {
                            self.composed.get().into_iter().for_each(Composed::end);
                            self.check(done.map(drop));
                            return Fire::Done;
                        }
                    }
                }
                continue;
            }
            for _ in 0..FIRED_AT_ONCE {
                let Base { key, aggregate, .. } = &self.base;
                let inside = Inside { key, aggregate, panes: &self.panes, low: self.low, high: self.high };
                match self.running.shown(self.given, &inside) {
                    Some(Ok(Some((k, value)))) => self.base.emit(window, k.clone(), value),
                    Some(Ok(None)) => {}
                    done => {
                        self.check(done.map_or(Ok(()), |shown| shown.map(drop)));
                        self.given = 0;
                        return Fire::Done;
                    }
                }
                self.given += 1;
            }
        }
    }

    /// Forgets the slices that no element can join any more.
    fn forget(&mut self) {
        let is_over = |slice: &Span| match self.slices.windows_of(slice) {
            Some((_, last)) => self.base.late_by(self.slices.window(last)).is_some(),
            None => true,
        };
        while self.panes.spans.iter().next().is_some_and(|open| is_over(&open.span)) {
            self.panes.forget(0);
        }
    }
}

impl<X, F, A, P, S, N, M, R> Head<ItemOf<X, F, A, P>> for SlidingHead<X, F, A, P, S, N, M, R>
where
    X: 'static,
    F: KeyFn<X, Key: Keep<M>>,
    A: Aggregate<F::Value, Acc: Keep<M>>,
    P: Policy<Row<X, F, A>, F::Value>,
    S: Stamp,
    N: Push<P::Emit, S>,
    M: Mode,
    R: Running<X, F, A, M>,
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
        let (key, mut space) = (self.base.key.clone(), self.base.space(cx)?);
        // What runs takes as much again.
        space.iter_mut().for_each(|space| space.share /= 2);
        self.panes.spill(space, move |k| key.hash(k))
    }

    fn spills(&self) -> bool {
        true
    }

    fn items(&mut self, _: usize, items: &mut IntoIter<ItemOf<X, F, A, P>>, n: usize) {
        let mut left = n;
        while left > 0 && !self.base.failed {
            left -= self.base.add_run(&mut self.panes, items, left);
            if left > 0
                && !self.base.failed
                && let Some(item) = items.next()
            {
                self.add(item);
                left -= 1;
            }
        }
    }

    fn part(&mut self, part: MergedOf<X, F, A>) -> Option<MergedOf<X, F, A>> {
        let (Merged::Whole(slice, _) | Merged::Part(slice, _)) = &part;
        let slice = *slice;
        // What lies in a gap is dropped here, with the part.
        let (first, last) = self.slices.windows_of(&slice)?;
        // A part is never late in this run: its sender's watermark, and so the merged one, has not passed the slice. But after
        // a restore windows of the slice may have fired in an earlier run, or all of them.
        if first < self.next {
            match self.base.late_by(self.slices.window(last)) {
                Some(by) => self.late_part(&slice, part, by),
                None => self.update(slice, part),
            }
            return None;
        }
        Some(self.base.merge(&mut self.panes, part))
    }

    fn watermark(&mut self, w: Timestamp) {
        // After a restore the first ones may lie behind those of the earlier run.
        self.base.watermark = self.base.watermark.max(w);
        // … and where nothing is restored no element opens a window that had fired in that run.
        if self.panes.entries() == 0 {
            self.next = self.next.max(self.slices.first_open(w, Millis(0)));
        }
    }

    fn due(&self) -> Option<i128> {
        self.next_start().map(|start| self.slices.window(start).end - 1)
    }

    fn fire(&mut self) -> Fire {
        while let Some(window) = self.firing.or_else(|| self.next_due()) {
            if self.firing.replace(window).is_none() {
                let entered = self.enter(window);
                self.check(entered);
            }
            if self.base.failed {
                return Fire::Done;
            }
            if self.give(window) == Fire::Paused {
                return Fire::Paused;
            }
            self.firing = None;
            let left = self.leave(window.start + i128::from(self.slices.slide.0));
            self.check(left);
        }
        let left = self.leave(self.slices.first_open(self.base.watermark, Millis(0)).max(self.next));
        self.check(left);
        self.forget();
        Fire::Done
    }

    /// Beside the panes, which are slices: the beginning of the first window that has not fired, as a little-endian `i128`. `running` is
    /// made of them again.
    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        let key = self.base.key.clone();
        saved::begin_save(&mut self.panes, out, move |k| key.hash(k))?;
        if self.next > i128::MIN {
            out.put_everywhere(&out.section(Part::Head, &[], &[]), &[], &self.next.to_le_bytes());
        }
        Ok(())
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        saved::save_more(&mut self.panes, left)
    }

    fn schema(&self) -> Result<String> {
        let Slices { size, slide, offset } = self.slices;
        let windows = format!("sliding({size}, {slide}, offset = {offset})");
        Ok(Shape::SlidingWindows.in_windows(&windows, schema_of::<F::Key, A::Acc, M>()?))
    }

    fn restore(&mut self, _: usize, bytes: &[u8]) -> Result<()> {
        let (key, mut next) = (&self.base.key, self.next);
        saved::restore(
            &mut self.panes,
            bytes,
            |k| key.hash(k),
            |mut bytes| {
                next = next.max(i128::from_le_bytes(saved::take(&mut bytes)?));
                Ok(())
            },
        )?;
        self.next = next;
        // As far as the watermark had surely come: what is late for all windows before `next` is counted, not lost.
        let last = self.slices.window(self.next.saturating_sub(self.slices.slide.0.into()));
        self.base.watermark = self.base.watermark.max(saturate(last.end - 1));
        if self.panes.spans.iter().all(|open| self.slices.windows_of(&open.span).is_some()) {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::State, "the state is of windows of another size, slide or offset"))
        }
    }
}
