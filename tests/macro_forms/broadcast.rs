//! `.connect_broadcast(rules).process({ … })`, and a process that is given as a value behind it.

use flow_core::op::operator::OpError;
use flow_core::prelude::*;
use std::collections::BTreeMap;

/// Account, cents, time.
type Payment = (&'static str, u64, i64);
/// Account, time, how many payments, what may be spent there.
type Row = (&'static str, i64, u32, Option<u64>);

dataflow! {
    /// What an account may spend changes with time; ten milliseconds after a payment it is known what was valid.
    fn limited(payments: Vec<Payment>, limits: Vec<(&'static str, u64, i64)>, rows: Collected<Row>) {
        let limits = source(from_vec(limits)).event_time(|l| l.2, disorder = 0ms);
        let payments = source(from_vec(payments)).event_time(|p| p.2, disorder = 0ms);
        let judged = payments.key_by(|p| p.0).connect_broadcast(limits).process({
            #[broadcast]
            let mut limits: BTreeMap<(&'static str, i64), u64> = BTreeMap::new();
            let mut count: u32 = 0;
            #[ttl(1h, on = watermark)]
            let mut last: Option<u64> = None;
            on_broadcast(|(account, most, time), ctx| {
                assert_eq!(ctx.timestamp().millis(), time);
                limits.insert((account, time), most);
            });
            on_event(|payment, ctx| {
                *count += 1;
                *last = Some(payment.1 + limits.len() as u64);
                ctx.set_timer(ctx.timestamp() + 10ms);
            });
            on_timer(|t, ctx| {
                assert!(last.is_some());
                let account = *ctx.key();
                let valid = limits.range((account, i64::MIN)..=(account, t.millis())).next_back();
                ctx.emit((account, t.millis(), *count, valid.map(|limit| *limit.1)));
            });
        });
        judged.collect(&rows);
    }

    /// A diamond: both streams are one.
    fn beside_itself(numbers: Vec<u64>, rows: Collected<u64>) {
        let numbers = source(from_vec(numbers));
        let even = numbers.filter(|n| n % 2 == 0).key_by(|n| n % 8);
        even.connect_broadcast(numbers)
            .process({
                #[broadcast]
                let mut largest: u64 = 0;
                on_event(|n, ctx| {
                    if *largest <= 20_000 {
                        ctx.emit(n);
                    }
                });
                on_broadcast(|n, _| *largest = n.max(*largest));
            })
            .collect(&rows);
    }

    fn by_value(numbers: Vec<u64>, more: Vec<u64>, rows: Collected<u64>) {
        let more = source(from_vec(more));
        let sums = source(from_vec(numbers)).key_by(|n| n % 3).connect_broadcast(more).process(AtTheEnd);
        sums.collect(&rows);
    }
}

/// What a key has come to, and what all get, when all is there.
#[derive(Clone)]
struct AtTheEnd;

impl BroadcastProcess<u64, u64, u64, ()> for AtTheEnd {
    type State = u64;
    type Shared = u64;
    type Out = u64;
    type Timers = ProcessingTimers;
    fn state(&self) -> u64 {
        0
    }
    fn shared(&self) -> u64 {
        0
    }
    fn event(
        &mut self,
        n: u64,
        sum: &mut u64,
        _: &u64,
        ctx: &mut ProcessContext<'_, u64, u64, (), ProcessingTimers>,
    ) -> Result<(), OpError> {
        *sum += n;
        ctx.set_processing_timer(Timestamp(i64::MAX - 1));
        Ok(())
    }
    fn broadcast(&mut self, n: u64, all: &mut u64, _: &BroadcastContext<()>) -> Result<(), OpError> {
        *all += n;
        Ok(())
    }
    fn processing_timer(
        &mut self,
        _: Timestamp,
        sum: &mut u64,
        all: &u64,
        ctx: &mut ProcessContext<'_, u64, u64, (), ProcessingTimers>,
    ) -> Result<(), OpError> {
        ctx.emit(*sum * 1_000 + *all);
        Ok(())
    }
}

#[test]
fn timers_know_what_every_instance_has() {
    let payments = vec![("a", 10, 0), ("b", 20, 5), ("a", 50, 10), ("c", 1, 20)];
    let limits = vec![("a", 20, 2), ("b", 19, 3), ("a", 70, 20), ("a", 80, 21)];
    let expected = vec![("a", 10, Some(20)), ("a", 20, Some(70)), ("b", 15, Some(19)), ("c", 30, None)];
    for parallelism in [1, 3] {
        for seed in 0..20 {
            let rows = Collected::new();
            let job = limited(payments.clone(), limits.clone(), rows.clone());
            job.parallelism(parallelism).batch_size(3).simulate(seed).unwrap();
            let mut rows: Vec<_> = rows.take().into_iter().map(|row| (row.0, row.1, row.3)).collect();
            rows.sort_unstable();
            assert_eq!(rows, expected, "seed {seed}");
        }
    }
}

#[test]
fn a_diamond_of_a_stream_beside_itself_ends() {
    for host in [HostKind::Threads, HostKind::Workers(1), HostKind::Workers(2)] {
        for ring in [1, 8] {
            let rows = Collected::new();
            let job = beside_itself((0..20_000).collect(), rows.clone());
            job.host(host).parallelism(2).batch_size(16).ring_batches(ring).run().unwrap();
            let mut numbers = rows.take();
            numbers.sort_unstable();
            assert_eq!(numbers, (0..20_000).filter(|n| n % 2 == 0).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_process_that_is_a_value() {
    for parallelism in [1, 2, 4] {
        let rows = Collected::new();
        let job = by_value(vec![1, 2, 3, 4], vec![5, 6, 7], rows.clone());
        job.parallelism(parallelism).run().unwrap();
        let mut sums = rows.take();
        sums.sort_unstable();
        assert_eq!(sums, [2_018, 3_018, 5_018]);
    }
}

#[test]
fn the_plan_names_the_states_of_a_key() {
    let explained = limited(Vec::new(), Vec::new(), Collected::new()).explain().expect("a plan");
    assert!(explained.contains("states: count, last (ttl 1h on the watermark)"), "{explained}");
}
