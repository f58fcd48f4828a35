//! Durations.

use crate::diag::Message;

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

/// `period` is what the distance from one window to the next is called.
pub(crate) fn offset_too_large(offset: &str, period: &str, length: &str) -> Message {
    Message::new(format!("the offset `{offset}` is not smaller than the {period} `{length}`"))
        .help(format!("an offset shifts a window by less than its {period}, to either side"))
}

pub(crate) fn gaps(size: &str, slide: &str) -> Message {
    Message::new(format!("windows of `{size}`, one each `{slide}`, leave out what lies between them")).help(
        format!("if that is meant, write `sliding({size}, {slide}, gaps = true)`; the slide comes second"),
    )
}

pub(crate) fn too_many_windows(windows: i128, max: u64) -> Message {
    Message::new(format!(
        "each record would be in {windows} windows, and have as many results; {max} is the limit"
    ))
    .help("use a longer slide or a shorter size")
}

pub(crate) fn duration_in_plain_rust(literal: &str) -> Message {
    Message::new(format!("`{literal}` is a duration, which only stream statements know"))
        .help("write it where it is used, or `Millis::from(std::time::Duration::from_millis(…))` here")
}
