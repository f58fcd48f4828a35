//! What closures do and give back.

use crate::diag::Message;
use crate::ops::{Operator, Output};
use proc_macro2::Ident;

pub(crate) fn borrowed_key(help: &str) -> Message {
    Message::new("a key is kept when its record is gone, but this one is borrowed from the record").help(help)
}

pub(crate) fn value_of_a_fold(operator: &str, write: &str) -> Message {
    Message::new(format!(
        "a closure of `{operator}` changes what it has so far, and returns nothing; this one gives a value"
    ))
    .help(format!("write `{write}`"))
}

pub(crate) fn nothing_may_fail(row: &Operator, tried: &str) -> Message {
    let operator = row.name;
    let becomes = match row.output {
        Output::Sides { .. } => ": an error makes a dead letter, as a panic does",
        _ => " to end the job at the first error, or leave out the `?` and put `.split_result()` behind",
    };
    Message::new(format!(
        "a closure of `{operator}` cannot fail: there is no one to whom this `?` gives an error"
    ))
    .help(format!("write `.try_{operator}(…)` with `{tried}`{becomes}"))
}

pub(crate) fn unknown_aggregate(name: &str, usage: &str) -> Message {
    Message::new(format!("there is no aggregate `{name}`")).help(format!("write `{usage}`"))
}

pub(crate) fn foreign_in_context(context: &Ident, name: &str, instead: &str) -> Message {
    let message = Message::new(format!("a context has no `{name}`"));
    match (instead, name) {
        ("", "timer_service") => message
            .help(format!("timers are set on the context: `{context}.set_timer(t)`, `{context}.set_processing_timer(t)`")),
        ("", _) => message.help("a state is declared in the block, `let mut name: Type = initial;`, and is `*name` in the closures"),
        (instead, _) => message.help(format!("write `{context}.{instead}`")),
    }
}

pub(crate) fn not_a_block(operator: &Operator) -> Message {
    Message::new(format!(
        "`{}` takes a block of states and closures, or a process of your own",
        operator.name
    ))
    .help(format!("write `{}`", operator.usage))
}
