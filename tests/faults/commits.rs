//! All sinks commit, or none.

use super::harness::{ALL, At, Ledger, LedgerSink, On, alone, timed};
use flow_core::prelude::*;

/// Two sinks, each in two instances.
fn two_sinks(first: LedgerSink, second: LedgerSink) -> Job {
    let job = Job::build("two sinks", |job| {
        job.add(source(from_iter(0..1000u64)).key_by(|n| n % 7).count().sink(first));
        job.add(source(from_iter(0..1000u64)).key_by(|n| n % 7).count().sink(second));
    });
    job.parallelism(2).batch_size(64)
}

#[test]
fn all_commit_when_the_job_succeeds() {
    let _alone = alone();
    for on in ALL {
        let ledger = Ledger::default();
        on.run(two_sinks(ledger.sink(), ledger.sink())).unwrap();
        assert_eq!((ledger.committed(), ledger.aborted()), (4, 0), "{on:?}");
    }
}

#[test]
fn none_commits_when_another_fails() {
    let _alone = alone();
    for on in ALL {
        let ledger = Ledger::default();
        let error = on.run(two_sinks(ledger.sink(), ledger.sink().fails(At::Finish))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Sink, "{error}");
        assert_eq!(ledger.committed(), 0, "{on:?}");
        assert_eq!(ledger.aborted(), ledger.staged(), "{on:?}: what was staged is taken back");
    }
}

/// What has been committed cannot be undone; the error says so.
#[test]
fn a_commit_that_fails_is_reported() {
    let _alone = alone();
    for (on, panics) in ALL.into_iter().flat_map(|on| [(on, false), (on, true)]) {
        let ledger = Ledger::default();
        let sinks = ledger.clone();
        let (result, _) = timed("a failing commit", move || {
            let faulty =
                if panics { sinks.sink().panics(At::Commit) } else { sinks.sink().fails(At::Commit) };
            on.run(two_sinks(sinks.sink(), faulty))
        });
        let error = result.unwrap_err().to_string();
        assert_eq!(ledger.staged(), 4);
        // One of the two that fail was tried; all but it and what was committed before it are taken back.
        assert_eq!(ledger.committed() + 1 + ledger.aborted(), 4, "{on:?}: {error}");
        let place = if panics { "harness.rs:" } else { "commits.rs:" };
        assert!(error.contains("`ledger") && error.contains(place), "{error}");
        assert!(
            error.contains(&format!("{} of 4 outputs were committed before it", ledger.committed())),
            "{error}"
        );
    }
}

#[test]
fn a_job_that_cannot_start_commits_nothing() {
    let ledger = Ledger::default();
    for job in [
        two_sinks(ledger.sink(), ledger.sink()).parallelism(0),
        two_sinks(ledger.sink(), ledger.sink()).parallelism(257),
        two_sinks(ledger.sink(), ledger.sink()).batch_size(0),
        two_sinks(ledger.sink(), ledger.sink()).ring_batches(0),
        Job::new("empty"),
    ] {
        let error = job.run().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Plan, "{error}");
    }
    assert_eq!(ledger.staged(), 0);
}

#[test]
fn the_largest_parallelism_runs() {
    let _alone = alone();
    let ledger = Ledger::default();
    two_sinks(ledger.sink(), ledger.sink()).parallelism(256).run().unwrap();
    assert_eq!(ledger.committed(), 512);
}

/// What stands in a folder after two file sinks, the second of which is before a closure that fails, or not.
fn files_after(on: On, fails: bool) -> (Result<Report>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first.txt"), folder.path().join("second.txt"));
    let job = Job::build("files", |job| {
        job.add(source(from_iter(0..1000u64)).map(|n| n.to_string()).sink(text_file(first)));
        let picky = move |n: u64| if fails && n == 900 { Err("900 is too much") } else { Ok(n.to_string()) };
        job.add(source(from_iter(0..1000u64)).rebalance().try_map(picky).sink(text_file(second)));
    });
    let result = on.run(job.parallelism(2).batch_size(64));
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    (result, names)
}

#[test]
fn no_file_stands_there_after_a_failure() {
    let _alone = alone();
    for on in ALL {
        let (result, names) = files_after(on, true);
        assert_eq!(result.unwrap_err().stage(), Some("try_map"), "{on:?}");
        assert_eq!(names, Vec::<String>::new(), "{on:?}");
        let (result, names) = files_after(on, false);
        assert!(result.is_ok() && names == ["first.txt", "second.txt"], "{on:?}: {names:?}");
    }
}
