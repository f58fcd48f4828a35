//! Timers of the host's clock, against a model that lets the clock go on by single milliseconds; on the simulation, whose clock is
//! at an instant until nobody has anything left to do.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::op::operator::OpError;
use flow_core::prelude::*;
use flow_core::testing::{Step, script};
use proptest::prelude::*;
use std::result::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// What an element has its key do.
#[derive(Debug, Clone, PartialEq)]
enum Do {
    /// Sets a timer, which when it fires sets the next.
    Set(Vec<i64>),
    Delete(i64),
    Interval(i64),
    EndInterval(i64),
    /// The input waits for so many milliseconds.
    Wait(i64),
}

/// Key, time of the timer, time on the clock.
type Row = (u8, i64, i64);

#[derive(Clone)]
struct Told;

impl<S: flow_core::stage::Stamp> Process<u8, (u8, Do), S> for Told {
    type State = Vec<(i64, Vec<i64>)>;
    type Out = Row;
    type Timers = ProcessingTimers;

    fn state(&self) -> Self::State {
        Vec::new()
    }

    fn event(
        &mut self,
        (_, what): (u8, Do),
        then: &mut Self::State,
        ctx: &mut ProcessContext<'_, u8, Row, S, ProcessingTimers>,
    ) -> Result<(), OpError> {
        match what {
            Do::Set(times) => {
                ctx.set_processing_timer(Timestamp(times[0]));
                then.push((times[0], times[1..].to_vec()));
            }
            Do::Delete(at) => ctx.delete_processing_timer(Timestamp(at)),
            Do::Interval(every) => ctx.set_processing_interval(Millis(every)),
            Do::EndInterval(every) => ctx.delete_processing_interval(Millis(every)),
            Do::Wait(_) => {}
        }
        Ok(())
    }

    fn processing_timer(
        &mut self,
        at: Timestamp,
        then: &mut Self::State,
        ctx: &mut ProcessContext<'_, u8, Row, S, ProcessingTimers>,
    ) -> Result<(), OpError> {
        let now = ctx.now().millis();
        ctx.emit((*ctx.key(), at.millis(), now));
        let next = then.iter().position(|t| t.0 == at.millis()).map(|place| then.remove(place).1);
        then.retain(|t| t.0 != at.millis());
        if let Some((first, rest)) = next.as_deref().and_then(<[i64]>::split_first) {
            then.push((*first, rest.to_vec()));
            ctx.set_processing_timer(Timestamp(*first));
        }
        Ok(())
    }
}

fn steps(input: &[(u8, Do)]) -> Vec<Step<(u8, Do)>> {
    let step = |(key, what): &(u8, Do)| match what {
        Do::Wait(ms) => {
            // It is asked each millisecond.
            let left = Arc::new(AtomicI64::new(*ms));
            Step::Until(Arc::new(move || left.fetch_sub(1, Ordering::Relaxed) <= 1))
        }
        _ => Step::Item((*key, what.clone()), Timestamp(0)),
    };
    input.iter().map(step).collect()
}

/// The rows, and how many timers were dropped.
fn run(input: &[(u8, Do)], seed: u64, parallelism: usize, batch: usize) -> (Vec<Row>, i64) {
    let out = Collected::new();
    let job = Job::build("told", |job| {
        job.add(script(steps(input)).key_by(|x| x.0).process(Told).collect(&out));
    });
    let report = job.parallelism(parallelism).batch_size(batch).ring_batches(1).simulate(seed).unwrap();
    (out.take(), report.counter("process.timers_dropped"))
}

/// Timers as the rules describe them: key, time, interval, in the order in which they were set.
#[derive(Default)]
struct Model {
    set: Vec<(u8, i64, i64)>,
    then: Vec<(u8, i64, Vec<i64>)>,
    rows: Vec<Row>,
    now: i64,
    dropped: i64,
}

impl Model {
    fn set(&mut self, timer: (u8, i64, i64)) {
        if !self.set.contains(&timer) {
            self.set.push(timer);
        }
    }

    fn take(&mut self, key: u8, what: &Do) {
        match what {
            Do::Set(times) => {
                self.set((key, times[0], 0));
                self.then.push((key, times[0], times[1..].to_vec()));
            }
            Do::Delete(at) => self.set.retain(|timer| *timer != (key, *at, 0)),
            Do::Interval(every) => {
                if !self.set.iter().any(|(k, _, e)| k == &key && e == every) {
                    self.set((key, (self.now.div_euclid(*every) + 1) * every, *every));
                }
            }
            Do::EndInterval(every) => self.set.retain(|(k, _, e)| k != &key || e != every),
            Do::Wait(ms) => {
                for _ in 0..*ms {
                    self.now += 1;
                    self.fire(self.now - 1, false);
                }
            }
        }
    }

    fn fire(&mut self, passed: i64, end: bool) {
        let mut due: Vec<_> = self.set.iter().filter(|timer| timer.1 <= passed).copied().collect();
        due.sort_by_key(|timer| timer.1);
        for (key, at, every) in due {
            self.set.retain(|timer| *timer != (key, at, every));
            if every > 0 && !end {
                self.set((key, at + every, every));
            }
            self.rows.push((key, at, self.now));
            let next = self.then.iter().find(|t| (t.0, t.1) == (key, at)).map(|t| t.2.clone());
            self.then.retain(|t| (t.0, t.1) != (key, at));
            if let Some((first, rest)) = next.as_deref().and_then(<[i64]>::split_first) {
                self.then.push((key, *first, rest.to_vec()));
                if end {
                    self.dropped += 1;
                } else {
                    self.set((key, *first, 0));
                }
            }
        }
    }
}

fn model(input: &[(u8, Do)]) -> (Vec<Row>, i64) {
    let mut model = Model::default();
    for (key, what) in input {
        model.take(*key, what);
    }
    model.fire(i64::MAX, true);
    (model.rows, model.dropped)
}

fn input() -> impl Strategy<Value = Vec<(u8, Do)>> {
    let what = prop_oneof![
        4 => prop::collection::vec(-3i64..40, 1..4).prop_map(Do::Set),
        2 => (-3i64..40).prop_map(Do::Delete),
        1 => (1i64..9).prop_map(Do::Interval),
        1 => (1i64..9).prop_map(Do::EndInterval),
        3 => (1i64..9).prop_map(Do::Wait),
    ];
    prop::collection::vec((0u8..3, what), 0..30)
}

/// A bounded number; `FLOW_RANDOM_CASES` says how many others.
fn cases() -> u32 {
    std::env::var("FLOW_RANDOM_CASES").map_or(100, |text| text.parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn timers_of_the_clock_are_those_of_the_model(input in input(), seed: u64, batch in 1usize..20) {
        let expected = model(&input);
        prop_assert_eq!(&run(&input, seed, 1, batch), &expected);
        let sorted = |(mut rows, dropped): (Vec<Row>, i64)| {
            rows.sort_unstable();
            (rows, dropped)
        };
        prop_assert_eq!(sorted(run(&input, seed, 3, batch)), sorted(expected));
    }
}

/// Case T3: a timer at 10 fires when the clock is at 11.
#[test]
fn a_timer_fires_when_the_clock_has_passed_it() {
    let input = [(1, Do::Set(vec![10])), (1, Do::Wait(20))];
    assert_eq!(run(&input, 1, 1, 1), (vec![(1, 10, 11)], 0));
}

/// On real clocks: no sooner, and although nothing arrives; what is open at the end fires then.
#[test]
fn a_timer_fires_although_nothing_arrives() {
    #[derive(Clone)]
    struct Soon;
    impl Process<u8, (), ()> for Soon {
        type State = ();
        type Out = i64;
        type Timers = ProcessingTimers;
        fn state(&self) {}
        fn event(
            &mut self,
            (): (),
            (): &mut (),
            ctx: &mut ProcessContext<'_, u8, i64, (), ProcessingTimers>,
        ) -> Result<(), OpError> {
            let now = ctx.now();
            ctx.set_processing_timer(now + Millis(30));
            ctx.set_processing_timer(now + Millis(86_400_000));
            Ok(())
        }
        fn processing_timer(
            &mut self,
            at: Timestamp,
            (): &mut (),
            ctx: &mut ProcessContext<'_, u8, i64, (), ProcessingTimers>,
        ) -> Result<(), OpError> {
            let waited = ctx.now().millis() - at.millis();
            ctx.emit(waited);
            Ok(())
        }
    }
    for host in [HostKind::Threads, HostKind::Workers(1)] {
        let (sender, records) = channel(1);
        let (told, fired) = std::sync::mpsc::sync_channel(4);
        let job = Job::build("soon", |job| {
            let stream = source(records).key_by(|()| 1).process(Soon);
            job.add(stream.for_each(move |waited| told.send(waited).unwrap()));
        });
        let running = job.host(host).start().unwrap();
        sender.send(()).unwrap();
        let waited = fired.recv_timeout(std::time::Duration::from_secs(20)).unwrap();
        assert!(waited >= 1, "the clock was {waited} ms behind the timer");
        drop(sender);
        let report = running.join().unwrap();
        assert!(fired.recv().unwrap() < 0, "the other one fires at the end");
        assert_eq!((report.rescues, fired.try_iter().count()), (0, 0));
    }
}
