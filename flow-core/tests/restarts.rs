//! A job that begins again by itself.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::prelude::*;
use flow_core::testing::SimFs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

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
