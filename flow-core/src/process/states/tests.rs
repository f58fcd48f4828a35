//! Entries that are written where a state is replaced, are there in the beginning, or are renewed by reading.

use super::ttl::Now;
use super::{Entries, Held, ListState, MapState, Plain, Timed, TimedEntries, Ttl};
use crate::prelude::*;
use crate::testing::{Step, script};

fn at(at: i64) -> Now {
    Now { read: at, write: at }
}

fn ttl() -> Ttl {
    Ttl::new(Millis(1_000)).on_watermark()
}

fn inputs() -> Vec<Step<i64>> {
    let item = |n, at| Step::Item(n, Timestamp(at));
    let w = |at| Step::Watermark(Timestamp(at));
    vec![
        item(1, 5_000),
        w(5_000),
        item(2, 5_001),
        item(3, 5_002),
        item(4, 5_003),
        w(5_004),
        item(5, 5_005),
        w(6_001),
        item(6, 6_006),
    ]
}

#[test]
fn what_replaces_a_state_lives_from_then() {
    let out = Collected::new();
    let job = Job::build("replaced", |job| {
        let states = (
            TimedEntries::new(ListState::<i64>::new, ttl()),
            (TimedEntries::new(MapState::<i64, ()>::new, ttl()), ()),
        );
        let s = script(inputs()).key_by(|_| 0).declare(states).on_event(
            |(list, (map, ())): (&mut ListState<i64>, (&mut MapState<i64, ()>, ())), n: i64, ctx| {
                let mut keys: Vec<i64> = map.iter().map(|entry| *entry.0).collect();
                keys.sort_unstable();
                ctx.emit((list.iter().copied().collect::<Vec<_>>(), keys));
                if n == 3 {
                    *list = ListState::new();
                    *map = MapState::new();
                }
                list.push(n);
                map.insert(n, ());
            },
        );
        job.add(s.done().collect(&out));
    });
    let report = job.simulate(1).unwrap();
    let both = |all: &[i64]| (all.to_vec(), all.to_vec());
    assert_eq!(out.take(), [both(&[]), both(&[1]), both(&[1, 2]), both(&[3]), both(&[3, 4]), both(&[5])]);
    assert_eq!(report.counter("process.expired"), 4);
}

#[test]
fn entries_of_the_beginning_live_from_the_first_use() {
    let out = Collected::new();
    let job = Job::build("filled", |job| {
        let filled = || {
            let mut list = ListState::new();
            list.push(7);
            list
        };
        let states =
            (TimedEntries::new(filled, ttl()), (TimedEntries::new(MapState::<i64, ()>::new, ttl()), ()));
        let s = script(inputs()).key_by(|_| 0).declare(states).on_event(
            |(list, (map, ())): (&mut ListState<i64>, (&mut MapState<i64, ()>, ())), n: i64, ctx| {
                map.insert(n, ());
                ctx.emit(list.iter().copied().collect::<Vec<_>>());
            },
        );
        job.add(s.done().collect(&out));
    });
    let report = job.simulate(1).unwrap();
    assert_eq!(out.take(), [vec![7], vec![7], vec![7], vec![7], vec![7], vec![]], "5,000 + 1,000 ≤ 6,001");
    assert_eq!(report.counter("process.expired"), 1 + 4);
}

#[test]
fn a_value_written_at_the_end_of_time_is_written() {
    for t in [i64::MAX - 1, i64::MAX] {
        let out = Collected::new();
        let job = Job::build("late", |job| {
            let item = |n| Step::Item(n, Timestamp(t));
            let states = (Timed::new(|| 0, Ttl::new(Millis(10)).on_watermark()), ());
            let s = script(vec![item(1), item(2)]).key_by(|_| 0).declare(states).on_event(
                |(mut value, ()): (Held<'_, i32>, ()), n: i32, ctx| {
                    ctx.emit(*value);
                    *value = n;
                },
            );
            job.add(s.done().collect(&out));
        });
        job.simulate(1).unwrap();
        assert_eq!(out.take(), [0, 1], "written at {t}");
    }
}

#[test]
fn what_stands_behind_a_renewed_entry_leaves() {
    let (ttl, mut list) = (Ttl::new(Millis(10)).renewed_by_reading(), ListState::new());
    let mut gone = 0;
    for t in 0..1_000 {
        gone += list.at(ttl, at(t));
        let first = list.iter().next().copied();
        assert!(t == 0 || first == Some(0), "{t}: {first:?}");
        list.push(t);
        assert!(list.len() <= 11, "{t}: {}", list.len());
    }
    assert_eq!(gone + list.len() as u64, 1_000);
}

#[test]
fn what_has_expired_is_not_shown_to_retain() {
    let (ttl, mut list) = (Ttl::new(Millis(10)).on_watermark(), ListState::new());
    for t in [10, 5] {
        assert_eq!(list.at(ttl, Now { read: i64::MIN, write: t }), 0);
        list.push(t);
    }
    assert_eq!(list.at(ttl, at(15)), 1);
    let mut seen = Vec::new();
    list.retain(|n| {
        seen.push(*n);
        true
    });
    assert_eq!((seen, list.first()), (vec![10], Some(20)));
}

#[test]
fn an_entry_that_was_renewed_once_is_counted_when_it_is_over() {
    let (ttl, mut map) = (Ttl::new(Millis(10)), MapState::new());
    map.at(ttl, at(0));
    map.insert("a", ());
    map.at(ttl, at(5));
    map.get_mut(&"a");
    map.at(ttl, at(9));
    map.insert("b", ());
    assert_eq!(map.at(ttl, at(10)), 0);
    assert_eq!((map.at(ttl, at(16)), map.insert("a", ()), map.len()), (1, None, 2));
}

#[test]
fn a_time_to_live_on_the_watermark_needs_event_time() {
    let job = Job::build("untimed", |job| {
        let states = (Timed::new(|| 0, ttl()), ());
        let s = source(from_vec(vec![1])).key_by(|_| 0).declare(states);
        job.add(
            s.on_event(|(mut value, ()): (Held<'_, i32>, ()), n: i32, ctx| {
                *value += n;
                ctx.emit(*value);
            })
            .done()
            .for_each(|_| ()),
        );
    });
    let error = job.run().unwrap_err().to_string();
    assert!(error.contains("on a stream without event time"), "{error}");
}

#[test]
fn a_timer_of_the_clock_sees_at_the_end_what_still_lives() {
    let out = Collected::new();
    let job = Job::build("end", |job| {
        let item = Step::Item(7, Timestamp(100));
        let s = script(vec![item, Step::Watermark(Timestamp(100))]).key_by(|_| 0);
        let s = s.declare((Timed::new(|| 0, ttl()), (Plain(|| ()), ()))).on_the_clock().on_event(
            |(mut value, _): (Held<'_, i32>, (&mut (), ())), n: i32, ctx| {
                *value = n;
                ctx.set_processing_timer(ctx.now() + Millis(1_000_000));
            },
        );
        job.add(s.on_processing_timer(|(value, _), _, ctx| ctx.emit(*value)).done().collect(&out));
    });
    job.simulate(1).unwrap();
    assert_eq!(out.take(), [7]);
}
