//! Timers that are written while they come and go: what is written is what was set when that began.

use super::{Durable, Owner, Timers, read_timer};
use crate::checkpoint::records::{Part, Record, Records, apart, merge};
use crate::checkpoint::{Groups, Had};
use crate::exchange::{KEY_GROUPS, hash_key, key_group};
use crate::time::Timestamp;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A hash that tells `width` classes of keys apart; 0 stands for the real one.
fn hash(width: u64, key: u8) -> u64 {
    if width == 0 { hash_key(&key) } else { (u64::from(key) % width).rotate_left(29) }
}

#[derive(Debug, Clone)]
enum Do {
    /// Timers of these keys, at these times, of intervals or not.
    Set(Vec<(u8, i64, bool)>),
    Delete(Vec<(u8, i64, bool)>),
    /// Time goes on by so much.
    Fire(i64),
    /// A checkpoint begins; what is left of the one before is written first.
    Begin(bool),
    /// So much of it is written.
    Slice(usize),
}

fn actions() -> impl Strategy<Value = Vec<Do>> {
    let timers = || prop::collection::vec((0..20u8, 0..200i64, prop::bool::weighted(0.1)), 0..60);
    let action = prop_oneof![
        4 => timers().prop_map(Do::Set),
        2 => timers().prop_map(Do::Delete),
        2 => (0..30i64).prop_map(Do::Fire),
        2 => prop::bool::weighted(0.2).prop_map(Do::Begin),
        4 => (0..200usize).prop_map(Do::Slice),
    ];
    prop::collection::vec(action, 0..60)
}

/// Number, key, time and interval.
type Set = BTreeSet<(u64, u8, i64, i64)>;

fn all(timers: &Timers<u8>) -> Set {
    let of = |(turn, known): (&super::timers::Turn, &super::timers::Known)| {
        let key = timers.keys[known.3 as usize].expect("a timer has a key");
        (turn.order, key, known.2, known.1)
    };
    timers.queue.turns.iter().map(of).collect()
}

struct Both {
    width: u64,
    timers: Timers<u8>,
    now: i64,
    /// The checkpoint in flight, and what was set when it began.
    flight: Option<(Groups, Set)>,
    history: BTreeMap<usize, Vec<Vec<u8>>>,
    checkpoints: usize,
    most: usize,
}

impl Both {
    fn new(width: u64) -> Self {
        let (timers, history) = (Timers::default(), BTreeMap::new());
        Both { width, timers, now: 0, flight: None, history, checkpoints: 0, most: 0 }
    }

    fn act(&mut self, action: Do) {
        let Both { width, timers, now, .. } = self;
        match action {
            Do::Set(some) => {
                for (key, at, every) in some {
                    let of: Owner<u8> = (hash(*width, key), &key, &|a, b| a == b);
                    timers.set_every(of, Timestamp(*now + at), Timestamp(*now), i64::from(every) * 7);
                    self.most = self.most.max(timers.len());
                }
            }
            Do::Delete(some) => {
                for (key, at, every) in some {
                    let of: Owner<u8> = (hash(*width, key), &key, &|a, b| a == b);
                    if every {
                        timers.delete_interval(of, 7);
                    } else {
                        timers.delete(of, Timestamp(*now + at));
                    }
                }
            }
            Do::Fire(by) => {
                *now += by;
                while timers.pop(Timestamp(*now)).is_some() {}
            }
            Do::Begin(whole) => {
                while !self.slice(usize::MAX) {}
                // The first one is always whole.
                let whole = whole || self.checkpoints == 0;
                self.checkpoints += 1;
                let groups = Groups::in_memory(whole, &(0..KEY_GROUPS).collect::<Vec<_>>(), Had::default());
                self.timers.begin_save::<Durable>(&groups, Part::Head, &[3]).unwrap();
                if whole {
                    self.history.clear();
                }
                self.flight = Some((groups, all(&self.timers)));
            }
            Do::Slice(n) => drop(self.slice(n)),
        }
    }

    /// Whether nothing is in flight any more.
    fn slice(&mut self, n: usize) -> bool {
        if !self.timers.save_more(&mut n.clone()) {
            return false;
        }
        let Some((groups, expected)) = self.flight.take() else { return true };
        for (group, bytes) in groups.finish().unwrap() {
            self.history.entry(group).or_default().push(bytes);
        }
        let mut read = Set::new();
        for (group, history) in &self.history {
            for record in Records(&apart(&merge(history).unwrap()).unwrap().head) {
                match record.unwrap() {
                    Record::Section { name, .. } => assert_eq!(name, [3]),
                    Record::Put { key, value } => {
                        let (number, key, at, every) = read_timer::<Durable, u8>(key, value).unwrap();
                        assert_eq!(key_group(hash(self.width, key)), *group);
                        assert!(read.insert((number, key, at.0, every)));
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        assert_eq!(read, expected);
        true
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_what_was_set_at_the_barrier(width in 0..4u64, actions in actions()) {
        let mut both = Both::new(width);
        actions.into_iter().for_each(|action| both.act(action));
        both.act(Do::Begin(false));
        both.act(Do::Slice(usize::MAX));
        prop_assert!(both.flight.is_none());
    }
}

/// Bytes of a checkpoint, and of how many slices; no slice writes more timers than it may.
fn saved(timers: &mut Timers<u64>, whole: bool) -> (usize, usize) {
    let groups = Groups::in_memory(whole, &(0..KEY_GROUPS).collect::<Vec<_>>(), Had::default());
    timers.begin_save::<Durable>(&groups, Part::Head, &[]).unwrap();
    let (mut slices, mut before) = (1, groups.written());
    while !timers.save_more(&mut 800) {
        slices += 1;
        assert!(groups.written() - before <= 100, "a slice of 800 is a hundred timers");
        before = groups.written();
    }
    (groups.finish().unwrap().iter().map(|piece| piece.1.len()).sum(), slices)
}

#[test]
fn changes_are_few_bytes_and_a_slice_is_short() {
    let mut timers = Timers::default();
    let set = |timers: &mut Timers<u64>, keys: std::ops::Range<u64>| {
        for key in keys {
            timers.set((hash_key(&key), &key, &|a, b| a == b), Timestamp(key as i64), Timestamp(0));
        }
    };
    set(&mut timers, 1..10_000);
    let (whole, slices) = saved(&mut timers, true);
    assert!(slices >= 100);
    assert_eq!(saved(&mut timers, false), (0, 1));
    set(&mut timers, 10_000..10_050);
    while timers.pop(Timestamp(50)).is_some() {}
    let (changes, _) = saved(&mut timers, false);
    assert!(changes > 0 && changes * 20 <= whole, "{changes} of {whole}");
    // What comes and goes between two checkpoints takes no memory and no bytes.
    for _ in 0..100 {
        set(&mut timers, 20_000..20_100);
        (20_000..20_100u64).for_each(|key| {
            timers.delete((hash_key(&key), &key, &|a, b| a == b), Timestamp(key as i64));
        });
        assert!(timers.tracked.as_ref().is_some_and(|tracked| tracked.noted() <= 2 * 10_100));
    }
    assert_eq!(saved(&mut timers, false).0, 0);
}
