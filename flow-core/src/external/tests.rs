use super::*;
use proptest::prelude::*;
use std::cmp::Ordering;

#[derive(Clone)]
struct ByKey;
impl Order<(u8, String)> for ByKey {
    fn order(&self, a: &(u8, String), b: &(u8, String)) -> Ordering {
        a.0.cmp(&b.0)
    }
}

/// Sorts with so much memory that some is in files; equal records stay in their order.
fn sorted(records: &[(u8, String)], limit: usize) -> (Vec<(u8, String)>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let memory = Memory::new(limit, folder.path().to_owned());
    let mut sorter = Sorter::new(&memory, ByKey);
    records.iter().for_each(|record| sorter.push(record.clone()).unwrap());
    let spilled = sorter.spilled();
    let mut all = sorter.finish().unwrap();
    let mut out = Vec::new();
    while let Some(record) = all.next().unwrap() {
        out.push(record);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "files have no names");
    (out, spilled)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn it_is_std_s_stable_sort(keys in prop::collection::vec(any::<u8>(), 0..600)) {
        // Records of 20 KB: a run has about thirty of them, and of 600 twenty runs are merged by fours.
        let records: Vec<(u8, String)> = keys.iter().enumerate().map(|(n, key)| (*key, format!("{n:020000}"))).collect();
        let mut expected = records.clone();
        expected.sort_by_key(|record| record.0);
        let (here, spilled) = sorted(&records, 64 << 20);
        prop_assert!(here == expected && spilled == 0);
        let (out, spilled) = sorted(&records, 0);
        prop_assert!(out == expected);
        prop_assert!(spilled > 0 || records.len() < 100);
    }
}

#[test]
fn memory_is_given_back() {
    let memory = Memory::new(4 << 20, std::env::temp_dir());
    let mut one = memory.share();
    assert!(one.reaches(5 << 20) && !one.reaches(6 << 20));
    let mut other = memory.share();
    assert!(other.reaches(1 << 20) && !other.reaches(2 << 20));
    drop(one);
    assert!(other.reaches(5 << 20));
}

/// Somebody else who may write to the folder may have put something at the names that come next: it is neither written to nor taken away.
#[cfg(unix)]
#[test]
fn what_is_in_the_folder_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mine = folder.path().join("mine");
    std::fs::write(&mine, "mine").unwrap();
    let names = (0..5_000).map(|n| folder.path().join(format!("flow-run-{}-{n}", std::process::id())));
    names.for_each(|name| std::os::unix::fs::symlink(&mine, name).unwrap());
    let mut run = Writing::begin(folder.path()).unwrap();
    for n in 0..100_000u64 {
        run.push(&n).unwrap();
    }
    assert_eq!(run.finish().unwrap().next().unwrap(), Some(0));
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 5_001);
}

/// Whatever the period of large records is, they are among those that are measured.
#[test]
fn large_records_are_measured_however_they_lie() {
    for period in 1..=64 {
        for phase in [0, 1, period - 1] {
            let mut side = Side::<String>::default();
            for n in 0..20_000 {
                let large = n % period == phase % period;
                side.more(&if large { "x".repeat(10_000) } else { String::new() }).unwrap();
            }
            let (each, mean) = (side.each(), 10_000 / period);
            assert!(each > mean && each < 4 * mean + 32, "{phase} of {period}: {each} for {mean}");
        }
    }
}
