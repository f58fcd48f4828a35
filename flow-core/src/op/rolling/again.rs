//! What a table of a loop knows from one superstep to the next: most have the keys that the one before had.

use crate::state::{Dense, Mode, Pane, Spread, is_place, is_written, place_of};

/// See the module; `V` is what there is of a key.
pub(super) struct Again<V> {
    /// Beside the table of the head, values of keys that are places: nothing of it is written down, so only where nothing is.
    pub dense: Dense<V>,
    /// Where in both the next row is looked for.
    hand: usize,
    near: usize,
    /// The keys of this superstep that have left.
    spread: Spread,
    /// When the other table has so many keys, it is looked whether they are places.
    look_at: usize,
}

/// Whether values may lie by their places: nothing of those is written down, and there is a value at each, also where no key is, so none that owns memory.
#[inline(always)]
fn may_be_dense<V, M: Mode>() -> bool {
    !is_written::<M>() && !std::mem::needs_drop::<V>()
}

/// Of how many keys it is looked first.
const LOOK_AT: usize = 1 << 12;

impl<V> Default for Again<V> {
    fn default() -> Self {
        Again { dense: Dense::default(), hand: 0, near: 0, spread: Spread::default(), look_at: LOOK_AT }
    }
}

impl<V> Again<V> {
    /// Gives out a row of those that are left; after the last, `keys` is ready for another superstep. `make` makes what there is of a key that is new.
    #[inline]
    pub fn pop<K: 'static, M: Mode>(
        &mut self,
        keys: &mut Pane<K, V, M>,
        make: impl Fn() -> V,
    ) -> Option<(K, V)> {
        let dense = self.dense.pop(&mut self.hand, &make);
        let row = dense.or_else(|| keys.pop_near(&mut self.near));
        match &row {
            Some((key, _)) => self.spread.add(key),
            None => self.turn(keys, make),
        }
        row
    }

    /// Before a table becomes too large for the nearer caches: its keys go where they need none, if they may.
    #[inline]
    pub fn look<K: 'static, M: Mode>(&mut self, keys: &mut Pane<K, V, M>, make: impl Fn() -> V) {
        if may_be_dense::<V, M>() && is_place::<K>() && keys.len() >= self.look_at {
            self.move_to_places(keys, make);
        }
    }

    #[cold]
    fn move_to_places<K: 'static, M: Mode>(&mut self, keys: &mut Pane<K, V, M>, make: impl Fn() -> V) {
        self.look_at = 2 * keys.len();
        let mut spread = Spread::default();
        keys.unordered().for_each(|(key, _)| spread.add(key));
        let Some(places) = spread.places() else { return };
        self.dense.extend(places, make);
        let mut hand = 0;
        while let Some((key, value)) = keys.pop_near(&mut hand) {
            if let Some(place) = place_of(&key) {
                *self.dense.entry(place) = value;
            }
        }
        *keys = Pane::default();
    }

    #[cold]
    fn turn<K, M: Mode>(&mut self, keys: &mut Pane<K, V, M>, make: impl Fn() -> V) {
        (self.hand, self.near) = (0, 0);
        let places = std::mem::take(&mut self.spread).places();
        match places.filter(|places| may_be_dense::<V, M>() && *places > self.dense.places()) {
            Some(places) => {
                self.dense.extend(places, make);
                *keys = Pane::default();
            }
            None => keys.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::hash_key;
    use crate::state::{Durable, Volatile};
    use std::collections::BTreeMap;

    /// Puts each key in, as a head does, and takes all out.
    fn superstep<M: Mode>(
        again: &mut Again<u64>,
        keys: &mut Pane<i64, u64, M>,
        of: &[i64],
    ) -> BTreeMap<i64, u64> {
        for key in of {
            again.look(keys, || 0);
            let value = match place_of(key).filter(|place| *place < again.dense.places()) {
                Some(place) => again.dense.entry(place),
                None => &mut keys.entry(hash_key(key), |k| k == key, || (*key, 0), &hash_key).1,
            };
            *value += 1;
        }
        let mut rows = BTreeMap::new();
        while let Some((key, count)) = again.pop(keys, || 0) {
            assert_eq!(rows.insert(key, count), None, "{key} twice");
        }
        rows
    }

    fn counts(of: &[i64]) -> BTreeMap<i64, u64> {
        let mut counts = BTreeMap::new();
        of.iter().for_each(|key| *counts.entry(*key).or_insert(0) += 1);
        counts
    }

    #[test]
    fn a_table_becomes_dense_and_what_has_no_place_stays_beside_it() {
        let (mut again, mut keys) = (Again::default(), Pane::<i64, u64, Volatile>::default());
        let many: Vec<i64> = (0..6_000).rev().flat_map(|key| [key, key / 2]).collect();
        let few = [-3, 5, 1 << 40, 5, i64::MAX];
        let odd: Vec<i64> = many.iter().map(|key| 3 * key).chain(few).collect();
        // Dense while it grows, beyond it in the next, back within, and only few.
        for (of, places) in
            [(&few[..], 0), (&many, 6_000), (&odd, 6_000), (&many, 6_000), (&few, 6_000), (&[], 6_000)]
        {
            assert_eq!(superstep(&mut again, &mut keys, of), counts(of));
            assert_eq!((again.dense.places(), keys.len()), (places, 0));
        }
    }

    /// A `fold` that begins with a clone of something: there is one for each key, and not for each place.
    #[test]
    fn what_owns_memory_is_not_dense() {
        let (mut again, mut keys) = (Again::default(), Pane::<i64, String, Volatile>::default());
        for _ in 0..3 {
            for key in 0..6_000i64 {
                again.look(&mut keys, || panic!("there is no place to make one for"));
                keys.entry(hash_key(&key), |k| *k == key, || (key, key.to_string()), &hash_key);
            }
            while again.pop(&mut keys, || panic!("nor here")).is_some() {}
            assert_eq!(again.dense.places(), 0);
        }
    }

    #[test]
    fn what_is_written_down_is_not_dense() {
        let (mut again, mut keys) = (Again::default(), Pane::<i64, u64, Durable>::default());
        let many: Vec<i64> = (0..6_000).collect();
        for _ in 0..3 {
            assert_eq!(superstep(&mut again, &mut keys, &many), counts(&many));
            assert_eq!(again.dense.places(), 0);
        }
    }
}
