//! What an update of a long list costs: bytes that are read and written.

use super::{STATES, Table, hash};
use crate::checkpoint::records::Part;
use crate::checkpoint::{Groups, Had};
use crate::error::Result;
use crate::exchange::KEY_GROUPS;
use crate::state::pages::{Pager, Together};
use crate::state::{Changes, Space, StateBackend, StateRead, StateStore};
use crate::testing::MapBackend;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts bytes that are read and written.
struct Counting {
    store: Box<dyn StateStore>,
    bytes: Arc<AtomicUsize>,
}

impl StateRead for Counting {
    fn get(&self, key: &[u8], found: &mut Vec<u8>) -> Result<bool> {
        let got = self.store.get(key, found)?;
        self.bytes.fetch_add(key.len() + found.len(), Ordering::Relaxed);
        Ok(got)
    }
    fn scan(&self, from: &[u8], to: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        self.store.scan(from, to, &mut |key, value| {
            self.bytes.fetch_add(key.len() + value.len(), Ordering::Relaxed);
            each(key, value)
        })
    }
}

impl StateStore for Counting {
    fn write(&mut self, changes: &Changes) -> Result<()> {
        let bytes = changes.iter().map(|(key, value)| key.len() + value.map_or(0, <[u8]>::len)).sum();
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.store.write(changes)
    }
    fn snapshot(&self) -> Result<Box<dyn StateRead>> {
        self.store.snapshot()
    }
}

fn counting(bytes: &Arc<AtomicUsize>) -> Space {
    let store = MapBackend::with_limit(0).begin("tested", 1).unwrap().open("table").unwrap();
    Space::new(Box::new(Counting { store, bytes: Arc::clone(bytes) }), 0, |error| panic!("{error}"))
}

/// Bytes that a checkpoint takes.
fn saved(table: &mut Table, whole: bool) -> usize {
    let all: Vec<usize> = (0..KEY_GROUPS).collect();
    let groups = Groups::in_memory(whole, &all, Had::default());
    table.begin_save_as(&groups, Part::Head, STATES, hash).unwrap();
    while !table.save_more(&mut 1000) {}
    groups.finish().unwrap().iter().map(|piece| piece.1.len()).sum()
}

/// Pushes to a list of `elements` (and takes the first out) while nothing stays in memory: bytes of the store and bytes of checkpoints, for each
/// update.
fn costs(elements: u64, store: bool) -> (usize, usize) {
    const UPDATES: usize = 500;
    let bytes = Arc::new(AtomicUsize::new(0));
    let space = store.then(|| counting(&bytes));
    let mut table = Table::default();
    table.page(space, hash).unwrap();
    table.reserve(1, hash);
    let list = &mut table.entry(hash(&7), |k| *k == 7, |a, b| a == b, || 7, Default::default).1.0;
    (0..elements).for_each(|n| list.push(n));
    table.reserve(1, hash);
    let whole = saved(&mut table, true);
    assert!(whole as u64 > elements * 8);
    bytes.store(0, Ordering::Relaxed);
    for n in 0..UPDATES {
        table.reserve(1, hash);
        let list = &mut table.find(hash(&7), |k| *k == 7).unwrap().1.0;
        list.push(elements + n as u64);
        assert_eq!(list.pop_front(), Some(n as u64));
    }
    table.reserve(1, hash);
    let of_store = bytes.load(Ordering::Relaxed) / UPDATES;
    saved(&mut table, false);
    let mut of_checkpoints = 0;
    for n in 0..UPDATES as u64 {
        let list = &mut table.find(hash(&7), |k| *k == 7).unwrap().1.0;
        list.push(elements + UPDATES as u64 + n);
        of_checkpoints += saved(&mut table, false);
    }
    (of_store, of_checkpoints / UPDATES)
}

/// With `FLOW_FAULTS=all` as many as the promise says.
fn many() -> u64 {
    if std::env::var("FLOW_FAULTS").is_ok_and(|what| what == "all") { 10_000_000 } else { 100_000 }
}

#[test]
fn one_key_with_ten_million_list_elements_does_not_make_an_update_cost_more_than_one_with_ten() {
    for store in [true, false] {
        let (ten, thousand, many) = (costs(10, store), costs(2_000, store), costs(many(), store));
        println!(
            "store {store}: bytes of the store and of a checkpoint, an update: {ten:?}, of 2,000 elements {thousand:?}, of many {many:?}"
        );
        for (ten, many) in [(ten.0, many.0), (ten.1, many.1)] {
            assert!(2 * many <= 3 * ten, "{many} bytes of many elements, {ten} of ten");
        }
        // What stands with the key costs, and not the length.
        assert!(5 * many.0 <= 6 * thousand.0 && 5 * many.1 <= 6 * thousand.1, "{many:?}, {thousand:?}");
    }
}

/// What lies beside a page under one key is small: large pages are neither written nor read again for others.
#[test]
fn pages_of_large_elements_cost_what_they_are() {
    const PAGES: u64 = 40;
    for (about, page) in [(1, 48), (12, 96), (13, 104), (64, 512), (65, 260), (10_000, 40_000)] {
        let bytes = Arc::new(AtomicUsize::new(0));
        let home = Pager::new(Some(counting(&bytes))).new_home(3, Together::of(about));
        let elements = vec![7; page];
        (0..PAGES).for_each(|n| home.put(n, true, &elements));
        for n in 0..PAGES {
            assert_eq!(home.take(n..PAGES).unwrap(), elements);
        }
        let (all, moved) = (page * PAGES as usize, bytes.load(Ordering::Relaxed));
        assert!(moved <= 3 * all + 8_000, "{about}: {moved} bytes were moved for {all}");
    }
}
