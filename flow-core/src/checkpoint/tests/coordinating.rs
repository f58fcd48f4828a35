//! The coordinator by itself: told news and the time by hand.

use super::*;
use crate::checkpoint::{Acknowledge, Committers, Coordinator, Savepoints, Tracked};
use crate::error::ErrorKind;
use crate::testing::Failure;
use crate::time::Millis;
use crate::time::VirtualClock;
use std::sync::Mutex;
use std::sync::mpsc;
use std::time::Duration;

/// Says what becomes of what is staged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Committer for Log {
    fn commit(&mut self, checkpoint: u64, _: u32, _: &[u8]) -> Result<()> {
        self.0.lock().unwrap().push(format!("commit {checkpoint}"));
        Ok(())
    }
    fn abort(&mut self, checkpoint: u64, _: u32, _: &[u8]) {
        self.0.lock().unwrap().push(format!("abort {checkpoint}"));
    }
}

/// A source that says what is acknowledged.
impl Acknowledge for Log {
    fn acknowledge(&mut self, checkpoint: u64, positions: &[Vec<u8>]) -> Result<()> {
        let positions: Vec<_> = positions.iter().map(|at| String::from_utf8_lossy(at)).collect();
        self.0.lock().unwrap().push(format!("acknowledge {checkpoint}: {}", positions.join(" ")));
        Ok(())
    }
}

/// One that takes a checkpoint each 100 ticks and gives up after 1,000, of one stage with one instance; and the way from there.
fn one_stage(disk: &SimFs) -> (Coordinator, Saves, Log) {
    let (coordinator, saves, log) = instances(disk, 1);
    (coordinator, saves.into_iter().next().unwrap(), log)
}

/// The same with so many instances, which read so many partitions.
fn instances(disk: &SimFs, count: usize) -> (Coordinator, Vec<Saves>, Log) {
    let (store, newest) = open(disk, 2);
    let settings = Checkpoints::in_storage(Arc::new(disk.clone())).every(Millis(100)).timeout(Millis(1_000));
    let instance = |instance| Tracked {
        stage: "stage".into(),
        instance,
        instances: count,
        ended: false,
        finished: false,
        schema: "".into(),
    };
    let (mut committers, mut acknowledgers, log) =
        (Committers::default(), Acknowledgers::default(), Log::default());
    committers.add("sink".into(), Box::new(log.clone()));
    acknowledgers.add("source".into(), Box::new(log.clone()), count);
    let outside = Outside { committers, acknowledgers };
    let clock = Arc::new(VirtualClock::new());
    let tasks = (0..count).map(instance).collect();
    let coordinator = Coordinator::new(store, newest, settings, tasks, outside, Arc::default(), clock);
    let way = |at| Saves::new(coordinator.inbox().clone(), coordinator.orders().clone(), at, at);
    let saves = (0..count).map(way).collect();
    (coordinator, saves, log)
}

/// One partition ends while a checkpoint is in flight that it has passed: what it read since is in no checkpoint, and stays where it comes from.
#[test]
fn what_a_source_has_read_behind_a_checkpoint_is_not_acknowledged_with_it() {
    let (mut coordinator, saves, log) = instances(&SimFs::new(), 2);
    coordinator.work(100).unwrap();
    for (partition, saves) in saves.iter().enumerate() {
        saves.operator(1, "source", format!("{partition}:5").into());
    }
    saves[0].saved(1);
    saves[0].last("source", b"0:end".to_vec());
    saves[0].ended();
    saves[1].saved(1);
    coordinator.work(101).unwrap();
    assert_eq!(log.all(), ["acknowledge 1: 0:5 1:5"]);
    coordinator.work(200).unwrap();
    saves[1].operator(2, "source", b"1:8".to_vec());
    saves[1].saved(2);
    coordinator.work(201).unwrap();
    assert_eq!(log.all()[1..], ["acknowledge 2: 0:end 1:8"]);
}

/// What `wait` says, unless it waits for ever.
fn outcome(savepoints: &Savepoints, number: u64) -> Result<u64> {
    let (savepoints, (say, hear)) = (savepoints.clone(), mpsc::sync_channel(1));
    std::thread::spawn(move || say.send(savepoints.wait(number)));
    hear.recv_timeout(Duration::from_secs(10)).expect("nobody waits for ever")
}

#[test]
fn one_that_took_too_long_is_waited_for_without_haste() {
    let (mut coordinator, saves, _) = one_stage(&SimFs::new());
    coordinator.work(100).unwrap();
    assert_eq!(coordinator.deadline(), 1_100);
    coordinator.work(1_100).unwrap();
    assert!(coordinator.deadline() > 1_100, "nothing can be done before the stage has saved");
    saves.saved(1);
    coordinator.work(1_200).unwrap();
    assert_eq!(coordinator.metrics().counter("checkpoints.failed").get(), 1);
    assert_eq!(coordinator.orders().begun(), 2, "the next was due");
}

/// Somebody asks for another while one is taken: it has what is read meanwhile.
#[test]
fn a_savepoint_has_all_that_was_read_before_it_was_asked_for() {
    let (mut coordinator, saves, _) = one_stage(&SimFs::new());
    let savepoints = coordinator.savepoints().clone();
    let first = savepoints.ask();
    coordinator.work(0).unwrap();
    assert_eq!(coordinator.orders().begun(), 1);
    let second = savepoints.ask();
    saves.saved(1);
    coordinator.work(1).unwrap();
    assert_eq!(coordinator.orders().begun(), 2);
    saves.saved(2);
    coordinator.work(2).unwrap();
    assert_eq!(outcome(&savepoints, second).unwrap(), 2);
    assert!(outcome(&savepoints, first).is_ok());
    assert!(!savepoints.are_wanted());
}

#[test]
fn a_savepoint_that_takes_too_long_is_not_waited_for() {
    let (mut coordinator, _saves, _) = one_stage(&SimFs::new());
    let savepoints = coordinator.savepoints().clone();
    let number = savepoints.ask();
    coordinator.work(0).unwrap();
    coordinator.work(1_000).unwrap();
    let error = outcome(&savepoints, number).unwrap_err().to_string();
    assert!(error.contains("checkpoint 1 is not complete after 1s"), "{error}");
}

/// Whoever has a savepoint may take its files away: no other checkpoint needs them.
#[test]
fn a_savepoint_is_no_base_of_what_follows() {
    let disk = SimFs::new();
    let (mut coordinator, saves, _) = one_stage(&disk);
    coordinator.savepoints().ask();
    for (id, now) in [(1, 0), (2, 200), (3, 400)] {
        coordinator.work(now).unwrap();
        saves.keyed(id, "stage", saves.wants_whole(id));
        saves.group(id, "stage", 7, b"some".to_vec());
        saves.saved(id);
        coordinator.work(now + 1).unwrap();
    }
    let files = |id| -> Vec<String> {
        let manifest = Store::read(&disk, id).unwrap();
        manifest.files.into_iter().map(|file| file.name).collect()
    };
    assert_eq!(files(2), ["chk-2-1.state"]);
    assert_eq!(files(3), ["chk-3-1.state", "chk-2-1.state"], "changes");
}

/// The last checkpoint fails: what was staged is taken back, and nobody waits for a savepoint any more.
#[test]
fn what_is_staged_is_taken_back_when_the_last_checkpoint_fails() {
    let disk = SimFs::new();
    let (mut coordinator, saves, log) = one_stage(&disk);
    let savepoints = coordinator.savepoints().clone();
    let number = savepoints.ask();
    saves.staged(1, "sink", b"rows".to_vec());
    saves.ended();
    disk.fail(disk.calls() + 3, Failure::Full);
    let error = coordinator.finish(0, &Ok(())).unwrap_err().to_string();
    assert!(error.contains("is taken back"), "{error}");
    assert_eq!(log.all(), ["abort 1"]);
    drop(coordinator);
    outcome(&savepoints, number).unwrap_err();
}

#[test]
fn a_crash_ends_the_wait_for_a_savepoint() {
    let (mut coordinator, _saves, log) = one_stage(&SimFs::new());
    let savepoints = coordinator.savepoints().clone();
    let number = savepoints.ask();
    coordinator.finish(0, &Err(Error::new(ErrorKind::Crash, "dead"))).unwrap();
    drop(coordinator);
    outcome(&savepoints, number).unwrap_err();
    assert_eq!(log.all(), [""; 0]);
}

/// What an operator has beside keyed state is always all of it, also where its keyed state is written as changes.
#[test]
fn what_an_instance_has_replaces_what_it_had() {
    let disk = SimFs::new();
    let (mut coordinator, saves, _) = one_stage(&disk);
    for (id, now, own) in [(1, 100, "first"), (2, 300, "second")] {
        coordinator.work(now).unwrap();
        saves.keyed(id, "stage", saves.wants_whole(id));
        saves.group(id, "stage", 7, b"some".to_vec());
        saves.operator(id, "stage", own.into());
        saves.saved(id);
        coordinator.work(now + 1).unwrap();
    }
    drop(coordinator);
    let (store, newest) = open(&disk, 2);
    let restored = Restored::new(&store.storage, &newest.unwrap(), &Renames::default()).unwrap();
    assert_eq!(restored.operator("stage", 0, 1).unwrap(), [b"second"]);
    assert_eq!(
        restored.groups("stage", 0, 1).collect::<Result<Vec<_>>>().unwrap(),
        [(7, vec![b"some".to_vec(), b"some".to_vec()])]
    );
}

/// A checkpoint of one stage, which stages something for the next.
fn checkpointed(coordinator: &mut Coordinator, saves: &Saves, id: u64) -> Result<()> {
    saves.staged(id, "sink", b"rows".to_vec());
    let now = 200 * i64::try_from(id).unwrap();
    coordinator.work(now)?;
    saves.keyed(id, "stage", saves.wants_whole(id));
    saves.group(id, "stage", 7, vec![id as u8; 100]);
    saves.saved(id);
    coordinator.work(now + 1)
}

/// Each call of the disk fails in its turn. Once a checkpoint is committed none of them ends the job: what could not be removed is when the
/// next has been.
#[test]
fn garbage_that_cannot_be_removed_is_counted_and_removed_later() {
    let mut counted = 0;
    for k in 1.. {
        let disk = SimFs::new();
        let (mut coordinator, saves, log) = one_stage(&disk);
        (1..=3).try_for_each(|id| checkpointed(&mut coordinator, &saves, id)).unwrap();
        let before = disk.calls();
        disk.fail(k, Failure::Io);
        let worked = checkpointed(&mut coordinator, &saves, 4);
        if disk.calls() - before < k {
            break;
        }
        if worked.is_err() || !log.all().contains(&"commit 4".to_owned()) {
            assert!(!log.all().contains(&"commit 4".to_owned()), "call {k}: {worked:?}");
            continue;
        }
        let errors = coordinator.metrics().counter("checkpoints.garbage_errors").get();
        counted += errors;
        assert!(errors <= 1);
        checkpointed(&mut coordinator, &saves, 5).unwrap();
        assert_eq!(coordinator.metrics().counter("checkpoints.garbage_errors").get(), errors);
        check_nothing_is_left(&disk);
        assert_eq!(names(&disk, Kind::Manifest), ["chk-4-1.manifest", "chk-5-1.manifest"]);
    }
    assert!(counted >= 3, "the list, a manifest, the folder: {counted}");
}

/// Whoever has taken over knows what is staged: who is left behind takes nothing back, and goes on for no checkpoint more.
#[test]
fn one_from_which_another_has_taken_over_stops_at_its_next_checkpoint() {
    let disk = SimFs::new();
    let (mut coordinator, saves, log) = one_stage(&disk);
    checkpointed(&mut coordinator, &saves, 1).unwrap();
    saves.staged(2, "sink", b"rows".to_vec());
    disk.break_lock();
    let _successor = open(&disk, 2);
    let error = coordinator.work(400).unwrap_err();
    assert!(error.to_string().contains("has taken over"), "{error}");
    saves.staged(3, "sink", b"rows".to_vec());
    coordinator.finish(401, &Err(error)).unwrap();
    assert_eq!(log.all(), ["commit 1"]);
}

/// A disk that is full may be full of what could not be removed: whoever reads why checkpoints fail is told so, as long as it is so.
#[test]
fn who_is_told_why_a_checkpoint_fails_is_told_why_garbage_stays() {
    let garbage = "what is no longer needed could not be removed: ";
    let mut stayed = 0;
    for k in 1.. {
        let disk = SimFs::new();
        let (mut coordinator, saves, _) = one_stage(&disk);
        coordinator.settings_mut(|settings| settings.max_failed(0));
        (1..=3).try_for_each(|id| checkpointed(&mut coordinator, &saves, id)).unwrap();
        let before = disk.calls();
        disk.fail(k, Failure::Io);
        let worked = checkpointed(&mut coordinator, &saves, 4);
        if disk.calls() - before < k {
            break;
        }
        if worked.is_err() {
            continue;
        }
        let stays = coordinator.metrics().counter("checkpoints.garbage_errors").get() > 0;
        stayed += usize::from(stays);
        if stays && k % 2 == 0 {
            checkpointed(&mut coordinator, &saves, 5).unwrap();
        }
        disk.limit(Some(0));
        let next = coordinator.orders().begun() + 1;
        let error = checkpointed(&mut coordinator, &saves, next).unwrap_err().to_string();
        assert!(error.contains("no space left"), "{error}");
        assert_eq!(error.contains(garbage), stays && k % 2 == 1, "call {k}: {error}");
        assert!(!error.contains(garbage) || error.contains("input/output error"), "and why: {error}");
    }
    assert!(stayed >= 3, "the list, a manifest, the folder: {stayed}");
}

/// The one at which the job was to end has failed: the next does not take as long to come as usually, and the job ends there.
#[test]
fn a_stop_is_tried_again_soon() {
    let disk = SimFs::new();
    let (mut coordinator, saves, _) = one_stage(&disk);
    coordinator.settings_mut(|settings| settings.every(Millis(3_600_000)).max_failed(1));
    let savepoints = coordinator.savepoints().clone();
    savepoints.stop();
    disk.limit(Some(0));
    coordinator.work(0).unwrap();
    saves.saved(1);
    coordinator.work(1).unwrap();
    assert_eq!((coordinator.orders().begun(), coordinator.deadline()), (1, 1_000));
    disk.limit(None);
    coordinator.work(999).unwrap();
    assert_eq!((coordinator.orders().begun(), savepoints.has_stopped()), (1, false));
    coordinator.work(1_000).unwrap();
    assert_eq!(coordinator.orders().begun(), 2);
    saves.saved(2);
    coordinator.work(1_001).unwrap();
    assert!(savepoints.has_stopped());
}
