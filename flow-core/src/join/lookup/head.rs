//! The operator: a table of the right side, and the left elements that came before it was whole.

use crate::checkpoint::Pieces;
use crate::error::Result;
use crate::exchange::hash_key;
use crate::join::form::Leading;
use crate::join::nothing::is_nothing;
use crate::join::side::Crossing;
use crate::metrics::Counter;
use crate::op::{Either, Key};
use crate::stage::{Fire, Head, Meta, OpenCx, Push, Stamp, Tail};
use crate::state::{Keep, KeySlots};
use crate::time::Timestamp;
use crate::window::base::{FIRED_AT_ONCE, Item};
use crate::window::saved::take;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::vec::IntoIter;

/// A left element that waits.
type Waiting<Q, L> = Item<Q, L>;

/// The head of the stage.
pub struct LookupHead<Q, L, R, F, S, N, M> {
    table: KeySlots<Q, Vec<R>>,
    waiting: VecDeque<Waiting<Q, L>>,
    /// The inputs of the left side come first.
    left_inputs: usize,
    /// How many inputs of the right side have not ended.
    open: usize,
    /// The watermark that has come while the table was not whole, and has not been passed on.
    held: Timestamp,
    waited: Counter,
    meta: Meta,
    next: N,
    types: PhantomData<fn() -> (F, S, M)>,
}

impl<Q, L, R, F, S, N, M> LookupHead<Q, L, R, F, S, N, M> {
    pub fn new(next: N, meta: Meta) -> Self {
        LookupHead {
            table: KeySlots::default(),
            waiting: VecDeque::new(),
            left_inputs: 0,
            open: 1,
            held: Timestamp::MIN,
            waited: Counter::default(),
            meta,
            next,
            types: PhantomData,
        }
    }
}

impl<Q, L, R, F, S, N, M> LookupHead<Q, L, R, F, S, N, M>
where
    Q: Key,
    L: Clone + Send + 'static,
    R: Clone + Send + 'static,
    F: Leading<L, R>,
    S: Stamp,
    N: Push<(Q, F::Out), S>,
{
    fn add(&mut self, item: Crossing<Q, L, R>) {
        let Item { hash, time, route: key, load } = item;
        match load {
            Either::A(load) => {
                let left = Item { hash, time, route: key, load };
                if self.open == 0 && self.waiting.is_empty() {
                    self.find(left);
                } else {
                    self.waited.add(1);
                    self.waiting.push_back(left);
                }
            }
            // Nobody looks for nothing.
            Either::B(_) if is_nothing(&key) => {}
            Either::B(right) => {
                let slot = self.table.find(hash, |k| *k == key);
                let slot = slot.unwrap_or_else(|| self.table.insert(hash, key, Vec::with_capacity(1)));
                if let Some(entry) = self.table.get(slot) {
                    entry.value.push(right);
                }
            }
        }
    }

    /// The rows of a left element, now that the table is whole.
    fn find(&mut self, left: Waiting<Q, L>) {
        let Item { hash, time, route: key, load: left } = left;
        let slot = if is_nothing(&key) { None } else { self.table.find(hash, |k| *k == key) };
        match slot.and_then(|slot| self.table.get(slot)).map(|entry| &entry.value[..]) {
            // Most find one, for which nothing is cloned but it.
            Some([only]) => self.next.push((key, F::pair(left, only.clone())), S::of(time)),
            Some(rights) => {
                for right in rights {
                    self.next.push((key.clone(), F::pair(left.clone(), right.clone())), S::of(time));
                }
            }
            None => {
                if let Some(row) = F::left(left) {
                    self.next.push((key, row), S::of(time));
                }
            }
        }
    }
}

impl<Q, L, R, F, S, N, M> Head<Crossing<Q, L, R>> for LookupHead<Q, L, R, F, S, N, M>
where
    Q: Key + Keep<M>,
    L: Clone + Send + Keep<M>,
    R: Clone + Send + Keep<M>,
    F: Leading<L, R>,
    S: Stamp,
    N: Push<(Q, F::Out), S>,
    M: 'static,
{
    type Part = Infallible;

    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.next
    }

    fn tail_ref(&self) -> &dyn Tail {
        &self.next
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        let [left, right] = [cx.inputs_of(0), cx.inputs_of(1)];
        (self.left_inputs, self.open) = (left, right);
        self.waited = cx.metrics().counter(&format!("{}.waited", self.meta.id()));
        Ok(())
    }

    fn items(&mut self, _: usize, items: &mut IntoIter<Crossing<Q, L, R>>, n: usize) {
        items.by_ref().take(n).for_each(|item| self.add(item));
    }

    fn ended(&mut self, input: usize) {
        if input >= self.left_inputs {
            self.open = self.open.saturating_sub(1);
        }
    }

    fn watermark(&mut self, w: Timestamp) {
        // Once the table is whole, what waits leaves before this is passed on.
        if self.open > 0 {
            self.held = w;
        }
    }

    /// The table is whole, and something has waited for that.
    fn overdue(&mut self) -> bool {
        self.open == 0 && (!self.waiting.is_empty() || self.held != Timestamp::MIN)
    }

    fn fire(&mut self) -> Fire {
        while self.open == 0 {
            if !self.next.room() {
                return Fire::Paused;
            }
            let some = self.waiting.len().min(FIRED_AT_ONCE);
            for left in self.waiting.drain(..some).collect::<Vec<_>>() {
                self.find(left);
            }
            if self.waiting.is_empty() {
                // What it promises was true when it came: no element that waited was behind it that was not before.
                let held = std::mem::replace(&mut self.held, Timestamp::MIN);
                if held > Timestamp::MIN && held < Timestamp::MAX {
                    self.next.mark(crate::batch::Mark::Watermark(held));
                }
                break;
            }
        }
        Fire::Done
    }

    /// None before the elements that wait.
    fn passes(&self, w: Timestamp) -> Timestamp {
        if self.open > 0 { Timestamp::MIN } else { w }
    }

    fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// ```text
    /// ( 0 key count right^count )* ( 1 key time left )*      little-endian: u8, u32, i64
    /// ```
    fn snapshot(&mut self, out: &mut Pieces) -> Result<()> {
        let mut rows = self.table.iter().peekable();
        let mut waiting = self.waiting.iter().peekable();
        if rows.peek().is_none() && waiting.peek().is_none() {
            return Ok(());
        }
        Q::kept(|| {
            rows.try_for_each(|(hash, row)| {
                let out = out.of(hash);
                out.push(0);
                row.key.write(out)?;
                out.extend_from_slice(&u32::try_from(row.value.len()).unwrap_or(u32::MAX).to_le_bytes());
                row.value.iter().try_for_each(|right| right.write(out))
            })?;
            waiting.try_for_each(|left| {
                let out = out.of(left.hash);
                out.push(1);
                left.route.write(out)?;
                out.extend_from_slice(&left.time.0.to_le_bytes());
                left.load.write(out)
            })
        })
    }

    fn restore(&mut self, _: usize, mut bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        Q::kept(|| {
            while !bytes.is_empty() {
                let [waits] = take(&mut bytes)?;
                let key = Q::read(&mut bytes)?;
                let hash = hash_key(&key);
                if waits == 0 {
                    let count = u32::from_le_bytes(take(&mut bytes)?);
                    let rights = (0..count).map(|_| R::read(&mut bytes)).collect::<Result<_>>()?;
                    self.table.insert(hash, key, rights);
                } else {
                    let time = Timestamp(i64::from_le_bytes(take(&mut bytes)?));
                    let load = L::read(&mut bytes)?;
                    self.waiting.push_back(Item { hash, time, route: key, load });
                }
            }
            Ok(())
        })
    }
}
