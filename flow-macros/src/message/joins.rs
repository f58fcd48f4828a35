//! Joins.

use crate::diag::Message;
use crate::ops::Operator;
use proc_macro2::Ident;

pub(crate) fn right_side_without_key(operator: &Operator) -> Message {
    Message::new(format!("`{}` brings two streams together by key, but this one has none", operator.name))
        .help(format!("write `{}`", operator.usage))
}

pub(crate) fn join_without_time(closing: &str, left: bool, right: bool) -> Message {
    let side = match (left, right) {
        (true, true) => "neither side has it",
        (true, false) => "the left side has none",
        _ => "the right side has none",
    };
    Message::new(format!("`{closing}` joins by event time, but {side}"))
        .help("put `.event_time(|record| …, disorder = 5s)` upstream, before `key_by`")
}

pub(crate) fn no_window_of_a_join(window: &str) -> Message {
    Message::new(format!("two streams cannot be joined in windows of `{window}`")).help(
        "there are `tumbling(1h)`, `sliding(1h, 5min)`, `session(30min)` and, of bounded input, `global()`",
    )
}

pub(crate) fn join_not_closed(operator: &str) -> Message {
    Message::new(format!("`{operator}` stands behind a join, but a join is not a stream yet"))
        .help(format!("say first which elements belong together: {CLOSING}"))
}

pub(crate) fn join_never_closed(operator: &str) -> Message {
    Message::new(format!("nothing says which elements of this `{operator}` belong together"))
        .help(format!("put {CLOSING} behind it"))
}

const CLOSING: &str = "`.window(tumbling(1h))`, `.within(-5s, 5s)`, `.as_of()`, `.lookup()` or `.forever()`, or, where both sides end, `.hash()` or `.sort_merge()`";

pub(crate) fn not_behind_this_join(operator: &Operator, join: &str) -> Message {
    let joins: Vec<String> = operator.behind.iter().map(|name| format!("`{name}`")).collect();
    let others = match join {
        "semi_join" | "anti_join" => {
            format!("`{join}` is for streams that end: `.hash()` or `.sort_merge()`")
        }
        _ => "any other can be closed by `.window(…)`".to_owned(),
    };
    Message::new(format!("`{}` cannot stand behind `{join}`", operator.name))
        .help(format!("it stands behind {}; {others}", joins.join(", ")))
}

pub(crate) fn no_join_before(operator: &Operator) -> Message {
    Message::new(format!(
        "`{}` says which elements of two streams belong together, but no join stands before it",
        operator.name
    ))
    .help(format!("write `left.key_by(|record| …).join(right.key_by(|record| …)){}`", operator.usage))
}

pub(crate) fn nothing_within(lower: &str, upper: &str, turned: bool) -> Message {
    let text = format!("nothing is within `{lower}` and `{upper}`");
    if turned {
        Message::new(format!("{text}: the lower bound is above the upper one"))
            .help(format!("write `.within({upper}, {lower})`"))
    } else {
        Message::new(format!("{text}, since the bounds themselves are left out"))
            .help("make the interval longer, or let it hold its bounds")
    }
}

pub(crate) fn join_used_twice(name: &Ident) -> Message {
    Message::new(format!("join `{name}` is used twice, but one thing only can be said of it"))
        .help("write a join for each, or use twice what comes of it")
}
