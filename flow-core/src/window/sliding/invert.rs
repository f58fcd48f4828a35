//! For aggregates of which records can be taken out again: one table, to which each slice is added once and from which it is taken
//! away once.

use super::running::{Inside, Joined, Running, Shown, Slice};
use super::table::Table;
use crate::aggregate::{Aggregate, Algebra, Overflow};
use crate::op::KeyFn;

/// The running table.
pub struct Invert<K, A>(Table<K, Entry<A>>);

/// What the window has of a key.
struct Entry<A> {
    /// How many slices have the key: without any, neither has the window.
    slices: usize,
    /// None where it left its range on the way from one window to the next, and so at a sum that is that of no window. It is then
    /// composed anew whenever it is shown.
    acc: Option<A>,
}

impl<K, A> Default for Invert<K, A> {
    fn default() -> Self {
        Invert(Table::default())
    }
}

impl<K, A> Invert<K, A> {
    /// The entry of a key, made if need be; that of a key that had left counts again.
    fn entry(
        &mut self,
        hash: u64,
        k: &K,
        same: impl Fn(&K, &K) -> bool,
        hash_of: impl Fn(&K) -> u64,
    ) -> &mut Entry<A>
    where
        K: Clone,
    {
        let Table { entries, empty, .. } = &mut self.0;
        let mut is_new = false;
        let insert = || {
            is_new = true;
            (k.clone(), Entry { slices: 0, acc: None })
        };
        let (_, entry) = entries.entry(hash, |other| same(other, k), insert, hash_of);
        *empty -= usize::from(!is_new && entry.slices == 0);
        entry
    }
}

impl<X, F: KeyFn<X>, A: Aggregate<F::Value>> Running<X, F, A> for Invert<F::Key, A::Acc> {
    fn enter(&mut self, slice: &Slice<X, F, A>, key: &F, aggregate: &A) -> Result<(), Overflow> {
        for (k, part) in slice.table.iter() {
            let entry = self.entry(key.hash(k), k, |a, b| key.same(a, b), |k| key.hash(k));
            if entry.slices == 0 {
                entry.acc = Some(part.clone());
            } else if let Some(acc) = &mut entry.acc {
                A::Algebra::merge(aggregate, acc, part.clone())?;
            }
            entry.slices += 1;
        }
        Ok(())
    }

    fn leave(&mut self, slice: &Slice<X, F, A>, inside: &Inside<'_, X, F, A>) -> Result<(), Overflow> {
        let (key, aggregate) = (inside.key, inside.aggregate);
        for (k, part) in slice.table.iter() {
            let entry = self.entry(key.hash(k), k, |a, b| key.same(a, b), |k| key.hash(k));
            entry.slices = entry.slices.saturating_sub(1);
            if entry.slices == 0 {
                entry.acc = None;
                self.0.empty += 1;
            } else if entry.acc.as_mut().is_some_and(|acc| A::Algebra::remove(aggregate, acc, part).is_err())
            {
                entry.acc = None;
            }
        }
        self.0.sweep(|entry| entry.slices == 0, |k| key.hash(k));
        Ok(())
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn join(
        &mut self,
        joined: Joined<'_, F::Key, A::In>,
        inside: &Inside<'_, X, F, A>,
    ) -> Result<(), Overflow> {
        let (key, aggregate) = (inside.key, inside.aggregate);
        let entry = self.entry(joined.hash, joined.key, |a, b| key.same(a, b), |k| key.hash(k));
        if entry.slices == 0 {
            entry.acc = Some(aggregate.start());
        }
        entry.slices += usize::from(joined.new);
        if entry.acc.as_mut().is_some_and(|acc| aggregate.add(acc, joined.lifted).is_err()) {
            entry.acc = None;
        }
        Ok(())
    }

    fn shown(
        &self,
        place: usize,
        inside: &Inside<'_, X, F, A>,
    ) -> Option<Result<Shown<'_, F::Key, A::Out>, Overflow>> {
        let (k, entry) = self.0.entries.at(place)?;
        Some(Ok(match &entry.acc {
            Some(acc) => Some((k, inside.aggregate.result(acc))),
            None if entry.slices == 0 => None,
            None => match inside.total(k) {
                Ok(total) => total.map(|acc| (k, inside.aggregate.take_result(acc))),
                Err(error) => return Some(Err(error)),
            },
        }))
    }
}
