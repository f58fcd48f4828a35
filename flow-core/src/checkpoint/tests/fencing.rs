//! Two processes in one folder.

use super::*;
use std::io;
use std::sync::Mutex;

#[test]
fn a_second_process_is_told_who_has_the_folder() {
    let disk = SimFs::new();
    let (store, _) = open(&disk, 1);
    let error = try_open(&disk, 1).err().unwrap().to_string();
    assert!(error.contains(&format!("locked by process {}", std::process::id())), "{error}");
    assert!(error.contains("a folder of its own"), "{error}");
    drop(store);
    assert!(try_open(&disk, 1).is_ok());
}

/// The lock is taken by force from a process that still lives: it can do nothing any more.
#[test]
fn a_zombie_writes_nothing() {
    let (disk, second) = two();
    let (mut zombie, _) = open(&disk, 2);
    let writing = zombie.begin(3).unwrap();
    let manifest = Manifest { id: 3, files: vec![writing.file()], ..Manifest::default() };
    disk.break_lock();
    let (mut successor, newest) = open(&disk, 2);
    assert!(successor.epoch() > zombie.epoch() && newest.as_ref() == Some(&second.manifest));
    let third = made(&mut successor, 4, Some(&second));

    let error = match zombie.commit(writing, manifest) {
        Err(CommitError::Fenced(error)) => error.to_string(),
        other => panic!("{:?}", other.map(|_| ())),
    };
    assert!(error.contains("has taken over"), "{error}");
    assert!(zombie.begin(9).is_err() && zombie.collect_garbage().is_err());
    drop(zombie);
    successor.collect_garbage().unwrap();
    check_nothing_is_left(&disk);
    check_whole(&successor, &Store::read(&disk, 4).unwrap(), &third);
}

/// A zombie looks at the lock before it begins; then it is stopped for as long as the successor pleases.
#[test]
fn a_zombie_and_its_successor_have_files_of_their_own() {
    let disk = SimFs::new();
    let (mut zombie, _) = open(&disk, 1);
    let mut old = zombie.begin(1).unwrap();
    disk.break_lock();
    let (mut successor, _) = open(&disk, 1);
    let new = made(&mut successor, 2, None);
    old.part("count", Slot::Group(0), &[9; 100_000]).unwrap();
    drop(old);
    check_whole(&successor, &Store::read(&disk, 2).unwrap(), &new);
    check_nothing_is_left(&disk);
}

/// A zombie renamed its manifest after its successor had looked: the successor's first checkpoint supersedes it.
#[test]
fn a_manifest_that_came_too_late_is_superseded() {
    let (left, _) = two();
    let disk = SimFs::new();
    drop(open(&disk, 1));
    let mut writing = open(&disk, 1).0.begin(1).unwrap();
    writing.part("x", Slot::Group(0), b"x").unwrap();
    let (mut successor, _) = open(&disk, 1);
    for name in ["chk-2-1.manifest", "chk-2-1.state", "chk-1-1.state"] {
        disk.create(name).unwrap().write(&left.contents()[name]).unwrap();
    }
    assert_eq!(successor.collect_garbage().unwrap(), 0, "until then it is the newest");
    let next = made(&mut successor, 2, None);
    let newest = Store::open(Arc::new(SimFs::with(disk.contents())), "job", 1).unwrap().1;
    assert!(newest.as_ref() == Some(&next.manifest), "the higher epoch counts");
    successor.collect_garbage().unwrap();
    assert_eq!(names(&disk, Kind::Manifest), ["chk-2-2.manifest"]);
    check_nothing_is_left(&disk);
    drop(writing);
}

/// Moments of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    BeforeStaging,
    BeforeRename,
    AfterRename,
}

/// A folder in which something happens at a moment of the next commit.
struct Interrupted {
    disk: SimFs,
    interrupt: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    moment: Moment,
}

impl Interrupted {
    fn pass(&self, moment: Moment) {
        if moment == self.moment {
            let interrupt = self.interrupt.lock().unwrap().take();
            interrupt.into_iter().for_each(|interrupt| interrupt());
        }
    }
}

impl Storage for Interrupted {
    fn create(&self, name: &str) -> io::Result<Box<dyn StorageFile>> {
        if name.ends_with(".tmp") {
            self.pass(Moment::BeforeStaging);
        }
        self.disk.create(name)
    }
    fn len(&self, name: &str) -> io::Result<u64> {
        self.disk.len(name)
    }
    fn read_at(&self, name: &str, at: u64, bytes: usize) -> io::Result<Vec<u8>> {
        self.disk.read_at(name, at, bytes)
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.pass(Moment::BeforeRename);
        self.disk.rename(from, to)?;
        self.pass(Moment::AfterRename);
        Ok(())
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }
    fn list(&self) -> io::Result<Vec<String>> {
        self.disk.list()
    }
    fn sync_folder(&self) -> io::Result<()> {
        self.disk.sync_folder()
    }
    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        self.disk.lock()
    }
    fn describe(&self, name: &str) -> String {
        self.disk.describe(name)
    }
}

/// Somebody takes over in the middle of a commit: the zombie commits nothing, and what the successor went on from stays.
#[test]
fn a_lock_lost_in_the_middle_of_a_commit() {
    for moment in [Moment::BeforeStaging, Moment::BeforeRename, Moment::AfterRename] {
        let disk = SimFs::new();
        let taken: Arc<Mutex<Option<(Store, Option<Manifest>)>>> = Arc::default();
        let (there, found) = (disk.clone(), Arc::clone(&taken));
        let take_over = move || {
            there.break_lock();
            *found.lock().unwrap() = Some(open(&there, 1));
        };
        let interrupt: Box<dyn FnOnce() + Send> = Box::new(take_over);
        let storage = Interrupted { disk: disk.clone(), interrupt: Mutex::new(Some(interrupt)), moment };
        let (mut zombie, _) = Store::open(Arc::new(storage), "job", 1).unwrap();
        let lost = checkpoint(&mut zombie, 1, None).err().unwrap();
        assert!(matches!(lost, Unmade::Commit(CommitError::Fenced(_))), "{moment:?}: {lost:?}");
        // After the rename it is the successor's checkpoint; before, it must not come to be.
        let (mut successor, newest) = taken.lock().unwrap().take().unwrap();
        assert_eq!(
            (newest.is_some(), names(&disk, Kind::Manifest).len()),
            match moment {
                Moment::AfterRename => (true, 1),
                _ => (false, 0),
            }
        );
        let base = newest.map(|manifest| {
            let expected = read_all(&successor, &manifest).unwrap();
            Made { manifest, expected }
        });
        drop(zombie);
        let next = made(&mut successor, 2, base.as_ref());
        check_whole(&successor, &Store::read(&disk, 2).unwrap(), &next);
        successor.collect_garbage().unwrap();
        check_nothing_is_left(&disk);
    }
}
