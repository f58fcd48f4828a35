//! What is whole and still cannot be used, and what cannot be committed.

use super::super::bytes::crc;
use super::*;

/// The error of opening the second checkpoint with `patch` applied to its manifest, and the checksum mended.
fn patched(at: usize, patch: &[u8]) -> String {
    let (disk, _) = two();
    let mut files = disk.contents();
    let bytes = files.get_mut("chk-2-1.manifest").unwrap();
    bytes[at..at + patch.len()].copy_from_slice(patch);
    let sum = crc(&[&bytes[..20], &bytes[24..]]);
    bytes[20..24].copy_from_slice(&sum.to_le_bytes());
    let before = files.clone();
    let disk = SimFs::with(files);
    let error = try_open(&disk, 2).err().unwrap().to_string();
    assert!(disk.contents() == before, "nothing is changed");
    assert!(error.starts_with("state failed: simulated/chk-2-1.manifest: "), "{error}");
    error
}

#[test]
fn manifests_that_this_program_cannot_use() {
    for (at, patch, said) in [
        (8, &2u32.to_le_bytes()[..], "it has format 2, this program reads 1: use the newer program"),
        (24, &128u32.to_le_bytes(), "a maximal parallelism of 128, and that of this program is 256"),
        (28, &9u32.to_le_bytes(), "its keys were hashed by version 9, and this program has version 1"),
        (39, &7u64.to_le_bytes(), "it says that it is the manifest of checkpoint 7, epoch 1"),
        (63, &[8], "it has flags that are not known"),
        (64, &u32::MAX.to_le_bytes(), "it is cut short"),
    ] {
        let error = patched(at, patch);
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_checkpoint_of_another_job() {
    let (disk, _) = two();
    let error = Store::open(Arc::new(disk.clone()), "other", 2).err().unwrap().to_string();
    let said = "chk-2-1.manifest: it is of the job `job`, not of `other`; give each job a folder of its own";
    assert!(error.contains(said), "{error}");
    assert!(try_open(&disk, 2).is_ok(), "the lock was given back");
}

#[test]
fn a_checkpoint_that_is_not_there() {
    let (disk, _) = two();
    for error in [Store::open_at(Arc::new(disk.clone()), "job", 2, 7).err(), Store::read(&disk, 7).err()] {
        let error = error.unwrap().to_string();
        assert!(error.contains("has no checkpoint 7: there are 1, 2"), "{error}");
    }
    assert!(Store::read(&SimFs::new(), 1).err().unwrap().to_string().contains("there are none"));
}

#[test]
fn manifests_that_are_not_committed() {
    let (disk, second) = two();
    let (mut store, _) = open(&disk, 2);
    let operator = |id: &str, files| OperatorState { id: id.into(), files, ..OperatorState::default() };
    let gone = StateFile { name: "chk-1-7.state".into(), len: 1, hash: 1 };
    let base = Manifest { files: second.manifest.files, ..Manifest::default() };
    for (id, manifest, said) in [
        (3, Manifest { id: 4, ..base.clone() }, "a manifest of checkpoint 4 came with the state of 3"),
        (
            4,
            Manifest { id: 4, operators: vec![operator("a", vec![2])], ..base.clone() },
            "that it does not list",
        ),
        (
            5,
            Manifest { id: 5, operators: vec![operator("b", vec![]), operator("a", vec![])], ..base.clone() },
            "not sorted",
        ),
        (
            6,
            Manifest { id: 6, files: vec![gone], ..base },
            "chk-1-7.state: it is in no checkpoint that is retained",
        ),
    ] {
        let writing = store.begin(id).unwrap();
        let Err(CommitError::Failed(error)) = store.commit(writing, manifest) else { panic!("{said}") };
        assert!(error.to_string().contains(said), "{error}");
        check_nothing_is_left(&disk);
    }
    let error = store.begin(6).err().unwrap().to_string();
    assert!(error.contains("checkpoint 6 cannot begin: 7 is the lowest number that is free"), "{error}");
    made(&mut store, 7, None);
}

/// One that was begun first and is committed last is older than the newest.
#[test]
fn checkpoints_are_committed_in_their_order() {
    let disk = SimFs::new();
    let (mut store, _) = open(&disk, 1);
    let (first, second) = (store.begin(1).unwrap(), store.begin(2).unwrap());
    store.commit(second, Manifest { id: 2, ..Manifest::default() }).unwrap();
    store.collect_garbage().unwrap();
    let late = store.commit(first, Manifest { id: 1, ..Manifest::default() });
    let Err(CommitError::Failed(error)) = late else { panic!("it was late") };
    assert!(error.to_string().contains("checkpoint 1 is older than one that has been committed"), "{error}");
    check_nothing_is_left(&disk);
}
