//! The operator: a table of the right side, and the left elements that came before it was whole, or for whose rows there was no room.

use super::table::Table;
use super::waiting::{Waiting, read};
use crate::checkpoint::{Groups, each_entry};
use crate::error::Result;
use crate::exchange::hash_key;
use crate::join::form::Leading;
use crate::join::nothing::is_nothing;
use crate::join::rows::ROWS_AT_ONCE;
use crate::join::side::Crossing;
use crate::metrics::Counter;
use crate::op::{Either, Key};
use crate::stage::{Fire, Head, Meta, OpenCx, Push, Stamp, Tail};
use crate::state::shape::Kind as Shape;
use crate::state::{Keep, Mode, schema_of_two};
use crate::time::Timestamp;
use crate::window::base::{FIRED_AT_ONCE, Item};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::vec::IntoIter;

/// Look-ups that are under way at once.
const AHEAD: usize = 32;
/// Names of sections.
const TABLE: &[u8] = &[0];
const WAITING: &[u8] = &[1];

/// The head of the stage.
pub struct LookupHead<Q, L, R, F, S, N, M: Mode> {
    table: Table<Q, R, M>,
    waiting: Waiting<Q, L, M>,
    /// How many rows of the first that waits have left, and how many may before there is a look at the room downstream.
    gone: usize,
    free: usize,
    /// The inputs of the left side come first.
    left_inputs: usize,
    /// How many inputs of the right side have not ended.
    open: usize,
    /// The watermark that has come while the table was not whole, and has not been passed on.
    held: Timestamp,
    waited: Counter,
    meta: Meta,
    next: N,
    types: PhantomData<fn() -> (F, S)>,
}

impl<Q: 'static, L, R, F, S, N, M: Mode> LookupHead<Q, L, R, F, S, N, M> {
    pub fn new(next: N, meta: Meta) -> Self {
        LookupHead {
            table: Table::default(),
            waiting: Waiting::default(),
            gone: 0,
            free: 0,
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
    M: Mode,
{
    fn add(&mut self, item: Crossing<Q, L, R>) {
        let Item { hash, time, route: key, load } = item;
        match load {
            Either::A(load) => {
                let left = Item { hash, time, route: key, load };
                if self.open == 0 && self.waiting.is_empty() {
                    self.find(left);
                } else {
                    self.waited.add(u64::from(self.open > 0));
                    self.waiting.push(left);
                }
            }
            // Nobody looks for nothing.
            Either::B(_) if is_nothing(&key) => {}
            Either::B(right) => {
                self.table.add(hash, key, right);
            }
        }
    }

    /// The rows of a left element, now that the table is whole: those that have not left and are free to. If these are not all, it
    /// waits before all others.
    fn find(&mut self, left: Item<Q, L>) {
        let Item { hash, time, route: key, load: left } = left;
        let found = if is_nothing(&key) { None } else { self.table.find(hash, &key) };
        let Some(found) = found else {
            if let Some(row) = F::left(left) {
                self.next.push((key, row), S::of(time));
            }
            return;
        };
        let rights = &found.as_slice()[self.gone..];
        let some = rights.len().min(self.free);
        self.free -= some;
        if let ([only], 1) = (rights, some) {
            // Most find one, for which nothing is cloned but it.
            self.next.push((key, F::pair(left, only.clone())), S::of(time));
            self.gone = 0;
            return;
        }
        for right in &rights[..some] {
            self.next.push((key.clone(), F::pair(left.clone(), right.clone())), S::of(time));
        }
        if some == rights.len() {
            self.gone = 0;
        } else {
            self.gone += some;
            self.waiting.put_back(Item { hash, time, route: key, load: left });
        }
    }

    /// Emits what waits, while rows are free to leave.
    fn drain(&mut self) {
        self.free = ROWS_AT_ONCE;
        for _ in 0..FIRED_AT_ONCE {
            if self.free == 0 {
                return;
            }
            if let Some(soon) = self.waiting.get(AHEAD) {
                self.table.prefetch(soon.hash, &soon.route);
            }
            if let Some(sooner) = self.waiting.get(AHEAD / 2) {
                self.table.prefetch_rows(sooner.hash, &sooner.route);
            }
            let Some(left) = self.waiting.pop() else { return };
            self.find(left);
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
        let [left, right] = [cx.inputs_of(0), cx.inputs_of(1)];
        (self.left_inputs, self.open) = (left, right);
        self.waited = cx.metrics().counter(&format!("{}.waited", self.meta.id()));
        self.table.open(cx.space(&self.meta)?)
    }

    fn spills(&self) -> bool {
        true
    }

    fn items(&mut self, _: usize, items: &mut IntoIter<Crossing<Q, L, R>>, n: usize) {
        self.free = ROWS_AT_ONCE;
        for item in items.as_slice().iter().take(AHEAD) {
            self.table.prefetch(item.hash, &item.route);
        }
        for _ in 0..n {
            if let Some(soon) = items.as_slice().get(AHEAD) {
                self.table.prefetch(soon.hash, &soon.route);
            }
            if let Some(sooner) = items.as_slice().get(AHEAD / 2).filter(|_| self.open == 0) {
                self.table.prefetch_rows(sooner.hash, &sooner.route);
            }
            let Some(item) = items.next() else { return };
            self.add(item);
        }
    }

    fn ended(&mut self, input: usize) {
        if input >= self.left_inputs {
            self.open = self.open.saturating_sub(1);
            if self.open == 0 {
                self.table.settle();
            }
        }
    }

    fn ends_at_a_cut(&self) -> bool {
        true
    }

    fn watermark(&mut self, w: Timestamp) {
        // Once the table is whole, what waits leaves before this is passed on.
        if self.open > 0 {
            self.held = w;
        }
    }

    /// The table is whole, and something has waited for that, or for room.
    fn overdue(&mut self) -> bool {
        self.open == 0 && (!self.waiting.is_empty() || self.held != Timestamp::MIN)
    }

    fn fire(&mut self) -> Fire {
        while self.open == 0 {
            if !self.next.room() {
                return Fire::Paused;
            }
            self.drain();
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
    /// name of a section    entries
    /// 0                    the rows of the right side, as `table.rs` says
    /// 1                    those that wait, as `waiting.rs` says
    /// ```
    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        self.table.begin_save(out, TABLE)?;
        self.waiting.begin_save(out, WAITING)
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        self.table.save_more(left) && self.waiting.save_more(left)
    }

    fn schema(&self) -> Result<String> {
        Ok(Shape::LookupJoin.of(schema_of_two::<Q, L, R, M>()?))
    }

    fn restore(&mut self, _: usize, bytes: &[u8]) -> Result<()> {
        Q::kept(|| {
            let mut waiting = Vec::new();
            each_entry(bytes, &mut |section, key, value| {
                if section == WAITING {
                    waiting.push(read::<M, Q, L>(key, value, hash_key)?);
                    return Ok(());
                }
                self.table.restore(key, value)
            })?;
            waiting.sort_unstable_by_key(|(number, _)| *number);
            waiting.into_iter().for_each(|(_, left)| self.waiting.push(left));
            Ok(())
        })
    }
}
