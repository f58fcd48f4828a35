//! Slots that are written while they change: what is written is what they were when that began. With and without a state backend to which
//! most of them have gone.

use super::backend::{Space, StateBackend};
use super::{Durable, Form, Keep, KeySlots};
use crate::checkpoint::records::{Record, Records, apart, merge};
use crate::checkpoint::{Groups, Had};
use crate::exchange::{KEY_GROUPS, hash_key, key_group};
use crate::testing::MapBackend;
use proptest::prelude::*;
use std::cell::Cell;
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
    /// Those that were put in at these turns get another value.
    TakeApart(Vec<u16>),
    /// All that have no room leave the memory.
    Leave,
    /// The slots are made again from the last checkpoint.
    Restore,
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
        2 => keys().prop_map(Do::TakeApart),
        4 => Just(Do::Leave),
        1 => Just(Do::Restore),
        2 => prop::bool::weighted(0.2).prop_map(Do::Begin),
        5 => (0..100usize).prop_map(Do::Slice),
    ];
    prop::collection::vec(action, 0..60)
}

/// A value, and what no checkpoint has of it: twice as much.
type Value = (u32, Cell<u32>);

fn value(n: u32) -> Value {
    (n, Cell::new(2 * n))
}

fn write((n, _): &Value, out: &mut Vec<u8>) -> crate::error::Result<()> {
    Keep::<Durable>::write(n, out)
}

fn form() -> Form<Value> {
    Form {
        write,
        beside: |(_, twice), out| out.extend_from_slice(&twice.get().to_le_bytes()),
        read: |value, beside| {
            let twice = u32::from_le_bytes(beside.try_into().expect("it is beside the value"));
            Ok((super::read_all::<Durable, u32>(value)?, Cell::new(twice)))
        },
    }
}

type Slots = KeySlots<u16, Value, Durable>;

/// Where slots go, and how many bytes of them stay in memory.
type Beyond<'a> = Option<(&'a dyn StateBackend, usize)>;

fn open(beyond: Beyond<'_>) -> Slots {
    let mut slots = Slots::default();
    let space = beyond.map(|(backend, share)| {
        let store = backend.begin("tested", 1).unwrap().open("slots").unwrap();
        Space::new(store, share, |error| panic!("{error}"))
    });
    slots.spill(space, form()).unwrap();
    slots
}

/// Key, and value.
type Sorted = Vec<(u16, bool, u32)>;

/// Slots, and what is known of their checkpoints. Each value is there once.
struct Both<'a> {
    width: u64,
    beyond: Beyond<'a>,
    slots: Slots,
    found: BTreeMap<u16, u32>,
    apart: Vec<(u32, u16, u32)>,
    flight: Option<(Groups, Sorted)>,
    history: BTreeMap<usize, Vec<Vec<u8>>>,
    /// What there was at the last checkpoint that is written.
    last: Sorted,
    /// Of these slots.
    checkpoints: usize,
    steps: u32,
    /// How often slots have been in the store.
    away: usize,
}

impl<'a> Both<'a> {
    fn new(width: u64, beyond: Beyond<'a>) -> Self {
        let (found, apart, history, last) = (BTreeMap::new(), Vec::new(), BTreeMap::new(), Sorted::new());
        let slots = open(beyond);
        Both {
            width,
            beyond,
            slots,
            found,
            apart,
            flight: None,
            history,
            last,
            checkpoints: 0,
            steps: 0,
            away: 0,
        }
    }

    /// The value in a slot.
    fn at(&mut self, at: u32) -> Option<u32> {
        let (n, twice) = &self.slots.peek(at)?.value;
        assert_eq!(twice.get(), 2 * n, "what is beside a value stays with it");
        Some(*n)
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
                    assert_eq!(at.map(|at| self.at(at).unwrap()), self.found.get(&key).copied());
                    match at {
                        Some(at) => self.slots.get(at).unwrap().value = value(self.steps),
                        None => drop(self.slots.insert(hash(width, key), key, value(self.steps))),
                    }
                    self.found.insert(key, self.steps);
                }
            }
            Do::Apart(keys) => {
                for key in keys {
                    self.steps += 1;
                    let at = self.slots.insert_apart(hash(width, key), key, value(self.steps));
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
            Do::TakeApart(turns) => {
                for turn in turns {
                    self.steps += 1;
                    let turn = usize::from(turn) % self.apart.len().max(1);
                    let Some((at, key, n)) = self.apart.get_mut(turn) else { return };
                    let slot = self.slots.get(*at).unwrap();
                    assert_eq!((slot.key, slot.value.0), (*key, *n));
                    slot.value = value(self.steps);
                    *n = self.steps;
                }
            }
            Do::Leave => {
                self.slots.make_room(3);
                self.away += self.slots.away();
            }
            Do::Restore => self.restore(),
            Do::Begin(whole) => {
                while !self.slice(usize::MAX) {}
                // The first one is always whole.
                let whole = whole || self.checkpoints == 0;
                self.checkpoints += 1;
                let groups = Groups::in_memory(whole, &(0..KEY_GROUPS).collect::<Vec<_>>(), Had::default());
                let width = self.width;
                self.slots.begin_save(&groups, &[5], move |key| hash(width, *key), write).unwrap();
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
        let (restored, places) = self.restored();
        let mut read = self.read(restored, &places);
        read.sort_unstable();
        assert_eq!(read, expected);
        self.last = expected;
        true
    }

    /// Slots with what the last checkpoint has, and where each is.
    fn restored(&self) -> (Slots, Vec<u32>) {
        let (width, mut slots, mut places) = (self.width, open(self.beyond), Vec::new());
        for (group, history) in &self.history {
            for record in Records(&apart(&merge(history).unwrap()).unwrap().head) {
                if let Record::Put { key, value } = record.unwrap() {
                    let n = super::read_all::<Durable, u32>(value).unwrap();
                    let at = slots.put_back(key, |k| hash(width, *k), self::value(n)).unwrap();
                    let key = slots.peek(at).unwrap().key;
                    assert_eq!(key_group(hash(width, key)), *group);
                    places.push(at);
                }
            }
        }
        (slots, places)
    }

    /// What is in slots.
    fn read(&self, mut slots: Slots, places: &[u32]) -> Sorted {
        let entry = |at: &u32| {
            let slot = slots.get(*at).unwrap();
            let (key, n) = (slot.key, slot.value.0);
            let found = slots.find(hash(self.width, key), |k| *k == key);
            (key, found != Some(*at), n)
        };
        places.iter().map(entry).collect()
    }

    fn restore(&mut self) {
        while !self.slice(usize::MAX) {}
        let (slots, places) = self.restored();
        let now = self.read(self.restored().0, &places);
        let found = now.iter().filter(|entry| !entry.1);
        self.found = found.map(|(key, _, n)| (*key, *n)).collect();
        let apart = now.iter().zip(&places).filter(|(entry, _)| entry.1);
        self.apart = apart.map(|((key, _, n), at)| (*at, *key, *n)).collect();
        self.slots = slots;
        (self.history, self.checkpoints) = (BTreeMap::new(), 0);
    }
}

/// Plays it without a state backend and with three shares of memory; returns how often slots were in the store.
fn play(width: u64, actions: &[Do]) -> usize {
    let (backend, mut away) = (MapBackend::with_limit(0), 0);
    for beyond in
        [None, Some((&backend as &dyn StateBackend, 0)), Some((&backend, 600)), Some((&backend, 3_000))]
    {
        let mut both = Both::new(width, beyond);
        actions.iter().for_each(|action| both.act(action.clone()));
        both.act(Do::Begin(false));
        both.act(Do::Slice(usize::MAX));
        assert!(both.flight.is_none());
        if beyond.is_some_and(|(_, share)| share == 0) {
            both.act(Do::Leave);
            assert_eq!(both.slots.away(), both.now().len(), "all have left the memory");
        }
        away += both.away;
    }
    away
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_what_was_there_at_the_barrier(width in 0..4u64, actions in actions()) {
        play(width, &actions);
    }
}

#[test]
fn slots_leave_and_come_back() {
    let keys = || (0..60u16).collect::<Vec<_>>();
    for width in 0..4 {
        let some = || (10..30u16).collect::<Vec<_>>();
        let again = [Do::Leave, Do::Begin(false), Do::Slice(90), Do::Take(some()), Do::TakeApart(some())];
        let gone = [Do::Leave, Do::Slice(50), Do::Remove(some()), Do::RemoveApart(some()), Do::Leave];
        let mut all = vec![Do::Take(keys()), Do::Apart(keys())];
        for _ in 0..3 {
            all.extend(again.iter().chain(&gone).cloned());
        }
        all.push(Do::Restore);
        all.extend(again);
        assert!(play(width, &all) > 500);
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
