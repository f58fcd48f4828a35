//! The tables against a plain map, with hashes from good to useless. Values own memory, so that valgrind
//! (`.ci/valgrind.sh`) sees what is read unwritten, dropped twice or not at all.

use super::{KeyTable, Pane, Timers};
use crate::exchange::hash_key;
use crate::time::Timestamp;
use proptest::prelude::*;
use std::collections::HashMap;

/// A hash that tells `width` classes of keys apart; 0 stands for the real one.
fn hash(width: u64, key: u64) -> u64 {
    if width == 0 { hash_key(&key) } else { (key % width).rotate_left(29) }
}

/// What a record does to its key's value.
fn step(value: &mut String, i: usize) {
    value.push_str(&i.to_string());
    value.truncate(40);
}

#[derive(Debug, Clone)]
enum Do {
    Take(Vec<u64>),
    /// Gives out so many entries, then the rest is forgotten.
    Fire(usize),
}

fn actions() -> impl Strategy<Value = Vec<Do>> {
    let keys =
        prop_oneof![prop::collection::vec(0..20u64, 0..60), prop::collection::vec(any::<u64>(), 0..300)];
    prop::collection::vec(
        prop_oneof![4 => keys.prop_map(Do::Take), 1 => (0..200usize).prop_map(Do::Fire)],
        0..12,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_key_table_is_a_map(width in 0..4u64, batches in prop::collection::vec(prop::collection::vec(0..400u64, 0..200), 0..8)) {
        let (mut table, mut map) = (KeyTable::<u64, String>::default(), HashMap::new());
        for batch in &batches {
            table.reserve(batch.len(), |k| hash(width, *k));
            for (i, key) in batch.iter().enumerate() {
                table.prefetch(hash(width, *key));
                step(&mut table.entry(hash(width, *key), |k| k == key, |a, b| a == b, || *key, String::new).1, i);
                step(map.entry(*key).or_insert_with(String::new), i);
                if key % 3 == 0 {
                    let gone = key * 7 % 400;
                    let taken = table.remove(hash(width, gone), |k| *k == gone, |k| hash(width, *k));
                    prop_assert_eq!(taken.map(|e| e.1), map.remove(&gone));
                }
                let found = table.find(hash(width, i as u64), |k| *k == i as u64).map(|e| &e.1);
                prop_assert_eq!(found.cloned(), map.get(&(i as u64)).cloned());
            }
            prop_assert_eq!(table.len(), map.len());
        }
        let all: HashMap<u64, String> = table.iter().cloned().collect();
        prop_assert_eq!(all, map);
    }

    #[test]
    fn a_pane_is_a_map_in_order(width in 0..4u64, actions in actions()) {
        let mut pane = Pane::<u64, String>::default();
        let (mut order, mut map) = (Vec::new(), HashMap::new());
        for action in actions {
            match action {
                Do::Take(keys) => {
                    for (i, key) in keys.iter().enumerate() {
                        step(map.entry(*key).or_insert_with(|| { order.push(*key); String::new() }), i);
                    }
                    let mut keys = keys.into_iter().enumerate();
                    // One alone, then the others in runs.
                    if let Some((i, key)) = keys.next() {
                        let insert = || (key, String::new());
                        let (_, value) = pane.entry(hash(width, key), |k| *k == key, insert, &|k| hash(width, *k));
                        step(value, i);
                    }
                    while keys.len() > 0 {
                        let (mut run, room) = pane.run(keys.len(), &|k| hash(width, *k));
                        prop_assert!(room > 0);
                        for (i, key) in keys.by_ref().take(room) {
                            run.prefetch(hash(width, key));
                            let (_, value) = run.entry(hash(width, key), |k| *k == key, || (key, String::new()));
                            step(value, i);
                        }
                    }
                }
                Do::Fire(n) => {
                    for key in order.drain(..).take(n) {
                        let value = map.remove(&key).unwrap_or_default();
                        prop_assert_eq!(pane.pop(), Some((key, value)));
                    }
                    prop_assert_eq!(pane.len(), map.len());
                    map.clear();
                    pane.clear();
                }
            }
            let expected: Vec<_> = order.iter().map(|k| (*k, map[k].clone())).collect();
            prop_assert_eq!(pane.iter().cloned().collect::<Vec<_>>(), &expected[..]);
            prop_assert_eq!(pane.at(order.len() / 2), expected.get(order.len() / 2));
            prop_assert_eq!((pane.len(), pane.is_empty()), (order.len(), order.is_empty()));
        }
    }
}

/// Whoever forgets to ask for room is told, and does not search for ever.
#[test]
#[should_panic(expected = "no room for an entry was asked for")]
fn a_table_is_never_full() {
    let mut table = KeyTable::<u64, ()>::default();
    for key in 0..100u64 {
        table.entry(hash_key(&key), |k| *k == key, |a, b| a == b, || key, || ());
    }
}

/// Looking through the timers of the key for each would take minutes.
#[test]
fn the_interval_of_a_key_is_found_among_many_timers() {
    let (mut timers, start) = (Timers::default(), Timestamp(0));
    let same: &dyn Fn(&&str, &&str) -> bool = &|a, b| a == b;
    let of = (7, &"k", same);
    let many = 50_000;
    for at in 1..=many {
        timers.set(of, Timestamp(at), start);
    }
    for every in 1..=many {
        timers.set_every(of, Timestamp(many), start, every);
        assert!(timers.has_interval(of, every) && !timers.has_interval(of, every + 1));
        timers.set_every(of, Timestamp(every), start, every);
    }
    assert_eq!(timers.len() as i64, 2 * many, "one of each length");
    for every in 1..=many {
        timers.delete_interval(of, every);
        timers.delete(of, Timestamp(every));
    }
    assert!(timers.is_empty());
}
