//! The head of joins by time: elements of both sides of a key wait in lines, and a [`Way`] says who meets whom, and when a row of
//! an element leaves that had to wait.

use super::due::{Due, Next};
use super::held::{Held, Line};
use super::nothing::is_nothing;
use super::side::Crossing;
use super::tardy::Tardy;
use crate::checkpoint::{Groups, each_entry};
use crate::error::Result;
use crate::exchange::hash_key;
use crate::op::{Either, Key};
use crate::stage::{Fire, Head, Meta, OpenCx, Push, Stamp, Tail};
use crate::state::shape::Kind as Shape;
use crate::state::{Form, Keep, KeySlots, Mode, schema_of_two};
use crate::time::Timestamp;
use crate::window::base::{FIRED_AT_ONCE, Item};
use crate::window::late::Policy;
use std::cmp::Reverse;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::vec::IntoIter;

/// The elements of one key that may still matter.
pub struct Sides<L, R> {
    pub left: Line<L>,
    pub right: Line<R>,
}

impl<L, R> Default for Sides<L, R> {
    fn default() -> Self {
        Sides { left: Line::default(), right: Line::default() }
    }
}

impl<L, R> Sides<L, R> {
    fn write<M>(&self, out: &mut Vec<u8>) -> Result<()>
    where
        L: Keep<M>,
        R: Keep<M>,
    {
        self.left.write::<M>(out)?;
        self.right.write::<M>(out)
    }

    fn read<M>(bytes: &mut &[u8]) -> Result<Self>
    where
        L: Keep<M>,
        R: Keep<M>,
    {
        Ok(Sides { left: Line::read(bytes)?, right: Line::read(bytes)? })
    }
}

/// How elements that belong together are found.
pub trait Way<L, R>: Clone + Send + 'static {
    /// A row.
    type Out: Send + 'static;
    /// Takes an element that is not late; `emit` takes the rows that it makes at once, and their times. Time has come to `now`.
    /// Returns when to look at the key.
    fn arrive(
        &self,
        sides: &mut Sides<L, R>,
        element: Held<Either<L, R>>,
        now: i128,
        emit: &mut impl FnMut(Self::Out, Timestamp),
    ) -> Option<i128>;
    /// Whether an element that can match nothing ever leaves a row.
    fn leaves_alone(&self, element: &Either<L, R>) -> bool;
    /// Takes out what is done with, now that time has come to `now`, and gives `leave` the rows of what had to wait. Returns when
    /// to look at the key again.
    fn look(
        &self,
        sides: &mut Sides<L, R>,
        now: i128,
        leave: &mut impl FnMut(Timestamp, u64, Self::Out),
    ) -> Option<i128>;
    /// See [`Head::passes`].
    fn passes(&self, w: Timestamp) -> Timestamp {
        w
    }
}

/// A row that leaves, and what says when.
type Leaving<Q, T> = (Timestamp, u64, Q, T);

/// What is kept of a key, and when it is looked at.
type Kept<L, R> = (Sides<L, R>, Next);

/// The head of the stage.
pub struct TimedHead<Q, L, R, W: Way<L, R>, P, S, N, M: Mode> {
    way: W,
    keys: KeySlots<Q, Kept<L, R>, M>,
    due: Due,
    /// How many elements have arrived.
    arrived: u64,
    /// What leaves at this watermark; once it is sorted, the first last.
    leaving: Vec<Leaving<Q, W::Out>>,
    sorted: bool,
    tardy: Tardy,
    next: N,
    types: PhantomData<fn() -> (P, S)>,
}

impl<Q, L, R, W: Way<L, R>, P, S, N, M: Mode> TimedHead<Q, L, R, W, P, S, N, M> {
    pub fn new(way: W, next: N, meta: Meta) -> Self {
        TimedHead {
            way,
            keys: KeySlots::default(),
            due: Due::default(),
            arrived: 0,
            leaving: Vec::new(),
            sorted: false,
            tardy: Tardy::new(meta),
            next,
            types: PhantomData,
        }
    }
}

impl<Q, L, R, W, P, S, N, M> TimedHead<Q, L, R, W, P, S, N, M>
where
    Q: Key,
    L: 'static,
    R: 'static,
    W: Way<L, R>,
    P: Policy<(Q, W::Out), Either<L, R>>,
    S: Stamp,
    N: Push<P::Emit, S>,
    M: Mode,
{
    fn add(&mut self, item: Crossing<Q, L, R>) {
        let Item { hash, time, route: key, load } = item;
        if self.tardy.is_late(time) {
            return self.tardy.late::<(Q, W::Out), _, P, S, N>(load, time, &mut self.next);
        }
        let kept = (Sides::default(), Next::NEVER);
        let slot = if is_nothing(&key) {
            // Each has a slot of its own: nothing is not the same as nothing.
            if !self.way.leaves_alone(&load) {
                return;
            }
            self.keys.insert_apart(hash, key, kept)
        } else if let Some(slot) = self.keys.find(hash, |k| *k == key) {
            slot
        } else {
            self.keys.insert(hash, key, kept)
        };
        let Some(entry) = self.keys.get(slot) else { return };
        let (key, (sides, known)) = (&entry.key, &mut entry.value);
        let element = Held { time, born: self.arrived, matched: false, value: load };
        self.arrived += 1;
        let next = &mut self.next;
        let mut emit = |row, time| next.push(P::result((key.clone(), row)), S::of(time));
        if let Some(time) = self.way.arrive(sides, element, self.tardy.now(), &mut emit) {
            self.due.at(known, slot, time);
        }
    }

    /// Looks at a key of which something may be due.
    fn look_at(&mut self, slot: u32, time: i64) {
        let Some(entry) = self.keys.get(slot) else { return };
        let (key, (sides, known)) = (&entry.key, &mut entry.value);
        if !Due::counts(known, time) {
            return;
        }
        let leaving = &mut self.leaving;
        let mut leave = |time, born, row| leaving.push((time, born, key.clone(), row));
        match self.way.look(sides, self.tardy.now(), &mut leave) {
            Some(again) => self.due.at(known, slot, again),
            None if sides.left.is_empty() && sides.right.is_empty() => drop(self.keys.remove(slot)),
            None => {}
        }
    }
}

impl<Q, L, R, W, P, S, N, M> Head<Crossing<Q, L, R>> for TimedHead<Q, L, R, W, P, S, N, M>
where
    Q: Key + Keep<M>,
    L: Send + Keep<M>,
    R: Send + Keep<M>,
    W: Way<L, R>,
    P: Policy<(Q, W::Out), Either<L, R>>,
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
        let space = self.tardy.open(cx)?;
        let form = Form {
            write: |(sides, _): &Kept<L, R>, out| sides.write::<M>(out),
            beside: |(_, known), out| known.put(out),
            read: |mut value, mut beside| Ok((Sides::read::<M>(&mut value)?, Next::take(&mut beside)?)),
        };
        self.keys.spill(space, form)
    }

    fn spills(&self) -> bool {
        true
    }

    fn items(&mut self, _: usize, items: &mut IntoIter<Crossing<Q, L, R>>, n: usize) {
        self.keys.make_room(n);
        for item in items.by_ref().take(n) {
            if self.tardy.failed {
                return;
            }
            self.add(item);
        }
    }

    fn watermark(&mut self, w: Timestamp) {
        self.tardy.watermark = self.tardy.watermark.max(w);
        self.sorted = false;
    }

    fn fire(&mut self) -> Fire {
        self.keys.make_room(FIRED_AT_ONCE);
        let mut looked = 0;
        // An idle input or a barrier may come before the first watermark: then nothing is due, not even at the beginning of time.
        while self.tardy.watermark > Timestamp::MIN
            && let Some((slot, time)) = self.due.pop(self.tardy.watermark)
        {
            self.look_at(slot, time);
            looked += 1;
            if looked % FIRED_AT_ONCE == 0 {
                self.keys.make_room(FIRED_AT_ONCE);
            }
        }
        // What leaves together does so by time, then by arrival.
        if !std::mem::replace(&mut self.sorted, true) {
            self.leaving.sort_unstable_by_key(|(time, born, ..)| Reverse((*time, *born)));
        }
        loop {
            if !self.next.room() {
                return Fire::Paused;
            }
            for _ in 0..FIRED_AT_ONCE {
                let Some((time, _, key, row)) = self.leaving.pop() else { return Fire::Done };
                self.next.push(P::result((key, row)), S::of(time));
            }
        }
    }

    fn passes(&self, w: Timestamp) -> Timestamp {
        self.way.passes(w)
    }

    /// ```text
    /// key -> left right        as `Line::write` does
    /// ```
    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        self.keys.begin_save(out, &[], hash_key, |(sides, _), out| sides.write::<M>(out))
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        self.keys.save_more(left)
    }

    fn schema(&self) -> Result<String> {
        Ok(Shape::TimedJoin.of(schema_of_two::<Q, L, R, M>()?))
    }

    fn restore(&mut self, _: usize, bytes: &[u8]) -> Result<()> {
        Q::kept(|| {
            each_entry(bytes, &mut |_, key, mut value| {
                let sides = Sides::<L, R>::read::<M>(&mut value)?;
                let youngest = [sides.left.youngest(), sides.right.youngest()].into_iter().flatten().max();
                // Instances that are one now may have given the same numbers; those given from here on are new.
                self.arrived = self.arrived.max(youngest.map_or(0, |born| born.saturating_add(1)));
                let slot = self.keys.put_back(key, hash_key, (sides, Next::NEVER))?;
                // It is looked at when the first watermark comes.
                if let Some(entry) = self.keys.get(slot) {
                    self.due.at(&mut entry.value.1, slot, i64::MIN.into());
                }
                Ok(())
            })
        })
    }
}
