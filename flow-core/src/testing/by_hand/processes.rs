//! What a process knows of time does not go back.

use super::{Feed, Shown, both, dealt, text};
use crate::job::Job;
use crate::process::Ttl;
use crate::process::states::{Held, Timed};
use crate::source::source;
use crate::time::{Millis, Timestamp};

/// Each record sets a timer at its time and tells where the watermark is; so does the timer.
fn told(job: &mut Job, feed: Feed<i64>, shown: Shown) {
    let timed = source(feed).durable().event_time(|t| *t).disorder(Millis(0));
    let told = timed.key_by(|t| t % 2).declare(()).on_event(|(), t: i64, ctx| {
        ctx.set_timer(Timestamp(t));
        ctx.emit((t, ctx.watermark()));
    });
    let told = told.on_timer(|(), at, ctx| ctx.emit((-at.0, ctx.watermark())));
    job.add(told.done().map(text).collect(&shown.out));
}

/// Each record tells what its key has kept, which lives for ten milliseconds of event time.
fn lived(job: &mut Job, feed: Feed<i64>, shown: Shown) {
    let timed = source(feed).durable().event_time(|t| *t).disorder(Millis(0));
    let states = (Timed::new(|| -1, Ttl::new(Millis(10)).on_watermark()), ());
    let lived = timed.key_by(|t| t % 2).declare(states).on_event(
        |(mut last, ()): (Held<'_, i64>, ()), t: i64, ctx| {
            ctx.emit((t, *last));
            *last = t;
        },
    );
    job.add(lived.done().map(text).collect(&shown.out));
}

#[test]
fn the_watermark_of_a_process_does_not_go_back() {
    let parts = dealt(&[50, 5, 51, 8, 70], 1);
    for at in 1..4 {
        let (whole, two) = both(told, &parts, at, 1, 1);
        assert_eq!(two.rows(), whole.rows(), "cut at {at}");
    }
}

#[test]
fn what_had_expired_does_not_come_back() {
    let parts = dealt(&[0, 50, 4, 70], 1);
    for at in 1..4 {
        let (whole, two) = both(lived, &parts, at, 1, 1);
        assert_eq!((whole.rows()[2].as_str(), two.rows()), ("(4, -1)", whole.rows()), "cut at {at}");
    }
}
