//! The simulated disk by itself.

use super::*;
use std::collections::BTreeSet;

fn states(disk: &SimFs) -> BTreeSet<BTreeMap<String, Vec<u8>>> {
    disk.crashes().map(|crash| crash.disk.contents()).collect()
}

fn end_states(disk: &SimFs) -> BTreeSet<BTreeMap<String, Vec<u8>>> {
    disk.crashes_from(disk.operations()).map(|crash| crash.disk.contents()).collect()
}

fn files<const N: usize>(files: [(&str, &[u8]); N]) -> BTreeMap<String, Vec<u8>> {
    files.into_iter().map(|(name, bytes)| (name.to_owned(), bytes.to_vec())).collect()
}

#[test]
fn a_file_without_syncs_may_be_left_in_any_state() {
    let disk = SimFs::new();
    let mut file = disk.create("a").unwrap();
    file.write(&[1; 600]).unwrap();
    file.write(&[2; 10]).unwrap();
    let all = [vec![1; 600], vec![2; 10]].concat();
    let mut expected = BTreeSet::from([files([])]);
    for cut in [0, 512, 600, 610] {
        let mut zeros = all[..cut].to_vec();
        zeros.resize(610, 0);
        expected.extend([files([("a", &all[..cut])]), files([("a", &zeros)])]);
    }
    assert_eq!(end_states(&disk), expected);

    file.sync().unwrap();
    assert_eq!(end_states(&disk), BTreeSet::from([files([]), files([("a", &all)])]), "its name may be lost");
    disk.sync_folder().unwrap();
    assert_eq!(end_states(&disk), BTreeSet::from([files([("a", &all)])]));
}

#[test]
fn changes_of_names_are_lost_one_by_one() {
    let disk = SimFs::with(files([("a", b"1"), ("b", b"2")]));
    disk.rename("a", "c").unwrap();
    disk.remove("b").unwrap();
    let all = end_states(&disk);
    assert_eq!(all.len(), 8);
    for left in [files([]), files([("c", b"1")]), files([("a", b"1"), ("b", b"2"), ("c", b"1")])] {
        assert!(all.contains(&left), "{left:?}");
    }
    disk.sync_folder().unwrap();
    assert_eq!(end_states(&disk), BTreeSet::from([files([("c", b"1")])]));
    assert_eq!(states(&disk).len(), 8, "the crashes before are still there");
}

/// Too many for every subset: every beginning, and with each change one more or less.
#[test]
fn many_changes_of_names() {
    let disk = SimFs::new();
    (0..20).for_each(|n| drop(disk.create(&format!("{n:02}")).unwrap()));
    let names = |crash: Crash| crash.disk.contents().into_keys().collect::<Vec<_>>();
    let all: BTreeSet<Vec<String>> = disk.crashes_from(20).map(names).collect();
    let beginning = |n: usize| (0..n).map(|n| format!("{n:02}")).collect::<Vec<_>>();
    assert!((0..=20).all(|n| all.contains(&beginning(n))));
    assert!(all.contains(&vec!["19".to_owned()]) && all.contains(&beginning(20)[1..]));
}

#[test]
fn what_a_failed_sync_lost_stays_lost() {
    let disk = SimFs::new();
    let mut file = disk.create("a").unwrap();
    disk.sync_folder().unwrap();
    file.write(b"x").unwrap();
    disk.fail(1, Failure::Io);
    assert!(file.sync().is_err());
    file.sync().unwrap();
    assert_eq!(disk.contents(), files([("a", b"x")]), "a process does not see it");
    assert!(end_states(&disk).contains(&files([("a", b"")])));
}

#[test]
fn calls_fail_when_they_are_told_to() {
    let disk = SimFs::new();
    let mut file = disk.create("a").unwrap();
    disk.fail(2, Failure::Full);
    file.write(b"ab").unwrap();
    assert_eq!(file.write(b"cdef").unwrap_err().kind(), io::ErrorKind::StorageFull);
    file.write(b"g").unwrap();
    disk.limit(Some(6));
    assert_eq!(file.write(b"hi").unwrap_err().kind(), io::ErrorKind::StorageFull);
    disk.limit(None);
    file.write(b"jk").unwrap();
    assert_eq!((disk.contents(), disk.calls()), (files([("a", b"abcdghjk")]), 6));
}

#[test]
fn the_lock_is_of_one_at_a_time() {
    let disk = SimFs::new();
    let first = disk.lock().unwrap();
    let text = disk.read_at(LOCK, 0, disk.len(LOCK).unwrap() as usize).unwrap();
    let Err(error) = disk.lock() else { panic!("it was locked") };
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    assert_eq!(error.to_string(), format!("locked by process {}", std::process::id()));
    disk.break_lock();
    let second = disk.lock().unwrap();
    assert_ne!(text, disk.read_at(LOCK, 0, disk.len(LOCK).unwrap() as usize).unwrap());
    drop(first);
    assert!(disk.lock().is_err(), "the second has it");
    drop(second);
    assert!(disk.lock().is_ok());
}
