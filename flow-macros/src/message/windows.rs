//! Keys, time and windows.

use crate::diag::Message;
use crate::foreign;
use crate::ops::{OVERLAPPING_MAX, Operator, Output, Time, WindowKind};
use proc_macro2::Ident;

pub(crate) fn needs_key(operator: &Operator) -> Message {
    let text = format!("`{}` works for each key, but this stream has none", operator.name);
    let help = format!("put `.key_by(|record| …)` before `{}`", operator.name);
    match operator.name {
        "map_values" => Message::new(text).help(format!("{help}, or use `map`")),
        _ => Message::new(text).help(help),
    }
}

pub(crate) fn key_lost(operator: &Operator, by: &str) -> Message {
    Message::new(format!("`{}` works for each key, but `{by}` upstream drops the key", operator.name)).help(
        "`filter`, `inspect` and `map_values` keep a key; after any other operator put `.key_by(|record| …)` again",
    )
}

pub(crate) fn no_event_time(window: &str) -> Message {
    Message::new(format!("`{window}` is a window of event time, but this stream has no event time"))
        .help("put `.event_time(|record| …, disorder = 5s)` upstream, before `key_by`")
}

pub(crate) fn event_time_lost(window: &str, by: &Operator) -> Message {
    let name = by.name;
    if by.output == Output::Window {
        let what = "the windows upstream lie on the clock, and their results have no event time";
        return Message::new(format!("`{window}` is a window of event time, but {what}"))
            .help("remove `time = processing` there, or use `time = processing` here too");
    }
    let keyed = match by.time {
        Time::DropsUnkeyed => {
            format!("put `.key_by(|record| …)` before `{name}` for a result with each record's time, or ")
        }
        _ => String::new(),
    };
    Message::new(format!(
        "`{window}` is a window of event time, but what `{name}` upstream gives at the end of the input has no time"
    ))
    .help(format!("{keyed}take the window before `{name}`"))
}

pub(crate) fn union_of_two_times(operator: &str) -> Message {
    Message::new(format!("`{operator}` brings together a stream with event time and one without"))
        .help("put `.event_time(|record| …, disorder = 5s)` before it on both, or on neither")
}

pub(crate) fn window_not_closed(operator: &str) -> Message {
    Message::new(format!("`{operator}` stands behind a window, but a window is not a stream yet"))
        .help(foreign::of_windows(operator).unwrap_or("say first what becomes of a window: `.aggregate(|a| a.count())`, or `reduce`, `fold`, `count`, `sum`, `min`, `max`"))
}

pub(crate) fn window_never_closed() -> Message {
    Message::new("nothing says what becomes of this window")
        .help("put `.aggregate(|a| a.count())` behind it, or `reduce`, `fold`, `count`, `sum`, `min`, `max`")
}

pub(crate) fn window_used_twice(name: &Ident) -> Message {
    Message::new(format!("window `{name}` is used twice, but it can be closed once only"))
        .help("use one `aggregate` with a tuple, as `|a| (a.count(), a.sum(…))`, or a window for each")
}

pub(crate) fn late_policy_missing() -> Message {
    Message::new("events may come out of order here, but nothing says what becomes of late ones: they are dropped and counted")
        .help("write `late = drop`, `late = side` or `late = fail`")
}

pub(crate) fn late_without_time(name: &str, window: &WindowKind) -> Message {
    let window =
        if window.lengths.is_empty() { window.usage.to_owned() } else { format!("{}(…)", window.name) };
    Message::new(format!("`{name}` has no meaning for `{window}`: no element is late for it"))
        .help(format!("remove `{name}`"))
}

pub(crate) fn unknown_late(found: &str, meant: Option<&str>) -> Message {
    let help = match meant {
        Some(meant) => format!("did you mean `{meant}`? late elements go to `side`, `drop` or `fail`"),
        None => "late elements go to `side`, `drop` or `fail`".to_owned(),
    };
    Message::new(format!("there is no late policy `{found}`")).help(help)
}

pub(crate) fn event_time_behind_exchange(exchange: &str) -> Message {
    Message::new(format!(
        "`event_time` stands behind `{exchange}`, where records of several senders are mixed"
    ))
    .help(format!("put `event_time` before `{exchange}`, where each partition is still in its own order"))
}

pub(crate) fn not_true(name: &Ident) -> Message {
    Message::new(format!("`{name}` says all by standing here: it takes `true` only"))
        .help(format!("write `{name} = true`, or leave it out"))
}

pub(crate) fn one_too_many(operator: &str, first: &Ident, second: &Ident) -> Message {
    Message::new(format!("`{first}` and `{second}` both say how the watermark of `{operator}` rises"))
        .help(format!("keep one of the two: remove `{first}` or `{second}`"))
}

pub(crate) fn nothing_to_guard(strategy: &Ident) -> Message {
    Message::new(format!(
        "`max_ahead` guards the highest timestamp, and with `{strategy}` the watermark does not come from that"
    ))
    .help("remove `max_ahead`, and leave out in the strategy what you do not believe")
}

pub(crate) fn key_by_twice() -> Message {
    Message::new("this key is replaced by the next `key_by` before anything uses it")
        .help("remove one of the two")
}

pub(crate) fn same_key_again(name: &Ident) -> Message {
    Message::new(format!("this `{name}` sets the key that the stream has already")).help("remove it")
}

pub(crate) fn not_a_window(usage: &str) -> Message {
    Message::new("a window is described by what it is called, not by a bare value")
        .help(format!("write `.window({usage})`"))
}

pub(crate) fn unknown_window(name: &str, meant: &WindowKind) -> Message {
    Message::new(format!("there is no window `{name}`")).help(format!("did you mean `{}`?", meant.usage))
}

pub(crate) fn foreign_window(name: &str, instead: &str) -> Message {
    Message::new(format!("there is no window `{name}`")).help(instead)
}

pub(crate) fn window_as_operator(window: &WindowKind) -> Message {
    Message::new(format!("`{}` is no operator, but a window", window.name))
        .help(format!("write `.window({})`", window.usage))
}

pub(crate) fn gap_without_closure(usage: &str) -> Message {
    Message::new("`session_by` takes a closure that gives the gap of each record")
        .help(format!("write `session_by(|record| …)`, or `{usage}` for one gap"))
}

pub(crate) fn gap_with_closure() -> Message {
    Message::new("`session` takes one gap for all records")
        .help("write `session(30min)`, or `session_by(|record| …)` for a gap of each record")
}

pub(crate) fn holds_back_windows(operator: &str) -> Message {
    Message::new(format!(
        "this input has no end: while it is silent it holds back every window behind `{operator}`"
    ))
    .help("write `idle = 10s` to go on without it after that time, or `idle = never` if that is meant")
}

pub(crate) fn not_behind_a_window(operator: &Operator) -> Message {
    Message::new(format!("`{}` stands behind a window, but this is a stream", operator.name))
        .help(format!("write `.window(tumbling(1h)){}`", operator.usage))
}

pub(crate) fn evict_of_a_value(kept: &str) -> Message {
    Message::new("`evict` is told which records a window keeps, not by a bare value")
        .help(format!("write `.evict(last({kept}))`"))
}

pub(crate) fn keeps_nothing(text: &str) -> Message {
    Message::new(format!("`last({text})` keeps nothing of a window"))
        .help("keep at least one record, `last(1)`, or some time, `last(10s)`")
}

pub(crate) fn last_without_event_time(text: &str) -> Message {
    Message::new(format!("`last({text})` goes by the time of the records, but this stream has no event time"))
        .help(
            "keep a number of records, `last(10)`, or put `.event_time(|record| …, disorder = 5s)` upstream",
        )
}

pub(crate) fn late_by_the_clock(name: &str) -> Message {
    Message::new(format!(
        "`{name}` has no meaning for windows of processing time: an element happens when it arrives"
    ))
    .help(format!("remove `{name}`"))
}

pub(crate) fn unknown_time(found: &str) -> Message {
    Message::new(format!("windows lie in event time or on the clock, and `{found}` is neither"))
        .help("write `time = processing` for windows on the clock; without `time` they lie in event time")
}

pub(crate) fn trigger_behind(evictor: &str) -> Message {
    Message::new(format!("`trigger` stands behind `{evictor}`, but says when the whole window fires"))
        .help(format!("put `.trigger(|t| …)` before `.{evictor}(…)`"))
}

pub(crate) fn takes_no_trigger(window: &str, counts: bool) -> Message {
    let message = Message::new(format!("a trigger cannot fire `{window}`"));
    if counts {
        message.help("for a result at so many elements and at other times, write `.window(global()).trigger(|t| t.count(100).purging())`")
    } else {
        message.help("windows on the clock fire at their ends; `early_by_clock` fires windows of event time by the clock")
    }
}

pub(crate) fn condition_twice(name: &str) -> Message {
    Message::new(format!("`{name}` is said twice in this trigger")).help("say it once")
}

pub(crate) fn fires_nothing() -> Message {
    Message::new("nothing fires this trigger")
        .help("say when: `t.early(10s)`, `t.early_by_clock(10s)`, `t.count(100)` or `t.when(|record| …)`")
}

pub(crate) fn no_condition(name: &str, meant: &str) -> Message {
    Message::new(format!("a trigger has no condition `{name}`")).help(format!("did you mean `{meant}`?"))
}

pub(crate) fn early_without_event_time(every: &str) -> Message {
    Message::new("`early` goes by event time, but this stream has none").help(format!(
        "write `early_by_clock({every})` to go by the clock, or put `.event_time(|record| …, disorder = 5s)` upstream"
    ))
}

pub(crate) fn time_for_a_count(text: &str) -> Message {
    Message::new(format!("`count` takes a number of elements, but `{text}` is a time"))
        .help(format!("write `count(100)`, or `early({text})`"))
}

pub(crate) fn not_an_offset_from_utc(text: &str) -> Message {
    Message::new(format!("no place is `{text}` from UTC: it has to be less than a day"))
        .help("write `days(0h)` for days of UTC, `days(8h)` for Singapore, `days(-5h)` for Lima")
}

pub(crate) fn no_elements(what: &str, found: &str) -> Message {
    Message::new(format!("{what} has to be at least one element, but this is `{found}`"))
}

pub(crate) fn time_for_elements(time: &str) -> Message {
    Message::new(format!("`count` takes a number of elements, but `{time}` is a time"))
        .help(format!("write `count(100)`, or `tumbling({time})` for windows of time"))
}

pub(crate) fn time_for_number(operator: &Operator, time: &str) -> Message {
    Message::new(format!("`{}` takes a number, but `{time}` is a time", operator.name))
        .help(format!("write `{}`", operator.usage))
}

pub(crate) fn number_too_small(what: &str, found: &str) -> Message {
    Message::new(format!("{what} has to be at least 1, but this is `{found}`"))
}

pub(crate) fn parallelism_of(operator: &str) -> Message {
    if operator == "global" {
        return Message::new("`global` brings all records to one instance: it has no other parallelism")
            .help("write `.global()`, or `.rebalance(parallelism = n)` for several instances");
    }
    Message::new(format!(
        "`{operator}` runs in as many instances as its input: only an exchange changes that"
    ))
    .help("write `.rebalance(parallelism = n)` or `.key_by(…, parallelism = n)` before it")
}

pub(crate) fn not_a_number(name: &Ident, found: &str, most: u64) -> Message {
    Message::new(format!("`{name}` is a number from 1 to {most}, but this is `{found}`"))
}

pub(crate) fn gaps_between_windows(size: u64, every: u64) -> Message {
    Message::new(format!(
        "windows of {size} every {every} elements leave gaps: the elements in them are in no window"
    ))
    .help("write `gaps = true` if that is meant")
}

pub(crate) fn too_many_overlap(size: u64, every: u64) -> Message {
    Message::new(format!(
        "windows of {size} every {every} elements: each element would be in {}, and {OVERLAPPING_MAX} are the limit",
        size.div_ceil(every)
    ))
}
