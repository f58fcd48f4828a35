//! One text for each operator that keeps something, which reads a file: as an exported batch, and as a stream that goes on.

use flow_core::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A record of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub at: i64,
    pub key: String,
    pub n: u64,
}

pub type Out = Collected<String>;

/// Makes `history` and `live` of one text, and the list of what is in them.
macro_rules! pipelines {
    ($($(#[$doc:meta])* fn $name:ident($($args:tt)*) { $($body:tt)* })*) => {
        mod history {
            use super::*;
            dataflow! {
                $(#[batch(exported)] pub fn $name($($args)*) { $($body)* })*
            }
        }
        mod live {
            use super::*;
            dataflow! {
                $(#[checkpointed] pub fn $name($($args)*) { $($body)* })*
            }
        }
        /// All of them.
        pub const CASES: &[Case] = &[$(Case { name: stringify!($name), history: history::$name, live: live::$name }),*];
    };
}

/// A pipeline: what it is called, and what makes it.
pub struct Case {
    pub name: &'static str,
    pub history: fn(PathBuf, Out) -> Job,
    pub live: fn(PathBuf, Out) -> Job,
}

pipelines! {
    fn sums(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file));
        let sums = events.key_by(|e| e.key.clone()).sum(|e| e.n);
        sums.map(|x| format!("{x:?}")).collect(&out);
    }

    // What is kept behind an operator that gives a row for each record depends on all of these.
    fn sums_of_counts(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file));
        let counts = events.key_by(|e| e.key.clone()).count();
        let sums = counts.key_by(|c| c.0.clone()).sum(|c| c.1);
        sums.map(|x| format!("{x:?}")).collect(&out);
    }

    fn best(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file));
        let best = events.key_by(|e| e.key.clone()).top_n(3, |e| e.n % 101);
        best.map(|x| format!("{x:?}")).collect(&out);
    }

    fn folds(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file));
        let folds = events.key_by(|e| e.n % 7).fold(Vec::new(), |last: &mut Vec<u64>, e| {
            last.push(e.n);
            last.truncate(4);
        });
        folds.map(|x| format!("{x:?}")).collect(&out);
    }

    fn scans(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file));
        let scans = events.key_by(|e| e.n % 4).scan(None, |last: &mut Option<Event>, e| last.replace(e));
        scans.map(|x| format!("{x:?}")).collect(&out);
    }

    fn last_records(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file));
        let lasts = events.key_by(|e| e.key.clone()).dedup_last();
        lasts.map(|x| format!("{x:?}")).collect(&out);
    }

    fn distincts(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file));
        let tens = events.map(|e| e.n / 10).distinct();
        tens.map(|x| format!("{x:?}")).collect(&out);
    }

    fn firsts(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file));
        let firsts = events.key_by(|e| (e.key.clone(), e.n % 9)).dedup_first();
        firsts.map(|x| format!("{x:?}")).collect(&out);
    }

    fn totals(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file));
        let totals = events.aggregate(|a| (a.count(), a.sum(|e| e.n)));
        totals.map(|x| format!("{x:?}")).collect(&out);
    }

    fn all_windows(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file)).event_time(|e| e.at, disorder = 5ms);
        let counts = events.window(tumbling(100ms), late = drop).aggregate(|a| (a.count(), a.sum(|e| e.n)));
        counts.map(|x| format!("{x:?}")).collect(&out);
    }

    fn windows(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file)).event_time(|e| e.at, disorder = 5ms);
        let keyed = events.key_by(|e| e.key.clone());
        let (counts, late) = keyed.window(tumbling(100ms), late = side).aggregate(|a| (a.count(), a.max(|e| e.n)));
        counts.map(|x| format!("{x:?}")).collect(&out);
        late.map(|x| format!("late {x:?}")).collect(&out);
    }

    // Windows that have fired are kept, and fire again.
    fn late_windows(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file)).event_time(|e| e.at, disorder = 0ms);
        let keyed = events.key_by(|e| e.n % 5);
        let counts = keyed.window(tumbling(40ms), lateness = 60ms, late = drop).aggregate(|a| (a.count(), a.sum(|e| e.n)));
        counts.map(|x| format!("{x:?}")).collect(&out);
    }

    fn sliding_windows(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file)).event_time(|e| e.at, disorder = 5ms);
        let keyed = events.key_by(|e| e.n % 5);
        let counts = keyed.window(sliding(100ms, 20ms), late = drop).aggregate(|a| (a.count(), a.max(|e| e.n)));
        counts.map(|x| format!("{x:?}")).collect(&out);
    }

    fn sessions(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file)).event_time(|e| e.at, disorder = 5ms);
        let keyed = events.key_by(|e| e.n % 23);
        let counts = keyed.window(session(30ms), late = drop).aggregate(|a| (a.count(), a.sum(|e| e.n)));
        counts.map(|x| format!("{x:?}")).collect(&out);
    }

    fn count_windows(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file));
        let sums = events.key_by(|e| e.n % 4).window(count(9, every = 4)).sum(|e| e.n);
        sums.map(|x| format!("{x:?}")).collect(&out);
    }

    fn global_windows(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file));
        let sums = events.key_by(|e| e.key.clone()).window(global()).sum(|e| e.n);
        sums.map(|x| format!("{x:?}")).collect(&out);
    }

    fn triggers(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file)).event_time(|e| e.at, disorder = 5ms);
        let keyed = events.key_by(|e| e.key.clone());
        let sums = keyed.window(tumbling(200ms), late = drop).trigger(|t| t.count(5).purging()).sum(|e| e.n);
        sums.map(|x| format!("{:?}", (x.key, x.value))).collect(&out);
    }

    fn whole_windows(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file)).event_time(|e| e.at, disorder = 5ms);
        let keyed = events.key_by(|e| e.key.clone());
        let rows = keyed.window(tumbling(100ms), late = drop).evict(last(3)).process_window(0, |w, events| {
            *w.state() += events.len();
            let row = (w.key().clone(), *w.state(), events.last().map(|e| e.n));
            w.emit(row);
        });
        rows.map(|x| format!("{x:?}")).collect(&out);
    }

    // What has come, by the time of a timer that counts it.
    fn processes(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file)).event_time(|e| e.at, disorder = 5ms);
        let (rows, quiet) = events.key_by(|e| e.key.clone()).process({
            let mut seen: u64 = 0;
            #[ttl(300ms, on = watermark)]
            let mut timed: u64 = 0;
            let mut list: ListState<u64> = ListState::new();
            #[ttl(1h, on = watermark)]
            let mut map: MapState<u64, u64> = MapState::new();
            let quiet: Side<String> = side();
            on_event(|e, ctx| {
                *seen += 1;
                *timed += 1;
                list.push(e.n);
                map.insert(e.n % 3, e.n);
                ctx.set_timer(ctx.timestamp() + 50ms);
                ctx.set_interval(70ms);
                ctx.emit((ctx.key().clone(), *seen, *timed, list.len(), map.len()));
            });
            on_timer(|t, ctx| {
                let text = format!("{} {t:?} {} {:?}", ctx.key(), *seen, list.iter().copied().collect::<Vec<_>>());
                list.clear();
                ctx.output(quiet, text);
            });
        });
        rows.map(|x| format!("{x:?}")).collect(&out);
        quiet.collect(&out);
    }

    fn connected(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file)).event_time(|e| e.at, disorder = 40ms);
        let odd = events.filter(|e| e.n % 2 == 1);
        let limits = odd.key_by(|e| e.key.clone());
        let rows = events.key_by(|e| e.key.clone()).left_join(limits).within(-20ms, 30ms, late = drop);
        rows.map(|(key, (e, other))| format!("{key} {} {:?}", e.n, other.map(|o| o.n))).collect(&out);
    }

    fn broadcasts(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file)).event_time(|e| e.at, disorder = 40ms);
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

    fn window_joins(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file)).event_time(|e| e.at, disorder = 40ms);
        let odd = events.filter(|e| e.n % 2 == 1);
        let pairs = events.key_by(|e| e.key.clone()).join(odd.key_by(|e| e.key.clone())).window(tumbling(50ms), late = drop);
        pairs.map(|w| format!("{:?} {} {} {}", w.start, w.key, w.value.0.n, w.value.1.n)).collect(&out);
    }

    fn temporal_joins(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file)).event_time(|e| e.at, disorder = 40ms);
        let versions = events.filter(|e| e.n % 10 == 0);
        let known = events.key_by(|e| e.n % 20).left_join(versions.key_by(|v| v.n % 20)).as_of(late = drop);
        known.map(|(key, (e, version))| format!("{key} {} {:?}", e.n, version.map(|v| v.at))).collect(&out);
    }

    fn joins_for_ever(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file));
        let odd = events.filter(|e| e.n % 40 == 1).map(|e| e.n);
        let pairs = events.key_by(|e| e.n % 20).join(odd.key_by(|n| *n % 20)).forever(ttl = never);
        pairs.map(|(key, (e, other))| format!("{key} {} {other}", e.n)).collect(&out);
    }

    // A table that both read as a whole.
    fn lookups(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file)).event_time(|e| e.at, disorder = 40ms);
        let names = source(generate(30, |n| (n, format!("name {n}"))));
        let named = events.key_by(|e| e.n % 40).left_join(names.key_by(|n| n.0)).lookup();
        let counts = named.key_by(|n| n.1.1.as_ref().map(|n| n.1.clone())).window(tumbling(80ms), late = drop).count();
        counts.map(|x| format!("{x:?}")).collect(&out);
    }

    fn parts(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file));
        let some = events.skip(20).take(300);
        some.map(|e| format!("{}", e.n)).collect(&out);
    }
}
