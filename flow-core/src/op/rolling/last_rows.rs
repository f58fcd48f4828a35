//! Rolling operators in a batch: one row for each key, when all input has come, in the order in which the keys did. In a loop, where rows are the input of the next superstep
//! and nobody's answer, they come as they lie in memory: in the order of the keys, where these are numbers, and in that of their hashes.
//!
//! ```text
//! key -> time state      in a checkpoint: a little-endian i64, that of the last record; the codec's bytes
//! ```

use super::again::Again;
use super::{Item, Roll};
use crate::checkpoint::{Groups, each_entry};
use crate::error::Result;
use crate::op::key_fn::KeyFn;
use crate::op::operator::{OpError, operator_error};
use crate::stage::own::take_i64;
use crate::stage::{Faults, Fire, Head, Meta, OpenCx, Push, Stamp, Tail};
use crate::state::shape::Kind as Shape;
use crate::state::{Dense, Form, Keep, Mode, Pane, place_of, read_all, schema_of};
use crate::time::Timestamp;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::vec::IntoIter;

/// Look-ups that are begun together.
const CHUNK: usize = 64;
/// Look-ups that are under way at once where the keys are places.
const AHEAD: usize = 128;
/// Rows that leave between two looks at the room for them.
const ROWS: usize = 256;

/// A state with the stamp of the last record.
type Last<R, V, S> = (<R as Roll<V>>::State, S);

/// The head of the stage.
pub(super) struct LastRows<X, F: KeyFn<X>, R: Roll<F::Value>, N, M: Mode, S> {
    keys: Pane<F::Key, Last<R, F::Value, S>, M>,
    key: F,
    roll: R,
    next: N,
    meta: Meta,
    faults: Faults,
    failed: bool,
    /// All input has come.
    ended: bool,
    /// The highest watermark so far.
    reached: Timestamp,
    /// In a loop.
    again: Option<Again<Last<R, F::Value, S>>>,
    /// Whether the last checkpoint has the keys.
    saved: bool,
    types: PhantomData<fn(X) -> M>,
}

impl<X, F: KeyFn<X>, R: Roll<F::Value>, N, M: Mode, S: Stamp> LastRows<X, F, R, N, M, S> {
    pub fn new(key: F, roll: R, next: N, meta: Meta, looped: bool) -> Self {
        let again = looped.then(Again::default);
        let (keys, faults, types) = (Pane::default(), Faults::default(), PhantomData);
        let (failed, ended, saved, reached) = (false, false, false, Timestamp::MIN);
        LastRows { keys, key, roll, next, meta, faults, failed, ended, reached, again, saved, types }
    }

    #[cold]
    #[inline(never)]
    fn fail(&mut self, error: &OpError) {
        self.failed = true;
        self.faults.raise(operator_error(&self.meta, error));
    }

    /// Takes the first of `n` items, as far as there is room for their keys; how many it took.
    fn run(&mut self, items: &mut IntoIter<Item<X, F, S>>, n: usize) -> Result<usize, OpError> {
        let LastRows { keys, key, roll, .. } = self;
        let (mut keys, n) = keys.run(n.min(CHUNK), &|k| key.hash(k));
        if keys.is_large() {
            for (hash, ..) in items.as_slice().iter().take(n) {
                keys.prefetch(*hash);
            }
        }
        for (hash, route, rest, stamp) in items.by_ref().take(n) {
            let insert = || (key.key(&route), (roll.start(), stamp));
            let (_, (state, last)) = keys.entry(hash, |k| key.is(&route, k), insert);
            *last = stamp;
            roll.add(state, key.value(route, rest))?;
        }
        Ok(n)
    }

    /// The same where the keys are places.
    fn run_dense(&mut self, items: &mut IntoIter<Item<X, F, S>>, n: usize) -> Result<usize, OpError> {
        let LastRows { keys, again, key, roll, .. } = self;
        let Some(Again { dense, .. }) = again else { return Ok(0) };
        let place = |route: &F::Route| place_of(&key.key(route));
        let ask = |dense: &Dense<_>, route: &F::Route| dense.prefetch(place(route).unwrap_or(0));
        items.as_slice().iter().take(AHEAD).for_each(|item| ask(dense, &item.1));
        for _ in 0..n {
            if let Some(soon) = items.as_slice().get(AHEAD) {
                ask(dense, &soon.1);
            }
            let Some((hash, route, rest, stamp)) = items.next() else { break };
            let insert = || (key.key(&route), (roll.start(), stamp));
            let (state, last) = match place(&route).filter(|place| *place < dense.places()) {
                Some(place) => dense.entry(place),
                None => &mut keys.entry(hash, |k| key.is(&route, k), insert, &|k| key.hash(k)).1,
            };
            *last = stamp;
            roll.add(state, key.value(route, rest))?;
        }
        Ok(n)
    }

    /// The next row that leaves; after the last, the table is ready for what may come.
    #[inline]
    fn next_row(&mut self) -> Option<(F::Key, Last<R, F::Value, S>)> {
        let LastRows { keys, roll, again, .. } = self;
        if let Some(again) = again {
            return again.pop(keys, || (roll.start(), S::of(Timestamp::MIN)));
        }
        let row = keys.pop();
        if row.is_none() {
            keys.clear();
        }
        row
    }
}

impl<X, F, R, N, S, M> Head<Item<X, F, S>> for LastRows<X, F, R, N, M, S>
where
    X: 'static,
    F: KeyFn<X, Key: Keep<M>>,
    R: Roll<F::Value, State: Keep<M>>,
    S: Stamp,
    N: Push<(F::Key, R::Out), S>,
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
        let key = self.key.clone();
        let form: Form<Last<R, F::Value, S>> = Form {
            write: |last, out| write::<R::State, S, M>(last, out),
            beside: |_, _| (),
            read: |value, _| read::<R::State, S, M>(value),
        };
        self.keys.spill_alone(cx.space(&self.meta)?, move |k| key.hash(k), form)?;
        self.roll.open(&self.meta, cx).map_err(|error| operator_error(&self.meta, &error))
    }

    fn spills(&self) -> bool {
        true
    }

    #[inline(never)]
    fn items(&mut self, _: usize, items: &mut IntoIter<Item<X, F, S>>, n: usize) {
        let mut left = n.min(items.len());
        let LastRows { keys, roll, again, .. } = self;
        if let Some(again) = again {
            again.look(keys, || (roll.start(), S::of(Timestamp::MIN)));
        }
        let is_dense = self.again.as_ref().is_some_and(|again| again.dense.places() > 0);
        while left > 0 && !self.failed {
            let taken = if is_dense { self.run_dense(items, left) } else { self.run(items, left) };
            match taken {
                Ok(taken) => left -= taken,
                Err(error) => self.fail(&error),
            }
        }
    }

    fn watermark(&mut self, w: Timestamp) {
        // The end of the input or, in a loop, of a superstep: there are no others in a batch. Rows leave before this mark, or a window behind
        // would fire without them. A stage that goes on from a checkpoint is told the one before, which has been.
        self.ended |= w > self.reached;
        self.reached = self.reached.max(w);
    }

    fn was_told(&mut self, _: Timestamp) {
        // Of that superstep all rows have left; what comes back is of the next.
    }

    fn end(&mut self) {
        self.ended = true;
    }

    fn fire(&mut self) -> Fire {
        while self.ended && !self.failed {
            if !self.next.room() {
                return Fire::Paused;
            }
            for _ in 0..ROWS {
                let Some((key, (state, stamp))) = self.next_row() else {
                    (self.ended, self.saved) = (false, false);
                    return Fire::Done;
                };
                if let Some(row) = self.roll.last(state) {
                    self.next.push((key, row), stamp);
                }
            }
        }
        Fire::Done
    }

    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        let key = self.key.clone();
        self.keys.begin_save_alone(
            out,
            &mut self.saved,
            move |k| key.hash(k),
            |last, out| write::<R::State, S, M>(last, out),
        )
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        self.keys.save_more(left)
    }

    fn schema(&self) -> Result<String> {
        Ok(Shape::LastRows.of(schema_of::<F::Key, R::State, M>()?))
    }

    fn restore(&mut self, _: usize, bytes: &[u8]) -> Result<()> {
        self.ended = false;
        let LastRows { keys, key, .. } = self;
        let hash_of = |k: &F::Key| key.hash(k);
        <F::Key as Keep<M>>::kept(|| {
            each_entry(bytes, &mut |_, name, value| {
                let name = read_all::<M, F::Key>(name)?;
                keys.push(hash_of(&name), name, read::<R::State, S, M>(value)?, &hash_of);
                Ok(())
            })
        })
    }
}

fn write<V: Keep<M>, S: Stamp, M>((state, stamp): &(V, S), out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(&stamp.time().0.to_le_bytes());
    state.write(out)
}

fn read<V: Keep<M>, S: Stamp, M>(mut value: &[u8]) -> Result<(V, S)> {
    let stamp = S::of(Timestamp(take_i64(&mut value)?));
    Ok((read_all::<M, V>(value)?, stamp))
}
