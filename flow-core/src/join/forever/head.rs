//! The operator: two lists a key, from which elements go when their time to live is over.

use crate::checkpoint::{Groups, each_entry};
use crate::error::Result;
use crate::exchange::hash_key;
use crate::join::nothing::is_nothing;
use crate::join::side::Crossing;
use crate::metrics::Counter;
use crate::op::{Either, Key};
use crate::stage::{Fire, Head, Meta, OpenCx, Push, Stamp, Tail};
use crate::state::shape::Kind as Shape;
use crate::state::{Form, Keep, KeySlots, Mode, schema_of_two};
use crate::time::{Clock, Millis, Timestamp};
use crate::window::base::{FIRED_AT_ONCE, Item};
use crate::window::saved::take;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;
use std::vec::IntoIter;

/// An element that is kept, until when, and its timestamp.
struct Kept<T> {
    until: i64,
    time: Timestamp,
    value: T,
}

/// The elements of one key, those that go first in front.
struct Sides<L, R> {
    left: VecDeque<Kept<L>>,
    right: VecDeque<Kept<R>>,
}

impl<L, R> Default for Sides<L, R> {
    fn default() -> Self {
        Sides { left: VecDeque::new(), right: VecDeque::new() }
    }
}

impl<L, R> Sides<L, R> {
    fn write<M>(&self, out: &mut Vec<u8>) -> Result<()>
    where
        L: Keep<M>,
        R: Keep<M>,
    {
        write::<M, L>(&self.left, out)?;
        write::<M, R>(&self.right, out)
    }

    fn read<M>(bytes: &mut &[u8]) -> Result<Self>
    where
        L: Keep<M>,
        R: Keep<M>,
    {
        Ok(Sides { left: read::<M, L>(bytes)?, right: read::<M, R>(bytes)? })
    }
}

/// The head of the stage.
pub struct ForeverHead<Q, L, R, S, N, M: Mode> {
    ttl: Option<Millis>,
    keys: KeySlots<Q, Sides<L, R>, M>,
    /// When something goes, and of which key: all live equally long, so what came first goes first.
    going: VecDeque<(i64, u32)>,
    /// The last instant of the clock that was read: it does not go back.
    now: i64,
    clock: Option<Arc<dyn Clock>>,
    expired: Counter,
    meta: Meta,
    next: N,
    types: PhantomData<fn() -> S>,
}

impl<Q, L, R, S, N, M: Mode> ForeverHead<Q, L, R, S, N, M> {
    pub fn new(ttl: Option<Millis>, next: N, meta: Meta) -> Self {
        ForeverHead {
            ttl,
            keys: KeySlots::default(),
            going: VecDeque::new(),
            now: i64::MIN,
            clock: None,
            expired: Counter::default(),
            meta,
            next,
            types: PhantomData,
        }
    }

    /// Reads the clock, and lets go what has lived long enough.
    fn expire(&mut self) {
        let (Some(clock), Some(_)) = (&self.clock, self.ttl) else { return };
        self.now = self.now.max(clock.wall().0);
        let mut looked = 0;
        while let Some((_, slot)) = self.going.pop_front_if(|(until, _)| *until <= self.now) {
            if looked % FIRED_AT_ONCE == 0 {
                self.keys.make_room(FIRED_AT_ONCE);
            }
            looked += 1;
            let Some(entry) = self.keys.get(slot) else { continue };
            let Sides { left, right } = &mut entry.value;
            let mut gone = 0;
            while left.pop_front_if(|kept| kept.until <= self.now).is_some() {
                gone += 1;
            }
            while right.pop_front_if(|kept| kept.until <= self.now).is_some() {
                gone += 1;
            }
            self.expired.add(gone);
            if left.is_empty() && right.is_empty() {
                self.keys.remove(slot);
            }
        }
    }
}

impl<Q, L, R, S, N, M> ForeverHead<Q, L, R, S, N, M>
where
    Q: Key,
    L: Clone + Send + 'static,
    R: Clone + Send + 'static,
    S: Stamp,
    N: Push<(Q, (L, R)), S>,
    M: Mode,
{
    fn add(&mut self, item: Crossing<Q, L, R>) {
        let Item { hash, time, route: key, load } = item;
        // What is nothing meets nobody, so nobody waits for it.
        if is_nothing(&key) {
            return;
        }
        let until = self.ttl.map_or(i64::MAX, |ttl| self.now.saturating_add(ttl.0));
        let slot = self.keys.find(hash, |k| *k == key);
        let slot = slot.unwrap_or_else(|| self.keys.insert(hash, key, Sides::default()));
        let Some(entry) = self.keys.get(slot) else { return };
        let (key, sides, next, now) = (&entry.key, &mut entry.value, &mut self.next, self.now);
        match load {
            Either::A(left) => {
                for other in sides.right.iter().filter(|kept| kept.until > now) {
                    let row = (key.clone(), (left.clone(), other.value.clone()));
                    next.push(row, S::of(time.max(other.time)));
                }
                sides.left.push_back(Kept { until, time, value: left });
            }
            Either::B(right) => {
                for other in sides.left.iter().filter(|kept| kept.until > now) {
                    let row = (key.clone(), (other.value.clone(), right.clone()));
                    next.push(row, S::of(time.max(other.time)));
                }
                sides.right.push_back(Kept { until, time, value: right });
            }
        }
        if self.ttl.is_some() && until < i64::MAX {
            self.going.push_back((until, slot));
        }
    }
}

impl<Q, L, R, S, N, M> Head<Crossing<Q, L, R>> for ForeverHead<Q, L, R, S, N, M>
where
    Q: Key + Keep<M>,
    L: Clone + Send + Keep<M>,
    R: Clone + Send + Keep<M>,
    S: Stamp,
    N: Push<(Q, (L, R)), S>,
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
        self.clock = Some(Arc::clone(cx.clock()));
        if self.ttl.is_some() {
            self.expired = cx.metrics().counter(&format!("{}.expired", self.meta.id()));
        }
        let form = Form {
            write: Sides::write::<M>,
            beside: |_, _| (),
            read: |mut value, _| Sides::read::<M>(&mut value),
        };
        self.keys.spill(cx.space(&self.meta)?, form)
    }

    fn spills(&self) -> bool {
        true
    }

    fn items(&mut self, _: usize, items: &mut IntoIter<Crossing<Q, L, R>>, n: usize) {
        self.expire();
        self.keys.make_room(n);
        items.by_ref().take(n).for_each(|item| self.add(item));
    }

    /// Whether the clock has come to what goes first.
    fn overdue(&mut self) -> bool {
        self.expire();
        false
    }

    fn deadline(&self) -> Option<i64> {
        let (clock, (until, _)) = (self.clock.as_ref()?, self.going.front()?);
        Some(clock.ticks().saturating_add(until.saturating_sub(clock.wall().0).max(0)))
    }

    fn fire(&mut self) -> Fire {
        Fire::Done
    }

    /// ```text
    /// key -> ( count ( until time value )^count )^2        little-endian: u32, i64
    /// ```
    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        self.keys.begin_save(out, &[], hash_key, Sides::write::<M>)
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        self.keys.save_more(left)
    }

    fn schema(&self) -> Result<String> {
        Ok(Shape::Join.of(schema_of_two::<Q, L, R, M>()?))
    }

    fn restore(&mut self, _: usize, bytes: &[u8]) -> Result<()> {
        Q::kept(|| {
            each_entry(bytes, &mut |_, key, mut value| {
                let sides = Sides::<L, R>::read::<M>(&mut value)?;
                let left = sides.left.iter().map(|kept| kept.until);
                let times: Vec<i64> = left.chain(sides.right.iter().map(|kept| kept.until)).collect();
                let slot = self.keys.put_back(key, hash_key, sides)?;
                let times = times.into_iter().filter(|until| *until < i64::MAX);
                self.going.extend(times.map(|until| (until, slot)));
                Ok(())
            })?;
            // Keys lie one behind the other; what goes first comes first.
            self.going.make_contiguous().sort_unstable();
            Ok(())
        })
    }
}

fn write<M, T: Keep<M>>(all: &VecDeque<Kept<T>>, out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(&u32::try_from(all.len()).unwrap_or(u32::MAX).to_le_bytes());
    all.iter().try_for_each(|kept| {
        out.extend_from_slice(&kept.until.to_le_bytes());
        out.extend_from_slice(&kept.time.0.to_le_bytes());
        kept.value.write(out)
    })
}

fn read<M, T: Keep<M>>(bytes: &mut &[u8]) -> Result<VecDeque<Kept<T>>> {
    let count = u32::from_le_bytes(take(bytes)?);
    let all = (0..count).map(|_| {
        let until = i64::from_le_bytes(take(bytes)?);
        let time = Timestamp(i64::from_le_bytes(take(bytes)?));
        Ok(Kept { until, time, value: T::read(bytes)? })
    });
    all.collect()
}
