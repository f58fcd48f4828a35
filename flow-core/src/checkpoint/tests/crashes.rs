//! Every state in which a crash may leave the disk, at every operation: there is the last checkpoint or the one before, whole.

use super::*;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;

/// A checkpoint of the cycle, and the operations before its beginning and at its commit.
struct Step {
    begun: usize,
    committed: usize,
    made: Made,
}

/// Checkpoints 1 to `last`, those that are odd complete, the others with changes only; garbage is collected after each.
fn cycle(disk: &SimFs, last: u64, retained: usize) -> Vec<Step> {
    let (mut store, _) = open(disk, retained);
    let mut steps: Vec<Step> = Vec::new();
    for id in 1..=last {
        let begun = disk.operations();
        let base = steps.last().map(|step| &step.made).filter(|_| id % 2 == 0);
        let made = made(&mut store, id, base);
        steps.push(Step { begun, committed: disk.operations(), made });
        store.collect_garbage().unwrap();
    }
    steps
}

/// The checkpoints, by number, one of which has to be the newest after a crash; 0 is none.
fn allowed(steps: &[Step], operations: usize) -> RangeInclusive<usize> {
    let certain = steps.iter().filter(|step| step.committed <= operations).count();
    let begun = steps.iter().filter(|step| step.begun < operations).count();
    certain..=begun
}

/// Opens what a crash has left: returns the number of the newest checkpoint, which is whole as all others are.
fn check_opens(disk: &SimFs, retained: usize, steps: &[Step]) -> (Store, usize) {
    let (store, newest) = open(disk, retained);
    let Some(newest) = newest else { return (store, 0) };
    check_whole(&store, &newest, &steps[newest.id as usize - 1].made);
    for other in names(disk, Kind::Manifest) {
        let id = Name::parse(&other).unwrap().at.id;
        let manifest = Store::read(disk, id).unwrap();
        check_whole(&store, &manifest, &steps[id as usize - 1].made);
    }
    (store, newest.id as usize)
}

/// The job goes on: another checkpoint, and nothing is left of what the crash interrupted.
fn check_goes_on(disk: &SimFs, store: &mut Store, retained: usize, newest: usize, steps: &[Step]) {
    let base = newest.checked_sub(1).map(|step| &steps[step].made);
    let next = made(store, store.next_id(), base);
    assert!(next.manifest.id > newest as u64);
    store.collect_garbage().unwrap();
    check_nothing_is_left(disk);
    let manifests = names(disk, Kind::Manifest).len();
    assert!(manifests <= retained, "{manifests} manifests");
    check_whole(store, &Store::read(disk, next.manifest.id).unwrap(), &next);
}

fn check_every_crash(last: u64, retained: usize, states_min: usize) {
    let disk = SimFs::new();
    let steps = cycle(&disk, last, retained);
    let (mut seen, mut tried, mut again) = (HashSet::new(), 0, 0);
    for crash in disk.crashes() {
        let allowed = allowed(&steps, crash.operations);
        let mut hasher = DefaultHasher::new();
        (&crash.disk.contents(), &allowed).hash(&mut hasher);
        tried += 1;
        if !seen.insert(hasher.finish()) {
            continue;
        }
        let place = format!("crash {} after {} operations", crash.number, crash.operations);
        let (mut store, newest) = check_opens(&crash.disk, retained, &steps);
        assert!(allowed.contains(&newest), "{place}: {newest} and not in {allowed:?}");
        again += check_crash_while_opening(&crash.disk, retained, newest, &steps);
        check_goes_on(&crash.disk, &mut store, retained, newest, &steps);
    }
    let operations = disk.operations();
    let distinct = seen.len();
    println!(
        "{operations} operations: {tried} crashes, {distinct} different states, {again} crashes while those were opened"
    );
    assert!(distinct >= states_min, "{distinct} states are fewer than there were");
}

/// A second crash while the first one is cleared away changes nothing.
fn check_crash_while_opening(disk: &SimFs, retained: usize, newest: usize, steps: &[Step]) -> usize {
    let mut tried = 0;
    for crash in disk.crashes() {
        tried += 1;
        assert_eq!(check_opens(&crash.disk, retained, steps).1, newest);
    }
    tried
}

#[test]
fn every_crash_leaves_the_last_checkpoint_or_the_one_before() {
    check_every_crash(4, 1, 500);
}

#[test]
fn every_crash_with_more_checkpoints_retained() {
    check_every_crash(3, 2, 400);
}

/// A process is killed in the middle of a commit: the next one sees what is in memory, acts on it, and the power fails.
#[test]
fn what_was_opened_is_there_after_a_power_failure() {
    for k in 1.. {
        let disk = SimFs::new();
        let (mut store, _) = open(&disk, 1);
        let first = made(&mut store, 1, None);
        let before = disk.calls();
        disk.fail(k, crate::testing::Failure::Io);
        let second = checkpoint(&mut store, 2, Some(&first));
        let reached = disk.calls() - before >= k;
        drop(store);
        if !reached {
            assert!(second.is_ok());
            break;
        }
        let (store, newest) = open(&disk, 1);
        let newest = newest.unwrap();
        drop(store);
        for crash in disk.crashes_from(disk.operations()) {
            let (_, after) = open(&crash.disk, 1);
            assert!(after.as_ref() == Some(&newest), "call {k}: what was there is gone");
        }
    }
}
