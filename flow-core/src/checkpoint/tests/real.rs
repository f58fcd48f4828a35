//! The same on a real disk, in small.

use super::*;
use std::fs;
use std::path::Path;

fn open_folder(path: &Path) -> Result<(Store, Option<Manifest>)> {
    Store::open(Arc::new(Folder::open(path).unwrap()), "job", 1)
}

fn files(path: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_cycle_on_a_real_disk() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("a/b");
    let (mut store, newest) = open_folder(&path).unwrap();
    assert!(newest.is_none());
    let mut last = made(&mut store, 1, None);
    for id in 2..=4 {
        last = made(&mut store, id, Some(&last).filter(|_| id != 3));
        store.collect_garbage().unwrap();
    }
    assert_eq!(files(&path), ["chk-3-1.state", "chk-4-1.manifest", "chk-4-1.state", "lock"]);
    let left = store.begin(5).unwrap();
    std::mem::forget(left);
    drop(store);
    fs::write(path.join("chk-5-1.manifest.tmp"), "half").unwrap();

    let (mut store, newest) = open_folder(&path).unwrap();
    check_whole(&store, &newest.unwrap(), &last);
    assert_eq!(files(&path), ["chk-3-1.state", "chk-4-1.manifest", "chk-4-1.state", "lock"]);
    assert_eq!((store.epoch(), store.next_id()), (2, 6));
    let next = made(&mut store, 6, Some(&last));
    check_whole(&store, &next.manifest, &next);
}

#[test]
fn a_real_folder_has_one_job() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, _) = open_folder(folder.path()).unwrap();
    let error = open_folder(folder.path()).err().unwrap().to_string();
    assert!(error.contains(&format!("locked by process {}", std::process::id())), "{error}");

    // As one does who thinks that nobody is there any more.
    fs::remove_file(folder.path().join("lock")).unwrap();
    let writing = store.begin(1).err().unwrap().to_string();
    assert!(writing.contains("the lock file is gone"), "{writing}");
    let (mut successor, _) = open_folder(folder.path()).unwrap();
    assert!(store.begin(2).is_err());
    drop(store);
    assert!(open_folder(folder.path()).is_err(), "the successor still has it");
    made(&mut successor, 1, None);
}

#[test]
fn damage_on_a_real_disk() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, _) = open_folder(folder.path()).unwrap();
    let first = made(&mut store, 1, None);
    drop(store);
    for (name, in_open) in [("chk-1-1.manifest", true), ("chk-1-1.state", false)] {
        let file = folder.path().join(name);
        let whole = fs::read(&file).unwrap();
        for (at, bit) in (0..whole.len()).step_by(97).zip((0..8).cycle()) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            fs::write(&file, &flipped).unwrap();
            let opened = open_folder(folder.path());
            assert_eq!(opened.is_err(), in_open);
            let error = opened.and_then(|(store, newest)| read_all(&store, &newest.unwrap())).unwrap_err();
            assert!(error.to_string().contains(&file.display().to_string()), "{error}");
        }
        fs::write(&file, whole).unwrap();
    }
    let (store, newest) = open_folder(folder.path()).unwrap();
    check_whole(&store, &newest.unwrap(), &first);
}

/// What is given to other threads can be.
#[test]
fn a_file_can_be_written_on_another_thread() {
    fn sendable<T: Send>() {}
    sendable::<Writing>();
    sendable::<Store>();
    fn shared<T: Send + Sync>() {}
    shared::<Parts>();
}
