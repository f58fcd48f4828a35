//! Nothing hangs, and nothing that goes on keeps `run` from returning.

use super::harness::{ALL, At, Ledger, On, PROMPT, THREADED, alone, stage_threads, timed};
use flow_core::prelude::*;
use flow_core::source::{ChannelSender, ChannelSource};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

fn endless() -> flow_core::source::Generate<impl Fn(u64) -> u64 + Clone + Send + 'static> {
    generate(u64::MAX, |i| i)
}

/// Panics once the flag is up.
fn when(flag: &Arc<AtomicBool>) -> impl Fn(u64) -> u64 + Clone + Send + 'static {
    let flag = Arc::clone(flag);
    move |n| {
        assert!(!flag.load(SeqCst), "enough of this");
        n
    }
}

/// A closure cannot be stopped: it is named, and its thread left behind.
#[test]
fn a_stuck_closure_is_named_and_left_behind() {
    let _alone = alone();
    for on in THREADED {
        let ledger = Ledger::default();
        let sinks = ledger.clone();
        let (result, took) = timed("a stuck closure", move || {
            let stuck = Arc::new(AtomicBool::new(false));
            let job = Job::build("stuck", |job| {
                let (flag, sleeper) = (Arc::clone(&stuck), Arc::clone(&stuck));
                job.add(
                    source(from_iter(0..1u64))
                        .boundary()
                        .named("nap")
                        .map(move |n| {
                            sleeper.store(true, SeqCst);
                            std::thread::sleep(Duration::from_secs(5));
                            n
                        })
                        .sink(sinks.sink()),
                );
                job.add(source(endless()).map(when(&flag)).sink(sinks.sink()));
            });
            on.run(job.parallelism(2))
        });
        let error = result.unwrap_err().to_string();
        assert!(error.contains("enough of this"), "{error}");
        assert!(error.contains("left behind: nap/boundary[0]"), "{on:?}: {error}");
        assert!(took < PROMPT, "{took:?}");
        assert_eq!(stage_threads().len(), 1, "{:?}", stage_threads());
        // It goes on, finds that the job is over, and what it stages is taken back.
        let begun = Instant::now();
        while !stage_threads().is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", stage_threads());
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!((ledger.committed(), ledger.aborted()), (0, ledger.staged()), "{on:?}");
    }
}

/// The sink is slow, so everything before it is blocked on full rings when another branch fails.
#[test]
fn blocked_stages_hear_of_a_failure() {
    let _alone = alone();
    for on in THREADED {
        let ((result, late), _) = timed("a failure beside full rings", move || {
            let flag = Arc::new(AtomicBool::new(false));
            let job = Job::build("blocked", |job| {
                let slow = source(endless().splits(2)).key_by(|n| n % 16).count();
                job.add(slow.for_each(|_| std::thread::sleep(Duration::from_millis(1))));
                let bell = flag.clone();
                job.add(source(endless().rate(100)).boundary().map(when(&bell)).for_each(|_| ()));
            });
            let kind = if on == On::Threads { HostKind::Threads } else { HostKind::Workers(2) };
            let handle = job.parallelism(2).ring_batches(2).batch_size(8).host(kind).start().unwrap();
            std::thread::sleep(Duration::from_millis(200));
            flag.store(true, SeqCst);
            let begun = Instant::now();
            (handle.join(), begun.elapsed())
        });
        assert!(result.unwrap_err().to_string().contains("enough of this"));
        assert!(late < PROMPT, "{on:?}: {late:?}");
        assert_eq!(stage_threads(), Vec::<String>::new());
    }
}

/// A receiver that has enough goes; its senders end although their source never does.
#[test]
fn a_receiver_that_has_enough_ends_its_senders() {
    let _alone = alone();
    for on in ALL {
        let out = Collected::new();
        let taken = out.clone();
        let (result, _) = timed("take behind an exchange", move || {
            let job = Job::build("enough", |job| {
                let first = source(endless().splits(2)).key_by(|n| n % 3).count().global().take(10);
                job.add(first.boundary().collect(&taken));
            });
            on.run(job.parallelism(2).batch_size(4).ring_batches(1))
        });
        result.unwrap();
        assert_eq!(out.take().len(), 10, "{on:?}");
    }
}

/// A sink that fails when it opens, while a source has no end and rings are small.
#[test]
fn a_failure_while_opening_ends_the_others() {
    let _alone = alone();
    for on in ALL {
        let ledger = Ledger::default();
        let sinks = ledger.clone();
        let (result, took) = timed("a failure while opening", move || {
            let job = Job::build("opening", |job| {
                job.add(source(endless()).rebalance().sink(sinks.sink().fails(At::Open)));
                job.add(source(endless()).rebalance().sink(sinks.sink()));
            });
            on.run(job.parallelism(2).batch_size(4).ring_batches(1))
        });
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Sink);
        assert!(took < PROMPT, "{took:?}");
        assert_eq!(stage_threads(), Vec::<String>::new());
    }
}

/// A channel of one record, which is full.
fn full_channel() -> (ChannelSender<u64>, ChannelSource<u64>) {
    let (sender, records) = channel(1);
    sender.send(0).unwrap();
    (sender, records)
}

/// Sends on another thread, so that it waits, then lets `f` do away with the reader.
fn sends_in_vain(what: &str, sender: ChannelSender<u64>, f: impl FnOnce()) {
    let waits = std::thread::spawn(move || sender.send(1).map_err(|ended| ended.0));
    std::thread::sleep(Duration::from_millis(50));
    f();
    let (result, took) = timed(what, || waits.join().unwrap());
    assert_eq!(result, Err(1), "{what}: the record comes back");
    assert!(took < PROMPT, "{what}: {took:?}");
}

#[test]
fn a_job_that_is_dropped_frees_the_senders_of_its_channel() {
    let (sender, records) = full_channel();
    let job = Job::build("dropped", |job| job.add(source(records).for_each(|_| ())));
    sends_in_vain("send to a dropped job", sender, || drop(job));
}

#[test]
fn a_job_that_cannot_start_frees_the_senders_of_its_channel() {
    let (sender, records) = full_channel();
    let job = Job::build("no plan", |job| job.add(source(records).for_each(|_| ())));
    sends_in_vain("send to a job without a plan", sender, || drop(job.parallelism(0).run().unwrap_err()));
}

#[test]
fn a_job_that_fails_frees_the_senders_of_its_channel() {
    let _alone = alone();
    for on in ALL {
        for at in [At::Open, At::Write] {
            let (sender, records) = full_channel();
            let ledger = Ledger::default();
            let job = Job::build("fails", |job| {
                job.add(source(from_iter(0..200u64)).sink(ledger.sink().fails(at)));
                job.add(
                    source(records).boundary().for_each(|_| std::thread::sleep(Duration::from_millis(1))),
                );
            });
            let keeps = sender.clone();
            let _error = on.run(job).unwrap_err();
            let (result, _) =
                timed("send to a failed job", move || (0..100).try_for_each(|n| sender.send(n)));
            assert!(result.is_err(), "{on:?} {at:?}");
            drop(keeps);
        }
    }
}

#[test]
fn stop_ends_an_endless_job() {
    let _alone = alone();
    for kind in [HostKind::Threads, HostKind::Workers(2), HostKind::Workers(1)] {
        let ledger = Ledger::default();
        let sinks = ledger.clone();
        let (result, _) = timed("stop", move || {
            let job = Job::build("endless", |job| {
                job.add(source(endless().splits(2)).key_by(|n| n % 7).count().sink(sinks.sink()));
            });
            let handle = job.parallelism(2).host(kind).start().unwrap();
            while handle.metrics().iter().all(|stage| stage.records_out == 0) {
                std::thread::yield_now();
            }
            handle.stop();
            handle.join()
        });
        assert_eq!(result.unwrap().rescues, 0);
        assert_eq!(ledger.committed(), 2, "a stopped job ends as if its input had");
    }
}

#[test]
fn stop_ends_a_job_whose_channel_is_silent() {
    let _alone = alone();
    for kind in [HostKind::Threads, HostKind::Workers(2), HostKind::Workers(1)] {
        let (sender, records) = channel::<u64>(4);
        let out = Collected::new();
        let job = Job::build("silent", |job| job.add(source(records).boundary().collect(&out)));
        let handle = job.host(kind).start().unwrap();
        sender.send(5).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        let (result, took) = timed("stop of a silent job", move || {
            handle.stop();
            handle.join()
        });
        assert_eq!(result.unwrap().rescues, 0);
        assert!(took < PROMPT, "{took:?}");
        assert_eq!(out.take(), [5]);
        assert!(sender.send(6).is_err());
    }
}

/// Two instances share the count of `take`: the one that waits for records hears that the other took the last.
#[test]
fn all_instances_of_take_end_when_one_has_taken_the_last() {
    let _alone = alone();
    for on in ALL {
        let (sender, records) = channel::<u64>(16);
        (0..3).for_each(|n| sender.send(n).unwrap());
        let out = Collected::new();
        let taken = out.clone();
        let ((result, _sender), _) = timed("take from a silent channel", move || {
            let job = Job::build("three", |job| {
                // Both instances have slept by the time that one of them takes the last.
                let late = source(records).rebalance().map(|n| {
                    std::thread::sleep(Duration::from_millis(20 * n));
                    n
                });
                job.add(late.take(3).collect(&taken));
            });
            (on.run(job.parallelism(2).batch_size(1)), sender)
        });
        result.unwrap();
        assert_eq!(out.take().len(), 3, "{on:?}");
    }
}

/// The sink waits for a reader that never comes.
#[test]
fn a_full_channel_behind_the_job_does_not_outlive_a_failure() {
    let _alone = alone();
    let (answers, _reader) = std::sync::mpsc::sync_channel(1);
    let (result, took) = timed("a failure beside a full channel", move || {
        let flag = Arc::new(AtomicBool::new(false));
        let job = Job::build("full", |job| {
            let waits = flag.clone();
            let told = source(endless()).inspect(move |n| waits.store(*n > 3, SeqCst));
            job.add(told.boundary().sink(to_channel(answers)));
            job.add(source(endless()).map(when(&flag)).for_each(|_| ()));
        });
        On::Threads.run(job.batch_size(1))
    });
    let error = result.unwrap_err().to_string();
    assert!(error.contains("enough of this") && !error.contains("left behind"), "{error}");
    assert!(took < PROMPT, "{took:?}");
    assert_eq!(stage_threads(), Vec::<String>::new());
}
