//! Names: of streams, operators and ids.

use crate::diag::Message;
use crate::ops::Operator;
use proc_macro2::Ident;

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

pub(crate) fn stream_in_plain_rust() -> Message {
    Message::new("this stream stands inside plain Rust, where what is made of it would be lost")
        .help("give it a statement of its own: a pipeline has the same operators in every run, and what depends on a value goes into a closure, as in `.filter(move |_| verbose)`")
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

pub(crate) fn same_identity(operator: &str, scope: &str, other: &str) -> Message {
    Message::new(format!("there are two `{operator}` under `{scope}`, and checkpoints find state by these names"))
        .help(format!("give this one a `let` of its own, so that what is written before it can change: `let other = {other}(…)`"))
}

pub(crate) fn reserved_operator(name: &str) -> Message {
    Message::new(format!("there is no operator `{name}` in this version"))
        .help("the operators are listed in docs/operators.md")
}

pub(crate) fn no_parentheses(name: &str) -> Message {
    Message::new(format!("`{name}` is an operator, and its arguments are missing"))
        .help(format!("write `.{name}(…)`"))
}

pub(crate) fn unknown_operator(name: &str, meant: Option<&str>) -> Message {
    match meant {
        Some(meant) => {
            Message::new(format!("there is no operator `{name}`")).help(format!("did you mean `{meant}`?"))
        }
        None => reserved_operator(name),
    }
}

pub(crate) fn foreign_operator(name: &str, instead: &str) -> Message {
    Message::new(format!("there is no operator `{name}`")).help(instead)
}

pub(crate) fn aggregate_as_operator(name: &str, aggregate: &str, usage: &str) -> Message {
    let text = if name == aggregate {
        format!("`{name}` is no operator, but an aggregate")
    } else {
        format!("there is no operator `{name}`, but an aggregate `{aggregate}`")
    };
    Message::new(text).help(format!("write `{usage}`"))
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
        "a closure sees one record: bring the two together by key, with `.join(…)` and `.lookup()` behind it, or with `.connect_broadcast(…)`",
    )
}

pub(crate) fn shared_in_body(name: &Ident, operator: &str) -> Message {
    Message::new(format!("stream `{name}` is used in the body of `{operator}` and elsewhere")).help(format!(
        "a stream with a key can be used once: give it its key in the body, as `.join({name}.key_by(…))`"
    ))
}

pub(crate) fn named_in_body(method: &Ident, name: &Ident, alone: bool) -> Message {
    let what = format!("`{name} = …` in the body of a loop, where operators are the methods of the builder");
    Message::new(what).help(match alone {
        true => format!("write the value alone, `.{method}(value, …)`"),
        false => format!("write `.{method}(…).{name}(value)`"),
    })
}

pub(crate) fn parted_in_body(method: &Ident, operator: &str) -> Message {
    Message::new(format!("`{method}` parts a stream, and stands in the body of `{operator}`, which is one stream")).help(
        "for records that leave the loop at once end the body in `.map(|record| if … { Either::A(again) } else { Either::B(done) })`; else put it before or behind the loop",
    )
}

pub(crate) fn end_in_body(end: &Ident, operator: &str) -> Message {
    Message::new(format!("`{end}` ends a stream, and stands in the body of `{operator}`"))
        .help("a body ends in the stream that goes into the next superstep; put the sink behind the loop")
}

pub(crate) fn closure_changes(name: &Ident, operator: &str) -> Message {
    Message::new(format!("a closure of `{operator}` changes `{name}`, but each parallel instance has its own copy of it"))
        .help("keep state for each key with `scan` or `map_with_state`; to count, `.map_init(|cx| cx.counter(\"name\"), …)`")
}

pub(crate) fn closure_borrows(name: &Ident, operator: &str, owned: &str) -> Message {
    Message::new(format!("a closure of `{operator}` uses `{name}`, which is only borrowed: the job runs when the function has returned"))
        .help(format!("take it by value: `{name}: {owned}`"))
}
