//! A case of a stream as one of a batch: the same rows, at parallelism 1 in the same order, but of each key and window the last one only, where a row is a new version of the one before.

use crate::case::{Arrival, Case};

/// Steps whose rows depend on when the watermark comes, or on the clock.
const BY_WATERMARK: [&str; 7] = ["timers", "ttl", "disorder", "monotonic", "punctuated", "thirds", "beside"];
/// Rolling operators whose rows are each for itself.
const EACH: [&str; 4] = ["scan", "map_with_state", "dedup", "dedup_first"];

/// Runs the case as a batch in every way, where it can be one.
pub fn check(case: &Case) -> Result<(), String> {
    as_batch(case).map_or(Ok(()), |case| crate::each_way::check(&case))
}

/// The case as a batch: no element of it is late as a stream, and nothing of it depends on when a watermark comes.
pub fn as_batch(case: &Case) -> Option<Case> {
    let says = |word: &str| case.steps.iter().flatten().any(|w| w == word);
    let judged = case.inputs.iter().any(|input| is_behind(input)) || case.dropped + case.ahead > 0;
    let judged = judged || !case.late.is_empty();
    // Which of two inputs comes first is said by waits, of which there are none.
    let waits = |input: &Vec<Arrival>| input.iter().any(|a| matches!(a, Arrival::Rows(_) | Arrival::Seen(_)));
    let judged = judged || case.inputs.len() > 1 && case.inputs.iter().any(waits);
    let timely = judged || case.expired.is_some() || !case.fails.is_empty();
    // Sessions grow: their rows before the end have other bounds.
    let grows = ["session", "session_by"].iter().any(|step| case.has(step))
        && ["trigger", "lateness"].iter().any(|word| says(word));
    // A function of windows may give several rows of one, and knows of those before.
    let purges =
        says("purging") || says("clock") || (says("process") && (says("lateness") || says("trigger")));
    if timely || grows || purges || BY_WATERMARK.iter().any(|step| case.has(step)) {
        return None;
    }
    let mut batch = case.clone();
    for input in &mut batch.inputs {
        input.retain(|arrival| matches!(arrival, Arrival::Item(_)));
    }
    batch.rows = last_rows(case);
    Some(batch)
}

/// Whether an element comes behind a watermark of its input.
fn is_behind(input: &[Arrival]) -> bool {
    let mut watermark = i64::MIN;
    input.iter().any(|arrival| match arrival {
        Arrival::Watermark(w) => {
            watermark = watermark.max(*w);
            false
        }
        Arrival::Item(el) => el.time <= watermark,
        _ => false,
    })
}

/// The rows that count at the end.
fn last_rows(case: &Case) -> Vec<String> {
    let rolls = case.steps.iter().any(|step| step[0] == "rolling" && !EACH.contains(&step[1].as_str()));
    let updates = ["lateness", "trigger"].iter().any(|word| case.steps.iter().flatten().any(|w| w == word));
    if case.has("join") || !(rolls || updates || ["floats", "lists"].iter().any(|step| case.has(step))) {
        return case.rows.clone();
    }
    let mut last: Vec<(&str, &String)> = Vec::new();
    for row in &case.rows {
        // `[0,10) key/value @9`: all but the value.
        let of = &row[..row.find('/').or_else(|| row.find(' ')).unwrap_or(0)];
        match last.iter_mut().find(|(other, _)| *other == of) {
            // Keys come in the order of their first records, windows in that of their ends.
            Some(place) if !updates => place.1 = row,
            _ => {
                last.retain(|(other, _)| *other != of);
                last.push((of, row));
            }
        }
    }
    last.into_iter().map(|(_, row)| row.clone()).collect()
}
