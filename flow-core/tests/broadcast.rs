//! A keyed stream beside one that every instance reads. Which record of which stream comes first is open, so what is compared is what
//! a timer may know: all records of both streams that are not after it.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::op::operator::OpError;
use flow_core::prelude::*;
use proptest::prelude::*;
use std::result::Result;

/// Key and time.
type Event = (u8, i64);
/// Key, time of the timer, how many records of the key are not after it, and the numbers of those for all.
type Row = (u8, i64, usize, Vec<u32>);

/// After each record: what there was so long after it.
const WAIT: i64 = 3;

#[derive(Clone)]
struct Known;

impl BroadcastProcess<u8, Event, (u32, i64)> for Known {
    type State = Vec<i64>;
    type Shared = Vec<(u32, i64)>;
    type Out = Row;
    type Timers = EventTimers;
    fn state(&self) -> Vec<i64> {
        Vec::new()
    }
    fn shared(&self) -> Self::Shared {
        Vec::new()
    }
    fn event(
        &mut self,
        (_, time): Event,
        seen: &mut Vec<i64>,
        _: &Self::Shared,
        ctx: &mut ProcessContext<'_, u8, Row>,
    ) -> Result<(), OpError> {
        seen.push(time);
        ctx.set_timer(ctx.timestamp() + Millis(WAIT));
        Ok(())
    }
    fn broadcast(
        &mut self,
        rule: (u32, i64),
        rules: &mut Self::Shared,
        ctx: &BroadcastContext,
    ) -> Result<(), OpError> {
        if rule.0 == u32::MAX {
            return Err("a rule that nobody can follow".into());
        }
        assert_eq!(ctx.timestamp().millis(), rule.1);
        rules.push(rule);
        Ok(())
    }
    fn timer(
        &mut self,
        at: Timestamp,
        seen: &mut Vec<i64>,
        rules: &Self::Shared,
        ctx: &mut ProcessContext<'_, u8, Row>,
    ) -> Result<(), OpError> {
        let at = at.millis();
        let known = rules.iter().filter(|rule| rule.1 <= at).map(|rule| rule.0).collect();
        ctx.emit((*ctx.key(), at, seen.iter().filter(|time| **time <= at).count(), known));
        Ok(())
    }
}

fn naive(events: &[Event], rules: &[(u32, i64)]) -> Vec<Row> {
    let mut timers: Vec<Event> = events.iter().map(|(key, time)| (*key, time + WAIT)).collect();
    timers.sort_unstable();
    timers.dedup();
    let row = |(key, at): Event| {
        let seen = events.iter().filter(|event| event.0 == key && event.1 <= at).count();
        (key, at, seen, rules.iter().filter(|rule| rule.1 <= at).map(|rule| rule.0).collect())
    };
    timers.into_iter().map(row).collect()
}

fn sorted(out: &Collected<Row>) -> Vec<Row> {
    let mut rows = out.take();
    rows.sort();
    rows
}

fn two_streams(events: &[Event], rules: &[(u32, i64)], out: &Collected<Row>) -> Job {
    let (events, rules) = (events.to_vec(), rules.to_vec());
    Job::build("known", |job| {
        let events = source(from_vec(events)).event_time(|e| e.1).disorder(Millis(40));
        let rules = source(from_vec(rules)).event_time(|r| r.1).disorder(Millis(40));
        job.add(events.key_by(|e| e.0).connect_broadcast(rules).process(Known).collect(out));
    })
}

fn config() -> ProptestConfig {
    let cases = std::env::var("FLOW_RANDOM_CASES").map_or(100, |text| text.parse().expect("a number"));
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_timer_knows_all_that_is_not_after_it(
        events in proptest::collection::vec((0u8..9, 0i64..40), 0..40), times in proptest::collection::vec(0i64..40, 0..20),
        parallelism in 1usize..5, batch in 1usize..9, seed in any::<u64>(),
    ) {
        let rules: Vec<_> = times.into_iter().zip(0..).map(|(time, number)| (number, time)).collect();
        let out = Collected::new();
        let job = two_streams(&events, &rules, &out).parallelism(parallelism).batch_size(batch);
        job.simulate(seed).expect("it ends");
        prop_assert_eq!(sorted(&out), naive(&events, &rules));
    }
}

const HOSTS: [HostKind; 3] = [HostKind::Threads, HostKind::Workers(1), HostKind::Workers(2)];

#[test]
fn it_is_so_on_all_hosts() {
    let events: Vec<Event> = (0..500).map(|i| ((i % 7) as u8, i)).collect();
    let rules: Vec<_> = (0..30).map(|i| (i, i64::from(i) * 17)).collect();
    let expected = naive(&events, &rules);
    for (parallelism, host) in [1, 2, 4].into_iter().flat_map(|p| HOSTS.map(|host| (p, host))) {
        for batch in [1, 7, 1024] {
            let out = Collected::new();
            let job = two_streams(&events, &rules, &out).parallelism(parallelism).batch_size(batch);
            job.host(host).run().unwrap();
            assert!(sorted(&out) == expected, "{parallelism} {host:?} {batch}");
        }
    }
}

/// One stream is both: neither side may wait for the other for ever.
fn diamond(n: i64, out: &Collected<Row>) -> Job {
    Job::build("diamond", |job| {
        let all = source(from_vec((0..n).collect::<Vec<_>>())).event_time(|i| *i).disorder(Millis(0));
        let events = all.root().filter(|i| i % 50 != 0).map(|i| ((i % 7) as u8, i));
        // Many for all, of which few are rules.
        let rules = all.root().map(|i| (i as u32, i));
        let (left, right, both) = events.key_by(|e: &Event| e.0).connect_broadcast(rules).apart();
        job.add(all.tee(|o| o.both(left, right)));
        job.add(both.process(Known).filter(|row| row.1 % 500 == 0).collect(out));
    })
}

#[test]
fn a_diamond_ends() {
    const N: i64 = 3_000;
    let events: Vec<Event> = (0..N).filter(|i| i % 50 != 0).map(|i| ((i % 7) as u8, i)).collect();
    let rules: Vec<_> = (0..N).map(|i| (i as u32, i)).collect();
    let mut expected = naive(&events, &rules);
    expected.retain(|row| row.1 % 500 == 0);
    assert!(!expected.is_empty());
    for (parallelism, host) in [1, 2, 4].into_iter().flat_map(|p| HOSTS.map(|host| (p, host))) {
        for batch in [1, 1024] {
            let out = Collected::new();
            diamond(N, &out).parallelism(parallelism).batch_size(batch).host(host).run().unwrap();
            assert!(sorted(&out) == expected, "{parallelism} {host:?} {batch}");
        }
    }
    for seed in 0..20 {
        let out = Collected::new();
        diamond(N, &out).parallelism(2).batch_size(3).simulate(seed).expect("it ends");
        assert!(sorted(&out) == expected, "{seed}");
    }
}

#[test]
fn an_error_of_a_record_for_all_ends_the_job() {
    let out = Collected::new();
    let error = two_streams(&[(1, 1)], &[(u32::MAX, 1)], &out).parallelism(2).run().unwrap_err();
    assert!(error.to_string().contains("a rule that nobody can follow"), "{error}");
    assert!(error.to_string().contains("process"), "{error}");
}

/// Without event time; timers of the clock that are open at the end fire when all is there.
#[derive(Clone)]
struct AtTheEnd;

impl BroadcastProcess<u8, u8, u32, ()> for AtTheEnd {
    type State = usize;
    type Shared = u32;
    type Out = (u8, usize, u32);
    type Timers = ProcessingTimers;
    fn state(&self) -> usize {
        0
    }
    fn shared(&self) -> u32 {
        0
    }
    fn event(
        &mut self,
        _: u8,
        count: &mut usize,
        _: &u32,
        ctx: &mut ProcessContext<'_, u8, Self::Out, (), ProcessingTimers>,
    ) -> Result<(), OpError> {
        *count += 1;
        let never = ctx.now() + Millis(86_400_000);
        if *count == 1 {
            ctx.set_processing_timer(never);
        }
        Ok(())
    }
    fn broadcast(&mut self, n: u32, sum: &mut u32, _: &BroadcastContext<()>) -> Result<(), OpError> {
        *sum += n;
        Ok(())
    }
    fn processing_timer(
        &mut self,
        _: Timestamp,
        count: &mut usize,
        sum: &u32,
        ctx: &mut ProcessContext<'_, u8, Self::Out, (), ProcessingTimers>,
    ) -> Result<(), OpError> {
        ctx.emit((*ctx.key(), *count, *sum));
        Ok(())
    }
}

#[test]
fn timers_of_the_clock_see_all_at_the_end() {
    for (parallelism, host) in [1, 2, 4].into_iter().flat_map(|p| HOSTS.map(|host| (p, host))) {
        let out = Collected::new();
        let job = Job::build("end", |job| {
            let keys = source(from_vec(vec![1u8, 2, 1, 3]));
            let numbers = source(from_vec((1..=100u32).collect::<Vec<_>>()));
            job.add(keys.key_by(|k| *k).connect_broadcast(numbers).process(AtTheEnd).collect(&out));
        });
        job.parallelism(parallelism).host(host).run().unwrap();
        let mut rows = out.take();
        rows.sort_unstable();
        assert_eq!(rows, [(1, 2, 5050), (2, 1, 5050), (3, 1, 5050)], "{parallelism} {host:?}");
    }
}
