//! Random lives of a sink: writing, rolling, barriers, checkpoints that fail, crashes between any two steps. In the end each record stands
//! there once, in a file of a checkpoint that was complete.

use super::super::staged::{commit, decode};
use super::{Files, FilesWriter, committer, names, names_as_they_are, open_cx, write};
use crate::checkpoint::Committer;
use crate::sink::StagingWriter;
use crate::sink::text::folder::committer::FolderCommitter;
use crate::sink::text::folder::{By, Lines, text_files};
use crate::time::VirtualClock;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const INSTANCES: usize = 2;

#[derive(Debug, Clone)]
enum Step {
    /// An instance is given its next record.
    Write {
        instance: usize,
    },
    Tick(i64),
    /// A barrier, its number so many above what would be next; whether its checkpoint is complete, and how many files are renamed before the
    /// process dies; all, and it goes on, where there are fewer.
    Barrier {
        above: u64,
        complete: bool,
        renames: usize,
    },
    Crash,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0..INSTANCES).prop_map(|instance| Step::Write { instance }),
        1 => (0..8i64).prop_map(Step::Tick),
        3 => (0..3u64, prop::bool::weighted(0.7), prop_oneof![0..6usize, Just(usize::MAX)])
            .prop_map(|(above, complete, renames)| Step::Barrier { above, complete, renames }),
        1 => Just(Step::Crash),
    ];
    prop::collection::vec(step, 0..40)
}

type Outputs = Vec<(u64, u32, Vec<u8>)>;
type Sink = Files<Lines, By<fn(&usize) -> usize>>;

/// What a complete checkpoint says.
#[derive(Clone, Default)]
struct Manifest {
    id: u64,
    read: [usize; INSTANCES],
    staged: Outputs,
}

struct World {
    folder: PathBuf,
    clock: Arc<VirtualClock>,
    newest: Manifest,
    next: u64,
}

/// A process.
struct Life {
    committer: FolderCommitter,
    writers: Vec<FilesWriter<Lines, By<fn(&usize) -> usize>>>,
    read: [usize; INSTANCES],
    staged: Outputs,
}

impl World {
    fn start(&self) -> Life {
        let by: fn(&usize) -> usize = |n| n % 3;
        let files: Sink = text_files(&self.folder)
            .partition_by(by)
            .max_open(2)
            .roll_bytes(5)
            .roll_every(std::time::Duration::from_millis(10));
        let mut committer = committer(&files);
        committer.recover(self.newest.id).unwrap();
        for (checkpoint, instance, bytes) in &self.newest.staged {
            committer.commit(*checkpoint, *instance, bytes).unwrap();
        }
        let writer = |instance| {
            let mut cx = open_cx(1);
            (cx.context.instance, cx.clock) = (instance, self.clock.clone());
            let parts = files.parts(true, self.newest.id, &cx).unwrap();
            FilesWriter::new(&files.format, files.partition.clone(), parts)
        };
        Life {
            committer,
            writers: (0..INSTANCES).map(writer).collect(),
            read: self.newest.read,
            staged: Vec::new(),
        }
    }

    /// The process dies: all stays as it is.
    fn crash(&self, life: Life) -> Life {
        let files: BTreeMap<PathBuf, Vec<u8>> = names_as_they_are(&self.folder)
            .into_iter()
            .filter(|name| !name.ends_with('/'))
            .map(|name| (self.folder.join(&name), fs::read(self.folder.join(&name)).unwrap()))
            .collect();
        drop(life);
        for (path, bytes) in files {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        self.start()
    }

    /// Whether it lives.
    fn barrier(&mut self, life: &mut Life, id: u64, complete: bool, mut renames: usize) -> bool {
        self.next = id + 1;
        for (writer, instance) in life.writers.iter_mut().zip(0..) {
            if let Some(bytes) = StagingWriter::<usize>::stage(writer, id).unwrap() {
                life.staged.push((id, instance, bytes));
            }
        }
        if !complete {
            return true;
        }
        self.newest = Manifest { id, read: life.read, staged: life.staged.clone() };
        for (checkpoint, instance, bytes) in std::mem::take(&mut life.staged) {
            let (_, parts) = decode(&bytes).unwrap();
            if renames < parts.len() {
                commit(&self.folder, "", checkpoint, &parts[..renames]).unwrap();
                return false;
            }
            renames -= parts.len();
            life.committer.commit(checkpoint, instance, &bytes).unwrap();
        }
        true
    }
}

/// How often each record stands in a final file.
fn found(folder: &Path, newest: u64) -> BTreeMap<usize, usize> {
    let mut found = BTreeMap::new();
    for name in names(folder).into_iter().filter(|name| name.ends_with(".txt")) {
        let checkpoint: u64 = name.split('-').nth(1).unwrap().parse().unwrap();
        assert!(checkpoint <= newest, "{name} is of no complete checkpoint");
        for line in fs::read_to_string(folder.join(&name)).unwrap().lines() {
            let record: usize = line.parse().unwrap();
            assert!(name.starts_with(&format!("{}/", record % 3)), "{record} in {name}");
            *found.entry(record).or_insert(0) += 1;
        }
    }
    found
}

fn cases() -> u32 {
    std::env::var("FLOW_RANDOM_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn each_record_once_whatever_dies(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        let mut world = World {
            folder: folder.path().into(),
            clock: Arc::new(VirtualClock::new()),
            newest: Manifest::default(),
            next: 1,
        };
        let mut life = world.start();
        let mut now = 0;
        for step in steps {
            match step {
                Step::Write { instance } => {
                    let record = 1000 * instance + life.read[instance];
                    write(&mut life.writers[instance], [record]);
                    life.read[instance] += 1;
                }
                Step::Tick(ticks) => {
                    now += ticks;
                    world.clock.advance_to(now);
                }
                Step::Barrier { above, complete, renames } => {
                    let id = world.next + above;
                    if !world.barrier(&mut life, id, complete, renames) {
                        life = world.crash(life);
                    }
                }
                Step::Crash => life = world.crash(life),
            }
            let once = found(&world.folder, world.newest.id);
            prop_assert!(once.values().all(|times| *times == 1), "{:?}", once);
        }
        let id = world.next;
        prop_assert!(world.barrier(&mut life, id, true, usize::MAX));
        let expected = (0..INSTANCES).flat_map(|instance| (0..life.read[instance]).map(move |n| (1000 * instance + n, 1)));
        prop_assert_eq!(found(&world.folder, id), expected.collect::<BTreeMap<_, _>>());
        drop(life);
        prop_assert!(names(&world.folder).iter().all(|name| !name.ends_with(".staged")));
    }
}
