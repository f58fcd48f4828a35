//! For aggregates of which records can be taken out again: one table, to which each slice is added once and from which it is taken
//! away once.

use super::running::{Inside, Joined, Running, Shown, Slice};
use super::table::Table;
use crate::aggregate::{Aggregate, Algebra, Overflow};
use crate::op::KeyFn;
use crate::state::Mode;

/// The running table.
pub struct Invert<K, A>(Table<K, Entry<A>>);

/// What the window has of a key.
struct Entry<A> {
    /// How many slices have the key: without any, neither has the window.
    slices: u32,
    /// Whether `acc` left its range on the way from one window to the next, and so at a sum that is that of no window. The key is
    /// then composed anew whenever it is shown, until it has left.
    broken: bool,
    acc: A,
}

impl<K, A> Default for Invert<K, A> {
    fn default() -> Self {
        Invert(Table::default())
    }
}

impl<K: Clone, A> Invert<K, A> {
    /// The entry of a key, made with `start` if need be; that of a key that had left counts again.
    #[inline(always)]
    fn entry<X, F: KeyFn<X, Key = K>>(
        &mut self,
        hash: u64,
        k: &K,
        key: &F,
        start: impl FnOnce() -> A,
    ) -> &mut Entry<A> {
        let Table { entries, empty, .. } = &mut self.0;
        let mut is_new = false;
        let insert = || {
            is_new = true;
            (k.clone(), Entry { slices: 0, broken: false, acc: start() })
        };
        let (_, entry) = entries.entry(hash, |other| key.same(other, k), insert, &|k| key.hash(k));
        *empty -= usize::from(!is_new && entry.slices == 0);
        entry
    }
}

impl<X, F: KeyFn<X>, A: Aggregate<F::Value>, M: Mode> Running<X, F, A, M> for Invert<F::Key, A::Acc> {
    fn enter(&mut self, slice: &Slice<X, F, A, M>, key: &F, aggregate: &A) -> Result<(), Overflow> {
        for (k, part) in slice.iter() {
            let entry = self.entry(key.hash(k), k, key, || aggregate.start());
            entry.slices += 1;
            if !entry.broken {
                A::Algebra::merge(aggregate, &mut entry.acc, part.clone())?;
            }
        }
        Ok(())
    }

    fn leave(&mut self, slice: &Slice<X, F, A, M>, inside: &Inside<'_, X, F, A, M>) -> Result<(), Overflow> {
        let (key, aggregate) = (inside.key, inside.aggregate);
        // A slice that leaves was touched last when it entered. (W5, whose windows have a hundred slices, with an entry of five words:
        // 0.78 s in order of appearance; with one of four: 0.58 s so.)
        for (k, part) in slice.unordered() {
            let entry = self.entry(key.hash(k), k, key, || aggregate.start());
            entry.slices = entry.slices.saturating_sub(1);
            if entry.slices == 0 {
                (entry.acc, entry.broken) = (aggregate.start(), false);
                self.0.empty += 1;
            } else if !entry.broken {
                entry.broken = A::Algebra::remove(aggregate, &mut entry.acc, part).is_err();
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
        inside: &Inside<'_, X, F, A, M>,
    ) -> Result<(), Overflow> {
        let aggregate = inside.aggregate;
        let entry = self.entry(joined.hash, joined.key, inside.key, || aggregate.start());
        entry.slices += u32::from(joined.new);
        if !entry.broken {
            entry.broken = aggregate.add(&mut entry.acc, joined.lifted).is_err();
        }
        Ok(())
    }

    fn shown(
        &self,
        place: usize,
        inside: &Inside<'_, X, F, A, M>,
    ) -> Option<Result<Shown<'_, F::Key, A::Out>, Overflow>> {
        let (k, entry) = self.0.entries.at(place)?;
        if entry.broken {
            let shown = |total: Option<A::Acc>| total.map(|acc| (k, inside.aggregate.take_result(acc)));
            return Some(inside.total(k).map(shown));
        }
        Some(Ok((entry.slices > 0).then(|| (k, inside.aggregate.result(&entry.acc)))))
    }
}
