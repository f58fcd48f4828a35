//! For aggregates that merge, in any order, but of which nothing can be taken out again: two stacks.
//!
//! The newer slices are merged into one table, `back`. For the older ones, the front, `top` has what they come to from the
//! oldest on, and each remembers what `top` had of its keys without it and all that are older. So a slice leaves by giving that back: one
//! step for each of its keys, and no more memory than the slices themselves take. When the front has run out, all slices
//! become the front, the newest first. A window is `top` and `back` together.
//!
//! (The queue of two stacks, as in Tangwongsan, Hirzel and Schneider, "Optimal and general out-of-order sliding-window
//! aggregation", 2019. Suffix tables as a whole would have each key of a window once for each slice.)

use super::running::{Inside, Joined, Running, Shown, Slice};
use super::table::Table;
use crate::aggregate::{Aggregate, Algebra, Overflow};
use crate::op::KeyFn;
use crate::state::{Mode, Pane};

/// Both stacks.
pub struct Stacks<K, A> {
    /// None where no slice of the front has the key.
    top: Table<K, Option<A>>,
    /// The slices of the front, the oldest last.
    front: Vec<Before<A>>,
    /// The slices that begin here or later are in `back`.
    middle: i128,
    back: Pane<K, A>,
}

/// What `top` has without a slice and the older ones.
struct Before<A> {
    /// The beginning of the slice.
    slice: i128,
    /// For each entry of the slice, in its order.
    values: Vec<Option<A>>,
}

impl<K, A> Default for Stacks<K, A> {
    fn default() -> Self {
        Stacks { top: Table::default(), front: Vec::new(), middle: i128::MIN, back: Pane::default() }
    }
}

impl<K: Clone, A: Clone> Stacks<K, A> {
    /// What `top` has of a key. A new entry is empty, and counted as such.
    fn slot<'t, X, F: KeyFn<X, Key = K>>(
        top: &'t mut Table<K, Option<A>>,
        hash: u64,
        k: &K,
        key: &F,
    ) -> &'t mut Option<A> {
        let Table { entries, empty, .. } = top;
        let insert = || {
            *empty += 1;
            (k.clone(), None)
        };
        &mut entries.entry(hash, |other| key.same(other, k), insert, &|k| key.hash(k)).1
    }

    /// Replaces what `top` has of a key.
    fn replace<X, F: KeyFn<X, Key = K>>(&mut self, hash: u64, k: &K, value: Option<A>, key: &F) {
        let becomes_empty = usize::from(value.is_none());
        let old = std::mem::replace(Self::slot(&mut self.top, hash, k, key), value);
        self.top.empty = self.top.empty + becomes_empty - usize::from(old.is_none());
    }

    /// All slices become the front.
    fn turn<X, F, B, M>(&mut self, inside: &Inside<'_, X, F, B, M>) -> Result<(), Overflow>
    where
        F: KeyFn<X, Key = K>,
        B: Aggregate<F::Value, Acc = A>,
        M: Mode,
    {
        self.top.clear();
        self.back.clear();
        self.middle = inside.high;
        for (open, slice) in inside.slices().rev() {
            let mut values = Vec::with_capacity(slice.len());
            for (k, part) in slice.iter() {
                let slot = Self::slot(&mut self.top, inside.key.hash(k), k, inside.key);
                let newer = slot.take();
                *slot = Some(inside.before(part, newer.as_ref())?);
                values.push(newer);
            }
            self.front.push(Before { slice: open.span.start, values });
        }
        self.top.empty = 0;
        Ok(())
    }

    /// Composes the front anew for one key, of which one of its slices has a new record.
    fn again<X, F, B, M>(&mut self, hash: u64, k: &K, inside: &Inside<'_, X, F, B, M>) -> Result<(), Overflow>
    where
        F: KeyFn<X, Key = K>,
        B: Aggregate<F::Value, Acc = A>,
        M: Mode,
    {
        let (mut newer, mut at) = (None, 0);
        for (open, slice) in inside.panes.within(inside.low, self.middle).rev() {
            // The slice of the record may be new itself.
            if self.front.get(at).is_none_or(|before| before.slice != open.span.start) {
                self.front.insert(at, Before { slice: open.span.start, values: Vec::new() });
            }
            let values = &mut self.front[at].values;
            if let Some(place) = slice.place(hash, |other| inside.key.same(other, k))
                && let Some((_, part)) = slice.at(place)
            {
                values.resize_with(values.len().max(place + 1), || None);
                values[place] = newer.clone();
                newer = Some(inside.before(part, newer.as_ref())?);
            }
            at += 1;
        }
        self.replace(hash, k, newer, inside.key);
        Ok(())
    }
}

impl<X, F: KeyFn<X>, A: Aggregate<F::Value>, M: Mode> Running<X, F, A, M> for Stacks<F::Key, A::Acc> {
    fn enter(&mut self, slice: &Slice<X, F, A, M>, key: &F, aggregate: &A) -> Result<(), Overflow> {
        for (k, part) in slice.iter() {
            let start = || (k.clone(), aggregate.start());
            let (_, acc) = self.back.entry(key.hash(k), |other| key.same(other, k), start, &|k| key.hash(k));
            A::Algebra::merge(aggregate, acc, part.clone())?;
        }
        Ok(())
    }

    fn leave(&mut self, slice: &Slice<X, F, A, M>, inside: &Inside<'_, X, F, A, M>) -> Result<(), Overflow> {
        if self.front.is_empty() {
            self.turn(inside)?;
        }
        let Some(Before { values, .. }) = self.front.pop() else { return Ok(()) };
        for ((k, _), value) in slice.iter().zip(values) {
            self.replace(inside.key.hash(k), k, value, inside.key);
        }
        self.top.sweep(Option::is_none, |k| inside.key.hash(k));
        Ok(())
    }

    fn clear(&mut self) {
        self.top.clear();
        self.front.clear();
        self.back.clear();
        self.middle = i128::MIN;
    }

    fn join(
        &mut self,
        joined: Joined<'_, F::Key, A::In>,
        inside: &Inside<'_, X, F, A, M>,
    ) -> Result<(), Overflow> {
        let Joined { slice, hash, key: k, lifted, .. } = joined;
        if slice < self.middle {
            return self.again(hash, k, inside);
        }
        let (key, aggregate) = (inside.key, inside.aggregate);
        let start = || (k.clone(), aggregate.start());
        let (_, acc) = self.back.entry(hash, |other| key.same(other, k), start, &|k| key.hash(k));
        aggregate.add(acc, lifted)
    }

    fn shown(
        &self,
        place: usize,
        inside: &Inside<'_, X, F, A, M>,
    ) -> Option<Result<Shown<'_, F::Key, A::Out>, Overflow>> {
        let (key, older) = (inside.key, self.top.entries.len());
        if place < older {
            let (k, top) = self.top.entries.at(place)?;
            let Some(top) = top else { return Some(Ok(None)) };
            let Some((_, back)) = self.back.find(key.hash(k), |other| key.same(other, k)) else {
                return Some(Ok(Some((k, inside.aggregate.result(top)))));
            };
            let both = inside.joined(Some(top.clone()), back);
            return Some(both.map(|acc| Some((k, inside.aggregate.take_result(acc)))));
        }
        let (k, back) = self.back.at(place - older)?;
        let top = self.top.entries.find(key.hash(k), |other| key.same(other, k));
        let is_shown = top.is_some_and(|(_, top)| top.is_some());
        Some(Ok((!is_shown).then(|| (k, inside.aggregate.result(back)))))
    }
}
