//! A job that makes checkpoints, and what has to be in them.

mod coordinating;
mod crashes;
mod damage;
mod failures;
mod fencing;
mod garbage;
mod golden;
mod random;
mod real;
mod refused;

use super::names::{Kind, Name};
use super::*;
use crate::error::{Error, Result};
use crate::testing::SimFs;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What should be read: for each operator and slot the bytes of each file that has it.
type Expected = BTreeMap<(String, Slot), Vec<Vec<u8>>>;

/// A checkpoint as it was committed, and what was written for it.
#[derive(Clone)]
struct Made {
    manifest: Manifest,
    expected: Expected,
}

/// Why a checkpoint was not made.
#[derive(Debug)]
enum Unmade {
    Begin(Error),
    Commit(CommitError),
}

const OPERATORS: [&str; 3] = ["count", "source", "window"];

/// What an operator saves for a checkpoint: different bytes each time.
fn pieces(operator: &str, id: u64) -> Vec<(Slot, Vec<u8>)> {
    let text = |slot: u64, len: usize| -> Vec<u8> {
        let text = format!("{operator} {id} {slot} ");
        text.bytes().cycle().take(len).collect()
    };
    match operator {
        "count" => {
            [0, 7, 255].map(|group| (Slot::Group(group), text(group.into(), 300 + id as usize))).into()
        }
        "source" => [0, 1].map(|n| (Slot::Instance(n), text(n.into(), 20))).into(),
        // One slot of more than one block, and only once.
        _ if id == 2 => vec![(Slot::Group(3), text(3, 70_000))],
        _ => vec![(Slot::Instance(0), Vec::new())],
    }
}

/// Makes checkpoint `id`. Without `base` all is written; with one, `count` writes what has changed since, and refers to the base's files.
fn checkpoint(store: &mut Store, id: u64, base: Option<&Made>) -> Result<Made, Unmade> {
    let mut writing = store.begin(id).map_err(Unmade::Begin)?;
    let mut manifest = Manifest { id, files: vec![writing.file()], ..Manifest::default() };
    let mut expected = Expected::new();
    for operator in OPERATORS {
        let mut state = OperatorState { id: operator.into(), instances: 2, ..OperatorState::default() };
        if let Some(base) = base.filter(|_| operator == "count") {
            let old = base.manifest.operators.iter().find(|old| old.id == operator).unwrap();
            for file in &old.files {
                state.files.push(manifest.files.len() as u32);
                manifest.files.push(base.manifest.files[*file as usize].clone());
            }
            let of_it = base.expected.iter().filter(|((other, _), _)| other == operator);
            expected.extend(of_it.map(|(slot, bytes)| (slot.clone(), bytes.clone())));
        }
        state.files.push(0);
        manifest.operators.push(state);
        for (slot, bytes) in pieces(operator, id) {
            // In two pieces, which become one.
            let (first, second) = bytes.split_at(bytes.len() / 3);
            writing.part(operator, slot, first).map_err(Unmade::Begin)?;
            writing.part(operator, slot, second).map_err(Unmade::Begin)?;
            expected.entry((operator.into(), slot)).or_default().push(bytes);
        }
    }
    let sink = StagedOutput { sink: "out".into(), checkpoint: id, ..StagedOutput::default() };
    manifest.staged.push(StagedOutput { bytes: format!("out-{id}").into(), ..sink });
    let committed = store.commit(writing, manifest).map_err(Unmade::Commit)?;
    Ok(Made { manifest: committed.manifest, expected })
}

fn made(store: &mut Store, id: u64, base: Option<&Made>) -> Made {
    checkpoint(store, id, base).unwrap_or_else(|error| panic!("checkpoint {id}: {error:?}"))
}

/// All that a checkpoint has.
fn read_all(store: &Store, manifest: &Manifest) -> Result<Expected> {
    let mut found = Expected::new();
    for operator in &manifest.operators {
        let parts = store.parts(manifest, &operator.id)?;
        for slot in parts.slots() {
            found.insert((operator.id.clone(), slot), parts.read(slot)?);
        }
    }
    Ok(found)
}

fn check_whole(store: &Store, manifest: &Manifest, made: &Made) {
    assert!(*manifest == made.manifest, "checkpoint {} has another manifest", manifest.id);
    assert!(
        read_all(store, manifest).unwrap() == made.expected,
        "checkpoint {} has other state",
        manifest.id
    );
}

fn open(disk: &SimFs, retained: usize) -> (Store, Option<Manifest>) {
    try_open(disk, retained).unwrap()
}

fn try_open(disk: &SimFs, retained: usize) -> Result<(Store, Option<Manifest>)> {
    Store::open(Arc::new(disk.clone()), "job", retained)
}

fn names(disk: &SimFs, kind: Kind) -> Vec<String> {
    let names = disk.contents().into_keys().filter(|name| Name::parse(name).is_some_and(|n| n.kind == kind));
    names.collect()
}

/// Every file is a manifest, or one of them lists it; and all they list is there.
fn check_nothing_is_left(disk: &SimFs) {
    assert_eq!(names(disk, Kind::Temp), [""; 0]);
    let mut listed: Vec<String> = Vec::new();
    let contents = disk.contents();
    for name in names(disk, Kind::Manifest) {
        let manifest = manifest_file::read(&contents[&name], Name::parse(&name).unwrap().at).unwrap();
        listed.extend(manifest.files.into_iter().map(|file| file.name));
    }
    listed.sort();
    listed.dedup();
    assert_eq!(names(disk, Kind::State), listed);
}

/// Checkpoints 1 and 2, in which everything is listed by `count`, `source` and `window`.
fn two() -> (SimFs, Made) {
    let disk = SimFs::new();
    let (mut store, _) = open(&disk, 2);
    let first = made(&mut store, 1, None);
    let second = made(&mut store, 2, Some(&first));
    (disk, second)
}
