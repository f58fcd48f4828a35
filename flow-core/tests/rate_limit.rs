//! `rate_limit` on the virtual clock: nothing is lost, nothing overtakes, never faster than said, and never slower than it could be.

use flow_core::prelude::*;
use flow_core::sink::{Sink, Writer};
use flow_core::stage::{Commit, OpenCx};
use flow_core::time::Clock;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

/// Records with the ticks at which they came.
#[derive(Clone, Default)]
struct Watched(Arc<Mutex<Vec<(u64, i64)>>>);

struct Watching(Watched, Arc<dyn Clock>);

impl Sink<u64> for Watched {
    type Writer = Watching;
    fn name(&self) -> &'static str {
        "watched"
    }
    fn open(&self, cx: &mut OpenCx) -> Result<Watching> {
        Ok(Watching(self.clone(), Arc::clone(cx.clock())))
    }
}

impl Writer<u64> for Watching {
    fn write(&mut self, item: u64, _: Timestamp) -> Result<()> {
        self.0.0.lock().expect("a lock").push((item, self.1.ticks()));
        Ok(())
    }
    fn finish(self) -> Result<Option<Box<dyn Commit>>> {
        Ok(None)
    }
}

const CREDIT_MS: i64 = 10;

/// The first pair of records that is closer than the rate allows.
fn too_fast(ticks: &[i64], rate: i64) -> Option<(usize, usize)> {
    let pairs = (0..ticks.len()).flat_map(|i| (i..ticks.len()).map(move |j| (i, j)));
    let allowed = |i: usize, j: usize| (ticks[j] - ticks[i] + CREDIT_MS) * rate / 1000 + 1;
    pairs.into_iter().find(|(i, j)| (j - i + 1) as i64 > allowed(*i, *j))
}

/// When each record goes, one after the other: not before it is there, nor before the rate allows, nor before the one in front.
fn naive(there: impl Iterator<Item = i64>, rate: i64) -> Vec<i64> {
    let mut slot = 0;
    let goes = |there: i64| {
        slot = (there - CREDIT_MS).saturating_mul(rate).max(slot);
        let at = (there * rate).max(slot);
        slot += 1000;
        (at + rate - 1) / rate
    };
    let mut goes: Vec<i64> = there.map(goes).collect();
    for i in 1..goes.len() {
        goes[i] = goes[i].max(goes[i - 1]);
    }
    goes
}

fn config() -> ProptestConfig {
    let cases = std::env::var("FLOW_RANDOM_CASES").map_or(100, |text| text.parse().expect("a number"));
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn one_instance_goes_when_the_model_does(
        n in 1u64..60, comes in 1u64..3_000, rate in 1u64..3_000, batch in 1usize..40, seed in any::<u64>(),
    ) {
        let seen = Watched::default();
        let job = Job::build("rate", |job| {
            job.add(source(generate(n, |i| i).rate(comes)).rate_limit(rate).sink(seen.clone()));
        });
        job.batch_size(batch).simulate(seed).expect("it ends");
        let seen = std::mem::take(&mut *seen.0.lock().expect("a lock"));
        prop_assert_eq!(seen.iter().map(|s| s.0).collect::<Vec<_>>(), (0..n).collect::<Vec<_>>());
        let ticks: Vec<i64> = seen.iter().map(|s| s.1).collect();
        let there = (0..n as i64).map(|i| (i * 1000 + comes as i64 - 1) / comes as i64);
        prop_assert_eq!(too_fast(&ticks, rate as i64), None);
        prop_assert_eq!(&ticks, &naive(there, rate as i64));
    }

    #[test]
    fn several_instances_share_the_rate_and_watermarks_keep_their_place(
        n in 1u64..200, rate in 1u64..3_000, parallelism in 1usize..4, splits in 1usize..4, batch in 1usize..40, seed in any::<u64>(),
    ) {
        let run = |limited: bool| {
            let (seen, out) = (Watched::default(), Collected::new());
            let job = Job::build("rate", |job| {
                let numbers = source(generate(n, |i| i).splits(splits)).event_time(|i| *i as i64 * 10).monotonic().rebalance();
                let numbers = if limited { numbers.rate_limit(rate).boxed() } else { numbers.boxed() };
                let untimed = numbers.root().sink(seen.clone());
                let sums = numbers.root().window(tumbling(Millis(50))).sum(|i| *i).map(|w| (w.start, w.value)).collect(&out);
                job.add(numbers.tee(|o| o.both(untimed, sums)));
            });
            job.parallelism(parallelism).batch_size(batch).simulate(seed).expect("it ends");
            let mut rows = out.take();
            rows.sort_unstable();
            (std::mem::take(&mut *seen.0.lock().expect("a lock")), rows)
        };
        let ((seen, rows), (_, expected)) = (run(true), run(false));
        prop_assert_eq!(rows, expected);
        let mut ticks: Vec<i64> = seen.iter().map(|s| s.1).collect();
        ticks.sort_unstable();
        prop_assert_eq!(ticks.len() as u64, n);
        prop_assert_eq!(too_fast(&ticks, rate as i64), None);
    }
}

#[test]
fn threads_sleep_in_between_and_lose_nothing() {
    for host in [HostKind::Threads, HostKind::Workers(1), HostKind::Workers(2)] {
        let out = Collected::new();
        let job = Job::build("rate", |job| {
            job.add(
                source(generate(60, |i| i))
                    .rebalance()
                    .rate_limit(200)
                    .key_by(|i| i % 3)
                    .count()
                    .collect(&out),
            );
        });
        let begun = std::time::Instant::now();
        let report = job.host(host).parallelism(2).run().expect("it ends");
        assert!(begun.elapsed() >= std::time::Duration::from_millis(280), "{host:?}");
        assert_eq!((out.take().len(), report.rescues), (60, 0), "{host:?}");
    }
}

#[test]
fn a_job_that_is_stopped_does_not_wait_for_the_rate() {
    let out = Collected::new();
    let job =
        Job::build("rate", |job| job.add(source(generate(u64::MAX, |i| i)).rate_limit(1).collect(&out)));
    let handle = job.start().expect("it starts");
    while handle.metrics()[0].records_in == 0 {}
    let begun = std::time::Instant::now();
    handle.stop();
    let report = handle.join().expect("it ends");
    assert!(begun.elapsed() < std::time::Duration::from_secs(5));
    assert_eq!(out.take().len() as u64, report.stages[0].records_in, "what was read goes on");
}

#[test]
fn a_rate_of_none_is_refused() {
    let job = Job::build("rate", |job| job.add(source(from_iter(0..1)).rate_limit(0).for_each(|_| ())));
    let error = job.run().expect_err("nothing would pass").to_string();
    assert!(
        error.contains("rate_limit") && error.contains("a rate of 0: nothing would ever pass"),
        "{error}"
    );
}
