//! Durations.

use crate::diag::Message;

pub(crate) fn duration_without_unit(digits: &str) -> Message {
    Message::new("a duration needs a unit")
        .help(format!("write `{digits}ms`, `{digits}s`, `{digits}min`, `{digits}h` or `{digits}d`"))
}

pub(crate) fn unknown_unit(unit: &str, digits: &str, parts: Option<String>) -> Message {
    let message = Message::new(format!("there is no unit `{unit}`"));
    if let Some(parts) = parts {
        return message.help(format!("write `{parts}`"));
    }
    let meant = match &*unit.to_lowercase() {
        "m" | "mn" | "min" | "mins" | "minute" | "minutes" => "min",
        "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "h" | "hr" | "hrs" | "hour" | "hours" => "h",
        "d" | "day" | "days" => "d",
        "ms" | "milli" | "millis" | "msec" | "msecs" | "millisecond" | "milliseconds" => "ms",
        "w" | "wk" | "week" | "weeks" => {
            let days = digits.parse::<u64>().ok().and_then(|weeks| weeks.checked_mul(7));
            return message
                .help(days.map_or("write days: `7d`".to_owned(), |days| format!("write `{days}d`")));
        }
        "us" | "µs" | "micros" | "microseconds" | "ns" | "nanos" | "nanoseconds" => {
            return message.help("the shortest is `1ms`: time is counted in milliseconds");
        }
        "mo" | "month" | "months" | "y" | "yr" | "year" | "years" => {
            return message.help("months and years differ in length: write days, `30d` or `365d`");
        }
        _ => return message.help("durations have `ms`, `s`, `min`, `h` or `d`"),
    };
    message.help(format!("write `{digits}{meant}`"))
}

pub(crate) fn fractional_duration(whole: Option<String>) -> Message {
    let message = Message::new("a duration is a whole number of its unit");
    match whole {
        Some(whole) => message.help(format!("write `{whole}`")),
        None => message.help("use a smaller unit: `90min` for one and a half hours; the shortest is `1ms`"),
    }
}

pub(crate) fn duration_too_long() -> Message {
    let days = i64::MAX / 86_400_000;
    Message::new("this duration is longer than 64 bits of milliseconds can say")
        .help(format!("the longest is `{days}d`"))
}

pub(crate) fn quoted_duration(text: &str) -> Message {
    Message::new("a duration is written without quotes").help(format!("write `{text}`"))
}

pub(crate) fn not_positive(what: &str, found: &str) -> Message {
    Message::new(format!("{what} has to be longer than zero, but this is `{found}`"))
}

pub(crate) fn negative(what: &str, found: &str) -> Message {
    Message::new(format!("{what} cannot be negative, but this is `{found}`"))
        .help("0 or more; `0ms` is allowed")
}

pub(crate) fn offset_without_unit(hours: &str) -> Message {
    Message::new("a duration needs a unit")
        .help(format!("write `{hours}h` for hours, `5h + 30min` where they are not whole"))
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

pub(crate) fn duration_in_plain_rust(literal: &str, millis: i64) -> Message {
    Message::new(format!("`{literal}` is a duration, which only stream statements know"))
        .help(format!("write it where it is used, or `Millis({millis})` here"))
}
