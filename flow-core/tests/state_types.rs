//! Types whose values a checkpoint could not give back are refused before there is a checkpoint of them.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::prelude::*;
use flow_core::testing::SimFs;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Either {
    Number(u64),
    Text(String),
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Sparse {
    #[serde(skip_serializing_if = "Option::is_none")]
    even: Option<u64>,
    all: u64,
}

/// With checkpoints of its own.
fn refused(pipeline: impl FnOnce(&mut Job)) -> Error {
    let job = Job::build("types", pipeline);
    job.checkpoints(Checkpoints::in_storage(Arc::new(SimFs::new())).every(Millis(5))).run().unwrap_err()
}

#[test]
fn what_cannot_be_read_back_is_no_state() {
    let error = refused(|job| {
        let numbers = source(generate(100, |n| n)).durable().inspect(|_| panic!("a record was read"));
        let last = numbers.key_by(|n| n % 3).scan(Either::Text(String::new()), |last, n| {
            *last = Either::Number(n);
            Some(n)
        });
        job.add(last.collect(&Collected::new()));
    });
    assert_eq!((error.kind(), error.stage()), (ErrorKind::Plan, Some("scan")));
    for part in ["Either", "#[serde(untagged)]", "state_types.rs"] {
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
}

#[test]
fn nor_is_it_held_by_an_operator() {
    let numbers = || source(generate(100, |n| n)).durable();
    let limited = |job: &mut Job| {
        let either = numbers().map(Either::Number).rate_limit(1_000);
        job.add(either.map(|_| 0).collect(&Collected::<u64>::new()));
    };
    let asked = |job: &mut Job| {
        let either = numbers().map(Either::Number).async_map(|_| async { 0 }, Millis(9_000));
        job.add(either.collect(&Collected::<u64>::new()));
    };
    let total = |job: &mut Job| {
        let either = numbers()
            .map(Either::Number)
            .aggregate(|a| a.fold(Either::Number(0), |last, n| *last = n.clone()));
        job.add(either.map(|_| 0).collect(&Collected::<u64>::new()));
    };
    for (error, stage) in
        [(refused(limited), "rate_limit"), (refused(asked), "async_map"), (refused(total), "aggregate")]
    {
        assert_eq!((error.kind(), error.stage()), (ErrorKind::Plan, Some(stage)), "{error}");
    }
}

#[test]
fn a_value_that_could_not_be_read_ends_the_job_before_its_checkpoint() {
    let error = refused(|job| {
        let numbers = source(generate(10_000, |n| n).rate(10_000)).durable();
        let counted = numbers.key_by(|n| n % 3).scan(Sparse::default(), |state, n| {
            *state = Sparse { even: (n % 2 == 0).then_some(n), all: n };
            Some(state.all)
        });
        job.add(counted.collect(&Collected::new()));
    });
    assert_eq!(error.kind(), ErrorKind::State);
    for part in ["Sparse", "the field `even`", "scan"] {
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
}

/// Two keys that would be one when they are restored.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Half {
    written: u64,
    #[serde(skip)]
    left_out: u64,
}

#[test]
fn keys_that_are_written_alike_are_told_before_they_become_one() {
    let numbers = || source(generate(10_000, |n| n as i64).rate(10_000)).durable();
    let timed = || numbers().event_time(|n| *n).monotonic();
    let key = |n: &i64| Half { written: 1, left_out: n.unsigned_abs() % 5 };
    let hour = Millis(3_600_000);
    let out = Collected::<u64>::new();
    let errors = [
        refused(|job| job.add(numbers().key_by(key).count().map(|(_, n)| n).collect(&out))),
        refused(|job| {
            job.add(timed().key_by(key).window(tumbling(hour)).count().map(|w| w.value).collect(&out))
        }),
        refused(|job| {
            job.add(timed().key_by(key).window(session(hour)).count().map(|w| w.value).collect(&out))
        }),
        refused(|job| {
            job.add(numbers().key_by(key).window(count(10_000)).count().map(|w| w.value).collect(&out))
        }),
        refused(|job| job.add(numbers().key_by(key).dedup_last().map(|_| 1).collect(&out))),
        refused(|job| {
            let pairs = timed().key_by(key).join(timed().key_by(key)).within(hour, hour);
            job.add(pairs.map(|_| 1).collect(&out));
        }),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::State, "{error}");
        for part in ["a key of the type", "Half", "#[serde(skip)]"] {
            assert!(error.to_string().contains(part), "{part}: {error}");
        }
    }
}

/// What one kind of windows keeps another would misread: the types alone do not say.
#[test]
fn other_windows_do_not_take_over_what_some_have_kept() {
    type Pipeline = fn(&mut Job);
    macro_rules! windows {
        ($($kind:literal $assigner:expr;)*) => {[$(($kind, (|job| {
            let numbers = source(generate(20_000, |n| n as i64).rate(20_000)).durable();
            let keyed = numbers.event_time(|n| *n).monotonic().key_by(|n| n % 7);
            job.add(keyed.window($assigner).count().map(|w| w.value).collect(&Collected::new()));
        }) as Pipeline)),*]};
    }
    let kinds = windows! {
        "`windows [tumbling" tumbling(Millis(100_000));
        "`sliding windows [" sliding(Millis(100_000), Millis(10_000));
        "`sessions of" session(Millis(100_000));
        "`count windows of" count(100_000);
        "on the clock] of" tumbling(Millis(100_000)).time(processing);
    };
    for (before, first) in kinds {
        let storage = Arc::new(SimFs::new());
        let job = |pipeline: Pipeline| {
            Job::build("windows", pipeline).checkpoints(Checkpoints::in_storage(Arc::clone(&storage) as _))
        };
        let handle = job(first).start().unwrap();
        while handle.metrics()[0].records_in == 0 {
            std::thread::yield_now();
        }
        handle.stop_with_savepoint().unwrap();
        handle.join().unwrap();
        for (now, second) in kinds.into_iter().filter(|kind| kind.0 != before) {
            let error = job(second).run().unwrap_err().to_string();
            assert!(error.contains(before) && error.contains(now), "{before} {now}: {error}");
        }
        let rolling = |job: &mut Job| {
            let numbers = source(generate(20_000, |n| n as i64)).durable().event_time(|n| *n).monotonic();
            job.add(numbers.key_by(|n| n % 7).count().map(|n| n.1).collect(&Collected::new()));
        };
        assert!(job(rolling).run().unwrap_err().to_string().contains(before), "{before}");
    }
}

/// What is held back is read as what it was, or not at all: bytes of a number fit other numbers.
#[test]
fn records_of_another_type_that_are_held_back_are_refused() {
    type Pipeline = fn(&mut Job);
    let limits: [Pipeline; 2] = [
        |job| job.add(source(generate(u64::MAX, |n| n)).durable().rate_limit(50).collect(&Collected::new())),
        |job| {
            job.add(
                source(generate(u64::MAX, |n| n as i64)).durable().rate_limit(50).collect(&Collected::new()),
            )
        },
    ];
    let requests: [Pipeline; 2] = [
        |job| {
            let numbers = source(generate(u64::MAX, |n| n).rate(1_000)).durable();
            job.add(
                numbers
                    .async_map(|_| std::future::pending::<u8>(), Millis(60_000))
                    .collect(&Collected::new()),
            );
        },
        |job| {
            let numbers = source(generate(u64::MAX, |n| n as i64).rate(1_000)).durable();
            job.add(
                numbers
                    .async_map(|_| std::future::pending::<u8>(), Millis(60_000))
                    .collect(&Collected::new()),
            );
        },
    ];
    for [before, now] in [limits, requests] {
        let storage = Arc::new(SimFs::new());
        let job = |pipeline: Pipeline| {
            Job::build("held", pipeline).checkpoints(Checkpoints::in_storage(Arc::clone(&storage) as _))
        };
        let handle = job(before).start().unwrap();
        while handle.metrics()[0].records_in < 20 {
            std::thread::yield_now();
        }
        handle.stop_with_savepoint().unwrap();
        handle.join().unwrap();
        let error = job(now).run().unwrap_err().to_string();
        assert!(error.contains("its records were `u64` and are `i64` now"), "{error}");
    }
}
