//! Keys, time and windows.

use crate::diag::Message;
use crate::ops::{Operator, WindowKind};
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

pub(crate) fn union_of_two_times() -> Message {
    Message::new("`union` brings together a stream with event time and one without")
        .help("put `.event_time(|record| …, disorder = 5s)` before it on both, or on neither")
}

pub(crate) fn window_not_closed(operator: &str) -> Message {
    Message::new(format!("`{operator}` stands behind a window, but a window is not a stream yet"))
        .help("say first what becomes of a window: `.aggregate(|a| a.count())`, or `reduce`, `fold`, `count`, `sum`, `min`, `max`")
}

pub(crate) fn window_never_closed() -> Message {
    Message::new("nothing says what becomes of this window")
        .help("put `.aggregate(|a| a.count())` behind it, or `reduce`, `fold`, `count`, `sum`, `min`, `max`")
}

pub(crate) fn window_used_twice(name: &Ident) -> Message {
    Message::new(format!("window `{name}` is used twice, but it can be closed once only"))
        .help("use one `aggregate` with a tuple, as `|a| (a.count(), a.sum(…))`, or a window for each")
}

pub(crate) fn aggregate_without_window() -> Message {
    Message::new("`aggregate` behind `key_by` needs a window")
        .help("put `.window(tumbling(1h))` before it, or `.window(global())` for one result a key at the end of input")
}

pub(crate) fn late_policy_missing() -> Message {
    Message::new("events may come out of order here, but nothing says what becomes of late ones: they are dropped and counted")
        .help("write `late = drop`, `late = side` or `late = fail`")
}

pub(crate) fn late_on_global(name: &str) -> Message {
    Message::new(format!("`{name}` has no meaning for `global()`: no element is late for it"))
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

pub(crate) fn key_by_twice() -> Message {
    Message::new("this key is replaced by the next `key_by` before anything uses it")
        .help("remove one of the two")
}

pub(crate) fn not_a_window(usage: &str) -> Message {
    Message::new("a window is described by what it is called, not by a bare value")
        .help(format!("write `.window({usage})`"))
}

pub(crate) fn unknown_window(name: &str, meant: &WindowKind) -> Message {
    Message::new(format!("there is no window `{name}`")).help(format!("did you mean `{}`?", meant.usage))
}

pub(crate) fn reserved_window(name: &str) -> Message {
    Message::new(format!("there is no window `{name}` in this version"))
        .help("there are `tumbling(size)`, `sliding(size, slide)` and `global()`")
}
