//! What is read: by whoever serialises a list himself, where pages are missing, and what older programs have written.

use super::{
    Durable, ListState, MapBackend, SMALL, Space, StateBackend, Table, hash, key_group, read_all, table,
    with_limits,
};
use crate::error::Result;
use crate::state::Changes;
use std::sync::{Arc, Mutex};

/// The user's own serialisation knows of no pages.
#[test]
fn a_list_stands_by_itself_where_nobody_asks_for_pages() {
    with_limits(SMALL, || {
        let (mut table, _) = table(true);
        table.reserve(1, hash);
        let list = &mut table.entry(hash(&7), |k| *k == 7, |a, b| a == b, || 7, Default::default).1.0;
        (0..100).for_each(|n| list.push(n));
        table.reserve(1, hash);
        let list = &mut table.find(hash(&7), |k| *k == 7).unwrap().1.0;
        list.push(100);
        assert_eq!(list.pop_front(), Some(0));
        let bytes = postcard::to_allocvec(&*list).unwrap();
        let mut back: ListState<u64> = postcard::from_bytes(&bytes).unwrap();
        assert!(back.iter().copied().eq(1..=100) && list.iter().copied().eq(1..=100));
    });
}

/// What says of pages is not read where there are none.
#[test]
fn pages_that_are_not_there_are_missed() {
    let header = Some((1u64, 0u64, 2u64, 8u64, 0i64, false));
    let bytes = postcard::to_allocvec(&(Vec::<(u64, i64)>::new(), header)).unwrap();
    let error = read_all::<Durable, ListState<u64>>(&bytes).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("not at hand"), "{error}");
    for header in
        [(1, 0, u64::MAX, u64::MAX, 0, false), (1, u64::MAX, u64::MAX, 1, 0, false), (1, 3, 9, 0, 0, false)]
    {
        let bytes = postcard::to_allocvec(&(Vec::<(u64, i64)>::new(), Some(header))).unwrap();
        let _ = read_all::<Durable, ListState<u64>>(&bytes);
        let (table, _) = table(false);
        let mut pages = table.restoring(0).unwrap();
        let _ = pages.read(|| read_all::<Durable, ListState<u64>>(&bytes));
        assert_eq!(pages.finish(), 0);
    }
}

/// A list as all were written that had pages: the first of them without the elements that had been taken out, none in front of it.
#[test]
fn a_first_page_without_some_of_its_elements_is_read() {
    let key = |page: u64| [5, page].map(u64::to_le_bytes).concat();
    for store in [false, true] {
        let (mut table, _) = table(store);
        let mut pages = table.restoring(key_group(hash(&7))).unwrap();
        let elements = |numbers: std::ops::Range<u64>| {
            let all: Vec<(u64, i64)> = numbers.map(|n| (n, i64::MIN)).collect();
            postcard::to_allocvec(&all).unwrap()
        };
        pages.page(&key(0), &elements(6..8)).unwrap();
        pages.page(&key(1), &elements(8..16)).unwrap();
        let header = Some((5u64, 6u64, 2u64, 8u64, i64::MIN, false));
        let tail: Vec<(u64, i64)> = (16..19).map(|n| (n, i64::MIN)).collect();
        let bytes = postcard::to_allocvec(&(tail, header)).unwrap();
        let list: ListState<u64> = pages.read(|| read_all::<Durable, _>(&bytes)).unwrap();
        assert_eq!(pages.finish(), 0);
        table.reserve(1, hash);
        table.insert(hash(&7), (7, (list, 0)));
        for n in 6..19 {
            table.reserve(1, hash);
            let list = &mut table.find(hash(&7), |k| *k == 7).unwrap().1.0;
            list.push(n + 13);
            assert_eq!((list.pop_front(), list.len()), (Some(n), 13));
        }
        let list = &mut table.find(hash(&7), |k| *k == 7).unwrap().1.0;
        assert!(list.iter().copied().eq(19..32));
    }
}

type Header = (u64, u64, u64, u64, i64, bool);

/// A list of pages of eight elements and no others, read where these pages have come; how many lists were nobody's then.
fn read(store: bool, header: Header, come: &[u64]) -> (Result<usize>, usize) {
    let (table, _) = table(store);
    let mut pages = table.restoring(3).unwrap();
    for page in come {
        let elements: Vec<(u64, i64)> =
            (0..8).map(|n| (page.wrapping_mul(8).wrapping_add(n), i64::MIN)).collect();
        pages
            .page(&[5, *page].map(u64::to_le_bytes).concat(), &postcard::to_allocvec(&elements).unwrap())
            .unwrap();
    }
    let bytes = postcard::to_allocvec(&(Vec::<(u64, i64)>::new(), Some(header))).unwrap();
    let list = pages.read(|| read_all::<Durable, ListState<u64>>(&bytes));
    (list.map(|list| list.len()), pages.finish())
}

/// With a store too, although nothing is read from there: a list does not begin without all of its pages, and it is said which those are.
#[test]
fn a_missing_page_is_missed_when_the_list_is_read() {
    for store in [false, true] {
        assert_eq!(read(store, (5, 16, 6, 8, 0, false), &[2, 3, 4, 5]).0.unwrap(), 32);
        for come in [&[3, 4, 5][..], &[2, 4, 5], &[2, 3, 4], &[], &[1, 2, 3, 4], &[2, 3, 5, 6], &[2, 3, 3, 5]]
        {
            let error = read(store, (5, 16, 6, 8, 0, false), come).0.unwrap_err().to_string();
            for part in
                ["number 5 in key group 3", "there are to be pages 2 to 5: ", "`import`", "restore_from"]
            {
                assert!(error.contains(part), "{part}, {store}, {come:?}: {error}");
            }
        }
    }
}

/// What foreign bytes say of pages costs no more than those that have come.
#[test]
fn more_pages_than_there_can_be_are_no_work() {
    let most = i64::MAX as u64 / 8 - 1;
    for store in [false, true] {
        for (first, end, come) in [
            (0, most, &[0, most - 1][..]),
            (8, most, &[1]),
            (0, 1 << 40, &[]),
            (0, 2, &[0, u64::MAX]),
            (0, 3, &[1, 1, 1]),
        ] {
            read(store, (5, first, end, 8, 0, false), come).0.unwrap_err();
        }
        // Pages of a list that nobody has read.
        let (list, nobodys) = read(store, (6, 0, 1, 8, 0, false), &[0, 7, u64::MAX - 1]);
        list.unwrap_err();
        assert_eq!(nobodys, if store { 1 } else { 4 });
    }
}

/// Two that say that the same pages are theirs.
#[test]
fn pages_have_one_owner() {
    for store in [false, true] {
        let (table, _) = table(store);
        let mut pages = table.restoring(3).unwrap();
        let elements: Vec<(u64, i64)> = (0..8).map(|n| (n, i64::MIN)).collect();
        let elements = postcard::to_allocvec(&elements).unwrap();
        pages.page(&[5u64, 0].map(u64::to_le_bytes).concat(), &elements).unwrap();
        let header: Header = (5, 0, 1, 8, 0, false);
        let bytes = postcard::to_allocvec(&(Vec::<(u64, i64)>::new(), Some(header))).unwrap();
        let mut list = || pages.read(|| read_all::<Durable, ListState<u64>>(&bytes));
        assert_eq!(list().unwrap().len(), 8);
        list().map(|_| ()).unwrap_err();
    }
}

/// A page that the backend has lost ends the job when it is read, with an error that says what is not there and what to do.
#[test]
fn a_page_that_the_backend_has_lost() {
    let reported = Arc::new(Mutex::new(Vec::new()));
    let store = MapBackend::with_limit(0).begin("tested", 1).unwrap().open("table").unwrap();
    let report = Arc::clone(&reported);
    let space = Space::new(store, 0, move |error| report.lock().unwrap().push(error.to_string()));
    let mut lists = Table::default();
    lists.page(Some(space.clone()), hash).unwrap();
    lists.reserve(1, hash);
    let list = &mut lists.entry(hash(&7), |k| *k == 7, |a, b| a == b, || 7, Default::default).1.0;
    (0..5_000).for_each(|n| list.push(n));
    lists.reserve(1, hash);
    let mut pages = Vec::new();
    let mut note = |key: &[u8], _: &[u8]| {
        pages.push(key.to_vec());
        true
    };
    space.store.scan(&[2], &[3], &mut note).unwrap();
    let mut changes = Changes::default();
    pages.iter().for_each(|page| changes.remove(page));
    space.store.write(&changes).unwrap();
    let list = &mut lists.find(hash(&7), |k| *k == 7).unwrap().1.0;
    while list.pop_front().is_some() {}
    let errors = reported.lock().unwrap().clone();
    let group = format!("key group {}", key_group(hash(&7)));
    for part in [
        "of a long list, number 4",
        &*group,
        "page 0 is not in the state backend any more",
        "newest checkpoint",
    ] {
        assert!(errors[0].contains(part), "{part}: {errors:?}");
    }
    assert_eq!(errors.len(), 1, "it is read no further");
}
