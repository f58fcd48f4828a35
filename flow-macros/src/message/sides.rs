//! Operators with several streams.

use crate::diag::Message;

pub(crate) fn sides_need_names(operator: &str, min: usize, max: usize) -> Message {
    let pattern = ["first", "second", "third", "fourth"][..min.clamp(1, 4)].join(", ");
    let count = if min == max { format!("{min}") } else { format!("{min} to {max}") };
    Message::new(format!("`{operator}` gives {count} streams, and each needs a name"))
        .help(format!("write `let ({pattern}) = …;`"))
}

pub(crate) fn process_sides_need_names(sides: &[String]) -> Message {
    let streams = sides.len() + 1;
    Message::new(format!(
        "this `process` gives {streams} streams, its results and its sides, and each needs a name"
    ))
    .help(format!("write `let (results, {}) = …;`", sides.join(", ")))
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
        .help("write `let name = …`; `late = side`, `split`, `partition`, `split_result`, `map_or_dead` and a `process` with sides give several")
}
