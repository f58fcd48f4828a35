//! `.process({ … })`, and a process that is given as a value.

use flow_core::prelude::*;

#[derive(Clone, Debug, PartialEq)]
struct Payment {
    at: i64,
    account: &'static str,
    cents: u64,
}

const fn pay(at: i64, account: &'static str, cents: u64) -> Payment {
    Payment { at, account, cents }
}

dataflow! {
    /// A payment that is much larger than the one before it, unless the account has been silent since.
    fn large_after_small(payments: Vec<Payment>, factor: u64, alerts: Collected<(&'static str, u64, i64)>) {
        let payments = source(from_vec(payments)).event_time(|p| p.at, disorder = 0ms);
        let alerts_found = payments.key_by(|p| p.account).process({
            let mut last: Option<u64> = None;
            let mut count: u64 = factor.saturating_sub(10);
            on_event(|payment, ctx| {
                *count += 1;
                if let Some(before) = *last
                    && payment.cents > before * factor
                {
                    ctx.emit((*ctx.key(), *count, ctx.timestamp().millis()));
                }
                *last = Some(payment.cents);
                ctx.set_timer(ctx.timestamp() + 100ms);
            });
            on_timer(|t, ctx| {
                if t == ctx.watermark() {
                    *last = None;
                }
            });
        });
        alerts_found.collect(&alerts);
    }

    /// How many different amounts an account has seen within an hour, and which were its last two.
    fn amounts(payments: Vec<Payment>, seen_by: Collected<(&'static str, usize, Vec<u64>, Option<u64>)>) {
        let payments = source(from_vec(payments)).event_time(|p| p.at, disorder = 0ms);
        payments
            .key_by(|p| p.account)
            .process({
                #[ttl(1h, on = watermark)]
                let mut seen: MapState<u64, ()> = MapState::new();
                let mut two: ListState<u64> = ListState::new();
                #[ttl(1min, on = watermark, renew = read)]
                let mut first: Option<u64> = None;
                on_event(|payment, ctx| {
                    seen.insert(payment.cents, ());
                    two.push(payment.cents);
                    if two.len() > 2 {
                        two.pop_front();
                    }
                    if first.is_none() {
                        *first = Some(payment.cents);
                    }
                    ctx.emit((payment.account, seen.len(), two.iter().copied().collect(), *first));
                });
            })
            .collect(&seen_by);
    }

    fn refused(payments: Vec<Payment>) {
        source(from_vec(payments))
            .key_by(|p| p.account)
            .process({
                on_event(|payment, ctx| {
                    if payment.cents == 0 {
                        return Err(format!("{} pays nothing", payment.account));
                    }
                    ctx.emit(payment);
                    Ok(())
                });
            })
            .for_each(|_| ());
    }

    fn later(payments: Vec<Payment>, told: Collected<(&'static str, bool)>) {
        source(from_vec(payments))
            .key_by(|p| p.account)
            .process({
                on_event(|_, ctx| {
                    ctx.set_processing_timer(ctx.now() + 5ms);
                });
                on_processing_timer(|t, ctx| {
                    let key = *ctx.key();
                    let passed = ctx.now() > t;
                    ctx.emit((key, passed));
                });
            })
            .collect(&told);
    }
}

#[test]
fn states_and_timers_of_a_key() {
    let payments =
        vec![pay(0, "a", 10), pay(50, "a", 500), pay(60, "b", 1), pay(200, "b", 900), pay(260, "b", 9_900)];
    let alerts = Collected::new();
    large_after_small(payments, 10, alerts.clone()).run().unwrap();
    assert_eq!(alerts.take(), [("a", 2, 50), ("b", 2, 200)]);
}

#[test]
fn states_that_expire() {
    let hour = 3_600_000;
    let payments = vec![
        pay(0, "a", 10),
        pay(1, "a", 20),
        pay(30_000, "a", 10),
        pay(80_000, "a", 30),
        pay(hour + 30_000, "a", 40),
        pay(hour + 30_002, "b", 1),
    ];
    let seen = Collected::new();
    let report = amounts(payments, seen.clone()).run().unwrap();
    let expected = [
        ("a", 1, vec![10], Some(10)),
        ("a", 2, vec![10, 20], Some(10)),
        ("a", 2, vec![20, 10], Some(10)),
        ("a", 3, vec![10, 30], Some(10)),
        ("a", 4, vec![30, 40], Some(10)),
        ("b", 1, vec![1], Some(1)),
    ];
    assert_eq!(seen.take(), expected);
    assert_eq!(report.counter("payments/process.expired"), 4, "{report}");
}

#[test]
fn an_error_of_a_closure_ends_the_job() {
    let error = refused(vec![pay(0, "a", 1), pay(0, "b", 0)]).run().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("b pays nothing") && text.contains("process"), "{text}");
}

#[test]
fn what_is_open_on_the_clock_at_the_end_is_told() {
    let told = Collected::new();
    let job = later(vec![pay(0, "a", 1), pay(0, "b", 0)], told.clone());
    job.simulate(3).unwrap();
    let mut told = told.take();
    told.sort_unstable();
    assert_eq!(told, [("a", false), ("b", false)]);
}

dataflow! {
    /// What an account may spend is said by another stream; a payment waits until it is said.
    fn limited(payments: Vec<Payment>, limits: Vec<(&'static str, u64)>, rows: Collected<(&'static str, u64, bool)>) {
        let limits = source(from_vec(limits)).event_time(|_| 0, disorder = 0ms);
        let payments = source(from_vec(payments)).event_time(|p| p.at, disorder = 0ms);
        let judged = payments.key_by(|p| p.account).connect(limits.key_by(|l| l.0)).process({
            let mut limit: Option<u64> = None;
            let mut waiting: ListState<u64> = ListState::new();
            on_right(|(account, most), ctx| {
                *limit = Some(most);
                for cents in waiting.iter() {
                    ctx.emit((account, *cents, *cents <= most));
                }
                waiting.clear();
            });
            on_left(|payment, ctx| {
                match *limit {
                    Some(most) => ctx.emit((payment.account, payment.cents, payment.cents <= most)),
                    None => waiting.push(payment.cents),
                }
                ctx.set_timer(Timestamp(1_000));
            });
            on_timer(|_, ctx| {
                let account = *ctx.key();
                waiting.iter().for_each(|cents| ctx.emit((account, *cents, false)));
                waiting.clear();
            });
        });
        judged.collect(&rows);
    }

    /// A diamond: both streams are one.
    fn both_ways(numbers: Vec<u64>, rows: Collected<(u64, i64)>) {
        let numbers = source(from_vec(numbers));
        let even = numbers.filter(|n| n % 2 == 0).key_by(|n| n % 8);
        even.connect(numbers.key_by(|n| n % 8))
            .process({
                let mut more: i64 = 0;
                on_left(|_, _| *more += 1);
                on_right(|n, ctx| {
                    *more -= 1;
                    ctx.emit((n, *more));
                });
            })
            .map(|(n, _)| (n, 0))
            .collect(&rows);
    }
}

#[test]
fn two_streams_share_the_state_of_a_key() {
    let payments = vec![pay(0, "a", 10), pay(5, "b", 20), pay(10, "a", 50), pay(20, "c", 1)];
    let expected = vec![("a", 10, true), ("a", 50, false), ("b", 20, false), ("c", 1, false)];
    for parallelism in [1, 3] {
        for seed in 0..20 {
            let rows = Collected::new();
            let job = limited(payments.clone(), vec![("a", 20), ("b", 19)], rows.clone());
            job.parallelism(parallelism).batch_size(3).simulate(seed).unwrap();
            let mut rows = rows.take();
            rows.sort_unstable();
            assert_eq!(rows, expected, "seed {seed}");
        }
    }
}

#[test]
fn a_diamond_of_two_connected_streams_ends() {
    let rows = Collected::new();
    for host in [HostKind::Threads, HostKind::Workers(1), HostKind::Workers(2)] {
        for ring in [1, 8] {
            let job = both_ways((0..20_000).collect(), rows.clone());
            job.host(host).parallelism(2).batch_size(16).ring_batches(ring).run().unwrap();
            let mut numbers = rows.take();
            numbers.sort_unstable();
            assert_eq!(numbers, (0..20_000).map(|n| (n, 0)).collect::<Vec<_>>());
        }
    }
}
