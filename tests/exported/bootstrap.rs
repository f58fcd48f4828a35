//! The history is a file, and what comes after it another.

use crate::pipelines::{CASES, Case, Event, Out};
use flow_core::prelude::*;
use flow_core::testing::MapBackend;
use std::path::{Path, PathBuf};

/// Numbers that a seed decides.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// Records, of which some come out of order: on time by 5 ms, or not.
pub fn events(n: u64, seed: u64) -> Vec<Event> {
    let (mut random, mut now) = (Random::new(seed), 1_000);
    let event = |_| {
        now += random.below(4) as i64;
        let back = if random.below(9) == 0 { random.below(30) } else { random.below(5) };
        Event { at: now - back as i64, key: format!("k{}", random.below(11)), n: random.below(600) }
    };
    (0..n).map(event).collect()
}

/// The folder of a test.
pub struct World(tempfile::TempDir);

impl World {
    pub fn new() -> Self {
        World(tempfile::tempdir().expect("a folder"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file of records.
    pub fn file(&self, name: &str, events: &[Event]) -> PathBuf {
        let path = self.path(name);
        let mut text = String::from("at,key,n\n");
        for Event { at, key, n } in events {
            text.push_str(&format!("{at},{key},{n}\n"));
        }
        std::fs::write(&path, text).expect("a file");
        path
    }
}

fn ran(name: &str, ran: Result<Report>) -> Report {
    ran.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// How both jobs run: in so many instances, on threads or as a seed decides, and with a backend where entries may take so many bytes in memory.
#[derive(Debug, Clone, Copy)]
pub struct How {
    pub instances: [usize; 2],
    pub seeds: [Option<u64>; 2],
    pub memory: [Option<usize>; 2],
}

impl How {
    fn run(self, job: Job, at: usize) -> Result<Report> {
        let job = job.parallelism(self.instances[at]);
        let job = match self.memory[at] {
            Some(bytes) => job.state_backend(MapBackend::with_limit(bytes)),
            None => job,
        };
        match self.seeds[at] {
            Some(seed) => job.simulate(seed),
            None => job.run(),
        }
    }
}

/// What comes of a history and what follows.
pub fn in_two(case: &Case, world: &World, before: &Path, after: &Path, how: How) -> [Vec<String>; 2] {
    let folder = tempfile::tempdir_in(world.0.path()).expect("a folder");
    let savepoint = folder.path().join("savepoint");
    let (old, new) = (Out::new(), Out::new());
    let job = (case.history)(before.to_owned(), old.clone());
    ran(case.name, how.run(job.savepoint_to(&savepoint), 0));
    let checkpoints = Checkpoints::to(folder.path().join("live")).begin_from(&savepoint);
    let job = (case.live)(after.to_owned(), new.clone());
    assert_eq!(ran(case.name, how.run(job.checkpoints(checkpoints), 1)).restored, Some(1), "{}", case.name);
    [old.take(), new.take()]
}

/// One run over both.
pub fn at_once(case: &Case, file: &Path) -> Vec<String> {
    let out = Out::new();
    ran(case.name, (case.live)(file.to_owned(), out.clone()).run());
    let mut rows = out.take();
    rows.sort_unstable();
    rows
}

pub fn check(case: &Case, how: How, [before, after]: [Vec<String>; 2], expected: &[String]) {
    let (old, new) = (before.len(), after.len());
    let mut rows = [before, after].concat();
    rows.sort_unstable();
    let differ = rows.iter().zip(expected).find(|both| both.0 != both.1);
    let name = case.name;
    assert_eq!(
        differ,
        None,
        "{name}, {how:?}: {old} rows before and {new} after, {} expected",
        expected.len()
    );
    assert_eq!(rows.len(), expected.len(), "{name}, {how:?}");
}

#[test]
fn history_in_a_batch_and_then_a_stream_is_one_stream() {
    let world = World::new();
    let all = events(1_200, 7);
    let (before, after) = all.split_at(700);
    let (before, after) = (world.file("before.csv", before), world.file("after.csv", after));
    let all = world.file("all.csv", &all);
    for case in CASES {
        let expected = at_once(case, &all);
        assert!(!expected.is_empty(), "{}: there is nothing to compare", case.name);
        for instances in [[1, 1], [1, 4], [2, 2], [2, 4], [4, 2], [4, 1]] {
            let memory = [None, Some(0)].map(|limit| limit.filter(|_| instances[0] == 2));
            let how = How { instances, seeds: [None; 2], memory };
            check(case, how, in_two(case, &world, &before, &after, how), &expected);
        }
    }
}

/// Files, cuts and ways to run at random; `FLOW_RANDOM_CASES` says how many, `FLOW_RANDOM_FIRST` with which to begin.
#[test]
fn any_cut_of_any_input() {
    let number = |name: &str, or| std::env::var(name).map_or(or, |text| text.parse().expect("a number"));
    let first: u64 = number("FLOW_RANDOM_FIRST", 0);
    for seed in first..first + number("FLOW_RANDOM_CASES", 60) {
        let (world, mut random) = (World::new(), Random::new(seed + 1));
        let all = events(random.below(400), seed);
        let cut = usize::try_from(random.below(all.len() as u64 + 1)).expect("it is small");
        let (before, after) = all.split_at(cut);
        let (before, after) = (world.file("before.csv", before), world.file("after.csv", after));
        let all = world.file("all.csv", &all);
        let case = &CASES[usize::try_from(seed).expect("it is small") % CASES.len()];
        let mut one_of = |choices: &[usize]| {
            choices[usize::try_from(random.below(choices.len() as u64)).expect("it is small")]
        };
        let instances = [one_of(&[1, 2, 3, 4]), one_of(&[1, 2, 3, 4])];
        let memory = [0, 1].map(|_| [None, Some(0), Some(4_096)][one_of(&[0, 1, 2])]);
        let seeds = [0, 1].map(|at| Some(seed * 2 + at).filter(|_| one_of(&[0, 1, 2]) > 0));
        let how = How { instances, seeds, memory };
        println!("FLOW_RANDOM_FIRST={seed}: {}, {cut} records, {how:?}", case.name);
        check(case, how, in_two(case, &world, &before, &after, how), &at_once(case, &all));
    }
}
