//! Records for which a closure always panics or fails: without dead letters a job ends after its restarts (`closures`), with them it does not.

use super::runner::names;
use flow_core::prelude::*;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

const COUNT: u64 = 4_000;

/// What becomes of a number: most are doubled.
fn doubled(n: &u64) -> Result<u64, String> {
    match n % 500 {
        123 => panic!("poisoned by {n}"),
        321 => Err(format!("{n} is refused")),
        _ => Ok(n * 2),
    }
}

/// Behind the dead letters something else panics, so often; `calls` counts those of the closure.
fn job(folder: &Path, calls: &Arc<AtomicU32>, panics: &Arc<AtomicU32>) -> Job {
    let (calls, panics) = (Arc::clone(calls), Arc::clone(panics));
    let job = Job::build("poison", |job| {
        let numbers = source(generate(COUNT, |i| i).splits(2).rate(20_000)).durable();
        let counted = move |n: &u64| {
            calls.fetch_add(u32::from(n % 500 == 123), SeqCst);
            doubled(n)
        };
        let sides = numbers.rebalance().try_map_or_dead(counted).tries(3);
        let (good, dead) = sides.roots();
        let good = good.inspect(move |n| {
            let due = *n >= COUNT && panics.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
            assert!(!due, "another closure panics");
        });
        let good = good.map(|n| (n,)).sink(csv_files(folder.join("good")).no_header());
        let dead = dead.map(|letter| (letter.value, letter.message));
        let dead = dead.sink(csv_files(folder.join("dead")).no_header());
        job.add(sides.fork((good, dead)));
    });
    job.checkpoints(Checkpoints::to(folder.join("state")).every(Millis(10))).parallelism(2)
}

fn rows(folder: &Path) -> Vec<(u64, String)> {
    let names = names(folder).into_iter().filter(|name| !name.starts_with('.'));
    let texts: String = names.map(|name| std::fs::read_to_string(folder.join(name)).unwrap()).collect();
    let row = |line: &str| {
        let (value, message) = line.split_once(',').unwrap_or((line, ""));
        (value.parse().unwrap(), message.to_owned())
    };
    let mut rows: Vec<_> = texts.lines().map(row).collect();
    rows.sort();
    rows
}

#[test]
fn f_u2_dead_letters() {
    let folder = tempfile::tempdir().unwrap();
    let (calls, panics) = (Arc::default(), Arc::new(AtomicU32::new(2)));
    let report = job(folder.path(), &calls, &panics).restart(3, Millis(1)).run().unwrap();
    assert_eq!((report.restarts, panics.load(SeqCst)), (2, 0), "the panics behind are nobody's dead letters");
    let (good, dead) = (rows(&folder.path().join("good")), rows(&folder.path().join("dead")));
    let poisoned = |n: &u64| matches!(n % 500, 123 | 321);
    let expected: Vec<u64> = (0..COUNT).filter(|n| !poisoned(n)).map(|n| n * 2).collect();
    assert!(good.iter().map(|row| row.0).eq(expected), "{} good rows", good.len());
    assert!(dead.iter().map(|row| row.0).eq((0..COUNT).filter(poisoned)), "{dead:?}");
    for (n, message) in dead {
        let panicked = message.contains("poison.rs:") && message.contains(&format!("poisoned by {n}"));
        assert!(if n % 500 == 123 { panicked } else { message == format!("{n} is refused") }, "{message}");
    }
    assert!(calls.load(SeqCst) >= 8 * 3, "each was tried three times");
    assert!(report.counter("try_map_or_dead.dead") > 0, "those of the last run: {report}");
    let (dead, retries) = (report.counter("try_map_or_dead.dead"), report.counter("try_map_or_dead.retries"));
    assert_eq!(retries, 2 * dead, "{report}");
}

/// A call that goes well after one that did not is no dead letter.
#[test]
fn f_u2_second_try() {
    for tries in [1, 2, 3] {
        let calls = Arc::new(AtomicU32::new(0));
        let (good, dead) = (Collected::new(), Collected::new());
        let job = Job::build("tries", |job| {
            let counted = Arc::clone(&calls);
            let sides = source(from_iter(0..10_u32)).map_or_dead(move |n| {
                let call = counted.fetch_add(1, SeqCst);
                assert!(*n != 5 || call >= 6, "the first call for 5 is number 5");
                *n
            });
            let sides = sides.tries(tries);
            let (a, b) = sides.roots();
            let ends = (a.collect(&good), b.collect(&dead));
            job.add(sides.fork(ends));
        });
        let report = job.run().unwrap();
        let (again, kept) = (u32::from(tries > 1), good.take().len() as u32);
        assert_eq!((kept, dead.take().len() as u32), (9 + again, 1 - again), "{tries} tries");
        assert_eq!(report.counter("map_or_dead.dead"), i64::from(1 - again));
        assert_eq!(report.counter("map_or_dead.retries"), i64::from(again));
        assert_eq!(calls.load(SeqCst), 10 + again);
    }
}

#[test]
fn f_u2_number_of_tries() {
    for (tries, shown) in [(0, "0 tries"), (101, "101 tries")] {
        let job = Job::build("tries", |job| {
            let sides = source(from_iter(0..10)).map_or_dead(|n| *n).tries(tries);
            let (a, b) = sides.roots();
            let ends = (a.for_each(|_| ()), b.for_each(|_| ()));
            job.add(sides.fork(ends));
        });
        let error = job.run().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Plan);
        assert!(error.to_string().contains(shown), "{error}");
    }
}

dataflow! {
    #[checkpointed]
    fn written(numbers: Vec<u64>, good: Collected<u64>, dead: Collected<Dead<u64>>) {
        let numbers = source(from_vec(numbers));
        let (rows, letters) = numbers.try_map_or_dead(doubled, tries = 2);
        rows.collect(&good);
        letters.collect(&dead);
    }
}

#[test]
fn f_u2_written_in_a_pipeline() {
    let (good, dead) = (Collected::new(), Collected::new());
    let report = written(vec![1, 123, 321, 4], good.clone(), dead.clone()).run().unwrap();
    assert_eq!(good.take(), [2, 8]);
    assert_eq!(dead.take().iter().map(|letter| letter.value).collect::<Vec<_>>(), [123, 321]);
    assert_eq!(report.counter("rows/try_map_or_dead.retries"), 2);
}
