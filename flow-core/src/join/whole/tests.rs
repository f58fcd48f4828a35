use super::head::{Finding, Hash, SortMerge};
use crate::exchange::hash_key;
use crate::external::Memory;
use crate::join::form::{Anti, Full, Inner, LeftOuter, RightOuter, Semi, Whole};
use proptest::prelude::*;
use std::fmt::Debug;

type Key = Option<u16>;
/// A number and something that takes room.
type One = (u32, String);

/// Joins with so much memory, and says how many elements were written.
fn joined<A, F>(lefts: &[(Key, One)], rights: &[(Key, One)], least: usize) -> (Vec<(Key, F::Out)>, u64)
where
    A: Finding<Key, One, One>,
    F: Whole<One, One>,
{
    let folder = tempfile::tempdir().unwrap();
    let memory = Memory::with_least(0, least, folder.path().to_owned());
    let mut work = A::begin(&memory);
    let mut sides = (lefts.iter(), rights.iter());
    // One after the other in turn.
    loop {
        let (left, right) = (sides.0.next(), sides.1.next());
        if let Some((key, left)) = left {
            A::left(&mut work, (hash_key(key), *key, left.clone())).unwrap();
        }
        if let Some((key, right)) = right {
            A::right(&mut work, (hash_key(key), *key, right.clone())).unwrap();
        }
        if left.is_none() && right.is_none() {
            break;
        }
    }
    let (mut rows, mut spilled) = (Vec::new(), 0);
    while let Some(row) = A::next::<F>(&mut work).unwrap() {
        rows.push(row);
        spilled += A::spilled(&mut work);
    }
    spilled += A::spilled(&mut work);
    drop(work);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "files have no names");
    (rows, spilled)
}

/// Two loops, one in the other.
fn naive<F: Whole<One, One>>(lefts: &[(Key, One)], rights: &[(Key, One)]) -> Vec<(Key, F::Out)> {
    let matches = |a: Key, b: Key| a.is_some() && a == b;
    let mut rows = Vec::new();
    for (key, left) in lefts {
        let found: Vec<&One> =
            rights.iter().filter(|right| matches(*key, right.0)).map(|right| &right.1).collect();
        if F::PAIRS {
            rows.extend(found.iter().filter_map(|right| Some((*key, F::pair(left, right)?))));
        }
        if F::LEFT == Some(!found.is_empty()) {
            rows.extend(F::left(left.clone()).map(|row| (*key, row)));
        }
    }
    for (key, right) in rights.iter().filter(|_| F::RIGHT) {
        if !lefts.iter().any(|left| matches(left.0, *key)) {
            rows.extend(F::right(right).map(|row| (*key, row)));
        }
    }
    rows
}

fn check<F: Whole<One, One, Out: Ord + Debug>>(
    lefts: &[(Key, One)],
    rights: &[(Key, One)],
    least: usize,
) -> [u64; 2] {
    let mut expected = naive::<F>(lefts, rights);
    expected.sort();
    let (mut hashed, of_hash) = joined::<Hash, F>(lefts, rights, least);
    hashed.sort();
    assert!(hashed == expected, "hash, {}", F::NAME);
    let (mut merged, of_merge) = joined::<SortMerge, F>(lefts, rights, least);
    assert!(merged.is_sorted_by_key(|row| row.0), "in order of keys");
    merged.sort();
    assert!(merged == expected, "sort_merge, {}", F::NAME);
    [of_hash, of_merge]
}

/// Keys of which some are nothing, some are rare and one may be frequent.
fn side(most: usize) -> impl Strategy<Value = Vec<(Key, One)>> {
    let key = prop_oneof![1 => Just(None), 4 => (0..300u16).prop_map(Some), 4 => (0..20u16).prop_map(Some), 2 => Just(Some(7))];
    prop::collection::vec(key, 0..most).prop_map(|keys| {
        keys.into_iter().enumerate().map(|(n, key)| (key, (n as u32, format!("{n:050}")))).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn each_kind_is_two_loops(lefts in side(400), rights in side(400), least in prop::sample::select(vec![0, 3_000, 20_000, 1 << 20])) {
        let spilled = [
            check::<Inner>(&lefts, &rights, least),
            check::<LeftOuter>(&lefts, &rights, least),
            check::<RightOuter>(&lefts, &rights, least),
            check::<Full>(&lefts, &rights, least),
            check::<Semi>(&lefts, &rights, least),
            check::<Anti>(&lefts, &rights, least),
        ];
        let all = lefts.len() + rights.len();
        prop_assert!(least > 3_000 || all < 300 || spilled.iter().flatten().all(|n| *n > 0), "it was to spill");
        prop_assert!(least < 1 << 20 || spilled.iter().flatten().all(|n| *n == 0), "it was not to spill");
    }
}

/// One key has more than the memory holds on both sides: nothing divides them.
#[test]
fn a_key_that_cannot_be_divided() {
    let side =
        |n: u32| (0..n).map(|i| (Some((i % 40 / 39) as u16), (i, format!("{i:050}")))).collect::<Vec<_>>();
    let (lefts, rights) = (side(500), side(300));
    for least in [0, 2_000, 8_000] {
        for [of_hash, of_merge] in [
            check::<Inner>(&lefts, &rights, least),
            check::<Full>(&lefts, &rights, least),
            check::<Semi>(&lefts, &rights, least),
            check::<Anti>(&lefts, &rights, least),
        ] {
            assert!(of_hash > 500 && of_merge > 500, "{of_hash} and {of_merge} with {least}");
        }
    }
}

/// Hashes that are all alike, as of a key whose `Hash` is bad: the levels end, and the rows are right.
#[test]
fn keys_of_one_hash() {
    let memory = Memory::with_least(0, 1_000, std::env::temp_dir());
    let mut work = <Hash as Finding<u32, One, One>>::begin(&memory);
    for n in 0..200 {
        <Hash as Finding<u32, One, One>>::left(&mut work, (5, n, (n, format!("{n:040}")))).unwrap();
        <Hash as Finding<u32, One, One>>::right(&mut work, (5, n / 2, (n, format!("{n:040}")))).unwrap();
    }
    let mut rows = Vec::new();
    while let Some((key, (left, right))) = <Hash as Finding<u32, One, One>>::next::<Inner>(&mut work).unwrap()
    {
        rows.push((key, left.0, right.0));
    }
    rows.sort_unstable();
    let expected: Vec<(u32, u32, u32)> = (0..200).map(|n| (n / 2, n / 2, n)).collect();
    assert_eq!(rows, expected);
}
