//! Slots that are written while they change: what is written is what they were when that began.

use super::{Durable, Keep, KeySlots};
use crate::checkpoint::records::{Record, Records, apart, merge};
use crate::checkpoint::{Groups, Had};
use crate::exchange::{KEY_GROUPS, hash_key, key_group};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A hash that tells `width` classes of keys apart; 0 stands for the real one.
fn hash(width: u64, key: u16) -> u64 {
    if width == 0 { hash_key(&key) } else { (u64::from(key) % width).rotate_left(29) }
}

#[derive(Debug, Clone)]
enum Do {
    /// These keys get another value.
    Take(Vec<u16>),
    /// A slot apart for each.
    Apart(Vec<u16>),
    Remove(Vec<u16>),
    /// Those that were put in at these turns.
    RemoveApart(Vec<u16>),
    /// A checkpoint begins; what is left of the one before is written first.
    Begin(bool),
    /// So much of it is written.
    Slice(usize),
}

fn actions() -> impl Strategy<Value = Vec<Do>> {
    let keys = || prop::collection::vec(0..100u16, 0..40);
    let action = prop_oneof![
        4 => keys().prop_map(Do::Take),
        2 => keys().prop_map(Do::Apart),
        2 => keys().prop_map(Do::Remove),
        2 => keys().prop_map(Do::RemoveApart),
        2 => prop::bool::weighted(0.2).prop_map(Do::Begin),
        5 => (0..100usize).prop_map(Do::Slice),
    ];
    prop::collection::vec(action, 0..60)
}

/// Key, and value.
type Sorted = Vec<(u16, bool, u32)>;

/// Slots, and what is known of their checkpoints. Each value is there once.
struct Both {
    width: u64,
    slots: KeySlots<u16, u32, Durable>,
    found: BTreeMap<u16, u32>,
    apart: Vec<(u32, u16, u32)>,
    flight: Option<(Groups, Sorted)>,
    history: BTreeMap<usize, Vec<Vec<u8>>>,
    checkpoints: usize,
    steps: u32,
}

impl Both {
    fn new(width: u64) -> Self {
        let (slots, found, apart, history) =
            (KeySlots::default(), BTreeMap::new(), Vec::new(), BTreeMap::new());
        Both { width, slots, found, apart, flight: None, history, checkpoints: 0, steps: 0 }
    }

    fn now(&self) -> Sorted {
        let found = self.found.iter().map(|(key, value)| (*key, false, *value));
        let mut all: Sorted =
            found.chain(self.apart.iter().map(|(_, key, value)| (*key, true, *value))).collect();
        all.sort_unstable();
        all
    }

    fn act(&mut self, action: Do) {
        let width = self.width;
        match action {
            Do::Take(keys) => {
                for key in keys {
                    self.steps += 1;
                    let at = self.slots.find(hash(width, key), |k| *k == key);
                    assert_eq!(
                        at.map(|at| self.slots.peek(at).unwrap().value),
                        self.found.get(&key).copied()
                    );
                    match at {
                        Some(at) => self.slots.get(at).unwrap().value = self.steps,
                        None => drop(self.slots.insert(hash(width, key), key, self.steps)),
                    }
                    self.found.insert(key, self.steps);
                }
            }
            Do::Apart(keys) => {
                for key in keys {
                    self.steps += 1;
                    let at = self.slots.insert_apart(hash(width, key), key, self.steps);
                    self.apart.push((at, key, self.steps));
                }
            }
            Do::Remove(keys) => {
                for key in keys {
                    let at = self.slots.find(hash(width, key), |k| *k == key);
                    assert_eq!(at.is_some(), self.found.remove(&key).is_some());
                    assert!(at.is_none_or(|at| self.slots.remove(at) == Some(key)));
                }
            }
            Do::RemoveApart(turns) => {
                for turn in turns {
                    if !self.apart.is_empty() {
                        let (at, key, _) = self.apart.swap_remove(usize::from(turn) % self.apart.len());
                        assert_eq!(self.slots.remove(at), Some(key));
                    }
                }
            }
            Do::Begin(whole) => {
                while !self.slice(usize::MAX) {}
                // The first one is always whole.
                let whole = whole || self.checkpoints == 0;
                self.checkpoints += 1;
                let groups = Groups::in_memory(whole, &(0..KEY_GROUPS).collect::<Vec<_>>(), Had::default());
                let width = self.width;
                self.slots
                    .begin_save(&groups, &[5], move |key| hash(width, *key), <u32 as Keep<Durable>>::write)
                    .unwrap();
                if whole {
                    self.history.clear();
                }
                self.flight = Some((groups, self.now()));
            }
            Do::Slice(n) => drop(self.slice(n)),
        }
    }

    /// Whether nothing is in flight any more.
    fn slice(&mut self, n: usize) -> bool {
        if !self.slots.save_more(&mut n.clone()) {
            return false;
        }
        let Some((groups, expected)) = self.flight.take() else { return true };
        for (group, bytes) in groups.finish().unwrap() {
            self.history.entry(group).or_default().push(bytes);
        }
        let (width, mut read) = (self.width, Sorted::new());
        let mut restored = KeySlots::<u16, u32, Durable>::default();
        for (group, history) in &self.history {
            for record in Records(&apart(&merge(history).unwrap()).unwrap().head) {
                if let Record::Put { key, value } = record.unwrap() {
                    let value = super::read_all::<Durable, u32>(value).unwrap();
                    let at = restored.put_back(key, |k| hash(width, *k), value).unwrap();
                    let key = restored.peek(at).unwrap().key;
                    assert_eq!(key_group(hash(width, key)), *group);
                    let found = restored.find(hash(width, key), |k| *k == key);
                    read.push((key, found != Some(at), value));
                }
            }
        }
        read.sort_unstable();
        assert_eq!(read, expected);
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

/// Bytes of a checkpoint, and of how many slices; no slice writes more slots than it may.
fn saved(slots: &mut KeySlots<u64, u64, Durable>, whole: bool) -> (usize, usize) {
    let groups = Groups::in_memory(whole, &(0..KEY_GROUPS).collect::<Vec<_>>(), Had::default());
    slots.begin_save(&groups, &[], hash_key, <u64 as Keep<Durable>>::write).unwrap();
    let (mut slices, mut before) = (1, groups.written());
    while !slots.save_more(&mut 900) {
        slices += 1;
        assert!(groups.written() - before <= 100, "a slice of 900 is a hundred slots");
        before = groups.written();
    }
    (groups.finish().unwrap().iter().map(|piece| piece.1.len()).sum(), slices)
}

#[test]
fn changes_are_few_bytes_and_a_slice_is_short() {
    let mut slots = KeySlots::<u64, u64, Durable>::default();
    let all: Vec<u32> = (0..10_000u64).map(|key| slots.insert(hash_key(&key), key, key)).collect();
    let (whole, slices) = saved(&mut slots, true);
    assert!(slices >= 100);
    assert_eq!(saved(&mut slots, false).0, 0);
    assert!(all.iter().all(|at| slots.peek(*at).is_some()));
    assert_eq!(saved(&mut slots, false).0, 0, "who looks changes nothing");
    (0..50).for_each(|i| slots.get(all[i]).unwrap().value += 1);
    assert!((50..100).all(|i| slots.remove(all[i]).is_some()));
    let (changes, _) = saved(&mut slots, false);
    assert!(changes > 0 && changes * 20 <= whole, "{changes} of {whole}");
    // What comes and goes between two checkpoints is in none.
    for key in 20_000..120_000u64 {
        let at = slots.insert(hash_key(&key), key, key);
        slots.remove(at);
    }
    assert_eq!(saved(&mut slots, false).0, 0);
}
