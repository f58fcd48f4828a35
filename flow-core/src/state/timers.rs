//! Timers of keys: one for each key and time, which fire in order of time, and at equal times in the order first set.
//!
//! A timer for a time that has passed is due at the next instant, as if time went on by single milliseconds. What is deleted is
//! removed at once, so timers that are set and deleted for each record take no memory. The trees know no type of the user's: keys
//! lie beside them.

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
    queue: Queue,
    keys: Vec<Option<K>>,
    free: Vec<u32>,
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

/// When a timer fires: when it is due, the time it was set for, how many were set before; and 0. The first of them fires first. It is of the
/// type of [`Known`], so that one tree is compiled and not two.
type Turn = (i64, i64, i64, u32);

/// Which timer it is: the bits of the key's hash, the length of its interval or 0, time, the place of the key. The interval of a key is found
/// without its time.
type Known = (i64, i64, i64, u32);

#[derive(Default)]
struct Queue {
    turns: BTreeMap<Turn, Known>,
    known: BTreeMap<Known, Turn>,
    set: i64,
}

impl Queue {
    fn add(&mut self, timer: Known, passed: Timestamp) {
        let due = timer.2.max(passed.0.saturating_add(1));
        let turn = (due, timer.2, self.set, 0);
        self.set += 1;
        self.turns.insert(turn, timer);
        self.known.insert(timer, turn);
    }

    fn remove(&mut self, timer: &Known) {
        if let Some(turn) = self.known.remove(timer) {
            self.turns.remove(&turn);
        }
    }

    fn pop(&mut self, until: Timestamp) -> Option<(Turn, Known)> {
        let first = self.turns.first_entry().filter(|first| first.key().0 <= until.0)?;
        let (turn, timer) = first.remove_entry();
        self.known.remove(&timer);
        Some((turn, timer))
    }

    /// The timers of keys with this hash: those at `at`, or those of intervals of the length `every`.
    fn like(&self, hash: u64, every: i64, at: i64) -> impl Iterator<Item = &Known> {
        let (from, to) = if every > 0 { (i64::MIN, i64::MAX) } else { (at, at) };
        let hash = hash.cast_signed();
        self.known.range((hash, every, from, 0)..=(hash, every, to, u32::MAX)).map(|known| known.0)
    }
}

impl<K> Default for Timers<K> {
    fn default() -> Self {
        Timers { queue: Queue::default(), keys: Vec::new(), free: Vec::new() }
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
        self.queue.add((of.0.cast_signed(), every, at.0, place), passed);
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
        if let Some(timer) = timer {
            self.queue.remove(&timer);
            self.keys[timer.3 as usize] = None;
            self.free.push(timer.3);
        }
    }
}

impl<K> Timers<K> {
    /// When the first is due.
    pub fn first(&self) -> Option<Timestamp> {
        self.queue.turns.first_key_value().map(|first| Timestamp(first.0.0))
    }

    /// Takes the first, if it is due at `until`.
    pub fn pop(&mut self, until: Timestamp) -> Option<Timer<K>> {
        let (turn, (hash, every, at, place)) = self.queue.pop(until)?;
        let key = self.keys[place as usize].take()?;
        self.free.push(place);
        Some(Timer { key, hash: hash.cast_unsigned(), at: Timestamp(at), due: Timestamp(turn.0), every })
    }

    /// How many are set.
    pub fn len(&self) -> usize {
        self.queue.turns.len()
    }

    /// Whether none is set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All that are set, in the order in which they will fire: hash, key, time, interval.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &K, Timestamp, i64)> {
        self.queue.turns.values().filter_map(|(hash, every, at, place)| {
            self.keys[*place as usize].as_ref().map(|key| (hash.cast_unsigned(), key, Timestamp(*at), *every))
        })
    }
}
