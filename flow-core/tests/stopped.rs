//! A job that was stopped goes on where it stopped: only what had come to its own end is over.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::prelude::*;
use flow_core::testing::SimFs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const NUMBERS: u64 = 3_000;

fn job(storage: &Arc<SimFs>, out: &Collected<(u64, u64)>, per_second: u64) -> Job {
    let job = Job::build("stopped", |job| {
        let numbers = source(generate(NUMBERS, |n| n)).durable().rate_limit(per_second);
        job.add(numbers.key_by(|n| n % 7).count().collect(out));
    });
    job.checkpoints(Checkpoints::in_storage(Arc::clone(storage) as _))
}

#[test]
fn what_is_read_after_a_stop_reaches_stages_that_had_ended_by_it() {
    let (storage, out) = (Arc::new(SimFs::new()), Collected::new());
    let handle = job(&storage, &out, 1_000).start().unwrap();
    while handle.metrics()[0].records_in == 0 {
        std::thread::yield_now();
    }
    handle.drain();
    assert_eq!(handle.join().unwrap().restored, None);
    let first = out.take().len() as u64;
    assert!(first < NUMBERS, "it was stopped on the way");
    let report = job(&storage, &out, 1_000_000).run().unwrap();
    assert_eq!(first + out.take().len() as u64, NUMBERS);
    assert!(report.restored.is_some() && report.to_string().contains("s, from checkpoint "), "{report}");
}

/// Whoever stops a job, as by Ctrl-C, has it go on as if nothing had happened.
#[test]
fn a_job_that_is_stopped_goes_on_with_its_state() {
    let (storage, out) = (Arc::new(SimFs::new()), Collected::new());
    for per_second in [2_000, 2_000, 1_000_000] {
        let handle = job(&storage, &out, per_second).start().unwrap();
        while handle.metrics()[0].records_in < 300 {
            std::thread::yield_now();
        }
        if per_second < 1_000_000 {
            handle.stop();
        }
        handle.join().unwrap();
    }
    let mut counts = out.take();
    counts.sort_unstable();
    let mut expected: Vec<(u64, u64)> = (0..NUMBERS).map(|n| (n % 7, n / 7 + 1)).collect();
    expected.sort_unstable();
    assert_eq!(counts, expected, "each count once: no key has begun anew");
}

/// What has ended the job is what whoever waits for a savepoint is told.
#[test]
fn a_savepoint_of_a_job_that_fails_says_why() {
    let (storage, out) = (Arc::new(SimFs::new()), Collected::new());
    let job = Job::build("failing", |job| {
        let numbers = source(generate(u64::MAX, |n| n)).durable().rate_limit(1_000);
        job.add(numbers.inspect(|n| assert!(*n < 20, "twenty is too much")).collect(&out));
    });
    let handle = job.checkpoints(Checkpoints::in_storage(storage)).start().unwrap();
    while handle.metrics()[0].records_in < 10 {
        std::thread::yield_now();
    }
    let mut last = handle.savepoint();
    while last.is_ok() {
        last = handle.savepoint();
    }
    let error = last.unwrap_err().to_string();
    assert!(error.contains("the job has failed") && error.contains("twenty is too much"), "{error}");
    handle.join().unwrap_err();
}

/// To go back is asked of the start, and not of each run that follows by itself.
#[test]
fn a_job_that_went_back_and_begins_again_goes_on_from_its_own_checkpoints() {
    let (storage, out) = (Arc::new(SimFs::new()), Collected::new());
    let failed = Arc::new(AtomicBool::new(false));
    let job = |fails_at: u64, from: Option<u64>| {
        let failed = Arc::clone(&failed);
        let job = Job::build("stopped", |job| {
            let numbers = source(generate(NUMBERS, |n| n)).durable().rate_limit(10_000);
            let numbers = numbers.inspect(move |n| assert!(*n < fails_at || failed.swap(true, Relaxed)));
            job.add(numbers.collect(&out));
        });
        let checkpoints = Checkpoints::in_storage(Arc::clone(&storage) as _).every(Millis(10));
        let checkpoints = from.map_or(checkpoints.clone(), |id| checkpoints.restore_from(id));
        job.checkpoints(checkpoints).restart(1, Millis(0))
    };
    let handle = job(u64::MAX, None).start().unwrap();
    while handle.metrics()[0].records_in < 500 {
        std::thread::yield_now();
    }
    let savepoint = handle.stop_with_savepoint().unwrap();
    handle.join().unwrap();
    let report = job(NUMBERS - 500, Some(savepoint)).run().unwrap();
    assert_eq!(report.restarts, 1);
    assert_eq!(out.take(), (0..NUMBERS).collect::<Vec<_>>());
}

/// What a sink has staged is committed when the job has been stopped: then the sink may go, if that is said.
#[test]
fn a_sink_can_be_removed() {
    let (storage, first, second) = (Arc::new(SimFs::new()), Collected::new(), Collected::new());
    let job = |both: bool, drops: bool| {
        let job = Job::build("stopped", |job| {
            let numbers = source(generate(NUMBERS, |n| n)).durable().rate_limit(10_000);
            if both {
                let (first, second) = (numbers.root().collect(&first), numbers.root().collect(&second));
                job.add(numbers.tee(|numbers| numbers.both(first, second)));
            } else {
                job.add(numbers.collect(&first));
            }
        });
        let checkpoints = Checkpoints::in_storage(Arc::clone(&storage) as _).every(Millis(1_000));
        job.checkpoints(if drops { checkpoints.drop_state("collect-2") } else { checkpoints })
    };
    let handle = job(true, false).start().unwrap();
    while handle.metrics()[0].records_in < 500 {
        std::thread::yield_now();
    }
    handle.stop_with_savepoint().unwrap();
    handle.join().unwrap();
    let written = second.take().len();
    assert!(written > 0);
    let error = job(false, false).run().unwrap_err().to_string();
    for part in ["collect-2", "#[was(old)]", "Checkpoints::drop_state(\"collect-2\")"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    // Where the sink is there nothing of it is dropped.
    let handle = job(true, true).start().unwrap();
    handle.stop_with_savepoint().unwrap();
    handle.join().unwrap();
    job(false, true).run().unwrap();
    assert_eq!(first.take(), (0..NUMBERS).collect::<Vec<_>>());
}

/// What is behind a source that had come to its end has been told so: a record that came later would be lost in it, and is an error.
#[test]
fn what_comes_behind_the_end_is_an_error() {
    for parallelism in [1, 2] {
        let (storage, out) = (Arc::new(SimFs::new()), Collected::new());
        let job = |numbers: u64, keyed: bool| {
            let job = Job::build("stopped", |job| {
                let numbers = source(from_iter(0..numbers)).durable();
                if keyed {
                    job.add(numbers.key_by(|n| n % 7).count().map(|_| 1).named("counts").collect(&out));
                } else {
                    job.add(numbers.collect(&out));
                }
            });
            let checkpoints = Checkpoints::in_storage(Arc::clone(&storage) as _);
            let checkpoints = checkpoints.drop_state("count").drop_state("counts/map");
            job.checkpoints(checkpoints).parallelism(parallelism)
        };
        job(100, true).run().unwrap();
        assert_eq!(out.take().len(), 100);
        for keyed in [true, false] {
            job(100, true).run().unwrap();
            let error = job(3_000, keyed).run().unwrap_err();
            assert_eq!((error.kind(), error.stage()), (ErrorKind::State, Some("from_iter")));
            for part in ["had come to its end", "has more records now", "stopped.rs", "folder"] {
                assert!(error.to_string().contains(part), "{part}: {error}");
            }
        }
        assert!(out.take().is_empty());
    }
}

/// A job that is drained while it waits to begin again gives what its input so far comes to; one that is stopped then does not begin again.
#[test]
fn what_is_asked_while_a_job_waits_to_begin_again() {
    for drains in [true, false] {
        let (storage, out) = (Arc::new(SimFs::new()), Collected::new());
        let failed = Arc::new(AtomicBool::new(false));
        let saw = Arc::clone(&failed);
        let job = Job::build("waiting", |job| {
            let numbers = source(generate(NUMBERS, |n| n)).durable().rate_limit(2_000);
            let numbers = numbers.inspect(move |n| assert!(*n < 500 || saw.swap(true, Relaxed), "once"));
            job.add(numbers.key_by(|n| n % 3).dedup_last().collect(&out));
        });
        let checkpoints = Checkpoints::in_storage(Arc::clone(&storage) as _).every(Millis(10));
        let handle = job.checkpoints(checkpoints).restart(5, Millis(60_000)).start().unwrap();
        while !failed.load(Relaxed) {
            std::thread::yield_now();
        }
        // It has failed, and soon waits.
        std::thread::sleep(std::time::Duration::from_millis(100));
        if drains {
            handle.drain();
            let report = handle.join().unwrap();
            assert_eq!((report.restarts, report.stopped), (1, None));
            assert_eq!(out.take().len(), 3, "what came last of each key");
        } else {
            handle.stop();
            let error = handle.join().unwrap_err().to_string();
            assert!(error.contains("once") && error.contains("stopped before it began again"), "{error}");
            assert_eq!(out.take(), []);
        }
    }
}
