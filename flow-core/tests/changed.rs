//! A program that was changed: state that its operators cannot go on with is refused, and the job says what it was and what it is.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::prelude::*;
use flow_core::testing::SimFs;
use std::sync::Arc;

/// What a kind of job is called, and how it ends the job.
type Kind = (&'static str, fn(&mut Job));

fn numbers() -> impl Fn(u64) -> i64 + Clone + Send + 'static {
    |n| n as i64
}

macro_rules! kinds {
    ($($name:literal |$timed:ident| $rows:expr;)*) => {
        &[$(($name, |job: &mut Job| {
            let $timed = source(generate(u64::MAX, numbers()).rate(10_000)).durable().event_time(|t| *t).monotonic();
            job.add($rows.collect(&Collected::new()));
        })),*]
    };
}

fn start(storage: &Arc<SimFs>, kind: Kind) -> Result<JobHandle> {
    let job = Job::build("changed", kind.1);
    job.checkpoints(Checkpoints::in_storage(Arc::clone(storage) as _)).start()
}

/// Each takes over what each has left: only what is the same goes on.
fn check(kinds: &[Kind]) {
    for was in kinds {
        let storage = Arc::new(SimFs::new());
        let handle = start(&storage, *was).unwrap();
        while handle.metrics()[0].records_in < 100 {
            std::thread::yield_now();
        }
        handle.stop_with_savepoint().unwrap();
        handle.join().unwrap();
        for is in kinds.iter().filter(|is| is.0 != was.0) {
            let started = start(&storage, *is).map(|handle| handle.stop());
            let error = started.expect_err(&format!("{} is taken by {}", was.0, is.0)).to_string();
            assert!(error.contains("it was `") && error.contains("drop_state"), "{error}");
        }
        let handle = start(&storage, *was).unwrap();
        handle.stop();
        handle.join().unwrap();
    }
}

#[test]
fn windows_of_another_kind() {
    check(kinds! {
        "tumbling" |timed| timed.window(tumbling(Millis(10))).count();
        "longer" |timed| timed.window(tumbling(Millis(20))).count();
        "later" |timed| timed.window(tumbling(Millis(10)).offset(Millis(5))).count();
        "sliding" |timed| timed.window(sliding(Millis(10), Millis(5))).count();
        "sliding, longer" |timed| timed.window(sliding(Millis(20), Millis(5))).count();
        "sliding, more seldom" |timed| timed.window(sliding(Millis(20), Millis(10))).count();
        "sessions" |timed| timed.window(session(Millis(10))).count();
        "triggered" |timed| timed.window(tumbling(Millis(10))).trigger(|t| t.count(3)).count();
        "triggered, longer" |timed| timed.window(tumbling(Millis(20))).trigger(|t| t.count(3)).count();
        "of so many" |timed| timed.window(count(10)).count();
    });
}

#[test]
fn state_behind_a_window() {
    check(kinds! {
        "no state" |timed| timed.window(tumbling(Millis(10)))
            .process_window((), |cx, rows: Vec<i64>| cx.emit(rows.len()));
        "a sum" |timed| timed.window(tumbling(Millis(10)))
            .process_window(0u64, |cx, rows: Vec<i64>| { *cx.state() += 1; cx.emit(rows.len()) });
        "a difference" |timed| timed.window(tumbling(Millis(10)))
            .process_window(0i64, |cx, rows: Vec<i64>| { *cx.state() -= 1; cx.emit(rows.len()) });
    });
}

/// What there is of all records.
#[test]
fn totals() {
    check(kinds! {
        "of positive numbers" |timed| timed.take(u64::MAX).fold(0u64, |sum, n| *sum += n.unsigned_abs());
        "of any" |timed| timed.take(u64::MAX).fold(0i64, |sum, n| *sum += n);
    });
}

/// It would have read on behind its end, or come to it at once.
#[test]
fn a_generator_with_fewer_numbers_than_were_read() {
    let storage = Arc::new(SimFs::new());
    let start = |count| {
        let job = Job::build("changed", |job| {
            let made = source(generate(count, numbers()).rate(10_000)).durable().named("made");
            job.add(made.collect(&Collected::new()));
        });
        job.checkpoints(Checkpoints::in_storage(Arc::clone(&storage) as _)).start()
    };
    let handle = start(u64::MAX).unwrap();
    while handle.metrics()[0].records_in < 100 {
        std::thread::yield_now();
    }
    handle.stop_with_savepoint().unwrap();
    handle.join().unwrap();
    let error = start(50).and_then(JobHandle::join).unwrap_err();
    let text = error.to_string();
    assert!(
        error.kind() == ErrorKind::State && text.contains("made") && text.contains("has 50 now"),
        "{text}"
    );
}

/// `import` does not know what the hash of a key is; the job that is given its checkpoint does.
#[cfg(feature = "state-processor")]
#[test]
fn an_imported_key_in_another_key_group() {
    use flow_core::checkpoint;
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let start = |folder: &tempfile::TempDir| {
        let job = Job::build("changed", |job| {
            let numbers = source(generate(u64::MAX, numbers()).rate(10_000)).durable();
            job.add(numbers.key_by(|n| n % 3).count().named("counts").collect(&Collected::new()));
        });
        job.checkpoints(Checkpoints::to(folder.path())).start()
    };
    let handle = start(&folders[0]).unwrap();
    while handle.metrics()[0].records_in < 100 {
        std::thread::yield_now();
    }
    handle.stop_with_savepoint().unwrap();
    handle.join().unwrap();
    let mut lines = Vec::new();
    checkpoint::read(folders[0].path()).unwrap().newest().unwrap().export(&mut lines).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    let (before, group) = lines.split_once("\"group\":").unwrap();
    let (group, behind) = group.split_once(',').unwrap();
    let other = group.parse::<u8>().unwrap() ^ 1;
    let lines = format!("{before}\"group\":{other},{behind}");
    checkpoint::import(folders[1].path(), lines.as_bytes()).unwrap();
    let text = start(&folders[1]).and_then(JobHandle::join).unwrap_err().to_string();
    for part in ["counts", &format!("key group {other} "), &format!("of group {group}"), "group_of"] {
        assert!(text.contains(part), "no {part}: {text}");
    }
}
