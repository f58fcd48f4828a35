//! What a table of a loop knows from one superstep to the next: most have the keys that the one before had.

use crate::state::{Dense, Mode, Pane, Spread, is_written};

/// See the module; `V` is what there is of a key.
pub(super) struct Again<V> {
    /// Beside the table of the head, values of keys that are places: nothing of it is written down, so only where nothing is.
    pub dense: Dense<V>,
    /// Where in both the next row is looked for.
    hand: usize,
    near: usize,
    /// The keys of this superstep.
    spread: Spread,
}

impl<V> Default for Again<V> {
    fn default() -> Self {
        Again { dense: Dense::default(), hand: 0, near: 0, spread: Spread::default() }
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

    #[cold]
    fn turn<K, M: Mode>(&mut self, keys: &mut Pane<K, V, M>, make: impl Fn() -> V) {
        (self.hand, self.near) = (0, 0);
        let places = std::mem::take(&mut self.spread).places();
        match places.filter(|places| !is_written::<M>() && *places > self.dense.places()) {
            Some(places) => {
                self.dense.extend(places, make);
                *keys = Pane::default();
            }
            None => keys.clear(),
        }
    }
}
