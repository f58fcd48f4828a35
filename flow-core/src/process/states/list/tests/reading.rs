//! What is read: by whoever serialises a list himself, where pages are missing, and what older programs have written.

use super::{Durable, ListState, SMALL, hash, key_group, read_all, table, with_limits};

/// The user's own serialisation knows of no pages.
#[test]
fn a_list_stands_by_itself_where_nobody_asks_for_pages() {
    with_limits(SMALL, || {
        let (mut table, _) = table(true);
        table.reserve(1, hash);
        let list = &mut table.entry(hash(&7), |k| *k == 7, |a, b| a == b, || (7, Default::default())).1.0;
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
        table.entry(hash(&7), |_| false, |_, _| false, || (7, (list, 0)));
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
