//! The operator: an element joins the sessions of its key, and the watermark fires those that it has come to the end of.

use super::open::{Keys, Open, find, insert, joined, unite};
use super::queue::{Entry, Queue, is_due};
use super::saved::{form, restore, write};
use super::spec::Gap;
use crate::aggregate::{Aggregate, Algebra, Overflow};
use crate::checkpoint::Groups;
use crate::error::Result;
use crate::metrics::Counter;
use crate::op::KeyFn;
use crate::op::operator::operator_error;
use crate::stage::{Faults, Fire, Head, Meta, OpenCx, Push, Stamp, Tail};
use crate::state::shape::Kind as Shape;
use crate::state::{Keep, Mode, schema_of};
use crate::time::{Millis, Timestamp};
use crate::window::base::{FIRED_AT_ONCE, Item, Lift, Load, Row, emit_at_end, row};
use crate::window::late::{Late, Lateness, Policy, too_late};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::vec::IntoIter;

/// What crosses for one element: its gap, where each has its own, and what the policy wants of it.
pub type SessionItem<X, F, G, A, P> = Item<
    <F as crate::op::KeyTypes<X>>::Route,
    (<G as Gap<<F as crate::op::KeyTypes<X>>::Value>>::Sent, Load<X, F, A, P>),
>;

/// The head of the stage of sessions.
pub struct SessionHead<X, F: KeyFn<X>, G, A: Aggregate<F::Value>, P, S, N, M: Mode> {
    key: F,
    gap: G,
    aggregate: A,
    lateness: Lateness<P>,
    next: N,
    meta: Meta,
    state: State<F::Key, A::Acc, M>,
    watermark: Timestamp,
    late: Counter,
    faults: Faults,
    failed: bool,
    types: PhantomData<fn(X, S)>,
}

/// What the operator keeps.
pub struct State<K, A, M: Mode> {
    pub keys: Keys<K, Open<A>, M>,
    pub queue: Queue,
    /// How many elements have arrived that were not late.
    pub arrived: u64,
}

impl<X, F: KeyFn<X>, G, A: Aggregate<F::Value>, P, S, N, M: Mode> SessionHead<X, F, G, A, P, S, N, M> {
    pub fn new(key: F, gap: G, aggregate: A, lateness: Lateness<P>, next: N, meta: Meta) -> Self {
        let state = State { keys: Keys::default(), queue: Queue::default(), arrived: 0 };
        let (late, faults) = (Counter::default(), Faults::default());
        let (watermark, failed, types) = (Timestamp::MIN, false, PhantomData);
        SessionHead {
            key,
            gap,
            aggregate,
            lateness,
            next,
            meta,
            state,
            watermark,
            late,
            faults,
            failed,
            types,
        }
    }

    /// Whether an element that reaches to `end` and joins no session comes too late, and by how much.
    fn late_by(&self, end: i128) -> Option<i128> {
        let last = end + i128::from(self.lateness.allowed.0);
        is_due(last, self.watermark).then(|| (i128::from(self.watermark.0) - last).max(0))
    }

    #[cold]
    #[inline(never)]
    fn overflow(&mut self, error: Overflow) {
        self.failed = true;
        self.faults.raise(operator_error(&self.meta, &error.into()));
    }
}

impl<X, F, G, A, P, S, N, M> SessionHead<X, F, G, A, P, S, N, M>
where
    X: 'static,
    F: KeyFn<X>,
    G: Gap<F::Value>,
    A: Aggregate<F::Value>,
    P: Policy<Row<X, F, A>, F::Value>,
    S: Stamp,
    N: Push<P::Emit, S>,
    M: Mode,
{
    fn add(&mut self, item: SessionItem<X, F, G, A, P>) {
        let Item { hash, time, route, load: (gap, load) } = item;
        let end = i128::from(time.0) + i128::from(self.gap.length(gap).0);
        let key = &self.key;
        let apart = G::is_apart(&route);
        let found = if apart { None } else { self.state.keys.find(hash, |k| key.is(&route, k)) };
        let slot = found.and_then(|at| self.state.keys.peek(at));
        let joined = slot.map_or(0..0, |slot| joined(&slot.value, time, end));
        // A session that is kept is not late: it is removed as soon as no element can join it.
        if joined.is_empty()
            && let Some(by) = self.late_by(end)
        {
            return self.late(time, route, load, by);
        }
        let aggregate = &self.aggregate;
        let x = P::lifted(load, |rest| aggregate.lift_at(self.key.peek(&route, rest), time));
        let slot =
            found.unwrap_or_else(|| insert(&mut self.state.keys, hash, self.key.own_key(route), apart));
        if let Err(error) = self.join(slot, joined, time, end, x) {
            self.overflow(error);
        }
    }

    /// Adds an element to the one session that it makes of those it has `joined`.
    fn join(
        &mut self,
        at: u32,
        joined: std::ops::Range<usize>,
        time: Timestamp,
        end: i128,
        x: A::In,
    ) -> Result<(), Overflow> {
        let State { keys, queue, arrived } = &mut self.state;
        let Some(slot) = keys.get(at) else { return Ok(()) };
        let (sessions, place) = (&mut slot.value, joined.start);
        match joined.len() {
            0 => sessions.insert(place, Open::new(time, end, *arrived, self.aggregate.start())),
            1 => sessions[place].stretch(time, end),
            _ => {
                unite(sessions, joined, |acc, part| A::Algebra::merge(&self.aggregate, acc, part))?;
                sessions[place].stretch(time, end);
            }
        }
        *arrived += 1;
        let session = &mut sessions[place];
        self.aggregate.add(&mut session.acc, x)?;
        session.fired = is_due(session.end, self.watermark);
        if session.fired {
            let value = self.aggregate.result(&session.acc);
            emit_at_end::<_, _, _, P, S, _>(&mut self.next, row(session.span(), slot.key.clone(), value));
        }
        // Most entries stay as they are: at their time they are put back.
        let due = session.due(self.lateness.allowed.0);
        if due < session.queued {
            session.queued = due;
            queue.push(Entry { time: due, born: session.born, slot: at, inside: () });
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn late(&mut self, time: Timestamp, route: F::Route, load: Load<X, F, A, P>, by: i128) {
        self.late.add(1);
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

    /// Does what is due about the session of an entry, if the entry counts.
    fn look_at(&mut self, entry: Entry) {
        let lateness = self.lateness.allowed.0;
        let State { keys, queue, .. } = &mut self.state;
        let Some(slot) = keys.get(entry.slot) else { return };
        let counts = |s: &Open<A::Acc>| s.born == entry.born && s.queued == entry.time;
        let Some(place) = find(&slot.value, entry.time, lateness, counts) else { return };
        let session = &mut slot.value[place];
        if session.due(lateness) == entry.time {
            if session.fired || lateness == 0 {
                return self.close(entry.slot, place);
            }
            session.fired = true;
            let value = self.aggregate.result(&session.acc);
            emit_at_end::<_, _, _, P, S, _>(&mut self.next, row(session.span(), slot.key.clone(), value));
        }
        session.queued = session.due(lateness);
        queue.push(Entry { time: session.queued, ..entry });
    }

    /// Takes a session away that no element can join any more, and shows it if that has not been done.
    fn close(&mut self, at: u32, place: usize) {
        let Some(slot) = self.state.keys.get(at) else { return };
        let Some(session) = slot.value.remove(place) else { return };
        let span = session.span();
        let last = slot.value.is_empty();
        let shown = (!session.fired).then(|| self.aggregate.take_result(session.acc));
        // The key of a last session is given away.
        let key = if last { self.state.keys.remove(at) } else { shown.is_some().then(|| slot.key.clone()) };
        if let (Some(value), Some(key)) = (shown, key) {
            emit_at_end::<_, _, _, P, S, _>(&mut self.next, row(span, key, value));
        }
    }
}

impl<X, F, G, A, P, S, N, M> Head<SessionItem<X, F, G, A, P>> for SessionHead<X, F, G, A, P, S, N, M>
where
    X: 'static,
    F: KeyFn<X, Key: Keep<M>>,
    G: Gap<F::Value>,
    A: Aggregate<F::Value, Acc: Keep<M>>,
    P: Policy<Row<X, F, A>, F::Value>,
    S: Stamp,
    N: Push<P::Emit, S>,
    M: Mode,
{
    type Part = Infallible;

    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.next
    }

    fn tail_ref(&self) -> &dyn Tail {
        &self.next
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.faults = cx.faults().clone();
        self.late = cx.metrics().counter(&format!("{}.late", self.meta.id()));
        self.aggregate.open(cx, &self.meta);
        self.state.keys.spill(cx.space(&self.meta)?, form::<M, A::Acc>())
    }

    fn spills(&self) -> bool {
        true
    }

    fn items(&mut self, _: usize, items: &mut IntoIter<SessionItem<X, F, G, A, P>>, n: usize) {
        self.state.keys.make_room(n);
        for item in items.by_ref().take(n) {
            if self.failed {
                return;
            }
            self.add(item);
        }
    }

    fn watermark(&mut self, w: Timestamp) {
        self.watermark = self.watermark.max(w);
    }

    fn due(&self) -> Option<i128> {
        self.state.queue.first()
    }

    fn fire(&mut self) -> Fire {
        loop {
            if !self.next.room() {
                return Fire::Paused;
            }
            self.state.keys.make_room(FIRED_AT_ONCE);
            for _ in 0..FIRED_AT_ONCE {
                let Some(entry) = self.state.queue.pop(self.watermark) else { return Fire::Done };
                self.look_at(entry);
            }
        }
    }

    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        let key = self.key.clone();
        self.state.keys.begin_save(out, &[], move |k| key.hash(k), write::<M, A::Acc>)
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        self.state.keys.save_more(left)
    }

    fn schema(&self) -> Result<String> {
        Ok(Shape::Sessions.of(schema_of::<F::Key, A::Acc, M>()?))
    }

    fn restore(&mut self, _: usize, bytes: &[u8]) -> Result<()> {
        let key = &self.key;
        let lateness = self.lateness.allowed.0;
        let fired = restore(&mut self.state, lateness, bytes, |k| key.hash(k))?;
        self.watermark(fired);
        Ok(())
    }
}
