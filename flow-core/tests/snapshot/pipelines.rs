//! The pipelines whose state is written down.

use crate::{Fed, Pipeline, Record, Shown, broadcast, joined, show};
use flow_core::prelude::*;
use flow_core::process::Ttl;
use flow_core::process::states::{Plain, Timed, TimedEntries, WithFunction};

/// All of them.
pub const PIPELINES: [Pipeline; 27] = [
    rolling,
    texts,
    windows,
    lateness,
    sliding_sums,
    sliding_largest,
    firsts,
    firsts_for_long,
    lasts,
    tops,
    timers,
    lasting,
    processed,
    evicted_and_aggregated,
    triggered,
    purging_sessions,
    plain_sessions,
    counted,
    clocked,
    joined::in_windows,
    joined::in_sessions,
    joined::within,
    joined::as_of,
    joined::looked_up,
    joined::forever,
    joined::for_long,
    broadcast::beside_all,
];

pub fn rolling(job: &mut Job, records: Fed, shown: Shown) {
    job.add(source(records).at_least_once().key_by(|r| r.0).sum(|r| r.1).for_each(show(&shown)));
}

/// A rolling operator whose state is text, behind another keyed operator.
pub fn texts(job: &mut Job, records: Fed, shown: Shown) {
    let counted = source(records).at_least_once().key_by(|r| r.0).count();
    let texts = counted.key_by(|c| c.0).fold(String::new(), |text, (_, n)| *text += &format!(" {n}"));
    job.add(texts.for_each(show(&shown)));
}

pub fn firsts(job: &mut Job, records: Fed, shown: Shown) {
    job.add(source(records).at_least_once().key_by(|r| r.0).dedup_first().for_each(show(&shown)));
}

/// With a time to live that is never over.
pub fn firsts_for_long(job: &mut Job, records: Fed, shown: Shown) {
    let firsts = source(records).at_least_once().key_by(|r| r.0).dedup_first().ttl(Millis(1_000_000));
    job.add(firsts.for_each(show(&shown)));
}

pub fn lasts(job: &mut Job, records: Fed, shown: Shown) {
    let records = source(records).at_least_once().take(u64::MAX);
    job.add(records.key_by(|r| r.0).dedup_last().for_each(show(&shown)));
}

pub fn tops(job: &mut Job, records: Fed, shown: Shown) {
    job.add(source(records).at_least_once().key_by(|r| r.0).top_n(3, |r| r.1).for_each(show(&shown)));
}

pub fn windows(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2).disorder(Millis(50));
    let windows = timed.key_by(|r| r.0).window(tumbling(Millis(100)));
    job.add(windows.aggregate(|a| (a.count(), a.sum(|r| r.1))).for_each(show(&shown)));
}

/// Windows that have fired take elements and fire again.
pub fn lateness(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2);
    let windows = timed.key_by(|r| r.0).window(tumbling(Millis(100))).lateness(Millis(1_000_000));
    job.add(windows.aggregate(|a| a.max(|r| r.1)).for_each(show(&shown)));
}

/// The same for windows that overlap: by a running table, and by two stacks.
pub fn sliding_sums(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2);
    let windows = timed.key_by(|r| r.0).window(sliding(Millis(100), Millis(40))).lateness(Millis(1_000_000));
    job.add(windows.aggregate(|a| a.sum(|r| r.1)).for_each(show(&shown)));
}

pub fn sliding_largest(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2);
    let windows = timed.key_by(|r| r.0).window(sliding(Millis(100), Millis(40))).lateness(Millis(1_000_000));
    job.add(windows.aggregate(|a| a.max(|r| r.1)).for_each(show(&shown)));
}

/// The value a key has had last, told by a timer when it is old, and how often it has been told.
#[derive(Clone)]
struct Old;

impl Process<u16, Record> for Old {
    type State = (i64, u32);
    type Out = (u16, i64, i64, u32);
    type Timers = EventTimers;
    fn state(&self) -> (i64, u32) {
        (0, 0)
    }
    fn event(
        &mut self,
        (_, value, _): Record,
        state: &mut (i64, u32),
        ctx: &mut ProcessContext<'_, u16, Self::Out>,
    ) -> std::result::Result<(), flow_core::op::operator::OpError> {
        state.0 += value;
        let at = ctx.timestamp();
        ctx.set_timer(at + Millis(200));
        if value % 7 == 0 {
            ctx.set_interval(Millis(90));
            ctx.delete_timer(at + Millis(200));
        }
        Ok(())
    }
    fn timer(
        &mut self,
        at: Timestamp,
        state: &mut (i64, u32),
        ctx: &mut ProcessContext<'_, u16, Self::Out>,
    ) -> std::result::Result<(), flow_core::op::operator::OpError> {
        state.1 += 1;
        ctx.emit((*ctx.key(), at.millis(), state.0, state.1));
        Ok(())
    }
}

pub fn timers(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2).disorder(Millis(50));
    job.add(timed.key_by(|r| r.0).process(Old).for_each(show(&shown)));
}

/// States with a time to live, which is not over within the test: a watermark is made anew behind the cut, and what is over by it
/// may differ.
pub fn lasting(job: &mut Job, records: Fed, shown: Shown) {
    let ttl = Ttl::new(Millis(86_400_000));
    let timed = source(records).at_least_once().event_time(|r| r.2).disorder(Millis(50));
    let states = (
        Timed::new(|| None::<i64>, ttl),
        (
            TimedEntries::new(MapState::<i64, u32>::new, ttl),
            (
                TimedEntries::new(ListState::<i64>::new, ttl.renewed_by_reading()),
                (
                    Plain(|| 0u32),
                    (
                        WithFunction(TimedEntries::new(|| ReducingState::new(|a: i64, b| a.max(b)), ttl)),
                        (WithFunction(Plain(|| AggregatingState::new(|a| a.sum(|v: &i64| *v)))), ()),
                    ),
                ),
            ),
        ),
    );
    let counted = timed.key_by(|r| r.0).declare(states).on_event(
        |(mut last, (map, (list, (seen, (largest, (sum, ())))))), (key, value, _): Record, ctx| {
            *seen += 1;
            *map.or_insert_with(value % 5, || 0) += 1;
            let mut counts: Vec<_> = map.iter().map(|(k, n)| (*k, *n)).collect();
            counts.sort_unstable();
            if value > 0 {
                list.push(value);
            } else {
                list.retain(|v| v % 2 == 0);
            }
            largest.add(value);
            sum.add(&value).unwrap();
            let folded = (largest.get().copied(), sum.get());
            ctx.emit((key, *seen, *last, counts, list.len(), list.iter().sum::<i64>(), folded));
            *last = Some(value);
        },
    );
    job.add(counted.done().for_each(show(&shown)));
}

/// What is kept of a window, and state of the key behind it.
pub fn processed(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2).disorder(Millis(50));
    let windows = timed.key_by(|r| r.0).window(tumbling(Millis(100))).evict(last(3));
    let growing = windows.process_window(0i64, |w, records| {
        *w.state() += records.iter().map(|r| r.1).sum::<i64>();
        let (key, start, sum) = (*w.key(), w.start(), *w.state());
        records.iter().for_each(|r| w.emit((key, start, r.1, sum)));
    });
    job.add(growing.for_each(show(&shown)));
}

/// State of the key behind an aggregate, in windows that elements still join.
pub fn evicted_and_aggregated(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2).disorder(Millis(50));
    let windows = timed.key_by(|r| r.0).window(sliding(Millis(100), Millis(40))).evict(last(Millis(30)));
    let growing = windows.aggregate_window(
        |a| (a.count(), a.max(|r| r.1)),
        0u64,
        |w, (count, max)| {
            *w.state() += count;
            let row = (*w.key(), w.start(), max, *w.state());
            w.emit(row);
        },
    );
    job.add(growing.for_each(show(&shown)));
}

/// Windows that fire early, as they are and what is new.
pub fn triggered(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2).disorder(Millis(50));
    let windows = timed.key_by(|r| r.0).window(sliding(Millis(100), Millis(40)));
    let windows = windows.trigger(|t| t.early(Millis(30)).count(3).when(|r| r.1 % 7 == 0));
    job.add(windows.aggregate(|a| (a.count(), a.sum(|r| r.1))).for_each(show(&shown)));
}

pub fn purging_sessions(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2).disorder(Millis(50));
    let windows = timed.key_by(|r| r.0).window(session(Millis(60))).lateness(Millis(1_000_000));
    let windows = windows.trigger(|t| t.count(2).purging());
    job.add(windows.aggregate(|a| (a.count(), a.sum(|r| r.1))).for_each(show(&shown)));
}

pub fn plain_sessions(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2).disorder(Millis(50));
    let windows = timed.key_by(|r| r.0).window(session(Millis(60))).lateness(Millis(1_000_000));
    job.add(windows.aggregate(|a| (a.count(), a.sum(|r| r.1))).for_each(show(&shown)));
}

pub fn counted(job: &mut Job, records: Fed, shown: Shown) {
    let records = source(records).at_least_once().take(u64::MAX);
    let windows = records.key_by(|r| r.0).window(flow_core::window::count(5).every(2));
    job.add(windows.aggregate(|a| (a.count(), a.sum(|r| r.1))).for_each(show(&shown)));
}

/// On a clock that stands still while the test steps, so that everything is in one window.
pub fn clocked(job: &mut Job, records: Fed, shown: Shown) {
    let keyed = source(records).at_least_once().key_by(|r| r.0);
    let windows = keyed.window(tumbling(Millis(86_400_000_000)).time(processing));
    job.add(windows.aggregate(|a| (a.count(), a.sum(|r| r.1))).for_each(show(&shown)));
}
