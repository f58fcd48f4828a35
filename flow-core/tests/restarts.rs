//! A job that begins again by itself.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::prelude::*;
use flow_core::stage::split_mix;
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

/// The input of count windows ends while they are being written to a checkpoint: what is left over leaves then, and the checkpoint has it as it was.
#[test]
fn count_windows_that_end_while_they_are_written() {
    const KEYS: u64 = 400;
    let mut restored = 0;
    for seed in 0..150u64 {
        let (storage, out, mut drawn) = (Arc::new(SimFs::new()), Collected::new(), seed);
        for start in 0..=3 {
            let random = split_mix(&mut drawn);
            let job = Job::build("counted", |job| {
                let numbers = source(generate(KEYS * 5, |n| n)).durable();
                let windows = numbers.key_by(|n| n % KEYS).window(flow_core::window::count(3));
                job.add(windows.aggregate(|a| a.collect()).map(|w| (w.key, w.value)).collect(&out));
            });
            let checkpoints = Checkpoints::in_storage(Arc::clone(&storage) as _).deltas(random as u32 % 3);
            let job = job.checkpoints(checkpoints).parallelism(1 + (random >> 8) as usize % 2).batch_size(64);
            // Near the end: the last numbers are on their way.
            let job = if start < 3 { job.crash_at(30 + (random >> 16) % 120) } else { job };
            match job.simulate(random) {
                Ok(report) => {
                    restored += usize::from(report.restored.is_some());
                    break;
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Crash, "seed {seed}: {error}"),
            }
        }
        let mut rows = out.take();
        rows.sort_unstable();
        let windows = |key| {
            [vec![key, key + KEYS, key + 2 * KEYS], vec![key + 3 * KEYS, key + 4 * KEYS]].map(|w| (key, w))
        };
        let expected: Vec<_> = (0..KEYS).flat_map(windows).collect();
        assert!(rows == expected, "seed {seed}: {} rows of {}", rows.len(), expected.len());
    }
    assert!(restored > 30, "{restored} went on from a checkpoint");
}
