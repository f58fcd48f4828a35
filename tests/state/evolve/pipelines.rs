//! Pipelines whose state holds a `Row`, of which there are versions.

use super::types::{Row, n_of, row};
use flow_core::prelude::*;

type Out = Collected<String>;

fn at(row: &Row) -> i64 {
    n_of(row) as i64
}

dataflow! {
    #[checkpointed]
    fn scans(rate: u64, out: Out) {
        let rows = source(generate(crate::evolve::ROWS, |n| n)).rate_limit(rate).map(row);
        let scans = rows.key_by(|r| n_of(r) % 7).scan(None, |last: &mut Option<Row>, r| last.replace(r));
        scans.map(|(key, r)| format!("{key} {}", n_of(&r))).collect(&out);
    }

    #[checkpointed]
    fn windows(rate: u64, out: Out) {
        let rows = source(generate(crate::evolve::ROWS, |n| n)).rate_limit(rate).map(row).event_time(at, disorder = 5ms);
        let last = rows.key_by(|r| n_of(r) % 7).window(tumbling(100ms), late = drop).aggregate(|a| (a.count(), a.last()));
        last.map(|w| format!("{} {} {:?}", w.key, w.value.0, n_of(&w.value.1))).collect(&out);
    }

    #[checkpointed]
    fn sliding_windows(rate: u64, out: Out) {
        let rows = source(generate(crate::evolve::ROWS, |n| n)).rate_limit(rate).map(row).event_time(at, disorder = 5ms);
        let last = rows.key_by(|r| n_of(r) % 7).window(sliding(100ms, 50ms), late = drop).aggregate(|a| (a.count(), a.last()));
        last.map(|w| format!("{} {} {:?}", w.key, w.value.0, n_of(&w.value.1))).collect(&out);
    }

    #[checkpointed]
    fn sessions(rate: u64, out: Out) {
        let rows = source(generate(crate::evolve::ROWS, |n| n)).rate_limit(rate).map(row).event_time(at, disorder = 5ms);
        let first = rows.key_by(|r| n_of(r) * n_of(r) % 97).window(session(40ms), late = drop).aggregate(|a| a.first());
        first.map(|w| format!("{} {}", w.key, n_of(&w.value))).collect(&out);
    }

    #[checkpointed]
    fn count_windows(rate: u64, out: Out) {
        let rows = source(generate(crate::evolve::ROWS, |n| n)).rate_limit(rate).map(row);
        let first = rows.key_by(|r| n_of(r) % 4).window(count(9)).aggregate(|a| a.first());
        first.map(|w| format!("{} {}", w.key, n_of(&w.value))).collect(&out);
    }

    #[checkpointed]
    fn triggers(rate: u64, out: Out) {
        let rows = source(generate(crate::evolve::ROWS, |n| n)).rate_limit(rate).map(row).event_time(at, disorder = 5ms);
        let first = rows.key_by(|r| n_of(r) % 4).window(tumbling(200ms), late = drop).trigger(|t| t.count(5)).aggregate(|a| a.first());
        first.map(|w| format!("{} {}", w.key, n_of(&w.value))).collect(&out);
    }

    #[checkpointed]
    fn last_records(rate: u64, out: Out) {
        let rows = source(generate(crate::evolve::ROWS, |n| n)).rate_limit(rate).map(row);
        rows.key_by(|r| n_of(r) % 50).dedup_last().map(|(key, r)| format!("{key} {}", n_of(&r))).collect(&out);
    }

    #[checkpointed]
    fn totals(rate: u64, out: Out) {
        let rows = source(generate(crate::evolve::ROWS, |n| n)).rate_limit(rate).map(row);
        rows.aggregate(|a| (a.count(), a.first())).map(|(n, r)| format!("{n} {}", n_of(&r))).collect(&out);
    }

    #[checkpointed]
    fn whole_windows(rate: u64, out: Out) {
        let rows = source(generate(crate::evolve::ROWS, |n| n)).rate_limit(rate).map(row).event_time(at, disorder = 5ms);
        let seen = rows.key_by(|r| n_of(r) % 7).window(tumbling(50ms), late = drop).process_window(None::<Row>, |w, rows| {
            let before = std::mem::replace(w.state(), rows.last().cloned());
            let line = format!("{} {} {:?}", w.key(), rows.len(), before.map(|r| n_of(&r)));
            w.emit(line);
        });
        seen.collect(&out);
    }

    #[checkpointed]
    fn processes(rate: u64, out: Out) {
        let rows = source(generate(crate::evolve::ROWS, |n| n)).rate_limit(rate).map(row).event_time(at, disorder = 5ms);
        let found = rows.key_by(|r| n_of(r) % 7).process({
            let mut last: Option<Row> = None;
            let mut seen: u64 = 0;
            #[ttl(1h, on = watermark)]
            let mut held: Option<Row> = None;
            let mut list: ListState<Row> = ListState::new();
            let mut map: MapState<u64, Row> = MapState::new();
            on_event(|r, ctx| {
                *seen += 1;
                let before = last.replace(r.clone()).map(|r| n_of(&r));
                if list.len() == 2 {
                    list.pop_front();
                }
                list.push(r.clone());
                map.insert(n_of(&r) % 3, r.clone());
                if *seen % 3 == 0 {
                    *held = Some(r.clone());
                }
                let all: u64 = list.iter().map(n_of).sum::<u64>() + map.get(&1).map_or(0, n_of) + held.as_ref().map_or(0, n_of);
                ctx.emit(format!("{} {seen} {before:?} {all}", ctx.key()));
            });
        });
        found.collect(&out);
    }

    #[checkpointed]
    fn interval_joins(rate: u64, out: Out) {
        let rows = source(generate(crate::evolve::ROWS, |n| n)).rate_limit(rate).map(row).event_time(at, disorder = 5ms);
        let odd = rows.filter(|r| n_of(r) % 2 == 1).map(|r| n_of(&r));
        let pairs = rows.key_by(|r| n_of(r) % 7).join(odd.key_by(|n| *n % 7)).within(-20ms, 30ms, late = drop);
        pairs.map(|(key, (r, other))| format!("{key} {} {other}", n_of(&r))).collect(&out);
    }

    #[checkpointed]
    fn joins_for_ever(rate: u64, out: Out) {
        let rows = source(generate(crate::evolve::ROWS, |n| n)).rate_limit(rate).map(row);
        let odd = rows.filter(|r| n_of(r) % 40 == 1);
        let pairs = rows.map(|r| n_of(&r)).key_by(|n| *n % 20).join(odd.key_by(|r| n_of(r) % 20)).forever(ttl = 1d);
        pairs.map(|(key, (n, r))| format!("{key} {n} {}", n_of(&r))).collect(&out);
    }

    #[checkpointed]
    fn lookup_joins(rate: u64, out: Out) {
        let rows = source(generate(crate::evolve::ROWS, |n| n)).rate_limit(rate).map(row);
        let evens = rows.filter(|r| n_of(r).is_multiple_of(4));
        let found = rows.map(|r| n_of(&r)).key_by(|n| *n).left_join(evens.key_by(|r| n_of(r) + 1)).lookup();
        found.map(|(key, (n, r))| format!("{key} {n} {:?}", r.map(|r| n_of(&r)))).collect(&out);
    }
}

/// All of them: the name of the stream with the state, and what makes the job.
pub const CASES: &[(&str, fn(u64, Out) -> Job)] = &[
    ("scans", scans),
    ("last", windows),
    ("last", sliding_windows),
    ("first", sessions),
    ("first", count_windows),
    ("first", triggers),
    ("", last_records),
    ("", totals),
    ("seen", whole_windows),
    ("found", processes),
    ("pairs", interval_joins),
    ("pairs", joins_for_ever),
    ("found", lookup_joins),
];
