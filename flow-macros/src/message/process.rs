//! The block of a process.

use crate::diag::Message;
use crate::ops::Operator;
use proc_macro2::Ident;

const STATE: &str = "a state is written `let mut name: Type = initial;`";

pub(crate) fn not_in_a_process() -> Message {
    Message::new("a process has states and what is done with them, and this is neither").help(
        "write `let mut name: Type = initial;`, `on_event(|event, ctx| …);`, `on_timer(|t, ctx| …);`; anything else belongs into a closure",
    )
}

pub(crate) fn no_event_handler() -> Message {
    Message::new("this process does not say what is done with a record")
        .help("write `on_event(|event, ctx| …);`")
}

pub(crate) fn state_pattern() -> Message {
    Message::new("a state has one name").help(STATE)
}

pub(crate) fn state_without_type(name: &Ident) -> Message {
    Message::new(format!("state `{name}` has no type")).help(format!("write `let mut {name}: Type = …;`"))
}

pub(crate) fn state_without_value(name: &Ident) -> Message {
    Message::new(format!("state `{name}` has no value for a key that is new"))
        .help(format!("write `let mut {name}: … = initial;`"))
}

pub(crate) fn state_twice(name: &Ident) -> Message {
    Message::new(format!("state `{name}` is declared twice")).help("give each state its own name")
}

pub(crate) fn state_not_mut(name: &Ident) -> Message {
    Message::new(format!("state `{name}` could never be written"))
        .help(format!("write `let mut {name}`; for a constant use a name outside of the pipeline"))
}

pub(crate) fn state_unused(name: &Ident) -> Message {
    Message::new(format!("state `{name}` is never used")).help("remove it, or use it in `on_event`")
}

pub(crate) fn side_usage(name: &Ident) -> Message {
    Message::new("a side says of which type its records are, and nothing else")
        .help(format!("write `let {name}: Side<Type> = side();`"))
}

pub(crate) fn side_attribute() -> Message {
    Message::new("a side has no attributes").help("remove it: a side keeps nothing")
}

pub(crate) fn too_many_sides(max: usize) -> Message {
    Message::new(format!("a process has at most {max} sides"))
        .help("send an `enum` to one side, and take it apart with `.split(…)` behind the process")
}

pub(crate) fn side_unused(name: &Ident) -> Message {
    Message::new(format!("nothing is sent to side `{name}`"))
        .help(format!("remove it, or write `ctx.output({name}, record);`"))
}

pub(crate) fn state_attribute() -> Message {
    Message::new("a state has no such attribute")
        .help("there is `#[ttl(1h)]`: how long it lives after it was written, and `#[ttl(never)]`; `#[broadcast]` is one behind `connect_broadcast`")
}

pub(crate) fn ttl_usage() -> Message {
    Message::new("`ttl` says how long a state lives after it was written")
        .help("write `#[ttl(1h)]`, `#[ttl(1h, on = watermark)]` or `#[ttl(1h, renew = read)]`; `#[ttl(never)]` says that it lives for ever")
}

pub(crate) fn never_is_all() -> Message {
    Message::new("a state that lives for ever has no clock, and nothing renews it")
        .help("write `#[ttl(never)]`")
}

pub(crate) fn unbounded_state(name: &Ident) -> Message {
    Message::new(format!(
        "this input has no end, and `{name}` is kept for each key that ever came: nothing takes it out"
    ))
    .help("write `#[ttl(1h)]` before it, or call `ctx.clear()` when a key is done; `#[ttl(never)]` says that this is meant")
}

pub(crate) fn ttl_on() -> Message {
    Message::new("a time to live is on the host's clock or on the watermark")
        .help("write `on = clock` or `on = watermark`")
}

pub(crate) fn ttl_renew() -> Message {
    Message::new("a time to live is renewed by writing, or by reading too")
        .help("write `renew = write` or `renew = read`")
}

pub(crate) fn ttl_unknown(name: &Ident) -> Message {
    Message::new(format!("`ttl` has no argument `{name}`")).help("it has: `on`, `renew`")
}

pub(crate) fn ttl_without_event_time() -> Message {
    Message::new("this state lives on the watermark, but this stream has no event time")
        .help("put `.event_time(|record| …, disorder = 5s)` upstream, before `key_by`, or leave out `on = watermark`")
}

pub(crate) fn unknown_handler(name: &str, meant: Option<&str>) -> Message {
    let has = "a process has `on_event`, `on_timer` and `on_processing_timer`, behind `connect` `on_left` and `on_right`, and behind `connect_broadcast` `on_broadcast`";
    let text = Message::new(format!("a process does nothing on `{name}`"));
    match meant {
        Some(meant) => text.help(format!("did you mean `{meant}`? {has}")),
        None => text.help(has),
    }
}

pub(crate) fn handler_twice(name: &str) -> Message {
    Message::new(format!("`{name}` stands twice in this process")).help("put both into one closure")
}

pub(crate) fn handler_usage(name: &str, usage: &str) -> Message {
    Message::new(format!("`{name}` takes one closure with two parameters")).help(format!("write `{usage};`"))
}

pub(crate) fn timer_without_event_time() -> Message {
    Message::new("`on_timer` is about timers in event time, but this stream has no event time").help(
        "put `.event_time(|record| …, disorder = 5s)` upstream, before `key_by`, or use `on_processing_timer` and `ctx.set_processing_timer(t)`",
    )
}

pub(crate) fn timer_never_set(handler: &str, setters: &[&str]) -> Message {
    let setters: Vec<String> = setters.iter().map(|one| format!("`ctx.{one}(…)`")).collect();
    Message::new(format!("nothing in this process sets a timer, so `{handler}` is never called"))
        .help(format!("set one with {}, or remove `{handler}`", setters.join(" or ")))
}

pub(crate) fn timer_for_nothing() -> Message {
    Message::new("this process sets timers, but does not say what is done when they fire")
        .help("write `on_timer(|t, ctx| …);`")
}

pub(crate) fn clock_timer_for_nothing() -> Message {
    Message::new("this process sets timers of the clock, but does not say what is done when they fire")
        .help("write `on_processing_timer(|t, ctx| …);`: what such a process emits has no event time")
}

pub(crate) fn event_time_on_the_clock(window: &str, by: &Operator) -> Message {
    let by = by.name;
    Message::new(format!(
        "`{window}` is a window of event time, but what `{by}` upstream emits has none: it has timers of the clock"
    ))
    .help("when they fire says nothing about events: put `.event_time(|record| …, disorder = 5s)` behind it, or use timers in event time")
}

pub(crate) fn connect_not_closed(operator: &str) -> Message {
    Message::new(format!("`{operator}` stands behind `connect`, but two streams are not one yet"))
        .help(format!("say first what is done with their records: {CONNECTED}"))
}

pub(crate) fn connect_never_closed(operator: &str) -> Message {
    Message::new(format!("nothing says what is done with the records of this `{operator}`"))
        .help(format!("put {CONNECTED} behind it"))
}

pub(crate) fn connect_used_twice(name: &Ident) -> Message {
    Message::new(format!("`{name}` is used twice, but two connected streams have one process only"))
        .help("write a `connect` for each, or use twice what comes of it")
}

pub(crate) fn beside_not_closed(operator: &str) -> Message {
    Message::new(format!("`{operator}` stands behind `connect_broadcast`, but two streams are not one yet"))
        .help(format!("say first what is done with their records: {BESIDE}"))
}

pub(crate) fn beside_never_closed(operator: &str) -> Message {
    Message::new(format!("nothing says what is done with the records of this `{operator}`"))
        .help(format!("put {BESIDE} behind it"))
}

pub(crate) fn all_with_a_key(operator: &Operator) -> Message {
    Message::new(format!(
        "every instance gets every record of this stream, so its key says nothing to `{}`",
        operator.name
    ))
    .help(format!("leave `key_by` out: `{}`", operator.usage))
}

pub(crate) fn broadcast_state_missing() -> Message {
    Message::new("this process does not say what every instance keeps of the records that all get")
        .help("write `#[broadcast] let mut rules: Type = initial;`")
}

pub(crate) fn broadcast_handler_missing() -> Message {
    Message::new("this process does not say what is done with a record that every instance gets")
        .help("write `on_broadcast(|record, ctx| …);`")
}

pub(crate) fn broadcast_of_nothing(what: &str) -> Message {
    Message::new(format!(
        "this process has no stream of which every instance gets every record, so there is no `{what}`"
    ))
    .help("put `.connect_broadcast(rules)` before `process`")
}

pub(crate) fn broadcast_side(name: &str) -> Message {
    Message::new(format!("behind `connect_broadcast` there is no `{name}`"))
        .help("write `on_event(|event, ctx| …);` for the records of a key, and `on_broadcast(|record, ctx| …);` for those that every instance gets")
}

pub(crate) fn broadcast_usage() -> Message {
    Message::new("`broadcast` has no arguments, and a state that it is at lives as long as the job")
        .help("write `#[broadcast] let mut rules: Type = initial;`")
}

pub(crate) fn broadcast_twice(name: &Ident) -> Message {
    Message::new(format!("`{name}` is the second state that every instance has, and there is one only"))
        .help("put both into one: a tuple, or a struct")
}

const BESIDE: &str = "`.process({ #[broadcast] let mut rules: Type = initial; on_event(|event, ctx| …); on_broadcast(|record, ctx| …); })`";

const CONNECTED: &str = "`.process({ on_left(|record, ctx| …); on_right(|record, ctx| …); })`";

pub(crate) fn side_missing(missing: &str) -> Message {
    Message::new(format!("this process of two streams has no `{missing}`"))
        .help(format!("write `{missing}(|record, ctx| …);`"))
}

pub(crate) fn event_of_two_streams() -> Message {
    Message::new("this process has two streams, so `on_event` does not say of which")
        .help("write `on_left(|record, ctx| …);` and `on_right(|record, ctx| …);`")
}

pub(crate) fn side_of_one_stream(name: &str) -> Message {
    Message::new(format!("this process has one stream, so there is no `{name}`")).help(
        "write `on_event(|event, ctx| …);`, or put `.connect(other.key_by(|record| …))` before `process`",
    )
}
