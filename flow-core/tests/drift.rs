//! Sources that wait for each other: nobody is far ahead, nobody waits for ever, and what waits for the slowest stays small.

use flow_core::prelude::*;
use proptest::prelude::*;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::task::{Context, Poll};
use std::time::Duration;

/// A source: so many records, so far apart in event time, at a rate or as fast as it is read, idle after a while or never.
#[derive(Debug, Clone, Copy)]
struct Feed {
    records: u64,
    apart: i64,
    per_second: Option<u64>,
    idle: Option<i64>,
}

/// How far the records of each source have come; one that is at its end is at the end of time.
#[derive(Clone)]
struct Places(Arc<Vec<AtomicI64>>);

impl Places {
    fn of(feeds: &[Feed]) -> Self {
        Places(Arc::new(feeds.iter().map(|_| AtomicI64::new(-1)).collect()))
    }

    /// Source `n` is at `time`; how far that is ahead of the one behind.
    fn ahead(&self, n: usize, time: i64) -> i64 {
        self.0[n].store(time, SeqCst);
        time.saturating_sub(self.0.iter().map(|place| place.load(SeqCst)).min().unwrap_or(time))
    }
}

/// The union of all feeds, and the largest distance that was seen between two.
fn build(job: &mut Job, feeds: &[Feed], align: Option<i64>, most: &Arc<AtomicI64>, out: &Collected<u64>) {
    let places = Places::of(feeds);
    let mut streams = Vec::new();
    for (n, feed) in feeds.iter().copied().enumerate() {
        let numbers = generate(feed.records, move |i| i as i64 * feed.apart);
        let (places, most) = (places.clone(), Arc::clone(most));
        let last = (feed.records - 1) as i64 * feed.apart;
        let seen = move |t: &i64| {
            most.fetch_max(places.ahead(n, *t), SeqCst);
            if *t == last {
                places.ahead(n, i64::MAX);
            }
        };
        // Right at the source: a box between would hold records back.
        macro_rules! timed {
            ($numbers:expr) => {{
                let mut timed = source($numbers).event_time(|t| *t).monotonic();
                if let Some(align) = align {
                    timed = timed.align(Millis(align));
                }
                if let Some(idle) = feed.idle {
                    timed = timed.idle(Millis(idle));
                }
                timed.inspect(seen).boxed()
            }};
        }
        streams.push(match feed.per_second {
            Some(rate) => timed!(numbers.rate(rate)),
            None => timed!(numbers),
        });
    }
    let mut all = streams.into_iter();
    let first = all.next().expect("there are feeds");
    let union = all.fold(first, |all, next| all.union(next).boxed());
    job.add(union.window(tumbling(Millis(50))).count().map(|w| w.value).collect(out));
}

const BATCH: usize = 8;

fn feeds() -> impl Strategy<Value = Vec<Feed>> {
    let rate = prop_oneof![2 => Just(None), 1 => (1u64..2_000).prop_map(Some)];
    let idle = prop_oneof![2 => Just(None), 1 => (1i64..200).prop_map(Some)];
    let feed = (1u64..200, 1i64..20, rate, idle);
    let feed = feed.prop_map(|(records, apart, per_second, idle)| Feed { records, apart, per_second, idle });
    proptest::collection::vec(feed, 2..5)
}

fn config() -> ProptestConfig {
    let cases = std::env::var("FLOW_RANDOM_CASES").map_or(100, |text| text.parse().expect("a number"));
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn aligned_sources_stay_together_and_all_of_them_end(
        feeds in feeds(), align in 0i64..300, seed in any::<u64>(), parallelism in 1usize..3,
    ) {
        let (most, out) = (Arc::new(AtomicI64::new(0)), Collected::new());
        let job = Job::build("drift", |job| build(job, &feeds, Some(align), &most, &out));
        job.parallelism(parallelism).batch_size(BATCH).simulate(seed).expect("nobody waits for ever");
        let all: u64 = feeds.iter().map(|feed| feed.records).sum();
        // An idle source holds nobody, and then is behind.
        let idle = feeds.iter().any(|feed| feed.idle.is_some());
        prop_assert!(out.take().iter().sum::<u64>() == all || idle);
        let apart = feeds.iter().map(|feed| feed.apart).max().unwrap_or(0);
        let limit = align + apart * (BATCH as i64 + 2);
        prop_assert!(idle || most.load(SeqCst) <= limit, "{} ahead, of {limit}", most.load(SeqCst));
    }
}

#[test]
fn what_waits_for_the_slowest_is_small_only_when_they_are_aligned() {
    let feeds = [
        Feed { records: 1_000, apart: 10, per_second: Some(1_000), idle: None },
        Feed { records: 10_000, apart: 1, per_second: None, idle: None },
    ];
    let run = |align| {
        let (most, out) = (Arc::new(AtomicI64::new(0)), Collected::new());
        let job = Job::build("drift", |job| build(job, &feeds, align, &most, &out));
        job.batch_size(BATCH).simulate(3).expect("it runs");
        assert_eq!(out.take().iter().sum::<u64>(), 11_000);
        most.load(SeqCst)
    };
    let aligned = run(Some(100));
    assert!(aligned < 200, "{aligned}");
    assert!(run(None) > 9_000, "without, all of the fast source waits");
}

#[test]
fn threads_wake_each_other() {
    for host in [HostKind::Threads, HostKind::Workers(1), HostKind::Workers(2)] {
        let feeds = [
            Feed { records: 20_000, apart: 1, per_second: None, idle: None },
            Feed { records: 2_000, apart: 10, per_second: None, idle: None },
            Feed { records: 200, apart: 100, per_second: Some(2_000), idle: None },
        ];
        let (most, out) = (Arc::new(AtomicI64::new(0)), Collected::new());
        let job = Job::build("drift", |job| build(job, &feeds, Some(50), &most, &out));
        let report = job.host(host).batch_size(BATCH).run().expect("it runs");
        assert_eq!(out.take().iter().sum::<u64>(), 22_200, "{host:?}");
        assert_eq!(report.rescues, 0, "{host:?}");
    }
}

#[test]
fn stopping_ends_a_source_that_is_held() {
    let job = Job::build("stop", |job| {
        let slow =
            source(generate(u64::MAX, |_| 0i64).rate(1)).event_time(|t| *t).monotonic().align(Millis(5));
        let fast = source(generate(u64::MAX, |i| i as i64)).event_time(|t| *t).monotonic().align(Millis(5));
        job.add(slow.union(fast).for_each(|_| ()));
    });
    let handle = job.start().expect("it starts");
    while handle.metrics().iter().map(|stage| stage.records_in).sum::<u64>() == 0 {}
    handle.stop();
    assert!(handle.join().is_ok());
}

#[test]
fn only_a_source_can_wait() {
    fn refused(build: impl FnOnce(&mut Job)) -> String {
        let error = Job::build("refused", build).run().expect_err("it cannot be kept");
        error.to_string()
    }
    let behind = refused(|job| {
        let timed = source(from_vec(vec![1i64])).rebalance().event_time(|t| *t).monotonic().align(Millis(5));
        job.add(timed.for_each(|_| ()));
    });
    assert!(behind.contains("`align` cannot be kept here: it stands behind an exchange"), "{behind}");
    assert!(behind.contains("event_time") && behind.contains("drift.rs:"), "{behind}");
    let twice = refused(|job| {
        let once = source(from_vec(vec![1i64])).event_time(|t| *t).monotonic().align(Millis(5));
        job.add(once.event_time(|t| *t).monotonic().align(Millis(5)).for_each(|_| ()));
    });
    assert!(twice.contains("aligned by another `event_time` already"), "{twice}");
    let negative = refused(|job| {
        job.add(
            source(from_vec(vec![1i64])).event_time(|t| *t).monotonic().align(Millis(-5)).for_each(|_| ()),
        );
    });
    assert!(negative.contains("an align of -5ms: it cannot be negative"), "{negative}");
}

/// A source that is held does not hold what is fused behind it: requests are answered in time, what was held back is released.
#[test]
fn what_stands_behind_a_held_source_goes_on() {
    struct Twice(u32);
    impl Future for Twice {
        type Output = ();
        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            if self.0 == 0 {
                return Poll::Ready(());
            }
            self.0 -= 1;
            let waker = cx.waker().clone();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(5));
                waker.wake();
            });
            Poll::Pending
        }
    }
    for host in [HostKind::Threads, HostKind::Workers(1)] {
        for limited in [false, true] {
            let (out, behind) = (Collected::new(), Arc::new(AtomicI64::new(0)));
            let job = Job::build("held", |job| {
                let fast =
                    source(from_iter(0..20i64)).event_time(|n| *n * 100).monotonic().align(Millis(100));
                let slow = source(generate(3, |i| i as i64 * 1_000).rate(4));
                let slow = slow.event_time(|n| *n).monotonic().align(Millis(100));
                let ask = |n: i64| async move {
                    Twice(2).await;
                    n
                };
                let fast = if limited {
                    fast.rate_limit(100).boxed()
                } else {
                    fast.async_map(ask, Millis(150)).instead(|_| -1).boxed()
                };
                let seen = Arc::clone(&behind);
                // How many of the fast source had come before the second of the slow one.
                let fast = fast.inspect(move |_| {
                    seen.fetch_add(1, SeqCst);
                });
                let (seen, out) = (behind, out.clone());
                let slow = slow.filter(|n| *n == 1_000).map(move |n| n + seen.load(SeqCst));
                job.add(fast.union(slow).collect(&out));
            });
            let report = job.host(host).batch_size(4).run().expect("it runs");
            if !limited {
                assert_eq!(report.counter("async_map.timeouts"), 0, "{host:?}");
            }
            let rows = out.take();
            assert!(
                rows.len() == 21 && rows.iter().any(|n| *n > 1_000 + 1 && *n < 1_020),
                "{host:?}: {rows:?}"
            );
        }
    }
}

/// How far the quick input of a union had come when the first window fired, with another that falls silent after its first record.
fn silence(build: impl FnOnce(&mut Job, Collected<u64>, Arc<AtomicI64>)) -> u64 {
    let out = Collected::new();
    let job = Job::build("silence", |job| build(job, out.clone(), Arc::default()));
    job.simulate(1).expect("it ends");
    out.take()[0]
}

#[test]
fn silence_begins_with_the_last_record() {
    let first = silence(|job, out, tick| {
        let slow = source(generate(3, |i| i as i64).rate(1)).event_time(|t| *t).monotonic().idle(Millis(300));
        let seen = Arc::clone(&tick);
        let quick =
            source(generate(3_000, |i| i as i64).rate(1_000)).inspect(move |t| seen.store(*t, SeqCst));
        let quick = quick.event_time(|t| *t).monotonic();
        let windows = slow.union(quick).window(tumbling(Millis(10))).count();
        job.add(windows.map(move |_| tick.load(SeqCst) as u64).collect(&out));
    });
    assert!((290..=320).contains(&first), "{first}");
}

/// A source of which nothing comes to `event_time` is silent, however busy it is.
#[test]
fn a_source_that_is_always_busy_falls_silent() {
    for host in [HostKind::Threads, HostKind::Workers(1)] {
        let out = Collected::new();
        let job = Job::build("busy", |job| {
            let none = source(generate(u64::MAX, |i| i as i64)).filter(|n| *n < 0);
            let none = none.event_time(|n| *n).monotonic().idle(Millis(50));
            let live = source(generate(u64::MAX, |i| i as i64).rate(1_000)).event_time(|n| *n).monotonic();
            job.add(none.union(live).window(tumbling(Millis(10))).count().take(3).collect(&out));
        });
        let running = job.host(host).start().expect("it starts");
        // Far more than it takes: the first window is due after 50 ms.
        let mut windows = Vec::new();
        for _ in 0..1_000 {
            windows.extend(out.take());
            if !windows.is_empty() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        running.stop();
        running.join().expect("it ends");
        assert!(!windows.is_empty(), "{host:?}: no window has fired");
    }
}

/// Windows by the clock give results while their input is silent: what is silent is not what has event time behind them.
#[test]
fn silence_is_that_of_the_last_event_time() {
    let out = Collected::new();
    let job = Job::build("twice", |job| {
        let slow =
            source(generate(20, |i| i as i64).rate(2)).event_time(|t| *t).monotonic().idle(Millis(100));
        let by_clock = slow.window(sliding(Millis(2_000), Millis(50)).time(processing)).count();
        let ends = by_clock.map(|w| w.end.0).event_time(|t| *t).monotonic();
        let others =
            source(generate(20_000, |i| i as i64 + 300)).rate_limit(1_000).event_time(|t| *t).monotonic();
        job.add(ends.union(others).window(tumbling(Millis(200))).count().map(|w| w.value).collect(&out));
    });
    assert_eq!(job.simulate(1).expect("it ends").late(), 0);
}

#[test]
fn a_bound_beside_another_strategy_is_refused() {
    let timed = || source(from_vec(vec![1i64])).event_time(|t| *t);
    let disorder = Job::build("both", |job| {
        job.add(timed().disorder(Millis(5)).punctuated(|t| Some(*t)).for_each(|_| ()));
    });
    let error = disorder.run().expect_err("it says both").to_string();
    assert!(error.contains("`disorder` beside another strategy: watermark = the highest that"), "{error}");
    let ahead = Job::build("both", |job| {
        job.add(timed().max_ahead(Millis(5)).punctuated(|t| Some(*t)).for_each(|_| ()));
    });
    let error = ahead.run().expect_err("it says both").to_string();
    assert!(error.contains("`max_ahead` beside another strategy"), "{error}");
}
