//! Lengths of time that are none, known at run time only: the job does not start, or ends, with an error that names the operator
//! and the place where the user wrote it. Nothing panics.

use flow_core::prelude::*;
use flow_core::process::Ttl;
use flow_core::process::states::Timed;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What is said of a job with such a length.
fn said(declare: impl FnOnce(&mut Job)) -> String {
    let run = catch_unwind(AssertUnwindSafe(|| Job::build("durations", declare).simulate(1)));
    match run {
        Ok(Ok(_)) => "nothing".into(),
        Ok(Err(error)) => error.to_string(),
        Err(panic) => format!("a panic: {:?}", panic.downcast_ref::<String>()),
    }
}

/// Input: `(event_time: of -1ms) |s| a pipeline of s, records with event time`
/// Output: what was said of it, if it is not what the user needs.
macro_rules! wrong {
    ($(($operator:literal: $what:literal) |$s:ident| $declare:expr;)*) => {
        [$({
            let said = said(|job| {
                let $s = source(from_vec(vec![1i64, 2, 3])).event_time(|n| *n).disorder(Millis(0));
                job.add($declare);
            });
            let here = ["durations.rs:", $operator, $what].iter().all(|part| said.contains(part));
            (!here).then(|| format!("{}, {}: {said}", $operator, $what))
        }),*]
    };
}

#[test]
fn a_length_of_time_that_is_none_is_an_error_of_its_operator() {
    let zero = Millis(0);
    let wrong = wrong! {
        ("event_time": "-1ms") |s| s.map(|n| n).event_time(|n| *n).disorder(Millis(-1)).for_each(|_| ());
        ("event_time": "-1ms") |s| s.event_time(|n| *n).monotonic().max_ahead(Millis(-1)).for_each(|_| ());
        ("event_time": "an idle of 0ms") |s| s.event_time(|n| *n).monotonic().idle(zero).for_each(|_| ());
        ("event_time": "an idle of -3ms") |s| s.event_time(|n| *n).punctuated(|n| Some(Timestamp(*n))).idle(Millis(-3)).for_each(|_| ());
        ("event_time": "align") |s| s.event_time(|n| *n).monotonic().align(Millis(-1)).for_each(|_| ());
        ("count": "size 0ms") |s| s.window(tumbling(zero)).count().for_each(|_| ());
        ("count": "each 0ms") |s| s.window(sliding(Millis(5), zero)).count().for_each(|_| ());
        ("count": "gap of 0ms") |s| s.window(session(zero)).count().for_each(|_| ());
        ("count": "lateness of -1ms") |s| s.window(tumbling(Millis(5))).lateness(Millis(-1)).count().for_each(|_| ());
        ("dedup_first": "0ms") |s| s.key_by(|n| *n).dedup_first().ttl(zero).for_each(|_| ());
        ("count": "gap of 0ms") |s| s.window(session_by(|n: &i64| Millis(n - 1))).count().for_each(|_| ());
        ("forever": "time to live of 0ms") |s| {
            let other = source(from_vec(vec![1i64])).event_time(|n| *n).disorder(Millis(0));
            let both = s.key_by(|n| *n).join(other.key_by(|n| *n)).forever().ttl(zero);
            both.map(|(_, row)| row).for_each(|_| ())
        };
        ("process": "interval of 0ms") |s| {
            let process = s.key_by(|n| *n).declare(()).on_event(|(), n, ctx| {
                ctx.set_interval(Millis(0));
                ctx.emit(n);
            });
            process.done().for_each(|_| ())
        };
        ("process": "interval of -5ms") |s| {
            let process = s.key_by(|n| *n).declare(()).on_the_clock().on_event(|(), n, ctx| {
                ctx.set_processing_interval(Millis(-5));
                ctx.emit(n);
            });
            process.done().for_each(|_| ())
        };
        ("process": "interval of 0ms") |s| {
            let process = s.key_by(|n| *n).declare(()).on_event(|(), n: i64, ctx| ctx.set_timer(Timestamp(n)));
            let process = process.on_timer(|(), t, ctx| {
                ctx.emit(t);
                ctx.set_interval(Millis(0));
            });
            process.done().for_each(|_| ())
        };
        ("process": "time to live of 0ms") |s| {
            let states = (Timed::new(|| 0, Ttl::new(Millis(0))), ());
            s.key_by(|n| *n).declare(states).on_event(|_, n, ctx| ctx.emit(n)).done().for_each(|_| ())
        };
    };
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
