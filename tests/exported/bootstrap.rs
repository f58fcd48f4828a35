//! The history is a file, and what comes after it another.

use crate::pipelines::{CASES, Case, Event, Out};
use flow_core::prelude::*;
use std::path::{Path, PathBuf};

/// Records, of which some come out of order: on time by 5 ms, or not.
pub fn events(n: u64, seed: u64) -> Vec<Event> {
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    let mut now = 1_000;
    let event = |_| {
        now += next(4) as i64;
        let back = if next(9) == 0 { next(30) } else { next(5) };
        Event { at: now - back as i64, key: format!("k{}", next(11)), n: next(600) }
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

/// What comes of a history and what follows: with so many instances of both.
pub fn in_two(
    case: &Case,
    world: &World,
    before: &Path,
    after: &Path,
    [first, then]: [usize; 2],
) -> [Vec<String>; 2] {
    let savepoint = world.path(&format!("{}-{first}-{then}", case.name));
    let (old, new) = (Out::new(), Out::new());
    let job = (case.history)(before.to_owned(), old.clone()).parallelism(first);
    ran(case.name, job.savepoint_to(&savepoint).run());
    let checkpoints = Checkpoints::to(savepoint.join("live")).begin_from(&savepoint);
    let job = (case.live)(after.to_owned(), new.clone()).parallelism(then);
    assert_eq!(ran(case.name, job.checkpoints(checkpoints).run()).restored, Some(1), "{}", case.name);
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

pub fn check(case: &Case, how: &str, [before, after]: [Vec<String>; 2], expected: &[String]) {
    let (old, new) = (before.len(), after.len());
    let mut rows = [before, after].concat();
    rows.sort_unstable();
    let differ = rows.iter().zip(expected).find(|both| both.0 != both.1);
    let name = case.name;
    assert_eq!(differ, None, "{name}, {how}: {old} rows before and {new} after, {} expected", expected.len());
    assert_eq!(rows.len(), expected.len(), "{name}, {how}");
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
        for parallelism in [[1, 1], [1, 4], [2, 4], [4, 2], [4, 1]] {
            let rows = in_two(case, &world, &before, &after, parallelism);
            check(case, &format!("{parallelism:?}"), rows, &expected);
        }
    }
}
