//! Every sentence the macro can say, in one place to proof-read: lower-case, no period at the end; the text says
//! what is wrong, the help what to write instead.

use crate::diag::Message;
use crate::ops::{Operator, WindowKind};
use proc_macro2::Ident;

// --- reading the text -----------------------------------------------------------------------------------------

pub(crate) fn not_a_pipeline() -> Message {
    Message::new("this is not a pipeline")
        .help("a pipeline is declared as `pub fn name(parameters) { … }`, with nothing between two of them")
}

pub(crate) fn qualified_pipeline(word: &str) -> Message {
    Message::new(format!("a pipeline cannot be `{word}`"))
        .help(format!("remove `{word}`: the function only builds a job"))
}

pub(crate) fn pipeline_returns(name: &Ident) -> Message {
    Message::new(format!(
        "pipeline `{name}` declares a result, but a pipeline's function always returns a `Job`"
    ))
    .help("remove the `-> …`; results leave a pipeline through a sink, such as `.collect(&collected)`")
}

pub(crate) fn pipeline_self() -> Message {
    Message::new("a pipeline has no `self`").help("pass what it needs as a parameter")
}

pub(crate) fn no_checkpoints() -> Message {
    Message::new("checkpoints are not in this version yet")
        .help("remove `#[checkpointed]`; state is kept in memory and lost when the process ends")
}

pub(crate) fn no_batch() -> Message {
    Message::new("batch mode is not in this version yet")
        .help("remove `#[batch]`; bounded input runs to its end and fires every window without it")
}

pub(crate) fn dangling_dot() -> Message {
    Message::new("something is missing after this `.`").help("write an operator, or remove the `.`")
}

pub(crate) fn missing_semicolon() -> Message {
    Message::new("a `;` is missing after this statement").help("add `;`")
}

pub(crate) fn ends_too_early(reason: &str) -> Message {
    let reason = reason.trim_start_matches("unexpected end of input, ");
    Message::new(format!("the statement ends too early: {reason}"))
}

pub(crate) fn not_rust(reason: &str) -> Message {
    Message::new(format!("this statement cannot be read: {reason}"))
}

pub(crate) fn empty_pipeline() -> Message {
    Message::new("this pipeline is empty").help(
        "begin with a source: `let lines = source(lines(path));`, and end with a sink: `lines.for_each(…);`",
    )
}

pub(crate) fn let_else() -> Message {
    Message::new("a stream always matches its name: `else` has no meaning here")
        .help("remove the `else { … }`")
}

pub(crate) fn stream_pattern() -> Message {
    Message::new("a stream needs a name of its own")
        .help("write `let name = …`, or `let (first, second) = …` for an operator with several streams")
}

pub(crate) fn not_a_chain() -> Message {
    Message::new("a stream statement is a chain of operators; this is not part of one")
        .help("errors are handled inside operators: see `try_map` and `split_result`")
}

// --- names ----------------------------------------------------------------------------------------------------

pub(crate) fn cycle(path: &[String]) -> Message {
    let name = path.last().map_or("", String::as_str);
    let way: Vec<String> =
        std::iter::once(name).chain(path.iter().map(String::as_str)).map(|n| format!("`{n}`")).collect();
    Message::new(format!("stream `{name}` is made from itself: {}", way.join(" ← ")))
        .help("a pipeline has no cycles in this version; begin one of these streams with a `source(…)`")
}

pub(crate) fn used_before(name: &Ident) -> Message {
    Message::new(format!("stream `{name}` is used before it is declared"))
        .help(format!("move `let {name} = …` above this line"))
}

pub(crate) fn not_a_stream(name: &Ident) -> Message {
    Message::new(format!("`{name}` is not a stream, but a stream is needed here"))
        .help(format!("make a stream of it with `source({name})`"))
}

pub(crate) fn unknown_stream(name: &Ident, meant: Option<&str>) -> Message {
    let message = Message::new(format!("there is no stream `{name}`"));
    match meant {
        Some(meant) => message.help(format!("did you mean `{meant}`?")),
        None => message.help(format!("declare it above: `let {name} = source(…);`")),
    }
}

pub(crate) fn duplicate_stream(name: &Ident) -> Message {
    Message::new(format!("there is already a stream `{name}`; its operators would have the same ids"))
        .help("give this one another name, or make it from the first")
}

pub(crate) fn duplicate_id(id: &str) -> Message {
    Message::new(format!("there are two operators named `{id}`")).help("give one of them another name")
}

pub(crate) fn reserved_operator(name: &str) -> Message {
    Message::new(format!("there is no operator `{name}` in this version"))
        .help("the operators are listed in docs/operators.md")
}

pub(crate) fn unknown_operator(name: &str, meant: Option<&str>) -> Message {
    match meant {
        Some(meant) => {
            Message::new(format!("there is no operator `{name}`")).help(format!("did you mean `{meant}`?"))
        }
        None => reserved_operator(name),
    }
}

pub(crate) fn named_as_method(name: &str, owner: &Operator) -> Message {
    Message::new(format!("`{name}` is no operator, but an argument of `{}`", owner.name))
        .help(format!("write `.{}(…, {name} = …)`", owner.name))
}

pub(crate) fn never_consumed(name: &Ident) -> Message {
    Message::new(format!("stream `{name}` is never consumed"))
        .help(format!("end it with a sink, as `{name}.for_each(|record| …);`, or remove it"))
}

pub(crate) fn side_never_consumed(name: &Ident) -> Message {
    Message::new(format!("stream `{name}` is never consumed")).help(format!(
        "end it with a sink, as `{name}.for_each(|record| …);`, or name it `_{name}` to ignore it"
    ))
}

pub(crate) fn stream_in_closure(name: &Ident, operator: &str) -> Message {
    Message::new(format!("stream `{name}` cannot be used inside a closure of `{operator}`")).help(
        "a closure sees one record; bring two streams together with `union`, or keep state with `map_with_state`",
    )
}

// --- chains ---------------------------------------------------------------------------------------------------

pub(crate) fn goes_nowhere(last: Option<&str>) -> Message {
    let what = match last {
        Some(last) => format!("the stream behind `{last}` goes nowhere"),
        None => "this stream goes nowhere".to_owned(),
    };
    Message::new(what)
        .help("end it with a sink, as `.for_each(|record| …)`, or give it a name with `let name = …`")
}

pub(crate) fn let_of_terminal(operator: &str) -> Message {
    Message::new(format!("`{operator}` ends the stream: there is nothing to give a name to"))
        .help("write the statement without `let`")
}

pub(crate) fn after_terminal(operator: &str, terminal: &str) -> Message {
    Message::new(format!("`{operator}` stands behind `{terminal}`, which ends the stream"))
        .help(format!("put `{operator}` before `{terminal}`, or give the stream a name and use it twice"))
}

pub(crate) fn few_arguments(operator: &str, least: usize, usage: &str) -> Message {
    Message::new(format!("`{operator}` needs {}", count(least))).help(format!("write `{usage}`"))
}

pub(crate) fn many_arguments(operator: &str, most: usize, usage: &str) -> Message {
    Message::new(
        format!("`{operator}` takes {} only", count(most)).replace("no argument only", "no argument"),
    )
    .help(format!("write `{usage}`"))
}

fn count(arguments: usize) -> String {
    match arguments {
        0 => "no argument".to_owned(),
        1 => "one argument".to_owned(),
        2 => "two arguments".to_owned(),
        more => format!("{more} arguments"),
    }
}

pub(crate) fn unknown_named(operator: &str, name: &Ident, has: &[&str], meant: Option<&str>) -> Message {
    let list = has.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let text = Message::new(format!("`{operator}` has no argument `{name}`"));
    match (meant, has.is_empty()) {
        (Some(meant), _) => text.help(format!("did you mean `{meant}`? it has: {list}")),
        (None, true) => text.help("it has no named arguments"),
        (None, false) => text.help(format!("it has: {list}")),
    }
}

pub(crate) fn duplicate_named(operator: &str, name: &Ident) -> Message {
    Message::new(format!("`{operator}` is given `{name}` twice")).help("remove one of them")
}

pub(crate) fn missing_named(operator: &Operator, name: &str, question: &str) -> Message {
    Message::new(format!("`{}` needs `{name} = …`: {question}", operator.name))
        .help(format!("write `{}`", operator.usage))
}

pub(crate) fn stream_argument(operator: &str, name: &str) -> Message {
    Message::new(format!("`{operator}` takes no stream, but `{name}` is one"))
        .help("bring two streams together with `union`, or pass both to a function of streams: `f(a, b)`")
}

pub(crate) fn union_of_values() -> Message {
    Message::new("`union` takes streams, and this is none")
        .help("make a stream of it: `let other = source(…);`")
}

// --- keys, time and windows -------------------------------------------------------------------------------------

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
        .help("there are `tumbling(size)` and `global()`")
}

// --- several streams --------------------------------------------------------------------------------------------

pub(crate) fn sides_need_names(operator: &str, min: usize, max: usize) -> Message {
    let pattern = ["first", "second", "third", "fourth"][..min.clamp(1, 4)].join(", ");
    let count = if min == max { format!("{min}") } else { format!("{min} to {max}") };
    Message::new(format!("`{operator}` gives {count} streams, and each needs a name"))
        .help(format!("write `let ({pattern}) = …;`"))
}

pub(crate) fn late_side_needs_names(operator: &str) -> Message {
    Message::new(format!(
        "with `late = side`, `{operator}` gives two streams: the results and the late elements"
    ))
    .help("write `let (results, late) = …;`")
}

pub(crate) fn wrong_number_of_names(operator: &str, found: usize, min: usize, max: usize) -> Message {
    let count = if min == max { format!("{min}") } else { format!("{min} to {max}") };
    Message::new(format!("`{operator}` gives {count} streams, but there are {found} names"))
        .help(format!("write {count} names; `_` ignores a stream"))
}

pub(crate) fn one_stream_only(operator: &str) -> Message {
    let text = format!("`{operator}` gives one stream, but the pattern has several names");
    Message::new(text)
        .help("write `let name = …`; `late = side`, `split`, `partition` and `split_result` give several")
}

// --- durations --------------------------------------------------------------------------------------------------

pub(crate) fn duration_without_unit(digits: &str) -> Message {
    Message::new("a duration needs a unit")
        .help(format!("write `{digits}ms`, `{digits}s`, `{digits}min`, `{digits}h` or `{digits}d`"))
}

pub(crate) fn unknown_unit(unit: &str, digits: &str) -> Message {
    let meant = match unit {
        "m" | "mins" | "minute" | "minutes" => "min",
        "sec" | "secs" | "second" | "seconds" => "s",
        "hr" | "hrs" | "hour" | "hours" => "h",
        "day" | "days" => "d",
        "millis" | "msec" | "milliseconds" => "ms",
        _ => {
            return Message::new(format!("there is no unit `{unit}`"))
                .help("durations have `ms`, `s`, `min`, `h` or `d`");
        }
    };
    Message::new(format!("there is no unit `{unit}`")).help(format!("write `{digits}{meant}`"))
}

pub(crate) fn fractional_duration() -> Message {
    Message::new("a duration is a whole number of its unit")
        .help("use a smaller unit: `90min` for one and a half hours")
}

pub(crate) fn duration_too_long() -> Message {
    Message::new("this duration is longer than 64 bits of milliseconds can say")
}

pub(crate) fn not_positive(what: &str, found: &str) -> Message {
    Message::new(format!("{what} has to be longer than zero, but this is `{found}`"))
}

pub(crate) fn negative(what: &str, found: &str) -> Message {
    Message::new(format!("{what} cannot be negative, but this is `{found}`"))
        .help("0 or more; `0ms` is allowed")
}

pub(crate) fn offset_too_large(offset: &str, size: &str) -> Message {
    Message::new(format!("the offset `{offset}` is not smaller than the size `{size}`"))
        .help("an offset shifts a window by less than its size, to either side")
}

pub(crate) fn duration_in_plain_rust(literal: &str) -> Message {
    Message::new(format!("`{literal}` is a duration, which only stream statements know"))
        .help("write it where it is used, or `Millis::from(std::time::Duration::from_millis(…))` here")
}
