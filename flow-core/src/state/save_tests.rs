//! A table that is written while it changes: what is written is what it was when that began.

use super::{Durable, KeyTable};
use crate::checkpoint::records::{Part, apart, merge};
use crate::checkpoint::{Groups, Had};
use crate::exchange::{KEY_GROUPS, hash_key, key_group};
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
    /// Keys go whose value's length is odd.
    Retain,
    /// A checkpoint begins; what is left of the one before is written first.
    Begin(bool),
    /// So much of it is written.
    Slice(usize),
}

fn actions() -> impl Strategy<Value = Vec<Do>> {
    let keys = || prop::collection::vec(0..300u64, 0..80);
    prop::collection::vec(
        prop_oneof![
            4 => keys().prop_map(Do::Take),
            2 => keys().prop_map(Do::Remove),
            1 => Just(Do::Retain),
            2 => any::<bool>().prop_map(Do::Begin),
            4 => (0..200usize).prop_map(Do::Slice),
        ],
        0..40,
    )
}

/// A table, the same as a map, and what is known of its checkpoints.
struct Both {
    width: u64,
    table: KeyTable<u64, String, Durable>,
    map: HashMap<u64, String>,
    /// The checkpoint in flight, and what the map was when it began.
    flight: Option<(Groups, HashMap<u64, String>)>,
    history: BTreeMap<usize, Vec<Vec<u8>>>,
    checkpoints: usize,
    steps: usize,
}

impl Both {
    fn new(width: u64) -> Self {
        let (table, map, history) = (KeyTable::default(), HashMap::new(), BTreeMap::new());
        Both { width, table, map, flight: None, history, checkpoints: 0, steps: 0 }
    }

    fn act(&mut self, action: Do) {
        let width = self.width;
        match action {
            Do::Take(keys) => {
                self.table.reserve(keys.len(), |k| hash(width, *k));
                for key in keys {
                    self.steps += 1;
                    let insert = || (key, String::new());
                    let value = &mut self.table.entry(hash(width, key), |k| *k == key, insert).1;
                    value.push_str(&self.steps.to_string());
                    self.map.insert(key, value.clone());
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
            Do::Begin(whole) => {
                while !self.slice(usize::MAX) {}
                // The first one is always whole.
                let whole = whole || self.checkpoints == 0;
                self.checkpoints += 1;
                let all: Vec<usize> = (0..KEY_GROUPS).collect();
                let groups = Groups::in_memory(whole, &all, Had::default());
                self.table.begin_save(&groups, Part::Head, move |k| hash(width, *k)).unwrap();
                if whole {
                    self.history.clear();
                }
                self.flight = Some((groups, self.map.clone()));
            }
            Do::Slice(n) => drop(self.slice(n)),
        }
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
        let width = self.width;
        let mut restored = KeyTable::<u64, String, Durable>::default();
        for (group, history) in &self.history {
            let parts = apart(&merge(history).unwrap()).unwrap();
            assert!(parts.behind.is_empty() && parts.piece.is_none());
            let before = restored.len();
            restored.restore(&parts.head, |k| hash(width, *k)).unwrap();
            assert!(
                restored.iter().filter(|e| key_group(hash(width, e.0)) == *group).count()
                    == restored.len() - before
            );
        }
        assert_eq!(restored.len(), expected.len());
        assert_eq!(restored.iter().cloned().collect::<HashMap<_, _>>(), expected);
        true
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_what_was_there_at_the_barrier(width in 0..4u64, actions in actions()) {
        let mut both = Both::new(width);
        actions.into_iter().for_each(|action| both.act(action));
        both.act(Do::Begin(false));
        both.act(Do::Slice(usize::MAX));
        prop_assert!(both.flight.is_none());
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
        table.entry(hash(&key), |k| *k == key, || (key, key));
    }
    let whole = bytes(&mut table, true);
    assert_eq!(bytes(&mut table, false), 0);
    for key in (0..100_000u64).step_by(100) {
        table.entry(hash(&key), |k| *k == key, || (key, key)).1 += 1;
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
                table.entry(hash(&key), |k| *k == key, || (key, key));
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
    table.entry(hash_key(&1u64), |_| false, || (1, Never));
    let groups = Groups::in_memory(true, &[0], Had::default());
    table.begin_save(&groups, Part::Head, hash_key).unwrap();
    assert!(table.save_more(&mut 1000));
    assert!(groups.finish().unwrap_err().to_string().contains("not this one"));
}
