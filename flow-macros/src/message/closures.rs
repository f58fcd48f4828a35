//! What closures do and give back.

use crate::diag::Message;

pub(crate) fn borrowed_key(help: &str) -> Message {
    Message::new("a key is kept when its record is gone, but this one is borrowed from the record").help(help)
}

pub(crate) fn value_of_a_fold(operator: &str, write: &str) -> Message {
    Message::new(format!(
        "a closure of `{operator}` changes what it has so far, and returns nothing; this one gives a value"
    ))
    .help(format!("write `{write}`"))
}

pub(crate) fn nothing_may_fail(operator: &str, fallible: &str, tried: &str) -> Message {
    Message::new(format!("a closure of `{operator}` cannot fail: there is no one to whom this `?` gives an error")).help(
        format!("write `.{fallible}(…)` with `{tried}` to end the job at the first error, or leave out the `?` and put `.split_result()` behind"),
    )
}

pub(crate) fn unknown_aggregate(name: &str, usage: &str) -> Message {
    Message::new(format!("there is no aggregate `{name}`")).help(format!("write `{usage}`"))
}
