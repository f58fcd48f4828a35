//! A table that is written while it changes: what is written is what it was when that began. With and without a state backend to which
//! most of it has gone.

use super::backend::{Space, StateBackend};
use super::{Durable, KeyTable};
use crate::checkpoint::records::{Part, apart, merge};
use crate::checkpoint::{Groups, Had};
use crate::exchange::{KEY_GROUPS, hash_key, key_group};
use crate::testing::MapBackend;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// A hash that tells `width` classes of keys apart; 0 stands for the real one.
fn hash(width: u64, key: u64) -> u64 {
    if width == 0 { hash_key(&key) } else { (key % width).rotate_left(29) }
}

#[derive(Debug, Clone)]
enum Do {
    /// These keys get another value.
    Take(Vec<u64>),
    Remove(Vec<u64>),
    /// These are looked for, and get another value where they are there.
    Find(Vec<u64>),
    /// Keys go whose value's length is odd.
    Retain,
    /// A checkpoint begins; what is left of the one before is written first.
    Begin(bool),
    /// So much of it is written.
    Slice(usize),
    /// The table is made again from the last checkpoint.
    Restore,
}

fn actions() -> impl Strategy<Value = Vec<Do>> {
    let keys = || prop::collection::vec(0..300u64, 0..80);
    prop::collection::vec(
        prop_oneof![
            8 => keys().prop_map(Do::Take),
            3 => keys().prop_map(Do::Remove),
            3 => keys().prop_map(Do::Find),
            1 => Just(Do::Retain),
            4 => any::<bool>().prop_map(Do::Begin),
            8 => (0..2000usize).prop_map(Do::Slice),
            1 => Just(Do::Restore),
        ],
        0..40,
    )
}

/// How many classes there are: few, some with several of the keys, or one for each.
fn widths() -> impl Strategy<Value = u64> {
    prop_oneof![0..4u64, Just(100)]
}

/// Where entries go, and how many bytes of them stay in memory.
type Beyond<'a> = Option<(&'a dyn StateBackend, usize)>;

fn open(width: u64, beyond: Beyond<'_>) -> KeyTable<u64, String, Durable> {
    let mut table = KeyTable::default();
    let space = beyond.map(|(backend, share)| {
        let store = backend.begin("tested", 1).unwrap().open("table").unwrap();
        Space::new(store, share, |error| panic!("{error}"))
    });
    table.spill(space, move |k| hash(width, *k)).unwrap();
    table
}

/// A table, the same as a map, and what is known of its checkpoints.
struct Both<'a> {
    width: u64,
    beyond: Beyond<'a>,
    table: KeyTable<u64, String, Durable>,
    map: HashMap<u64, String>,
    /// The checkpoint in flight, and what the map was when it began.
    flight: Option<(Groups, HashMap<u64, String>)>,
    history: BTreeMap<usize, Vec<Vec<u8>>>,
    /// What the map was at the last checkpoint.
    last: HashMap<u64, String>,
    /// Of this table.
    checkpoints: usize,
    steps: usize,
}

impl<'a> Both<'a> {
    fn new(width: u64, beyond: Beyond<'a>) -> Self {
        let (map, history) = (HashMap::new(), BTreeMap::new());
        let (table, last) = (open(width, beyond), HashMap::new());
        Both { width, beyond, table, map, flight: None, history, last, checkpoints: 0, steps: 0 }
    }

    /// A value that tells when it was written, and is not always short.
    fn next(&mut self, value: &mut String) {
        self.steps += 1;
        value.truncate(50);
        value.push_str(&self.steps.to_string());
        if self.steps.is_multiple_of(10) {
            value.push_str(&"-".repeat(100));
        }
    }

    fn act(&mut self, action: Do) {
        let width = self.width;
        match action {
            Do::Take(keys) => {
                self.table.reserve(keys.len(), |k| hash(width, *k));
                for key in keys {
                    let mut value = self.map.get(&key).cloned().unwrap_or_default();
                    let entry =
                        self.table.entry(hash(width, key), |k| *k == key, |a, b| a == b, || key, String::new);
                    assert_eq!(*entry, (key, value.clone()));
                    self.next(&mut value);
                    self.table
                        .entry(hash(width, key), |k| *k == key, |a, b| a == b, || key, || unreachable!())
                        .1
                        .clone_from(&value);
                    self.map.insert(key, value);
                }
            }
            Do::Find(keys) => {
                for key in keys {
                    let mut value = self.map.get(&key).cloned();
                    let found = self.table.find(hash(width, key), |k| *k == key);
                    assert_eq!(found.map(|entry| entry.1.clone()), value);
                    if let Some(value) = &mut value {
                        self.next(value);
                        let found = self.table.find(hash(width, key), |k| *k == key);
                        found.unwrap().1.clone_from(value);
                        self.map.insert(key, value.clone());
                    }
                }
            }
            Do::Remove(keys) => {
                for key in keys {
                    let gone = self.table.remove(hash(width, key), |k| *k == key, |k| hash(width, *k));
                    assert_eq!(gone.map(|e| e.1), self.map.remove(&key));
                }
            }
            Do::Retain => {
                self.table.retain(|value| value.len() % 2 == 0, |k| hash(width, *k));
                self.map.retain(|_, value| value.len() % 2 == 0);
            }
            Do::Begin(whole) => self.begin(whole),
            Do::Slice(n) => drop(self.slice(n)),
            Do::Restore => {
                while !self.slice(usize::MAX) {}
                self.table = self.restored();
                (self.map, self.checkpoints) = (self.last.clone(), 0);
            }
        }
        assert_eq!((self.table.len(), self.table.is_empty()), (self.map.len(), self.map.is_empty()));
    }

    fn begin(&mut self, whole: bool) {
        while !self.slice(usize::MAX) {}
        // The first one is always whole.
        let whole = whole || self.checkpoints == 0;
        self.checkpoints += 1;
        let all: Vec<usize> = (0..KEY_GROUPS).collect();
        let groups = Groups::in_memory(whole, &all, Had::default());
        let width = self.width;
        self.table.begin_save(&groups, Part::Head, move |k| hash(width, *k)).unwrap();
        if whole {
            self.history.clear();
        }
        self.flight = Some((groups, self.map.clone()));
    }

    /// Whether nothing is in flight any more.
    fn slice(&mut self, n: usize) -> bool {
        if !self.table.save_more(&mut n.clone()) {
            return false;
        }
        let Some((groups, expected)) = self.flight.take() else { return true };
        for (group, bytes) in groups.finish().unwrap() {
            self.history.entry(group).or_default().push(bytes);
        }
        self.last = expected;
        // Every entry is asked for; and a table that has no backend has the same ones.
        let mut restored = self.restored();
        assert_eq!(restored.len(), self.last.len());
        for (key, value) in &self.last {
            let found = restored.find(hash(self.width, *key), |k| k == key);
            assert_eq!(found.map(|entry| &entry.1), Some(value));
        }
        true
    }

    /// A table as it was at the last checkpoint.
    fn restored(&self) -> KeyTable<u64, String, Durable> {
        let width = self.width;
        let mut restored = open(width, self.beyond);
        for (group, history) in &self.history {
            let parts = apart(&merge(history).unwrap()).unwrap();
            assert!(parts.behind.is_empty() && parts.piece.is_none());
            let mut own = open(width, None);
            own.restore(&parts.head, |k| hash(width, *k)).unwrap();
            assert!(own.iter().all(|entry| key_group(hash(width, entry.0)) == *group));
            restored.restore(&parts.head, |k| hash(width, *k)).unwrap();
        }
        restored
    }
}

fn what_is_written_is_what_was_there(width: u64, beyond: Beyond<'_>, actions: Vec<Do>) {
    let mut both = Both::new(width, beyond);
    actions.into_iter().for_each(|action| both.act(action));
    both.act(Do::Begin(false));
    both.act(Do::Slice(usize::MAX));
    assert!(both.flight.is_none());
}

/// Bytes that stay in memory: none, and as many as some of the keys take.
fn shares() -> impl Strategy<Value = usize> {
    prop_oneof![Just(0), 1_000..60_000usize]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_what_was_there_at_the_barrier(width in 0..4u64, actions in actions()) {
        what_is_written_is_what_was_there(width, None, actions);
    }

    #[test]
    fn a_table_beyond_memory_is_the_same(width in widths(), share in shares(), actions in actions()) {
        what_is_written_is_what_was_there(width, Some((&MapBackend::with_limit(0), share)), actions);
    }
}

#[cfg(feature = "fjall")]
proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn a_table_on_the_disk_is_the_same(width in widths(), share in shares(), actions in actions()) {
        let folder = tempfile::tempdir().unwrap();
        let backend = super::Fjall::at(folder.path()).memory_limit(16 << 20);
        what_is_written_is_what_was_there(width, Some((&backend, share)), actions);
    }
}

/// While an entry comes back another one of the same hash leaves: neither is written over.
#[test]
fn entries_of_one_hash_pass_each_other() {
    let mut table = open(1, Some((&MapBackend::with_limit(0), 0)));
    let hash_of = |key: &u64| hash(1, *key);
    table.reserve(1, hash_of);
    table.entry(0, |k| *k == 1, |a, b| a == b, || 1, || "one".to_owned());
    table.reserve(1, hash_of);
    table.entry(0, |k| *k == 2, |a, b| a == b, || 2, || "two".to_owned());
    assert!(table.find(0, |k| *k == 1).is_some());
    table.reserve(1, hash_of);
    for (key, value) in [(1, "one"), (2, "two")] {
        assert_eq!(table.find(0, |k| *k == key).map(|entry| &*entry.1), Some(value));
    }
}

/// Of a large table of which few entries change little is written.
#[test]
fn changes_are_few_bytes() {
    let hash = |k: &u64| hash_key(k);
    let mut table = KeyTable::<u64, u64, Durable>::default();
    let bytes = |table: &mut KeyTable<u64, u64, Durable>, whole| {
        let groups = Groups::in_memory(whole, &(0..KEY_GROUPS).collect::<Vec<_>>(), Had::default());
        table.begin_save(&groups, Part::Head, move |k| hash(k)).unwrap();
        while !table.save_more(&mut 100) {}
        groups.finish().unwrap().iter().map(|piece| piece.1.len()).sum::<usize>()
    };
    table.reserve(100_000, hash);
    for key in 0..100_000u64 {
        table.entry(hash(&key), |k| *k == key, |a, b| a == b, || key, || key);
    }
    let whole = bytes(&mut table, true);
    assert_eq!(bytes(&mut table, false), 0);
    for key in (0..100_000u64).step_by(100) {
        table.entry(hash(&key), |k| *k == key, |a, b| a == b, || key, || key).1 += 1;
    }
    let changes = bytes(&mut table, false);
    assert!(changes * 20 <= whole, "{changes} of {whole}");
    // Too many keys that have left to remember: then all is written that is left.
    table.retain(|value| value % 50 == 0, hash);
    let mut groups = 0;
    while table.len() > 10 && groups < 100 {
        groups += 1;
        for key in 0..100_000u64 {
            if table.len() > 10 && table.remove(hash(&key), |k| *k == key, hash).is_none() {
                table.reserve(1, hash);
                table.entry(hash(&key), |k| *k == key, |a, b| a == b, || key, || key);
                table.remove(hash(&key), |k| *k == key, hash);
            }
        }
    }
    let left = bytes(&mut table, false);
    assert!(left < 256 * 8 + 10 * 16, "{left}");
}

/// What cannot be written is reported, and not left out.
#[test]
fn a_value_that_cannot_be_written() {
    #[derive(serde::Deserialize)]
    struct Never;
    impl serde::Serialize for Never {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("not this one"))
        }
    }
    let mut table = KeyTable::<u64, Never, Durable>::default();
    table.reserve(1, hash_key);
    table.insert(hash_key(&1u64), (1, Never));
    let groups = Groups::in_memory(true, &[0], Had::default());
    table.begin_save(&groups, Part::Head, hash_key).unwrap();
    assert!(table.save_more(&mut 1000));
    assert!(groups.finish().unwrap_err().to_string().contains("not this one"));
}
