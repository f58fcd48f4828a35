//! The stage that keeps the solution set of a delta loop: what the body returns changes it, and what has changed is the next workset.
//!
//! ```text
//! key -> (value, changed)      in a checkpoint: a table, in which `changed` says whether the key is of the next workset
//! ```

use super::back::Back;
use super::number::{Told, told};
use super::until::Until;
use crate::batch::Mark;
use crate::checkpoint::Groups;
use crate::checkpoint::records::Part;
use crate::error::Result;
use crate::exchange::hash_key;
use crate::external::Spill;
use crate::op::Key;
use crate::stage::push::forward_tail;
use crate::stage::{Fire, Head, Meta, OpenCx, Push, Stamp, Tail};
use crate::state::shape::Kind as Shape;
use crate::state::{Keep, KeyTable, Mode, schema_of};
use crate::time::Timestamp;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::vec::IntoIter;

/// Look-ups that are under way at once.
const AHEAD: usize = 32;

/// The head of the stage.
pub(super) struct Solution<Q, V, F, N, S, M: Mode, U: Until<(Q, V)>> {
    back: Back<(Q, V), U>,
    table: KeyTable<Q, (V, bool), M>,
    /// The hashes of all keys, in the order in which they came, and, when the loop has `ended`, how many of them have left.
    order: Vec<u64>,
    emitted: usize,
    /// The keys that have changed in this superstep.
    changed: Vec<Q>,
    update: F,
    ended: bool,
    next: N,
    meta: Meta,
    stamp: PhantomData<fn(S)>,
}

impl<Q, V, F, N, S, M, U> Solution<Q, V, F, N, S, M, U>
where
    Q: Key + Spill,
    V: Clone + Spill,
    M: Mode,
    U: Until<(Q, V)>,
{
    pub fn new(back: Back<(Q, V), U>, update: F, next: N, meta: Meta) -> Self {
        Solution {
            back,
            table: KeyTable::default(),
            order: Vec::new(),
            emitted: 0,
            changed: Vec::new(),
            update,
            ended: false,
            next,
            meta,
            stamp: PhantomData,
        }
    }

    /// What has changed becomes the next workset.
    fn hand_over(&mut self) {
        let Solution { back, table, changed, .. } = self;
        let mut keys = changed.drain(..);
        while let Some(key) = keys.next() {
            if let Some(soon) = keys.as_slice().get(AHEAD) {
                table.prefetch(hash_key(soon));
            }
            if let Some((_, (value, changed))) = table.find(hash_key(&key), |k| *k == key) {
                *changed = false;
                let value = value.clone();
                back.push((key, value));
            }
        }
    }
}

impl<Q, V, F, N, S, M, U> Head<(u64, Q, V, S)> for Solution<Q, V, F, N, S, M, U>
where
    Q: Key + Spill + Keep<M>,
    V: Clone + Spill + Keep<M>,
    (V, bool): Keep<M>,
    F: Fn(&mut V, V) -> bool + Clone + Send + 'static,
    N: Push<(Q, V), ()>,
    S: Stamp,
    M: Mode,
    U: Until<(Q, V)>,
{
    type Part = Infallible;

    fn tail(&mut self) -> &mut dyn Tail {
        self
    }

    fn tail_ref(&self) -> &dyn Tail {
        self
    }

    fn spills(&self) -> bool {
        true
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.table.spill(cx.space(&self.meta)?, hash_key)?;
        self.back.open(cx)
    }

    #[inline(never)]
    fn items(&mut self, _: usize, items: &mut IntoIter<(u64, Q, V, S)>, n: usize) {
        let Solution { table, order, changed, update, .. } = self;
        table.reserve(n, |k| hash_key(k));
        for _ in 0..n {
            if let Some(soon) = items.as_slice().get(AHEAD) {
                table.prefetch(soon.0);
            }
            let Some((hash, key, came, _)) = items.next() else { return };
            if let Some((_, (kept, is_changed))) = table.find(hash, |k| *k == key) {
                if update(kept, came) && !std::mem::replace(is_changed, true) {
                    changed.push(key);
                }
            } else {
                changed.push(key.clone());
                table.insert(hash, (key, (came, true)));
                order.push(hash);
            }
        }
    }

    fn watermark(&mut self, w: Timestamp) {
        match told(w) {
            Told::Superstep(number) => {
                self.hand_over();
                self.back.end_of(number);
            }
            Told::End => {
                self.ended = true;
                self.back.over();
            }
            Told::Nothing => {}
        }
    }

    fn was_told(&mut self, _: Timestamp) {}

    fn end(&mut self) {
        self.back.end();
        self.ended = true;
    }

    fn fire(&mut self) -> Fire {
        if !self.ended {
            return Fire::Done;
        }
        let Solution { table, order, emitted, next, .. } = self;
        while let Some(hash) = order.get(*emitted)
            && !next.enough()
        {
            if !next.room() {
                return Fire::Paused;
            }
            *emitted += 1;
            if let Some(soon) = order.get(*emitted + AHEAD) {
                table.prefetch(*soon);
            }
            // Of several keys with one hash any: all of them are wanted.
            if let Some((key, (value, _))) = table.remove(*hash, |k| hash_key(k) == *hash, |k| hash_key(k)) {
                next.push((key, value), ());
            }
        }
        // In the body of another loop it begins anew.
        order.clear();
        (self.emitted, self.ended) = (0, false);
        Fire::Done
    }

    fn passes(&self, w: Timestamp) -> Timestamp {
        self.back.passes(w)
    }

    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        self.table.begin_save(out, Part::Head, |k| hash_key(k))
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        self.table.save_more(left)
    }

    fn schema(&self) -> Result<String> {
        Ok(Shape::Table.of(schema_of::<Q, (V, bool), M>()?))
    }

    fn restore(&mut self, _: usize, bytes: &[u8]) -> Result<()> {
        let Solution { table, order, changed, .. } = self;
        table.restore_each(
            bytes,
            |k| hash_key(k),
            |hash, (key, (_, is_changed))| {
                order.push(hash);
                if *is_changed {
                    changed.push(key.clone());
                }
            },
        )
    }
}

/// What is behind the head: barriers pass by what is kept.
impl<Q, V, F, N, S, M, U> Tail for Solution<Q, V, F, N, S, M, U>
where
    Q: Key + Spill + Keep<M>,
    V: Clone + Spill + Keep<M>,
    (V, bool): Keep<M>,
    F: Fn(&mut V, V) -> bool + Clone + Send + 'static,
    N: Push<(Q, V), ()>,
    S: Stamp,
    M: Mode,
    U: Until<(Q, V)>,
{
    fn mark(&mut self, mark: Mark) {
        self.next.mark(mark);
        if let Mark::Barrier(id) = mark {
            self.back.save(id);
        }
    }
    fn room(&mut self) -> bool {
        self.back.hears(self.next.enough());
        self.next.room()
    }
    fn enough(&self) -> bool {
        // It has to see the end of each superstep, whoever is behind it.
        false
    }
    forward_tail!(next: open grid flush deadline tick);
}
