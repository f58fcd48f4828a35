//! A pipeline for each operator that keeps something: what comes out of it depends on nothing but its input.

use flow_core::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Records of the input, one a millisecond and a half of event time.
pub const EVENTS: u64 = 600;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Side3 {
    None,
    Amount(i32),
    Both { left: Option<u8>, right: f64 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub at: i64,
    pub key: String,
    pub n: u64,
    pub side: Side3,
}

pub fn event(n: u64) -> Event {
    let side = match n % 3 {
        0 => Side3::None,
        1 => Side3::Amount(-(n as i32)),
        _ => Side3::Both {
            left: n.is_multiple_of(2).then_some(n as u8),
            right: if n % 9 == 2 { f64::NAN } else { n as f64 / 4.0 },
        },
    };
    // Some come out of order.
    let at = (n * 3 / 2) as i64 - if n.is_multiple_of(7) { 4 } else { 0 };
    Event { at, key: format!("k{}", n * n % 11), n, side }
}

type Out = Collected<String>;

dataflow! {
    #[checkpointed]
    fn sums(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate);
        let sums = events.key_by(|e| e.key.clone()).sum(|e| e.n);
        sums.map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn scans(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate);
        let scans = events.key_by(|e| e.n % 4).scan(None, |last: &mut Option<Event>, e| last.replace(e));
        scans.map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn last_records(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate);
        let lasts = events.key_by(|e| e.key.clone()).dedup_last();
        lasts.map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn distincts(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate);
        let tens = events.map(|e| e.n / 10).distinct();
        tens.map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn totals(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate);
        let totals = events.aggregate(|a| (a.count(), a.sum(|e| e.n), a.last()));
        totals.map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn all_windows(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate).event_time(|e| e.at, disorder = 5ms);
        let counts = events.window(tumbling(100ms), late = drop).aggregate(|a| (a.count(), a.sum(|e| e.n)));
        counts.map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn windows(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate).event_time(|e| e.at, disorder = 5ms);
        let counts = events.key_by(|e| e.key.clone()).window(tumbling(100ms), late = drop).aggregate(|a| (a.count(), a.mean(|e| e.n), a.last()));
        counts.map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn sliding_windows(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate).event_time(|e| e.at, disorder = 5ms);
        let counts = events.key_by(|e| e.n % 5).window(sliding(100ms, 20ms), late = drop).aggregate(|a| (a.count(), a.max(|e| e.n)));
        counts.map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn sessions(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate).event_time(|e| e.at, disorder = 5ms);
        let counts = events.key_by(|e| e.n * e.n % 97).window(session(50ms), late = drop).aggregate(|a| (a.count(), a.sum(|e| e.n)));
        counts.map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn count_windows(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate);
        let counts = events.key_by(|e| e.n % 4).window(count(9, every = 4)).sum(|e| e.n);
        counts.map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn triggers(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate).event_time(|e| e.at, disorder = 5ms);
        let counts = events.key_by(|e| e.key.clone()).window(tumbling(200ms), late = drop).trigger(|t| t.count(5).purging()).sum(|e| e.n);
        counts.map(|x| (x.key, x.value)).map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn whole_windows(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate).event_time(|e| e.at, disorder = 5ms);
        let rows = events.key_by(|e| e.key.clone()).window(tumbling(100ms), late = drop).evict(last(3)).process_window(0, |w, events| {
            *w.state() += events.len();
            let row = (w.key().clone(), *w.state(), events.last().map(|e| e.n));
            w.emit(row);
        });
        rows.map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn processes(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate).event_time(|e| e.at, disorder = 5ms);
        let (rows, sides) = events.key_by(|e| e.key.clone()).process({
            let mut plain: Option<Event> = None;
            #[ttl(300ms, on = watermark)]
            let mut timed: u64 = 0;
            let mut list: ListState<u64> = ListState::new();
            #[ttl(1h, on = watermark)]
            let mut map: MapState<(u64, bool), i8> = MapState::new();
            let mut reduced: ReducingState<u64> = ReducingState::new(|a, b| a.max(b));
            let mut folded: AggregatingState<u64, _> = AggregatingState::new(|a| a.mean(|n| *n));
            let quiet: Side<String> = side();
            on_event(|e, ctx| {
                *timed += 1;
                list.push(e.n);
                if list.len() > 3 {
                    list.pop_front();
                }
                map.insert((e.n % 3, e.n % 2 == 0), e.n as i8);
                reduced.add(e.n);
                folded.add(&e.n)?;
                ctx.set_timer(ctx.timestamp() + 200ms);
                let before = plain.replace(e).map(|e| e.n);
                ctx.emit((ctx.key().clone(), before, list.iter().copied().collect::<Vec<_>>(), map.len(), reduced.get().copied(), folded.get()));
                Ok::<(), flow_core::aggregate::Overflow>(())
            });
            on_timer(|t, ctx| {
                // What has come since is not in order of time.
                let text = format!("{} {t:?} {}", ctx.key(), plain.is_some());
                ctx.output(quiet, text);
            });
        });
        rows.map(|x| format!("{x:?}")).collect(&out);
        sides.collect(&out);
    }

    #[checkpointed]
    fn broadcasts(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate).event_time(|e| e.at, disorder = 5ms);
        let limits = events.filter(|e| e.n % 50 == 0);
        let rows = events.key_by(|e| e.n % 4).connect_broadcast(limits).process({
            #[broadcast]
            let mut limits: BTreeMap<i64, u64> = BTreeMap::new();
            let mut seen: u64 = 0;
            on_event(|e, ctx| {
                *seen += e.n;
                ctx.set_timer(ctx.timestamp() + 20ms);
            });
            on_broadcast(|e, ctx| {
                limits.insert(ctx.timestamp().millis(), e.n);
            });
            on_timer(|t, ctx| {
                let row = (*ctx.key(), t.millis(), limits.range(..t.millis() - 10).next_back().map(|l| *l.1));
                ctx.emit(row);
            });
        });
        rows.map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn interval_joins(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate).event_time(|e| e.at, disorder = 5ms);
        let odd = events.filter(|e| e.n % 2 == 1).map(|e| (e.n, e.key));
        let pairs = events.key_by(|e| e.key.clone()).left_join(odd.key_by(|e| e.1.clone())).within(-20ms, 30ms, late = drop);
        pairs.map(|(key, (e, other))| format!("{key} {} {:?}", e.n, other.map(|o| o.0))).collect(&out);
    }

    #[checkpointed]
    fn window_joins(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate).event_time(|e| e.at, disorder = 5ms);
        let odd = events.filter(|e| e.n % 2 == 1);
        let pairs = events.key_by(|e| e.key.clone()).join(odd.key_by(|e| e.key.clone())).window(tumbling(50ms), late = drop);
        pairs.map(|w| format!("{:?} {} {} {}", w.start, w.key, w.value.0.n, w.value.1.n)).collect(&out);
    }

    #[checkpointed]
    fn temporal_joins(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate).event_time(|e| e.at, disorder = 5ms);
        let versions = events.filter(|e| e.n % 10 == 0).map(|e| (e.n, e.side));
        let known = events.key_by(|e| e.n % 20).left_join(versions.key_by(|v| v.0 % 20)).as_of(late = drop);
        known.map(|(key, (e, version))| format!("{key} {} {version:?}", e.n)).collect(&out);
    }

    #[checkpointed]
    fn lookup_joins(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate);
        let evens = events.filter(|e| e.n % 4 == 0).map(|e| e.n);
        let found = events.key_by(|e| e.n).left_join(evens.key_by(|n| *n + 1)).lookup();
        found.map(|(key, (e, before))| format!("{key} {} {before:?}", e.n)).collect(&out);
    }

    #[checkpointed]
    fn joins_for_ever(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate);
        let odd = events.filter(|e| e.n % 40 == 1).map(|e| e.n);
        let pairs = events.key_by(|e| e.n % 20).join(odd.key_by(|n| *n % 20)).forever(ttl = 1d);
        pairs.map(|(key, (e, other))| format!("{key} {} {other}", e.n)).collect(&out);
    }

    #[checkpointed]
    fn beside_keys(rate: u64, out: Out) {
        let events = source(generate(EVENTS, event)).rate_limit(rate);
        let some = events.skip(20).take(500);
        some.map(|e| format!("{}", e.n)).collect(&out);
    }

    #[checkpointed]
    fn files(input: PathBuf, rate: u64, folder: PathBuf) {
        let events = source(csv::<(u64, String)>(input).no_header()).rate_limit(rate);
        let counts = events.key_by(|e| e.1.clone()).count();
        counts.sink(csv_files(folder).roll_bytes(500));
    }
}

/// A pipeline: what it is called, and what makes it.
pub struct Case {
    pub name: &'static str,
    pub job: fn(u64, Out) -> Job,
}

macro_rules! cases {
    ($($name:ident)*) => {
        /// All of them.
        pub const CASES: &[Case] = &[$(Case { name: stringify!($name), job: $name }),*];
    };
}

cases! {
    sums scans last_records distincts totals all_windows windows sliding_windows sessions count_windows triggers whole_windows processes broadcasts
    interval_joins window_joins temporal_joins lookup_joins joins_for_ever beside_keys
}

/// The pipeline with files at both ends.
pub fn of_files(input: &Path, rate: u64, folder: &Path) -> Job {
    files(input.to_owned(), rate, folder.to_owned())
}
