//! A full disk and a failing device, at every call.

use super::*;
use crate::testing::Failure;

/// What came of a checkpoint and the garbage after it, with a failure in it.
fn attempt(store: &mut Store, id: u64, base: &Made) -> Result<Made, Unmade> {
    let made = checkpoint(store, id, Some(base))?;
    // The garbage of a failed call is that of the next.
    let _ = store.collect_garbage();
    Ok(made)
}

fn check_failure_at_each_call(failure: Failure) {
    let (mut failed, mut unknown, mut made_it) = (0, 0, 0);
    for k in 1.. {
        let disk = SimFs::new();
        let (mut store, _) = open(&disk, 1);
        let first = made(&mut store, 1, None);
        let before = disk.calls();
        disk.fail(k, failure);
        let second = attempt(&mut store, 2, &first);
        if disk.calls() - before < k {
            break;
        }
        let base = match second {
            Ok(second) => {
                made_it += 1;
                second
            }
            Err(Unmade::Begin(_) | Unmade::Commit(CommitError::Failed(_))) => {
                failed += 1;
                check_nothing_is_left(&disk);
                first
            }
            Err(Unmade::Commit(CommitError::Unknown(error))) => {
                unknown += 1;
                assert!(error.to_string().contains("will be known at the next start"), "{error}");
                let ended = store.begin(3).err().map(|error| error.to_string());
                assert!(ended.is_some(), "nothing may be written any more");
                drop(store);
                let newest;
                (store, newest) = open(&disk, 1);
                // In memory the manifest has its name: this process goes on from it.
                let second = newest.unwrap();
                assert_eq!(second.id, 2);
                let expected = read_all(&store, &second).unwrap();
                Made { manifest: second, expected }
            }
            Err(Unmade::Commit(CommitError::Fenced(error))) => panic!("call {k}: {error}"),
        };
        let third = made(&mut store, 3, Some(&base));
        store.collect_garbage().unwrap();
        check_nothing_is_left(&disk);
        check_whole(&store, &Store::read(&disk, 3).unwrap(), &third);
        drop(store);
        for crash in disk.crashes_from(disk.operations()) {
            let (store, newest) = open(&crash.disk, 1);
            check_whole(&store, &newest.unwrap(), &third);
        }
    }
    println!("{failure:?}: {failed} failed, {unknown} unknown, {made_it} made");
    assert!(failed > 10 && unknown == 3 && made_it > 3, "{failed} {unknown} {made_it}");
}

#[test]
fn a_full_disk_at_each_call() {
    check_failure_at_each_call(Failure::Full);
}

#[test]
fn a_failing_device_at_each_call() {
    check_failure_at_each_call(Failure::Io);
}

#[test]
fn a_failure_while_opening_is_an_error_and_no_more() {
    let (left, second) = two();
    let mut contents = left.contents();
    contents.insert("chk-3-1.state".into(), vec![1; 9]);
    contents.insert("chk-3-1.manifest.tmp".into(), vec![2; 9]);
    let mut errors = 0;
    for k in 1.. {
        let disk = SimFs::with(contents.clone());
        disk.fail(k, Failure::Io);
        let opened = try_open(&disk, 2).map(|(_, newest)| newest);
        if disk.calls() < k {
            break;
        }
        match opened {
            Ok(newest) => assert!(newest.as_ref() == Some(&second.manifest), "call {k}"),
            Err(error) => {
                errors += 1;
                assert!(error.to_string().contains("input/output error"), "{error}");
            }
        }
        let (store, newest) = open(&disk, 2);
        check_whole(&store, &newest.unwrap(), &second);
        check_nothing_is_left(&disk);
    }
    assert!(errors > 5, "{errors}");
}

/// The disk is full for a while: checkpoints fail, each says so, and the first with room again is made.
#[test]
fn a_disk_that_stays_full() {
    let (disk, second) = two();
    let (mut store, _) = open(&disk, 2);
    let taken: usize = disk.contents().values().map(Vec::len).sum();
    for (id, room) in [0, 10, 700, 1_200].into_iter().enumerate() {
        disk.limit(Some(taken + room));
        let Err(unmade) = checkpoint(&mut store, 3 + id as u64, Some(&second)) else {
            panic!("it had no room")
        };
        let (Unmade::Begin(error) | Unmade::Commit(CommitError::Failed(error))) = unmade else {
            panic!("its outcome is known")
        };
        assert!(error.to_string().contains("no space left on device"), "{error}");
        check_nothing_is_left(&disk);
    }
    disk.limit(None);
    let made = made(&mut store, 8, Some(&second));
    check_whole(&store, &Store::read(&disk, 8).unwrap(), &made);
}

/// After a failure a file is not written on, and its checkpoint cannot be committed.
#[test]
fn a_failed_file_stays_failed() {
    let disk = SimFs::new();
    let (mut store, _) = open(&disk, 1);
    let mut writing = store.begin(1).unwrap();
    writing.part("a", Slot::Instance(0), b"x").unwrap();
    disk.fail(2, Failure::Io);
    assert!(writing.sync().is_err(), "the sync fails");
    assert!(writing.sync().is_err(), "it is not tried again");
    assert!(writing.part("a", Slot::Instance(0), b"y").is_err());
    let manifest = Manifest { id: 1, files: vec![writing.file()], ..Manifest::default() };
    assert!(matches!(store.commit(writing, manifest), Err(CommitError::Failed(_))));
    check_nothing_is_left(&disk);
}
