//! A map of a key: Flink's `MapState`.

use super::Entries;
use super::ttl::{Now, Ttl, UNSTAMPED};
use foldhash::quality::FixedState;
use serde_core::de::Deserializer;
use serde_core::ser::Serializer;
use serde_core::{Deserialize, Serialize};
use std::cell::Cell;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};
use std::hash::Hash;

/// A map from `K` to `V` in the state of a key. With a time to live each entry has its own; entries that are there in the beginning
/// live from the first use of their key. When the last has gone the state of the key begins anew.
///
/// ```
/// use flow_core::process::MapState;
/// let mut seen = MapState::new();
/// seen.insert("a", 1);
/// *seen.or_insert_with("a", || 0) += 1;
/// assert_eq!((seen.get(&"a"), seen.len()), (Some(&2), 1));
/// ```
pub struct MapState<K, V> {
    entries: HashMap<K, Entry<V>, FixedState>,
    /// The entries by when each was, at least, written: one whose number is not its key's says nothing. Empty without a time to
    /// live. In a call none has expired: [`Entries::at`] stands before it.
    order: BinaryHeap<Reverse<Since<K>>>,
    made: u64,
    ttl: Option<Ttl>,
    now: Now,
    watched: i64,
}

/// When an entry was written, its number, its key.
struct Since<K>(i64, u64, K);

impl<K> Since<K> {
    fn turn(&self) -> (i64, u64) {
        (self.0, self.1)
    }
}

impl<K> PartialEq for Since<K> {
    fn eq(&self, other: &Self) -> bool {
        self.turn() == other.turn()
    }
}

impl<K> Eq for Since<K> {}

impl<K> PartialOrd for Since<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K> Ord for Since<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.turn().cmp(&other.turn())
    }
}

struct Entry<V> {
    value: V,
    written: Cell<i64>,
    number: u64,
}

impl<K, V> Default for MapState<K, V> {
    fn default() -> Self {
        let entries = HashMap::with_hasher(FixedState::default());
        MapState { entries, order: BinaryHeap::new(), made: 0, ttl: None, now: UNSTAMPED, watched: i64::MAX }
    }
}

impl<K: Hash + Eq + Clone, V> MapState<K, V> {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    fn read<'a>(&self, entry: &'a Entry<V>) -> &'a V {
        if self.ttl.is_some_and(|ttl| ttl.renews) {
            entry.written.set(self.now.write.max(entry.written.get()));
        }
        &entry.value
    }

    /// The value of `key`.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|entry| self.read(entry))
    }

    /// The value of `key`, to be changed: it is written.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let entry = self.entries.get_mut(key)?;
        entry.written.set(self.now.write.max(entry.written.get()));
        Some(&mut entry.value)
    }

    /// Whether `key` has a value.
    pub fn contains_key(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    /// Writes the value of `key`; the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let before = self.remove(&key);
        self.add(key, value);
        before
    }

    fn add(&mut self, key: K, value: V) {
        if self.ttl.is_some() {
            // What was removed and written again has left something behind.
            if self.order.len() > 2 * self.entries.len() + 16 {
                let entries = &self.entries;
                self.order
                    .retain(|Reverse(since)| entries.get(&since.2).is_some_and(|e| e.number == since.1));
            }
            self.made += 1;
            self.order.push(Reverse(Since(self.now.write, self.made, key.clone())));
        }
        let entry = Entry { value, written: Cell::new(self.now.write), number: self.made };
        self.entries.insert(key, entry);
    }

    /// The value of `key`, made with `make` where there is none: it is written.
    pub fn or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        if !self.contains_key(&key) {
            self.add(key.clone(), make());
        }
        let entry = self.entries.get_mut(&key).expect("it has been added");
        entry.written.set(self.now.write.max(entry.written.get()));
        &mut entry.value
    }

    /// Takes the value of `key` out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        self.entries.remove(key).map(|entry| entry.value)
    }

    /// Keys and values, in an order that is a function of what has been done to the map.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, entry)| (key, self.read(entry)))
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.order.clear();
    }
}

impl<K: Hash + Eq + Clone, V> MapState<K, V> {
    /// What is there was written before anybody said that it expires: in its beginning, in this call, or before it was restored.
    #[cold]
    fn put_in_order(&mut self, now: Now) {
        for (key, entry) in &mut self.entries {
            self.made += 1;
            entry.number = self.made;
            if entry.written.get() == UNSTAMPED.write {
                entry.written.set(now.write);
            }
            self.order.push(Reverse(Since(entry.written.get(), self.made, key.clone())));
        }
    }
}

impl<K: Hash + Eq + Clone + Send + 'static, V: Send + 'static> Entries for MapState<K, V> {
    fn at(&mut self, ttl: Ttl, now: Now) -> u64 {
        if self.ttl.replace(ttl).is_none() && !self.entries.is_empty() {
            self.put_in_order(now);
        }
        self.now = now;
        let mut gone = 0;
        while self.order.peek().is_some_and(|first| ttl.is_over(first.0.0, now.read)) {
            let Some(Reverse(Since(_, number, key))) = self.order.pop() else { break };
            let Some(entry) = self.entries.get(&key).filter(|entry| entry.number == number) else { continue };
            let written = entry.written.get();
            if ttl.is_over(written, now.read) {
                self.entries.remove(&key);
                gone += 1;
            } else {
                self.order.push(Reverse(Since(written, number, key)));
            }
        }
        gone
    }

    fn first(&self) -> Option<i64> {
        let ttl = self.ttl?;
        self.order.peek().map(|first| ttl.end(first.0.0).unwrap_or(i64::MAX))
    }

    fn watched(&mut self) -> &mut i64 {
        &mut self.watched
    }
}

impl<K: Serialize + Hash + Eq, V: Serialize> Serialize for MapState<K, V> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.entries.iter().map(|(key, e)| (key, &e.value, e.written.get())))
    }
}

impl<'de, K: Deserialize<'de> + Hash + Eq + Clone, V: Deserialize<'de>> Deserialize<'de> for MapState<K, V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let entries = Vec::<(K, V, i64)>::deserialize(from)?;
        let entry = |(key, value, written)| (key, Entry { value, written: Cell::new(written), number: 0 });
        Ok(MapState { entries: entries.into_iter().map(entry).collect(), ..MapState::default() })
    }
}
