//! `async_map` and `try_async_map`: futures of every kind, in simulations and on threads, against `map`.

use flow_core::prelude::*;
use proptest::prelude::*;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A future that is ready after so many polls, each of which it asks for itself.
struct After(u32);

impl Future for After {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// How a request goes, by its tries.
#[derive(Debug, Clone, Copy)]
struct Plan {
    polls: u32,
    /// So many tries are never answered, then so many give an error.
    lost: u32,
    broken: u32,
}

#[derive(Clone)]
struct Server(Arc<Mutex<Vec<(Plan, u32)>>>, Arc<AtomicUsize>, Arc<AtomicUsize>);

/// A request under way: it counts how many there are.
struct Counted(Server);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.1.fetch_sub(1, SeqCst);
    }
}

impl Server {
    fn new(plans: &[Plan]) -> Self {
        let plans = plans.iter().map(|plan| (*plan, 0)).collect();
        Server(Arc::new(Mutex::new(plans)), Arc::default(), Arc::default())
    }

    async fn get(self, i: usize) -> Result<usize, String> {
        let under_way = self.1.fetch_add(1, SeqCst) + 1;
        self.2.fetch_max(under_way, SeqCst);
        let _counted = Counted(self.clone());
        let (plan, tried) = {
            let mut plans = self.0.lock().expect("a lock");
            plans[i].1 += 1;
            (plans[i].0, plans[i].1 - 1)
        };
        After(plan.polls).await;
        if tried < plan.lost {
            std::future::pending::<()>().await;
        }
        if tried < plan.lost + plan.broken { Err(format!("no {i}")) } else { Ok(i * 10) }
    }
}

fn plan() -> impl Strategy<Value = Plan> {
    (prop_oneof![3 => 0u32..4, 1 => 60u32..200], 0u32..3, 0u32..3).prop_map(|(polls, lost, broken)| Plan {
        polls,
        lost,
        broken,
    })
}

fn config() -> ProptestConfig {
    let cases = std::env::var("FLOW_RANDOM_CASES").map_or(100, |text| text.parse().expect("a number"));
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Rows of windows, each with its answers in their order.
type Rows = Vec<(i64, Vec<usize>)>;

/// Windows over the answers, with `map` in place of requests where there is no server.
fn run(
    server: Option<(&Server, usize, bool)>,
    times: &[i64],
    parallelism: usize,
    batch: usize,
    seed: u64,
) -> (Rows, flow_core::metrics::Report) {
    let out = Collected::new();
    let job = Job::build("async", |job| {
        let records: Vec<(usize, i64)> = times.iter().copied().enumerate().collect();
        let timed = source(from_vec(records)).event_time(|r| r.1).disorder(Millis(3));
        let timed = if parallelism > 1 { timed.rebalance().boxed() } else { timed.boxed() };
        let answers = match server {
            None => timed.map(|r| r.0 * 10).boxed(),
            Some((server, capacity, ordered)) => {
                let server = server.clone();
                let asked = timed
                    .try_async_map(move |r| server.clone().get(r.0), Millis(50))
                    .capacity(capacity)
                    .retries(9);
                if ordered { asked.boxed() } else { asked.unordered().boxed() }
            }
        };
        let windows = answers.window(tumbling(Millis(10))).aggregate(|a| a.collect());
        job.add(windows.map(|w| (w.start.0, w.value)).collect(&out));
    });
    let report = job.parallelism(parallelism).batch_size(batch).simulate(seed).expect("it ends");
    (out.take(), report)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn answers_are_those_of_map_and_none_crosses_a_watermark(
        requests in proptest::collection::vec((plan(), -5i64..6), 0..40),
        capacity in 1usize..9, ordered in any::<bool>(), parallelism in 1usize..3, batch in 1usize..20, seed in any::<u64>(),
    ) {
        let plans: Vec<Plan> = requests.iter().map(|r| r.0).collect();
        let times: Vec<i64> = requests.iter().enumerate().map(|(i, r)| i as i64 * 2 + r.1).collect();
        let server = Server::new(&plans);
        let (rows, report) = run(Some((&server, capacity, ordered)), &times, parallelism, batch, seed);
        let (expected, plain) = run(None, &times, parallelism, batch, seed);
        // Nothing is late that would not have been, and nothing is lost.
        if parallelism == 1 {
            prop_assert_eq!(report.late(), plain.late());
        }
        let sorted = |rows: Rows| {
            let mut rows: Rows = rows.into_iter().map(|(start, mut v)| { v.sort_unstable(); (start, v) }).collect();
            rows.sort_unstable();
            rows
        };
        if parallelism == 1 && ordered {
            prop_assert_eq!(rows, expected);
        } else if parallelism == 1 {
            prop_assert_eq!(sorted(rows), sorted(expected));
        } else {
            let shown = |rows: &Rows| rows.iter().map(|r| r.1.len()).sum::<usize>();
            prop_assert_eq!(shown(&rows) as i64 + report.late(), times.len() as i64);
        }
        let (lost, broken) = plans.iter().fold((0, 0), |(l, b), p| (l + i64::from(p.lost), b + i64::from(p.broken)));
        prop_assert_eq!(report.counter("try_async_map.timeouts"), lost);
        prop_assert_eq!(report.counter("try_async_map.retries"), lost + broken);
        prop_assert!(server.2.load(SeqCst) <= capacity * parallelism, "{} under way", server.2.load(SeqCst));
        prop_assert_eq!(server.1.load(SeqCst), 0, "all futures are dropped");
    }
}

/// Requests that begin while their stage is only asked whether it has room have the time of its last step no more: each has all of
/// its own.
#[test]
fn no_request_has_less_than_its_time() {
    let plan = |polls, lost, broken| Plan { polls, lost, broken };
    let plans = [
        plan(64, 0, 2),
        plan(0, 1, 0),
        plan(0, 1, 0),
        plan(0, 2, 0),
        plan(126, 0, 0),
        plan(0, 1, 0),
        plan(128, 0, 0),
    ];
    let times = [0, 2, 2, 6, 8, 10, 12];
    for seed in 0..200 {
        let server = Server::new(&plans);
        let (_, report) = run(Some((&server, 3, false)), &times, 1, 11, seed);
        assert_eq!(report.counter("try_async_map.timeouts"), 5, "seed {seed}");
    }
}

#[test]
fn what_stands_in_for_an_answer() {
    let out = Collected::new();
    let job = Job::build("instead", |job| {
        let numbers = source(from_iter(0..6usize));
        let answers = numbers.async_map(
            |i| async move {
                if i % 3 == 1 {
                    std::future::pending::<()>().await;
                }
                format!("answer {i}")
            },
            Millis(50),
        );
        job.add(answers.retries(2).instead(|i: usize| format!("none {i}")).collect(&out));
    });
    let report = job.simulate(1).expect("it ends");
    assert_eq!(out.take(), ["answer 0", "none 1", "answer 2", "answer 3", "none 4", "answer 5"]);
    assert_eq!((report.counter("async_map.timeouts"), report.counter("async_map.retries")), (6, 4));
}

fn fails(build: impl FnOnce(&mut Job)) -> String {
    Job::build("fails", build).simulate(1).expect_err("it fails").to_string()
}

#[test]
fn failures_end_the_job_with_the_operator_and_the_cause() {
    let numbers = || source(from_iter(0..6usize));
    let lost = fails(|job| {
        job.add(
            numbers().async_map(|_| std::future::pending::<()>(), Millis(2_000)).retries(1).for_each(|()| ()),
        );
    });
    assert!(lost.contains("async_map") && lost.contains("a request was not answered within 2s"), "{lost}");
    assert!(lost.contains("instead = |record|"), "{lost}");
    let broken = fails(|job| {
        let answers = numbers()
            .try_async_map(|i| async move { if i == 3 { Err("no such number") } else { Ok(i) } }, Millis(9));
        job.add(answers.for_each(|_| ()));
    });
    assert!(broken.contains("try_async_map") && broken.contains("no such number"), "{broken}");
    let panics = fails(|job| {
        let answers =
            numbers().async_map(|i| async move { assert!(i != 2, "the future panicked") }, Millis(9));
        job.add(answers.for_each(|()| ()));
    });
    assert!(panics.contains("the future panicked") && panics.contains("async_map.rs:"), "{panics}");
}

#[test]
fn what_cannot_be_is_told_before_any_record_is_read() {
    let numbers = || source(from_iter(0..6usize));
    let timeout = fails(|job| job.add(numbers().async_map(|i| async move { i }, Millis(0)).for_each(|_| ())));
    assert!(
        timeout.contains("async_map") && timeout.contains("a timeout of 0ms: it has to be longer than zero"),
        "{timeout}"
    );
    let capacity = fails(|job| {
        job.add(numbers().async_map(|i| async move { i }, Millis(1)).capacity(0).for_each(|_| ()))
    });
    assert!(capacity.contains("a capacity of 0: it has to be at least 1 and at most 65536"), "{capacity}");
}

/// A future that another thread answers.
#[derive(Default)]
struct Remote {
    answer: Mutex<(Option<u64>, Option<Waker>)>,
}

struct Awaited(Arc<Remote>);

impl Future for Awaited {
    type Output = u64;
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u64> {
        let mut answer = self.0.answer.lock().expect("a lock");
        match answer.0 {
            Some(n) => Poll::Ready(n),
            None => {
                answer.1 = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

fn ask_a_thread(n: u64) -> Awaited {
    let remote = Arc::<Remote>::default();
    let answers = Arc::clone(&remote);
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(n % 4 * 5));
        let mut answer = answers.answer.lock().expect("a lock");
        answer.0 = Some(n * 10);
        if let Some(waker) = answer.1.take() {
            waker.wake();
        }
    });
    Awaited(remote)
}

#[test]
fn answers_from_other_threads_wake_the_stage() {
    for host in [HostKind::Threads, HostKind::Workers(1), HostKind::Workers(2)] {
        for ordered in [true, false] {
            let out = Collected::new();
            let job = Job::build("threads", |job| {
                let answers = source(from_iter(0..100u64))
                    .boundary()
                    .async_map(ask_a_thread, Millis(20_000))
                    .capacity(20);
                let answers = if ordered { answers.boxed() } else { answers.unordered().boxed() };
                job.add(answers.key_by(|n| *n).count().map(|r| r.0).collect(&out));
            });
            let report = job.host(host).run().expect("it ends");
            let mut rows = out.take();
            if !ordered {
                rows.sort_unstable();
            }
            assert_eq!(rows, (0..100).map(|n| n * 10).collect::<Vec<_>>(), "{host:?}");
            assert_eq!(report.rescues, 0, "{host:?}");
        }
    }
}

#[test]
fn a_stopped_job_waits_for_its_answers_and_no_longer() {
    let out = Collected::new();
    let job = Job::build("stop", |job| {
        let answers = source(generate(u64::MAX, |i| i)).async_map(ask_a_thread, Millis(20_000)).capacity(4);
        job.add(answers.collect(&out));
    });
    let running = job.start().expect("it starts");
    while running.metrics()[0].records_in == 0 {}
    running.stop();
    let report = running.join().expect("it ends");
    assert_eq!(out.take().len() as u64, report.stages[0].records_in);
}

#[test]
fn nobody_asks_when_enough_has_come() {
    let out = Collected::new();
    let job = Job::build("take", |job| {
        let answers = source(generate(u64::MAX, |i| i)).async_map(
            |i| async move {
                After((i % 3) as u32).await;
                i
            },
            Millis(50),
        );
        job.add(answers.take(5).collect(&out));
    });
    job.simulate(4).expect("it ends");
    assert_eq!(out.take(), [0, 1, 2, 3, 4]);
}

/// A future that is ready may still have rung: it is not polled again.
#[test]
fn an_error_that_rings_is_not_polled_again() {
    let (out, tries) = (Collected::new(), Arc::new(AtomicUsize::new(0)));
    let job = Job::build("rings", |job| {
        let ask = move |n: u64| {
            let tries = Arc::clone(&tries);
            async move {
                let tried = tries.fetch_add(1, SeqCst);
                std::future::poll_fn(move |cx| {
                    cx.waker().wake_by_ref();
                    Poll::Ready(if tried == 0 { Err("the first fails") } else { Ok(n) })
                })
                .await
            }
        };
        job.add(source(from_iter(0..3u64)).try_async_map(ask, Millis(1_000)).retries(2).collect(&out));
    });
    let report = job.simulate(1).expect("it ends");
    assert_eq!((out.take(), report.counter("try_async_map.retries")), (vec![0, 1, 2], 1));
}

/// Answers behind a slow one, or before a mark that waits for it, are held: the capacity bounds them too.
#[test]
fn no_more_begin_than_the_capacity_while_one_is_slow() {
    for ordered in [true, false] {
        let (out, begun, at_timeout) = (Collected::new(), Arc::new(AtomicUsize::new(0)), Arc::default());
        let seen = Arc::<AtomicUsize>::clone(&at_timeout);
        let job = Job::build("slow", |job| {
            let counted = Arc::clone(&begun);
            let ask = move |n: i64| {
                counted.fetch_add(1, SeqCst);
                async move {
                    if n == 0 {
                        std::future::pending::<()>().await;
                    }
                    n
                }
            };
            let timed = source(from_iter(0..1_000i64)).event_time(|n| *n).monotonic();
            let asked = timed.async_map(ask, Millis(50)).capacity(10).instead(move |n: i64| {
                seen.store(begun.load(SeqCst), SeqCst);
                n
            });
            let answers = if ordered { asked.boxed() } else { asked.unordered().boxed() };
            job.add(answers.window(tumbling(Millis(5))).count().map(|w| w.value).collect(&out));
        });
        job.simulate(1).expect("it ends");
        assert_eq!(out.take().iter().sum::<u64>(), 1_000);
        assert!(at_timeout.load(SeqCst) <= 10, "{} had begun, ordered: {ordered}", at_timeout.load(SeqCst));
    }
}
