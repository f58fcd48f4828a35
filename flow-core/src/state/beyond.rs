//! Where the panes of an operator put what is too much for the memory: one store, of which each pane has a part, and one share of the memory,
//! which is divided among the panes that are open.

use super::Keep;
use super::backend::{Space, Spaces};
use super::spilled::Spilled;

/// Gives a pane a part of a store.
type Open<K, V> = Box<dyn FnMut(&mut Spilled<K, V>) + Send>;

/// Where the panes of an operator put entries that are too many for the memory: nowhere, unless the job has a state backend.
pub struct Beyond<K, V> {
    open: Option<Open<K, V>>,
    share: usize,
    /// Among how many panes the memory is divided.
    parts: usize,
}

impl<K, V> Default for Beyond<K, V> {
    fn default() -> Self {
        Beyond { open: None, share: 0, parts: 1 }
    }
}

impl<K, V> Beyond<K, V> {
    /// From now on there is one.
    pub(crate) fn open<M>(&mut self, space: Space, hash_of: impl Fn(&K) -> u64 + Clone + Send + 'static)
    where
        K: Keep<M>,
        V: Keep<M>,
    {
        let mut spaces = Spaces::new(space);
        self.share = spaces.share;
        self.open =
            Some(Box::new(move |spilled| spilled.open::<M>(spaces.part(), Box::new(hash_of.clone()), None)));
    }

    /// Gives a part of it to a pane.
    pub(super) fn give(&mut self, spilled: &mut Spilled<K, V>) {
        if let Some(open) = &mut self.open {
            open(spilled);
        }
    }

    /// Whether there is one.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// How many bytes each of `panes` may have in memory, if that is less than it was, or more. Rounded, so that it does not change with each.
    pub(crate) fn divide(&mut self, panes: usize) -> Option<usize> {
        let parts = panes.max(1).next_power_of_two();
        let before = std::mem::replace(&mut self.parts, parts);
        (parts != before).then_some(self.share / parts)
    }

    /// The same as it was.
    pub(crate) fn each(&self) -> usize {
        self.share / self.parts
    }
}
