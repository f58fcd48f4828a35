//! Timers of keys: one for each key and time, which fire in order of time, and at equal times in the order first set.
//!
//! A timer for a time that has passed is due at the next instant, as if time went on by single milliseconds. What is deleted is
//! removed at once, so timers that are set and deleted for each record take no memory. The trees know no type of the user's: keys
//! lie beside them. `timer_track.rs` says how they are written down.

use super::timer_track::Tracked;
use crate::time::Timestamp;
use std::collections::BTreeMap;

/// The timers of many keys.
///
/// ```
/// use flow_core::state::Timers;
/// use flow_core::time::Timestamp;
/// let (mut timers, passed) = (Timers::default(), Timestamp(0));
/// for at in [3, 1, 3] {
///     timers.set((7, &"k", &|a, b| a == b), Timestamp(at), passed);
/// }
/// let fired = std::iter::from_fn(|| timers.pop(Timestamp(5))).map(|timer| timer.at.millis());
/// assert_eq!(fired.collect::<Vec<_>>(), [1, 3], "one for each key and time");
/// ```
pub struct Timers<K> {
    pub(super) queue: Queue,
    pub(super) keys: Vec<Option<K>>,
    free: Vec<u32>,
    /// None before the first checkpoint.
    pub(super) tracked: Option<Box<Tracked<K>>>,
}

/// A timer that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timer<K> {
    /// Whose it is.
    pub key: K,
    /// The key's hash.
    pub hash: u64,
    /// The time it was set for.
    pub at: Timestamp,
    /// When it was due: at its time, or at the first instant after it was set.
    pub due: Timestamp,
    /// The length of the interval whose timer it is; 0 where it is of none.
    pub every: i64,
}

/// When a timer fires: what is due first, of that what was set for the earliest time, of that what was set first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    due: i64,
    at: i64,
    pub order: u64,
}

/// Which timer it is: hash of the key, the length of its interval or 0, time, the place of the key. The interval of a key is found
/// without its time.
pub(super) type Known = (u64, i64, i64, u32);

#[derive(Default)]
pub(super) struct Queue {
    pub turns: BTreeMap<Turn, Known>,
    known: BTreeMap<Known, Turn>,
    /// How many have been set.
    pub set: u64,
}

impl Queue {
    fn add(&mut self, timer: Known, passed: Timestamp) -> Turn {
        let due = timer.2.max(passed.0.saturating_add(1));
        let turn = Turn { due, at: timer.2, order: self.set };
        self.set += 1;
        self.turns.insert(turn, timer);
        self.known.insert(timer, turn);
        turn
    }

    fn remove(&mut self, timer: &Known) -> Option<Turn> {
        let turn = self.known.remove(timer)?;
        self.turns.remove(&turn);
        Some(turn)
    }

    fn pop(&mut self, until: Timestamp) -> Option<(Turn, Known)> {
        let first = self.turns.first_entry().filter(|first| first.key().due <= until.0)?;
        let (turn, timer) = first.remove_entry();
        self.known.remove(&timer);
        Some((turn, timer))
    }

    /// The timers of keys with this hash: those at `at`, or those of intervals of the length `every`.
    fn like(&self, hash: u64, every: i64, at: i64) -> impl Iterator<Item = &Known> {
        let (from, to) = if every > 0 { (i64::MIN, i64::MAX) } else { (at, at) };
        self.known.range((hash, every, from, 0)..=(hash, every, to, u32::MAX)).map(|known| known.0)
    }
}

impl<K> Default for Timers<K> {
    fn default() -> Self {
        Timers { queue: Queue::default(), keys: Vec::new(), free: Vec::new(), tracked: None }
    }
}

/// A key: its hash, itself, and how to compare it.
pub type Owner<'a, K> = (u64, &'a K, &'a dyn Fn(&K, &K) -> bool);

impl<K: Clone> Timers<K> {
    /// Sets the timer of a key at `at`, where time has come to `passed`; one that is set stays as it is.
    pub fn set(&mut self, of: Owner<K>, at: Timestamp, passed: Timestamp) {
        self.set_every(of, at, passed, 0);
    }

    /// Sets the timer of an interval, which is another one than that which [`Timers::set`] sets. A key has one of each length.
    pub fn set_every(&mut self, of: Owner<K>, at: Timestamp, passed: Timestamp, every: i64) {
        if self.find(of, at.0, every).is_some() {
            return;
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.keys.push(None);
            u32::try_from(self.keys.len() - 1).expect("fewer timers than 2^32 fit into memory")
        });
        self.keys[place as usize] = Some(of.1.clone());
        let turn = self.queue.add((of.0, every, at.0, place), passed);
        if let Some(tracked) = &mut self.tracked {
            tracked.came(turn, &self.queue);
        }
    }

    /// Whether a key has an interval of this length.
    pub fn has_interval(&self, of: Owner<K>, every: i64) -> bool {
        self.find(of, 0, every).is_some()
    }

    /// Deletes the timer of a key at `at`, if it is set.
    pub fn delete(&mut self, of: Owner<K>, at: Timestamp) {
        let timer = self.find(of, at.0, 0);
        self.remove(timer);
    }

    /// Ends the interval of a key of this length, if there is one.
    pub fn delete_interval(&mut self, of: Owner<K>, every: i64) {
        let timer = self.find(of, 0, every);
        self.remove(timer);
    }

    fn find(&self, (hash, key, same): Owner<K>, at: i64, every: i64) -> Option<Known> {
        let is = |timer: &&Known| self.keys[timer.3 as usize].as_ref().is_some_and(|other| same(other, key));
        self.queue.like(hash, every, at).find(is).copied()
    }

    fn remove(&mut self, timer: Option<Known>) {
        if let Some(timer) = timer
            && let Some(turn) = self.queue.remove(&timer)
        {
            self.leave(turn, timer);
        }
    }
}

impl<K> Timers<K> {
    /// When the first is due.
    pub fn first(&self) -> Option<Timestamp> {
        self.queue.turns.first_key_value().map(|first| Timestamp(first.0.due))
    }

    /// Takes the first, if it is due at `until`.
    pub fn pop(&mut self, until: Timestamp) -> Option<Timer<K>> {
        let (turn, timer) = self.queue.pop(until)?;
        self.leave(turn, timer)
    }

    /// What has left the queue.
    fn leave(&mut self, turn: Turn, (hash, every, at, place): Known) -> Option<Timer<K>> {
        let key = self.keys[place as usize].take()?;
        self.free.push(place);
        let timer = Timer { key, hash, at: Timestamp(at), due: Timestamp(turn.due), every };
        if let Some(tracked) = &mut self.tracked {
            tracked.left(turn, &timer, self.queue.turns.len());
        }
        Some(timer)
    }

    /// How many are set.
    pub fn len(&self) -> usize {
        self.queue.turns.len()
    }

    /// Whether none is set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
