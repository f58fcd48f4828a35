//! Disks that are full and disks that fail, under whole jobs in the simulation.

use flow_core::prelude::*;
use flow_core::testing::{Failure, SimFs};
use std::sync::Arc;

const COUNT: u64 = 3_000;

type Rows = Collected<(u64, u64)>;

/// Counts by key. `seen` sees each record.
fn job(disk: &SimFs, out: &Rows, failures: u32, seen: impl Fn(u64) + Clone + Send + 'static) -> Job {
    let job = Job::build("counts", |job| {
        let numbers = source(generate(COUNT, |i| i)).durable().inspect(move |n| seen(*n));
        job.add(numbers.key_by(|n| n % 10).count().collect(out));
    });
    let checkpoints = Checkpoints::in_storage(Arc::new(disk.clone())).max_failed(failures);
    job.checkpoints(checkpoints).parallelism(2).batch_size(16)
}

fn exact(out: &Rows, what: &str) {
    let mut rows = out.take();
    rows.sort_unstable();
    let mut expected: Vec<_> = (0..COUNT).map(|n| (n % 10, n / 10 + 1)).collect();
    expected.sort_unstable();
    assert!(rows == expected, "{what}: {} rows", rows.len());
}

/// What there is of checkpoints, but for those that are complete.
fn left(disk: &SimFs) -> usize {
    disk.contents().keys().filter(|name| name.ends_with(".tmp")).count()
}

#[test]
fn f_d1_disk_full_for_a_while() {
    for seed in 0..10 {
        let (disk, out) = (SimFs::new(), Rows::new());
        let freed = disk.clone();
        let seen = move |n| match n {
            500 => freed.limit(Some(freed.contents().values().map(Vec::len).sum::<usize>() + 40)),
            2_000 => freed.limit(None),
            _ => {}
        };
        let report = job(&disk, &out, u32::MAX, seen).simulate(seed).unwrap();
        assert!(report.counter("checkpoints.failed") > 0, "seed {seed}: {report}");
        assert!(report.counter("checkpoints.completed") > 1, "seed {seed}: {report}");
        exact(&out, &format!("seed {seed}"));
        assert_eq!(left(&disk), 0);
    }
}

#[test]
fn f_d1_disk_full_for_ever() {
    let (disk, out) = (SimFs::new(), Rows::new());
    let full = disk.clone();
    let seen = move |n| {
        if n == 500 {
            full.limit(Some(full.contents().values().map(Vec::len).sum::<usize>() + 40));
        }
    };
    let error = job(&disk, &out, 2, seen).simulate(1).unwrap_err().to_string();
    assert!(
        error.contains("no space left on device") && error.contains("in a row that has failed"),
        "{error}"
    );
    disk.limit(None);
    job(&disk, &out, 2, |_| ()).simulate(2).unwrap();
    exact(&out, "after space was made");
}

/// Each call of the disk fails once, in its turn: the job goes on, or ends and the next start is right.
#[test]
fn f_d2_f_d3_each_call_fails_once() {
    let (mut went_on, mut ended) = (0, 0);
    for (failure, seed) in [(Failure::Full, 3), (Failure::Io, 4)] {
        let (disk, out) = (SimFs::new(), Rows::new());
        job(&disk, &out, 3, |_| ()).simulate(seed).unwrap();
        let calls = disk.calls();
        exact(&out, "no failure");
        for call in 1..=calls {
            let (disk, out) = (SimFs::new(), Rows::new());
            disk.fail(call, failure);
            let what = format!("{failure:?} at call {call} of {calls}");
            if let Err(error) = job(&disk, &out, 3, |_| ()).simulate(seed) {
                ended += 1;
                assert!(
                    error.to_string().contains("chk-") || error.kind() == ErrorKind::State,
                    "{what}: {error}"
                );
                job(&disk, &out, 3, |_| ())
                    .simulate(seed + 1)
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
            } else {
                went_on += 1;
            }
            exact(&out, &what);
            assert_eq!(left(&disk), 0, "{what}");
        }
    }
    println!("{went_on} went on, {ended} ended and were started again");
    assert!(went_on > 0 && ended > 0);
}

/// Times that are equal, descending, far away and at both ends: nothing overflows, and all are counted, on time or late.
#[test]
fn f_c2_odd_times() {
    let ends = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX];
    let inputs: [Vec<i64>; 5] = [
        vec![7; 100],
        (0..100).rev().collect(),
        (0..100).map(|n| if n % 10 == 3 { 1 << 60 } else { n }).collect(),
        ends.to_vec(),
        ends.iter().rev().copied().collect(),
    ];
    for (times, seed) in inputs.into_iter().flat_map(|times| (0..4).map(move |seed| (times.clone(), seed))) {
        let (disk, out) = (SimFs::new(), Collected::new());
        let all = times.len() as i64;
        let job = Job::build("odd", |job| {
            let timed = source(from_vec(times.clone())).durable().event_time(|t| *t).disorder(Millis(5));
            job.add(timed.key_by(|t| t % 3).window(tumbling(Millis(10))).count().collect(&out));
        });
        let job = job.checkpoints(Checkpoints::in_storage(Arc::new(disk))).batch_size(4);
        let report = job.simulate(seed).unwrap();
        let on_time: i64 = out.take().iter().map(|w| w.value as i64).sum();
        assert_eq!(on_time + report.late(), all, "{times:?}");
    }
}
