//! Pipelines that are stopped with a savepoint, and go on.

use flow_core::ErrorKind;
use flow_core::prelude::*;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// It takes longer to read them than a test waits.
const NUMBERS: u64 = 10_000;
const A_SECOND: u64 = 20_000;

type Sum = (u64, u64);

dataflow! {
    #[checkpointed]
    fn sums(out: Collected<Sum>) {
        let numbers = source(generate(NUMBERS, |n| n)).rate_limit(A_SECOND);
        let sums = numbers.key_by(|n| n % 7).sum(|n| *n);
        sums.collect(&out);
    }

    #[checkpointed(at_least_once)]
    fn seen(seen: Arc<Mutex<Vec<Sum>>>) {
        let numbers = source(generate(NUMBERS, |n| n)).rate_limit(A_SECOND);
        let sums = numbers.key_by(|n| n % 7).sum(|n| *n);
        sums.for_each(|sum| seen.lock().expect("no closure panics").push(sum));
    }

    fn volatile(out: Collected<u64>) {
        source(generate(NUMBERS, |n| n)).inspect(|_| panic!("a record was read")).collect(&out);
    }

    #[checkpointed(at_least_once)]
    fn into_a_file(path: std::path::PathBuf) {
        source(generate(NUMBERS, |n| n)).inspect(|_| panic!("a record was read")).sink(text_file(path));
    }
}

/// The same job with a new name of its stream.
mod renamed {
    use super::*;
    dataflow! {
        #[checkpointed]
        pub fn sums(out: Collected<Sum>) {
            let numbers = source(generate(NUMBERS, |n| n)).rate_limit(A_SECOND);
            #[was(sums)]
            let totals = numbers.key_by(|n| n % 7).sum(|n| *n);
            totals.collect(&out);
        }
    }
}

/// The same, of which nobody says what became of the stream.
mod lost {
    use super::*;
    dataflow! {
        #[checkpointed]
        pub fn sums(out: Collected<Sum>) {
            let numbers = source(generate(NUMBERS, |n| n)).rate_limit(A_SECOND);
            let others = numbers.key_by(|n| n % 7).sum(|n| *n);
            others.collect(&out);
        }
    }
}

/// The same, of which the sums are of another type.
mod retyped {
    use super::*;
    dataflow! {
        #[checkpointed]
        pub fn sums(out: Collected<(u64, i64)>) {
            let numbers = source(generate(NUMBERS, |n| n)).rate_limit(A_SECOND).inspect(|_| panic!("a record was read"));
            let sums = numbers.key_by(|n| n % 7).sum(|n| *n as i64);
            sums.collect(&out);
        }
    }
}

fn expected() -> Vec<Sum> {
    let mut sums = [0; 7];
    let sum = |n: u64| {
        let key = n % 7;
        sums[key as usize] += n;
        (key, sums[key as usize])
    };
    let mut all: Vec<Sum> = (0..NUMBERS).map(sum).collect();
    all.sort_unstable();
    all
}

fn sorted(mut sums: Vec<Sum>) -> Vec<Sum> {
    sums.sort_unstable();
    sums
}

fn on(job: Job, folder: &Path) -> Job {
    job.checkpoints(Checkpoints::to(folder).every(Millis(20)))
}

/// Runs it until there is something in a savepoint.
fn begin(job: Job, folder: &Path) {
    let handle = on(job, folder).start().expect("it starts");
    std::thread::sleep(std::time::Duration::from_millis(100));
    handle.stop_with_savepoint().expect("there is a savepoint");
    handle.join().expect("it was stopped");
}

#[test]
fn each_result_counts_once() {
    let (folder, out) = (tempfile::tempdir().expect("a folder"), Collected::new());
    begin(sums(out.clone()), folder.path());
    let before = out.take();
    assert!(!before.is_empty() && before.len() < NUMBERS as usize, "{} before the stop", before.len());
    on(sums(out.clone()), folder.path()).run().expect("it goes on");
    assert_eq!(sorted([before, out.take()].concat()), expected());
}

#[test]
fn what_has_a_new_name_goes_on() {
    let (folder, out) = (tempfile::tempdir().expect("a folder"), Collected::new());
    begin(sums(out.clone()), folder.path());
    let before = out.take();
    let error = on(lost::sums(out.clone()), folder.path()).run().expect_err("`sums/sum` is nowhere");
    assert!(error.to_string().contains("sums/sum") && error.to_string().contains("#[was(old)]"), "{error}");
    on(renamed::sums(out.clone()), folder.path()).run().expect("it goes on");
    assert_eq!(sorted([before, out.take()].concat()), expected());
}

#[test]
fn state_of_other_types_is_refused_before_anything_is_read() {
    let (folder, out) = (tempfile::tempdir().expect("a folder"), Collected::new());
    begin(sums(out.clone()), folder.path());
    let error = on(retyped::sums(Collected::new()), folder.path()).run().expect_err("it does not start");
    assert_eq!(error.kind(), ErrorKind::State);
    let text = error.to_string();
    for part in ["sums/sum", "was `u64 -> u64` and is `u64 -> i64` now", "drop_state"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let before = out.take();
    on(sums(out.clone()), folder.path()).run().expect("nothing has changed");
    assert_eq!(sorted([before, out.take()].concat()), expected());
}

#[test]
fn at_least_once_nothing_is_lost() {
    let (folder, shown) = (tempfile::tempdir().expect("a folder"), Arc::default());
    begin(seen(Arc::clone(&shown)), folder.path());
    on(seen(Arc::clone(&shown)), folder.path()).run().expect("it goes on");
    let mut all = sorted(std::mem::take(&mut *shown.lock().expect("no closure panics")));
    assert!(all.len() >= NUMBERS as usize);
    all.dedup();
    assert_eq!(all, expected());
}

#[test]
fn what_keeps_nothing_takes_no_checkpoints() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |job: Job, what: &str| {
        let error = on(job, folder.path()).run().expect_err("it does not start");
        assert_eq!(error.kind(), ErrorKind::Plan, "{error}");
        let text = error.to_string();
        assert!(text.contains(what) && text.contains("checkpointed.rs"), "{text}");
    };
    refused(volatile(Collected::new()), "write `#[checkpointed]`");
    refused(into_a_file(folder.path().join("all.txt")), "text_files(folder)");
    // Without a place for them it takes none.
    let out = Collected::new();
    sums(out.clone()).run().expect("it runs");
    assert_eq!(sorted(out.take()), expected());
}
