//! A job that begins again by itself.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::prelude::*;
use flow_core::testing::SimFs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// Of an older checkpoint the user has asked once: after a failure the job goes on from what it has completed since.
#[test]
fn a_job_that_was_sent_back_is_not_sent_back_again_when_it_fails() {
    let (storage, out, fails) = (Arc::new(SimFs::new()), Collected::new(), Arc::new(AtomicBool::new(false)));
    let job = |count: u64| {
        let fails = Arc::clone(&fails);
        Job::build("numbers", |job| {
            let numbers = source(generate(count, |n| n).rate(5_000)).durable();
            let numbers = numbers.inspect(move |n| assert!(*n != 2_000 || !fails.swap(false, Relaxed)));
            job.add(numbers.collect(&out));
        })
    };
    let checkpoints = || Checkpoints::in_storage(Arc::clone(&storage) as _).every(Millis(20));
    let handle = job(u64::MAX).checkpoints(checkpoints()).start().unwrap();
    let savepoint = handle.stop_with_savepoint().unwrap();
    handle.join().unwrap();
    let first = out.take().len() as u64;
    assert!(first < 1_000, "it was stopped on the way");
    fails.store(true, Relaxed);
    let again = job(4_000).checkpoints(checkpoints().restore_from(savepoint)).restart(1, Millis(1));
    let report = again.run().unwrap();
    assert_eq!(report.restarts, 1);
    assert!(out.take() == (first..4_000).collect::<Vec<_>>(), "each once");
}

/// What has been counted in a run that failed has not been counted.
#[test]
fn take_and_skip_count_anew() {
    for checkpointed in [false, true] {
        let (taken, left) = (Collected::new(), Collected::new());
        let fails = Arc::new(AtomicBool::new(true));
        let job = Job::build("numbers", |job| {
            let numbers = source(from_iter(1..=10)).durable();
            let numbers = numbers.inspect(move |n| assert!(*n != 4 || !fails.swap(false, Relaxed)));
            let ends = (numbers.root().take(5).collect(&taken), numbers.root().skip(5).collect(&left));
            job.add(numbers.tee(|both| both.both(ends.0, ends.1)));
        });
        let storage = Checkpoints::in_storage(Arc::new(SimFs::new()));
        let job = if checkpointed { job.checkpoints(storage) } else { job };
        let report = job.restart(1, Millis(1)).run().unwrap();
        assert_eq!(report.restarts, 1);
        assert_eq!((taken.take(), left.take()), ((1..=5).collect(), (6..=10).collect()), "{checkpointed}");
    }
}

/// The clock of a run begins at 0: what the run before was granted up to its end is not in the way of the next.
#[test]
fn a_rate_is_that_of_the_run() {
    let (out, fails) = (Collected::new(), Arc::new(AtomicBool::new(true)));
    let few = Arc::clone(&fails);
    let job = Job::build("numbers", |job| {
        let numbers = source(from_iter(0..1_500)).filter(move |n| *n < 10 || few.load(Relaxed));
        let numbers = numbers.rate_limit(1_000);
        let numbers = numbers.inspect(move |n| assert!(*n != 1_499 || !fails.swap(false, Relaxed)));
        job.add(numbers.collect(&out));
    });
    let report = job.restart(1, Millis(1)).run().unwrap();
    assert_eq!((report.restarts, out.take().len()), (1, 10));
    assert!(report.elapsed < Duration::from_millis(1_000), "ten records take no time: {:?}", report.elapsed);
}
