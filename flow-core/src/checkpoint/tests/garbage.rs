//! What stays and what goes.

use super::*;

fn ids(disk: &SimFs) -> Vec<u64> {
    let mut ids: Vec<u64> =
        names(disk, Kind::Manifest).iter().map(|name| Name::parse(name).unwrap().at.id).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn as_many_as_are_retained_stay_with_all_they_need() {
    let disk = SimFs::new();
    let (mut store, _) = open(&disk, 2);
    let mut all = vec![made(&mut store, 1, None)];
    for id in 2..=6 {
        let base = all.last().filter(|_| id != 5);
        all.push(made(&mut store, id, base));
        let removed = store.collect_garbage().unwrap();
        assert_eq!(removed, if id == 2 { 0 } else { 1 + 4 * usize::from(id == 6) }, "{id}");
        check_nothing_is_left(&disk);
        for id in ids(&disk) {
            check_whole(&store, &Store::read(&disk, id).unwrap(), &all[id as usize - 1]);
        }
    }
    assert_eq!(ids(&disk), [5, 6]);
}

#[test]
fn savepoints_stay() {
    let disk = SimFs::new();
    let (mut store, _) = open(&disk, 1);
    let writing = store.begin(1).unwrap();
    let savepoint = Manifest {
        id: 1,
        savepoint: true,
        finished: true,
        files: vec![writing.file()],
        ..Manifest::default()
    };
    store.commit(writing, savepoint).unwrap();
    for id in 2..=3 {
        made(&mut store, id, None);
        store.collect_garbage().unwrap();
    }
    drop(store);
    let (mut store, newest) = open(&disk, 1);
    assert_eq!((newest.unwrap().id, store.collect_garbage().unwrap(), ids(&disk)), (3, 0, vec![1, 3]));
    let savepoint = Store::read(&disk, 1).unwrap();
    assert!(savepoint.savepoint && savepoint.finished);
    drop(store);
    assert_eq!(Store::open_at(Arc::new(disk), "job", 1, 1).unwrap().1.id, 1);
}

/// What the job goes on from stays until it has committed, although newer ones are as many as are retained.
#[test]
fn the_checkpoint_that_was_asked_for_stays() {
    let (disk, _) = two();
    let (mut store, first) = Store::open_at(Arc::new(disk.clone()), "job", 1, 1).unwrap();
    assert_eq!((store.collect_garbage().unwrap(), ids(&disk)), (0, vec![1, 2]));
    let base = Made { expected: read_all(&store, &first).unwrap(), manifest: first };
    let third = made(&mut store, 3, Some(&base));
    store.collect_garbage().unwrap();
    assert_eq!(ids(&disk), [3]);
    check_whole(&store, &Store::read(&disk, 3).unwrap(), &third);
    check_nothing_is_left(&disk);
}

/// The files of a checkpoint that has begun are not garbage, and those of one that was given up are gone.
#[test]
fn a_checkpoint_that_is_being_written_is_left_alone() {
    let disk = SimFs::new();
    let (mut store, _) = open(&disk, 1);
    made(&mut store, 1, None);
    let mut writing = store.begin(2).unwrap();
    writing.part("a", Slot::Instance(0), b"x").unwrap();
    assert_eq!(store.collect_garbage().unwrap(), 0);
    let manifest = Manifest { id: 2, files: vec![writing.file()], ..Manifest::default() };
    store.commit(writing, manifest).unwrap();
    let writing = store.begin(3).unwrap();
    assert_eq!(names(&disk, Kind::State).len(), 3);
    store.abort(writing);
    assert_eq!((store.collect_garbage().unwrap(), store.next_id()), (2, 4));
    check_nothing_is_left(&disk);
}

/// A file that no manifest lists is not kept, and no foreign file is touched.
#[test]
fn other_files_are_left_alone() {
    let disk =
        SimFs::with(BTreeMap::from([("README".to_owned(), vec![1]), ("chk-x.state".to_owned(), vec![2])]));
    let (mut store, _) = open(&disk, 1);
    let writing = store.begin(1).unwrap();
    store.commit(writing, Manifest { id: 1, ..Manifest::default() }).unwrap();
    assert_eq!(names(&disk, Kind::State), [""; 0]);
    store.collect_garbage().unwrap();
    drop(store);
    drop(open(&disk, 1));
    assert_eq!(
        disk.contents().into_keys().collect::<Vec<_>>(),
        ["README", "chk-1-1.manifest", "chk-x.state"]
    );
}
