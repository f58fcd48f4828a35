//! What every store does, against a plain map.

use super::{Changes, StateBackend, StateRead, StateStore};
use crate::testing::MapBackend;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
enum Do {
    /// Keys that get this value, or go.
    Write(Vec<(u16, Option<u8>)>),
    Snapshot,
}

fn actions() -> impl Strategy<Value = Vec<Do>> {
    let change = (0..600u16, prop::option::weighted(0.7, any::<u8>()));
    let write = prop::collection::vec(change, 0..50).prop_map(Do::Write);
    prop::collection::vec(prop_oneof![5 => write, 1 => Just(Do::Snapshot)], 0..20)
}

type Plain = BTreeMap<Vec<u8>, Vec<u8>>;

/// Keys of several lengths, so that one may begin like another.
fn key(number: u16) -> Vec<u8> {
    number.to_string().into_bytes()
}

fn same(read: &dyn StateRead, plain: &Plain, from: u16, to: u16) {
    let mut found = vec![1];
    for number in (0..600).step_by(7) {
        let is_there = read.get(&key(number), &mut found).unwrap();
        assert_eq!(is_there.then_some(&found), plain.get(&key(number)));
    }
    let (from, to) = (key(from), key(to));
    let mut seen = Vec::new();
    let limit = 20;
    read.scan(&from, &to, &mut |key, value| {
        seen.push((key.to_vec(), value.to_vec()));
        seen.len() < limit
    })
    .unwrap();
    let within = plain.iter().filter(|(key, _)| **key >= from && **key < to);
    let expected: Vec<_> = within.take(limit).map(|(k, v)| (k.clone(), v.clone())).collect();
    assert_eq!(seen, expected);
}

fn check(mut store: Box<dyn StateStore>, actions: Vec<Do>, from: u16, to: u16) {
    let (mut plain, mut past) = (Plain::new(), Vec::new());
    for action in actions {
        match action {
            Do::Write(all) => {
                let mut changes = Changes::default();
                // One change of a key in one go: that is all we need.
                for (number, value) in all.into_iter().collect::<BTreeMap<_, _>>() {
                    match value {
                        Some(value) => {
                            changes.put(&key(number), |out| out.extend_from_slice(&[value; 5]));
                            plain.insert(key(number), vec![value; 5]);
                        }
                        None => {
                            changes.remove(&key(number));
                            plain.remove(&key(number));
                        }
                    }
                }
                store.write(&changes).unwrap();
            }
            Do::Snapshot => past.push((store.snapshot().unwrap(), plain.clone())),
        }
        same(&*store, &plain, from, to);
    }
    past.iter().for_each(|(snapshot, plain)| same(&**snapshot, plain, from, to));
}

fn is_a_map(backend: &dyn StateBackend) {
    let stores = backend.begin("tested", 1).unwrap();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) };
    let cases = (actions(), 0..600u16, 0..600u16);
    proptest::test_runner::TestRunner::new(config)
        .run(&cases, |(actions, from, to)| {
            check(stores.open("store").unwrap(), actions, from, to);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_store_of_maps_is_a_map() {
    is_a_map(&MapBackend::with_limit(0));
}

#[cfg(feature = "fjall")]
#[test]
fn a_store_of_fjall_is_a_map() {
    let folder = tempfile::tempdir().unwrap();
    is_a_map(&super::Fjall::at(folder.path()));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
}

/// More than what fits into its tables, and all of it over and over: it comes to no standstill, and nothing is lost.
#[cfg(feature = "fjall")]
#[test]
fn a_store_of_fjall_takes_more_than_its_memory() {
    let folder = tempfile::tempdir().unwrap();
    let backend = super::Fjall::at(folder.path()).memory_limit(16 << 20);
    let mut store = backend.begin("tested", 8).unwrap().open("store").unwrap();
    let value = |key: u32, round: u32| vec![(key ^ round) as u8; 1000 + key as usize % 50];
    for round in 0..3u32 {
        for keys in (0..20_000u32).collect::<Vec<_>>().chunks(500) {
            let mut changes = Changes::default();
            for key in keys {
                changes.put(&key.to_be_bytes(), |out| out.extend(value(*key, round)));
            }
            store.write(&changes).unwrap();
        }
    }
    let mut found = Vec::new();
    for key in (0..20_000).step_by(13) {
        assert!(store.get(&u32::to_be_bytes(key), &mut found).unwrap());
        assert_eq!(found, value(key, 2));
    }
}

#[cfg(feature = "fjall")]
#[test]
fn a_limit_that_is_too_low() {
    let error = super::Fjall::at("nowhere").memory_limit(1000).begin("tested", 1).err().unwrap().to_string();
    assert!(error.contains("1000") && error.contains("16777216"), "{error}");
}
