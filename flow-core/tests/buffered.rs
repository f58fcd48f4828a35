//! Checkpoints that have hardly any room in memory: state is written when the storage has taken what was written before, and nothing hangs.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::prelude::*;
use flow_core::process::states::Plain;
use flow_core::testing::SimFs;
use std::sync::Arc;

/// Counts by key, and behind that a timer for each, in state of some size; the end of the input comes while a checkpoint is written.
fn job(storage: &Arc<SimFs>, out: &Collected<(u64, usize)>, numbers: u64) -> Job {
    let keys = numbers / 3 + 1;
    let job = Job::build("buffered", |job| {
        let numbers =
            source(generate(numbers, |n| n)).durable().event_time(|n| *n as i64).disorder(Millis(0));
        let texts =
            numbers.key_by(move |n| n % keys).fold(String::new(), |text, n| *text += &format!("{n:100}"));
        let sizes = texts.map(|(key, text)| (key, text.len())).key_by(|size| size.0);
        let last = sizes
            .declare((Plain(|| 0usize), ()))
            .on_event(|(last, ()), size: (u64, usize), ctx| {
                *last = size.1;
                ctx.set_timer(Timestamp(1 << 40));
            })
            .on_timer(|(last, ()), _, ctx| ctx.emit((*ctx.key(), *last)))
            .done();
        job.add(last.collect(out));
    });
    let checkpoints = Checkpoints::in_storage(Arc::clone(storage) as _).every(Millis(1)).buffer(0);
    job.checkpoints(checkpoints).parallelism(2).batch_size(64)
}

fn check(out: &Collected<(u64, usize)>, numbers: u64) {
    let keys = numbers / 3 + 1;
    let mut rows = out.take();
    rows.sort_unstable();
    let size = |key| (key, (key..numbers).step_by(keys as usize).count() * 100);
    assert_eq!(rows, (0..keys).map(size).collect::<Vec<_>>());
}

#[test]
fn a_job_on_threads_comes_to_its_end() {
    let (storage, out) = (Arc::new(SimFs::new()), Collected::new());
    let report = job(&storage, &out, 20_000).run().unwrap();
    check(&out, 20_000);
    assert!(report.counter("checkpoints.completed") > 1, "some were taken on the way: {report}");
}

#[test]
fn a_simulated_job_comes_to_its_end_though_it_dies() {
    for seed in 0..20 {
        let (storage, out, mut deaths) = (Arc::new(SimFs::new()), Collected::new(), 0);
        while let Err(error) = job(&storage, &out, 600).crash_at(150 + 37 * seed + 20 * deaths).simulate(seed)
        {
            assert_eq!(error.kind(), ErrorKind::Crash, "{error}");
            deaths += 1;
            assert!(deaths < 500, "it comes nowhere");
        }
        check(&out, 600);
    }
}
