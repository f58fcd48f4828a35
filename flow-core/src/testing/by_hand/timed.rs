//! Watermarks: they do not go back, and what was late stays late.

use super::{Feed, Shown, both, config, cut, dealt, end, text};
use crate::job::Job;
use crate::op::event_time::WatermarkStrategy;
use crate::op::operator::OpError;
use crate::source::source;
use crate::testing::{Step, play};
use crate::time::{Millis, Timestamp};
use crate::window::aggregate::side;
use crate::window::{count, processing, session, sliding, tumbling};
use proptest::prelude::*;
use std::sync::Arc;

/// Time, and a watermark that is carried.
type Record = (i64, Option<i64>);

fn disorder(job: &mut Job, feed: Feed<Record>, shown: Shown) {
    let timed = source(feed).durable().event_time(|r| r.0).disorder(Millis(7));
    job.add(
        timed.window(tumbling(Millis(10))).count().map(|w| (w.start, w.value)).map(text).collect(&shown.out),
    );
}

fn guarded(job: &mut Job, feed: Feed<Record>, shown: Shown) {
    let timed = source(feed).durable().event_time(|r| r.0).disorder(Millis(7)).max_ahead(Millis(40));
    job.add(
        timed.window(tumbling(Millis(10))).count().map(|w| (w.start, w.value)).map(text).collect(&shown.out),
    );
}

fn carried(job: &mut Job, feed: Feed<Record>, shown: Shown) {
    let timed = source(feed).durable().event_time(|r| r.0).punctuated(|r| r.1.map(Timestamp));
    job.add(
        timed.window(tumbling(Millis(10))).count().map(|w| (w.start, w.value)).map(text).collect(&shown.out),
    );
}

/// Windows for which hardly anything is kept when the watermark is far.
fn sliding_few(job: &mut Job, feed: Feed<Record>, shown: Shown) {
    let timed = source(feed).durable().event_time(|r| r.0).disorder(Millis(7)).filter(|r| r.1.is_none());
    let windows = timed.window(sliding(Millis(10), Millis(5)));
    job.add(windows.count().map(|w| (w.start, w.value)).map(text).collect(&shown.out));
}

fn sliding_late(job: &mut Job, feed: Feed<Record>, shown: Shown) {
    let timed = source(feed).durable().event_time(|r| r.0).disorder(Millis(7)).filter(|r| r.1.is_none());
    let windows = timed.window(sliding(Millis(10), Millis(5))).lateness(Millis(20));
    job.add(windows.max(|r| r.0).map(|w| (w.start, w.value)).map(text).collect(&shown.out));
}

fn tumbling_few(job: &mut Job, feed: Feed<Record>, shown: Shown) {
    let timed = source(feed).durable().event_time(|r| r.0).disorder(Millis(7)).filter(|r| r.1.is_none());
    let windows = timed.window(tumbling(Millis(10))).lateness(Millis(20));
    job.add(windows.count().map(|w| (w.start, w.value)).map(text).collect(&shown.out));
}

fn sessions_few(job: &mut Job, feed: Feed<Record>, shown: Shown) {
    let timed = source(feed).durable().event_time(|r| r.0).disorder(Millis(7)).filter(|r| r.1.is_none());
    let windows = timed.window(session(Millis(10)));
    job.add(windows.count().map(|w| (w.start, w.value)).map(text).collect(&shown.out));
}

fn counted(job: &mut Job, feed: Feed<Record>, shown: Shown) {
    let timed = source(feed).durable().event_time(|r| r.0).disorder(Millis(7));
    let windows = timed.window(count(5).every(3));
    job.add(windows.sum(|r| r.0).map(|w| (w.start, w.end, w.value)).map(text).collect(&shown.out));
}

/// Two partitions; one is idle while the other goes on, and then comes with what is late.
fn played(job: &mut Job, feed: Feed<Step<i64>>, shown: Shown) {
    let played = play(source(feed).durable()).window(tumbling(Millis(10))).late(side).count();
    let (windows, late) = played.roots();
    let late = late.map(|l| l.value).map(text).collect(&shown.aside);
    job.add(played.fork((windows.map(|w| (w.start, w.value)).map(text).collect(&shown.out), late)));
}

#[test]
fn what_is_late_behind_an_idle_input_is_so_after_a_restart() {
    let item = |t| Step::Item(t, Timestamp(t));
    let first =
        vec![item(1), item(2), Step::Watermark(Timestamp(50)), item(55), Step::Watermark(Timestamp(60))];
    let second = vec![item(3), Step::Watermark(Timestamp(5)), Step::Idle, Step::Active, item(12), item(13)];
    for at in [3, 4] {
        let (whole, two) = both(played, &Arc::new(vec![first.clone(), second.clone()]), at, 1, 1);
        assert_eq!(two.sorted(), ["(@0, 3)", "(@50, 1)", "12", "13"], "cut at {at}, {:?}", whole.sorted());
    }
}

fn on_the_clock(job: &mut Job, feed: Feed<Record>, shown: Shown) {
    let windows = source(feed).durable().window(tumbling(Millis(10)).time(processing)).count();
    job.add(windows.map(|w| w.start.0).map(text).collect(&shown.out));
}

/// The machine's clock has been set back by an hour between two runs: no window is there twice.
#[test]
fn windows_on_the_clock_do_not_go_back() {
    let parts = dealt(&[(0, None), (0, None)], 1);
    let (before, after) = (Shown::default(), Shown::default());
    let mut kept = cut(on_the_clock, 1, &parts, 1, None, &before);
    let part = kept.parts.iter_mut().find(|part| part.0.0.ends_with(" (time)") && part.1.len() == 24);
    let clock = &mut part.expect("it keeps the clock").1[16..];
    let later = i64::from_le_bytes(clock.try_into().unwrap()) + 3_600_000;
    clock.copy_from_slice(&later.to_le_bytes());
    end(on_the_clock, 1, &parts, Some(kept), &after).unwrap();
    let starts: Vec<i64> = after.rows().iter().map(|row| row.parse().unwrap()).collect();
    assert!(starts.last().is_some_and(|last| *last > later - 10), "{starts:?} and {later}");
}

/// The mean of all times so far.
#[derive(Clone, Default)]
struct Mean {
    sum: i64,
    count: i64,
    top: i64,
}

impl WatermarkStrategy<Record> for Mean {
    fn on_event(&mut self, _: &Record, time: Timestamp) {
        self.sum += time.0;
        self.count += 1;
        self.top = self.top.max(self.sum / self.count);
    }
    fn watermark(&self) -> Timestamp {
        Timestamp(self.top)
    }
    fn save(&self, out: &mut Vec<u8>) {
        [self.sum, self.count, self.top].iter().for_each(|n| out.extend(n.to_le_bytes()));
    }
    fn restore(&mut self, state: &[u8]) -> Result<(), OpError> {
        let number = |at: usize| -> Result<i64, OpError> {
            let bytes = state.get(at..at + 8).ok_or("cut short")?;
            Ok(i64::from_le_bytes(bytes.try_into()?))
        };
        *self = Mean { sum: number(0)?, count: number(8)?, top: number(16)? };
        Ok(())
    }
}

fn own(job: &mut Job, feed: Feed<Record>, shown: Shown) {
    let timed = source(feed).durable().event_time(|r| r.0).watermarks(Mean::default());
    job.add(
        timed.window(tumbling(Millis(10))).count().map(|w| (w.start, w.value)).map(text).collect(&shown.out),
    );
}

/// It keeps nothing itself.
#[derive(Clone, Default)]
struct Forgets(Mean);

impl WatermarkStrategy<Record> for Forgets {
    fn on_event(&mut self, event: &Record, time: Timestamp) {
        self.0.on_event(event, time);
    }
    fn watermark(&self) -> Timestamp {
        self.0.watermark()
    }
}

fn forgets(job: &mut Job, feed: Feed<Record>, shown: Shown) {
    let timed = source(feed).durable().event_time(|r| r.0).watermarks(Forgets::default());
    job.add(
        timed.window(tumbling(Millis(10))).count().map(|w| (w.start, w.value)).map(text).collect(&shown.out),
    );
}

#[test]
fn the_watermark_does_not_go_back() {
    // The mean is 50; what then comes at 5 is late, whatever a strategy that has forgotten says.
    let parts = dealt(&[(50, None), (50, None), (5, None), (60, None)], 1);
    let (whole, two) = both(forgets, &parts, 2, 1, 1);
    assert_eq!(whole.rows(), ["(@50, 2)", "(@60, 1)"]);
    assert_eq!(two.rows(), whole.rows());
}

#[test]
fn bytes_of_others_are_an_error_that_names_the_operator() {
    let parts = dealt(&[(50, Some(3)), (50, None), (5, None)], 1);
    for pipeline in [disorder, guarded, carried, own, forgets] {
        let mut kept = cut(pipeline, 1, &parts, 2, None, &Shown::default());
        let part = kept.parts.iter_mut().find(|part| part.0.0 == "event_time");
        let bytes = part.expect("it keeps something").1;
        *bytes = vec![1, 2, 3];
        let error = end(pipeline, 1, &parts, Some(kept.clone()), &Shown::default()).unwrap_err().to_string();
        assert!(error.contains("`event_time`") && error.contains("3 bytes"), "{error}");
        let part = kept.parts.iter_mut().find(|part| part.0.0 == "event_time");
        *part.expect("it keeps something").1 = vec![1; 100];
        let error = end(pipeline, 1, &parts, Some(kept), &Shown::default());
        assert!(error.is_err() || pipeline as *const () == own as *const ());
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn as_without_a_cut(
        records in prop::collection::vec((0i64..200, prop::option::of(0i64..200)), 0..80),
        at in 0usize..80,
    ) {
        for pipeline in [
            disorder, guarded, carried, own, sliding_few, sliding_late, tumbling_few, sessions_few, counted,
        ] {
            let (whole, two) = both(pipeline, &dealt(&records, 1), at, 1, 1);
            prop_assert_eq!(whole.rows(), two.rows());
        }
    }
}
