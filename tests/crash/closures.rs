//! Closures that panic, fail and block while checkpoints are taken: the job begins again by itself, and every row stands there once.

use super::runner::names;
use flow_core::aggregate::{Aggregate, Commutative, Commutes, Mergeable, Overflow};
use flow_core::prelude::*;
use flow_tests::crashing::{Pipeline, WINDOW_MS, by_key, key, time};
use flow_tests::process::alone;
use serde::{Deserialize, Serialize, Serializer};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

const COUNT: u64 = 4_000;

/// Where something goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    First = 1,
    Map,
    Key,
    Fold,
    Merge,
    Row,
    Drop,
    Serialize,
    Error,
    Block,
}

/// Where, and how often yet. A destructor and a serializer have nothing but this to ask.
static WHERE: AtomicU32 = AtomicU32::new(0);
static LEFT: AtomicU32 = AtomicU32::new(0);

fn arm(at: Option<At>, times: u32) {
    WHERE.store(at.map_or(0, |at| at as u32), SeqCst);
    LEFT.store(times, SeqCst);
}

/// Whether it goes wrong here and now: in the middle of the input, or at the first record.
fn goes_wrong(at: At, i: u64) -> bool {
    let due = if at == At::First { i == 0 } else { i >= COUNT / 2 };
    due && WHERE.load(SeqCst) == at as u32
        && LEFT.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
}

fn trip(at: At, i: u64) {
    assert!(!goes_wrong(at, i), "tripped at {at:?}");
}

/// A record whose destructor may panic.
#[derive(Clone, Serialize, Deserialize)]
struct Record(u64);

impl Drop for Record {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            trip(At::Drop, self.0);
        }
    }
}

/// State that may not be written.
#[derive(Clone, Default, Deserialize)]
struct Sum(u64, u64);

impl Serialize for Sum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Not of the example of its type that is written when a job starts.
        trip(At::Serialize, if self.0 > 1 { COUNT } else { 0 });
        (self.0, self.1).serialize(serializer)
    }
}

fn add(sum: &mut Sum, record: &Record) {
    trip(At::Fold, record.0);
    *sum = Sum(sum.0 + 1, sum.1 + record.0);
}

/// The same, made before the exchange already and merged behind it.
#[derive(Clone)]
struct Merged;

impl Aggregate<Record> for Merged {
    type In = u64;
    type Acc = (u64, u64);
    type Out = Sum;
    type Algebra = Commutes;
    fn name(&self) -> String {
        "merged".to_owned()
    }
    fn start(&self) -> (u64, u64) {
        (0, 0)
    }
    fn lift(&self, record: &Record) -> u64 {
        record.0
    }
    fn add(&self, acc: &mut (u64, u64), n: u64) -> Result<(), Overflow> {
        *acc = (acc.0 + 1, acc.1 + n);
        Ok(())
    }
    fn result(&self, acc: &(u64, u64)) -> Option<Sum> {
        Some(Sum(acc.0, acc.1))
    }
}

impl Mergeable<Record> for Merged {
    fn merge(&self, acc: &mut (u64, u64), later: (u64, u64)) -> Result<(), Overflow> {
        trip(At::Merge, later.1);
        *acc = (acc.0 + later.0, acc.1 + later.1);
        Ok(())
    }
}

impl Commutative<Record> for Merged {}

fn mapped(i: u64) -> Result<Record, String> {
    trip(At::First, i);
    trip(At::Map, i);
    if goes_wrong(At::Block, i) {
        std::thread::sleep(Duration::from_millis(400));
    }
    if goes_wrong(At::Error, i) { Err("an error".to_owned()) } else { Ok(Record(i)) }
}

/// That of `child`, with closures in which something goes wrong.
fn job(folder: &Path) -> Job {
    let merging = WHERE.load(SeqCst) == At::Merge as u32;
    let (state, out) = (folder.join("state"), folder.join("out"));
    let job = Job::build("windows", |job| {
        let numbers = source(generate(COUNT, |i| i).splits(2).rate(20_000)).durable();
        let records = numbers.try_map(mapped).event_time(|r| time(r.0)).monotonic();
        let keyed = records.key_by(|r| {
            trip(At::Key, r.0);
            key(r.0)
        });
        let windows = keyed.window(tumbling(Millis(WINDOW_MS)));
        let row = |w: Windowed<u64, Sum>| {
            trip(At::Row, time_of(w.start));
            (w.key, w.start.millis(), w.value.0, w.value.1)
        };
        let out = csv_files(out).no_header();
        if merging {
            job.add(windows.aggregate(|_| Merged).map(row).sink(out));
        } else {
            job.add(windows.fold(Sum::default(), |sum, record| add(sum, &record)).map(row).sink(out));
        }
    });
    job.checkpoints(Checkpoints::to(state).every(Millis(10)).timeout(Millis(100))).parallelism(2)
}

fn time_of(time: Timestamp) -> u64 {
    u64::try_from(time.millis()).unwrap_or(0)
}

fn rows(folder: &Path) -> Vec<String> {
    let out = folder.join("out");
    let names = names(&out).into_iter().filter(|name| !name.starts_with('.'));
    let texts: String = names.map(|name| std::fs::read_to_string(out.join(name)).unwrap()).collect();
    by_key(texts.lines().map(str::to_owned))
}

fn check(folder: &Path, what: &str) {
    let expected = Pipeline::Windows.expected(COUNT).remove(0);
    assert!(rows(folder) == expected, "{what}: {} rows, not {}", rows(folder).len(), expected.len());
    let staged = names(&folder.join("out")).into_iter().find(|name| name.ends_with(".staged"));
    assert_eq!(staged, None, "{what}");
}

/// Goes wrong once, begins again from the newest checkpoint by itself.
fn once(at: At) {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    arm(Some(at), 1);
    let report = job(folder.path()).restart(3, Millis(1)).run().unwrap();
    assert_eq!((report.restarts, LEFT.load(SeqCst)), (1, 0), "{at:?}");
    check(folder.path(), &format!("{at:?}"));
}

#[test]
fn f_u1_panic_at_the_first_record() {
    once(At::First);
}

#[test]
fn f_u1_panic_in_the_middle() {
    once(At::Map);
}

#[test]
fn f_u1_panic_in_a_key_function() {
    once(At::Key);
}

#[test]
fn f_u1_panic_in_an_aggregate() {
    once(At::Fold);
}

#[test]
fn f_u1_panic_in_a_merge() {
    once(At::Merge);
}

#[test]
fn f_u1_panic_behind_a_window() {
    once(At::Row);
}

#[test]
fn f_u1_panic_in_a_destructor() {
    once(At::Drop);
}

#[test]
fn f_u1_panic_in_a_serializer() {
    once(At::Serialize);
}

#[test]
fn f_u3_error_of_a_closure() {
    once(At::Error);
}

/// As often as the job may begin again, and no more often; what has come out is right, and a program in which it is mended goes on from there.
#[test]
fn f_u2_poison_record() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    arm(Some(At::Map), u32::MAX);
    let error = job(folder.path()).restart(3, Millis(1)).run().unwrap_err();
    let shown = error.to_string();
    assert_eq!(error.kind(), ErrorKind::Panic, "{shown}");
    assert!(shown.contains("tripped at Map") && shown.contains("begun again 3 times before"), "{shown}");
    // Four runs, in each of which both instances may come to one.
    assert!((4..=8).contains(&(u32::MAX - LEFT.load(SeqCst))));
    let (so_far, expected) = (rows(folder.path()), Pipeline::Windows.expected(COUNT).remove(0));
    assert!(so_far.iter().all(|row| expected.contains(row)));
    arm(None, 0);
    job(folder.path()).run().unwrap();
    check(folder.path(), "mended");
}

/// A closure that blocks pushes back; the checkpoint that it holds up times out, is counted, and the next succeeds.
#[test]
fn f_u3_block() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    arm(Some(At::Block), 1);
    let report = job(folder.path()).run().unwrap();
    assert_eq!(report.restarts, 0);
    assert!(
        report.counter("checkpoints.failed") > 0 && report.counter("checkpoints.completed") > 1,
        "{report}"
    );
    check(folder.path(), "blocked");
}
