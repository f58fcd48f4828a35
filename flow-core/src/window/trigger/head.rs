//! The operator: an element joins its windows, and a window fires when a condition of its trigger holds, and at its end.

use super::chain::TriggerItem;
use super::open::{NEVER, Now, Open, find, is_passed, joined};
use super::places::Places;
use super::saved::{begin_save, form, restore};
use super::spec::Rules;
use crate::aggregate::{Aggregate, Algebra, Overflow};
use crate::checkpoint::Groups;
use crate::error::Result;
use crate::op::KeyFn;
use crate::stage::{Fire, Head, OpenCx, Push, Stamp, Tail};
use crate::state::shape::Kind as Shape;
use crate::state::{Keep, Mode, schema_of};
use crate::time::{Clock, Timestamp, VirtualClock};
use crate::window::base::{Base, FIRED_AT_ONCE, Item, Row, row};
use crate::window::late::Policy;
use crate::window::session::{Entry, Keys, Queue, is_due};
use crate::window::spec::{Span, saturate};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::vec::IntoIter;

/// The head of the stage of windows with a trigger.
pub struct TriggerHead<X, F: KeyFn<X>, W, A: Aggregate<F::Value>, P, S, N, M: Mode> {
    base: Base<X, F, A, P, S, N>,
    places: W,
    rules: Rules,
    state: State<F::Key, A::Acc, M>,
    clock: Arc<dyn Clock>,
    /// The time of the clock when it was last looked at.
    now: Timestamp,
}

/// What the operator keeps.
pub struct State<K, A, M: Mode> {
    pub keys: Keys<K, Open<A>, M>,
    /// By watermark,
    pub queue: Queue<i128>,
    /// … and by the clock. An entry says where its window began when it was queued.
    pub clocked: Queue<i128>,
    /// How many windows have been opened.
    pub opened: u64,
    /// The highest watermark that there has been, but for the end.
    pub reached: Timestamp,
    /// What the last checkpoint says of that.
    pub saved: Timestamp,
}

impl<X, F: KeyFn<X>, W, A: Aggregate<F::Value>, P, S, N, M: Mode> TriggerHead<X, F, W, A, P, S, N, M> {
    pub fn new(base: Base<X, F, A, P, S, N>, places: W, rules: Rules) -> Self {
        let (keys, queue, clocked) = (Keys::default(), Queue::default(), Queue::default());
        let (clock, now) = (Arc::new(VirtualClock::new()), Timestamp::MIN);
        let (reached, saved) = (Timestamp::MIN, Timestamp::MIN);
        let state = State { keys, queue, clocked, opened: 0, reached, saved };
        TriggerHead { base, places, rules, state, clock, now }
    }
}

impl<X, F, W, A, P, S, N, M> TriggerHead<X, F, W, A, P, S, N, M>
where
    X: 'static,
    F: KeyFn<X>,
    W: Places<F::Value>,
    A: Aggregate<F::Value>,
    P: Policy<Row<X, F, A>, F::Value>,
    S: Stamp,
    N: Push<P::Emit, S>,
    M: Mode,
{
    fn add(&mut self, item: TriggerItem<X, F, W, A, P>) {
        let Item { hash, time, route, load: (sent, at_once, load) } = item;
        let windows = self.places.windows(time, sent);
        // In no window, so not late either.
        let Some((span, due)) = windows.clone().last() else { return };
        let key = &self.base.key;
        let found = self.state.keys.find(hash, |k| key.is(&route, k));
        let slot = found.and_then(|at| self.state.keys.peek(at));
        let joins = W::MERGES && slot.is_some_and(|slot| !joined(&slot.value, span, due).is_empty());
        // A session that is kept is not late: it is removed as soon as no element can join it.
        if !joins && let Some(by) = self.late_by(due) {
            return self.base.late(time, route, load, by);
        }
        let x = self.base.lifted(load, &route, time);
        let at = found.unwrap_or_else(|| {
            self.state.keys.insert(hash, self.base.key.own_key(route), VecDeque::with_capacity(1))
        });
        for (span, due) in windows {
            if joins || self.late_by(due).is_none() {
                let added =
                    self.place(at, span, due).and_then(|place| self.join(at, place, x.clone(), at_once));
                if let Err(error) = added {
                    return self.base.overflow(error);
                }
            }
        }
    }

    /// Whether an element comes too late for a window that ends at `due`, and by how much.
    fn late_by(&self, due: i128) -> Option<i128> {
        let last = due + i128::from(self.base.lateness.allowed.0);
        let w = self.base.watermark;
        is_passed(last, w).then(|| (i128::from(w.0) - last).max(0))
    }

    /// The place of a window among those of its key; it is opened if need be, or made of those that it takes in.
    fn place(&mut self, at: u32, span: Span, due: i128) -> Result<usize, Overflow> {
        let State { keys, opened, .. } = &mut self.state;
        let Some(slot) = keys.get(at) else { return Ok(0) };
        let (windows, aggregate) = (&mut slot.value, &self.base.aggregate);
        let mut new = || {
            *opened += 1;
            Open::new(span, due, *opened, aggregate.start())
        };
        if !W::MERGES {
            let place = windows.partition_point(|w| w.span < span);
            if windows.get(place).is_none_or(|w| w.span != span) {
                windows.insert(place, new());
            }
            return Ok(place);
        }
        let joined = joined(windows, span, due);
        let place = joined.start;
        if joined.is_empty() {
            windows.insert(place, new());
        } else if joined.len() > 1 {
            let mut parts: Vec<Open<A::Acc>> = windows.drain(joined).collect();
            parts.sort_by_key(|part| part.born);
            let mut parts = parts.into_iter();
            let Some(mut whole) = parts.next() else { return Ok(place) };
            let merged = parts.try_for_each(|part| {
                whole.unite(&part);
                A::Algebra::merge(aggregate, &mut whole.acc, part.acc)
            });
            windows.insert(place, whole);
            merged?;
        }
        windows[place].stretch(span, due);
        Ok(place)
    }

    /// Adds an element to a window, which fires if that makes it.
    fn join(&mut self, at: u32, place: usize, x: A::In, at_once: bool) -> Result<(), Overflow> {
        let (watermark, reached) = (self.base.watermark, self.state.reached);
        let now = Now { watermark, reached, clock: self.now };
        let Some(window) = self.state.keys.get(at).and_then(|slot| slot.value.get_mut(place)) else {
            return Ok(());
        };
        self.base.aggregate.add(&mut window.acc, x)?;
        if window.arrive(&now, at_once, &self.rules) {
            self.show(at, place);
        }
        self.queue(at, place);
        Ok(())
    }

    /// Sees to it that a window is looked at in time. Most entries stay as they are: at their time they are put back.
    fn queue(&mut self, at: u32, place: usize) {
        let State { keys, queue, clocked, .. } = &mut self.state;
        let Some(window) = keys.get(at).and_then(|slot| slot.value.get_mut(place)) else { return };
        let next = window.next(self.base.lateness.allowed);
        if next < window.queued {
            window.queued = next;
            queue.push(Entry { time: next, born: window.born, slot: at, inside: window.span.start });
        }
        if window.clock < window.ticking {
            window.ticking = window.clock;
            clocked.push(Entry {
                time: window.clock,
                born: window.born,
                slot: at,
                inside: window.span.start,
            });
        }
    }

    /// Emits what a window has become, or what is new of it.
    fn show(&mut self, at: u32, place: usize) {
        let Some(slot) = self.state.keys.get(at) else { return };
        let (window, aggregate) = (&mut slot.value[place], &self.base.aggregate);
        window.shown();
        let value = if self.rules.purging {
            aggregate.take_result(std::mem::replace(&mut window.acc, aggregate.start()))
        } else {
            aggregate.result(&window.acc)
        };
        let (span, due, key) = (window.span, window.due, slot.key.clone());
        self.emit(span, due, key, value);
    }

    fn emit(&mut self, span: Span, due: i128, key: F::Key, value: Option<A::Out>) {
        if let Some(row) = row(span, key, value) {
            self.base.next.push(P::result(row), S::of(saturate(due)));
        }
    }

    /// Does what is due by watermark about the window of an entry, if the entry counts.
    fn look_at(&mut self, entry: Entry<i128>) {
        let lateness = self.base.lateness.allowed;
        let Some(slot) = self.state.keys.get(entry.slot) else { return };
        let Some(place) = find(&slot.value, &entry, |w| w.queued == entry.time) else { return };
        let window = &mut slot.value[place];
        window.queued = NEVER;
        if window.next(lateness) == entry.time {
            if window.passed || (window.due == entry.time && lateness.0 == 0) {
                return self.close(entry.slot, place);
            }
            let ends = window.due == entry.time;
            window.passed = ends;
            // At the end the whole window is shown in any case; of a purged one what is new, if something is.
            if window.unshown > 0 || (ends && !self.rules.purging) {
                self.show(entry.slot, place);
            }
        }
        self.queue(entry.slot, place);
    }

    /// The same, by the clock.
    fn tick_at(&mut self, entry: Entry<i128>) {
        let Some(slot) = self.state.keys.get(entry.slot) else { return };
        let Some(place) = find(&slot.value, &entry, |w| w.ticking == entry.time) else { return };
        let window = &mut slot.value[place];
        window.ticking = NEVER;
        if window.clock == entry.time {
            self.show(entry.slot, place);
        }
        self.queue(entry.slot, place);
    }

    /// Takes a window away that no element can join any more, and shows it if that has not been done.
    fn close(&mut self, at: u32, place: usize) {
        let Some(slot) = self.state.keys.get(at) else { return };
        let Some(window) = slot.value.remove(place) else { return };
        let last = slot.value.is_empty();
        let shows = !window.passed && (window.unshown > 0 || !self.rules.purging);
        // The key of a last window is given away.
        let key = if last { self.state.keys.remove(at) } else { shows.then(|| slot.key.clone()) };
        if let Some(key) = key.filter(|_| shows) {
            let value = self.base.aggregate.take_result(window.acc);
            self.emit(window.span, window.due, key, value);
        }
    }
}

impl<X, F, W, A, P, S, N, M> Head<TriggerItem<X, F, W, A, P>> for TriggerHead<X, F, W, A, P, S, N, M>
where
    X: 'static,
    F: KeyFn<X, Key: Keep<M>>,
    W: Places<F::Value>,
    A: Aggregate<F::Value, Acc: Keep<M>>,
    P: Policy<Row<X, F, A>, F::Value>,
    S: Stamp,
    N: Push<P::Emit, S>,
    M: Mode,
{
    type Part = Infallible;

    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.base.next
    }

    fn tail_ref(&self) -> &dyn Tail {
        &self.base.next
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.base.open_with(cx);
        self.clock = Arc::clone(cx.clock());
        self.now = self.clock.wall();
        self.state.keys.spill(self.base.space(cx)?, form::<M, A::Acc>())
    }

    fn spills(&self) -> bool {
        true
    }

    fn items(&mut self, _: usize, items: &mut IntoIter<TriggerItem<X, F, W, A, P>>, n: usize) {
        self.state.keys.make_room(n);
        for item in items.by_ref().take(n) {
            if self.base.failed {
                return;
            }
            self.add(item);
        }
    }

    fn watermark(&mut self, w: Timestamp) {
        self.base.watermark = self.base.watermark.max(w);
        if w < Timestamp::MAX {
            self.state.reached = self.state.reached.max(w);
        }
    }

    fn end(&mut self) {
        self.base.watermark = Timestamp::MAX;
    }

    fn overdue(&mut self) -> bool {
        if self.rules.clock.is_none() {
            return false;
        }
        self.now = self.now.max(self.clock.wall());
        self.state.clocked.first().is_some_and(|first| is_due(first, self.now))
    }

    fn deadline(&self) -> Option<i64> {
        let first = self.state.clocked.first()?;
        let wait = saturate(first - i128::from(self.clock.wall().0)).0.max(0);
        Some(self.clock.ticks().saturating_add(wait))
    }

    fn fire(&mut self) -> Fire {
        loop {
            if !self.base.next.room() {
                return Fire::Paused;
            }
            self.state.keys.make_room(FIRED_AT_ONCE);
            for _ in 0..FIRED_AT_ONCE {
                if let Some(entry) = self.state.clocked.pop(self.now) {
                    self.tick_at(entry);
                } else if let Some(entry) = self.state.queue.pop(self.base.watermark) {
                    self.look_at(entry);
                } else {
                    return Fire::Done;
                }
            }
        }
    }

    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        let key = self.base.key.clone();
        begin_save(&mut self.state, out, move |k| key.hash(k))
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        self.state.keys.save_more(left)
    }

    fn schema(&self) -> Result<String> {
        // Sessions of another gap are sessions.
        let windows = if W::MERGES { "sessions".to_owned() } else { self.places.describe() };
        Ok(Shape::TriggeredWindows.in_windows(&windows, schema_of::<F::Key, A::Acc, M>()?))
    }

    fn restore(&mut self, _: usize, bytes: &[u8]) -> Result<()> {
        let key = &self.base.key;
        let passed = restore(&mut self.state, self.base.lateness.allowed, bytes, |k| key.hash(k))?;
        self.watermark(passed);
        Ok(())
    }
}
