//! The rooms of flow-core and which may use which: a room uses rooms of its own layer and of those above it in this table.

use crate::source::{Source, is_word, matching, words};

/// From low to high, in the order of `flow_core`'s crate documentation.
const LAYERS: &[&[&str]] = &[
    &["error", "time", "metrics", "short_string", "sorted", "spawn", "unpack"],
    &["batch"],
    &["channel"],
    &["state", "exchange", "checkpoint", "external"],
    &["stage"],
    &["aggregate", "join", "op", "process", "window"],
    &["source", "sink"],
    &["graph"],
    &["host", "job"],
    &["__rt", "prelude", "testing"],
];

fn layer(room: &str) -> Option<usize> {
    LAYERS.iter().position(|rooms| rooms.contains(&room))
}

/// What `source` does against the layers, if it is a file of flow-core.
pub fn violations(source: &Source) -> Vec<String> {
    let Some(inside) = source.path.strip_prefix("flow-core/src/") else { return Vec::new() };
    let room = inside.split(['/', '.']).next().unwrap_or_default();
    if room == "lib" {
        return Vec::new();
    }
    let Some(own) = layer(room) else {
        return vec![format!(
            "{}: room `{room}` has no layer: give it one in tests/tidy/layers.rs",
            source.path
        )];
    };
    let check = |(position, used): (usize, String)| match layer(&used) {
        Some(other) if other <= own => None,
        Some(other) => {
            let place = source.place(position);
            Some(format!(
                "{place}: `{room}` (layer {own}) uses `{used}` (layer {other}): move what they share down"
            ))
        }
        // A name that the crate root re-exports, or a macro: it comes from a room that is checked where it is named.
        None => None,
    };
    rooms_used(source, inside).into_iter().filter_map(check).collect()
}

/// The first name behind each path that begins at the crate root: `crate::a`, `crate::{a::b, c}`, enough `super::`s.
fn rooms_used(source: &Source, inside: &str) -> Vec<(usize, String)> {
    let code = &source.shipped;
    let depth = module_depth(inside);
    let mut used = Vec::new();
    let mut supers = 0;
    for (position, word) in words(code) {
        let end = position + word.chars().count();
        let goes_on = code[end..].starts_with(&[':', ':']);
        supers = if word == "super" { supers + 1 } else { 0 };
        if goes_on && (word == "crate" || (word == "super" && supers == depth)) {
            used.extend(heads(code, end + 2));
        }
    }
    used
}

/// The word at `at`, or in a group `{…}` the first word of each of its parts.
fn heads(code: &[char], at: usize) -> Vec<(usize, String)> {
    if code.get(at) != Some(&'{') {
        return word_at(code, at).into_iter().collect();
    }
    let (close, mut heads, mut start, mut depth) = (matching(code, at), Vec::new(), at + 1, 0);
    for position in at + 1..=close {
        match code[position] {
            '{' => depth += 1,
            '}' if position < close => depth -= 1,
            ',' | '}' if depth == 0 => {
                heads.extend(word_at(code, start));
                start = position + 1;
            }
            _ => {}
        }
    }
    heads
}

fn word_at(code: &[char], at: usize) -> Option<(usize, String)> {
    let start = at + code[at..].iter().position(|c| !c.is_whitespace())?;
    let word: String = code[start..].iter().take_while(|c| is_word(**c)).collect();
    (!word.is_empty()).then_some((start, word))
}

/// How many `super`s lead from the file's module to the crate root.
fn module_depth(inside: &str) -> usize {
    let parts = inside.trim_end_matches(".rs").split('/');
    parts.filter(|part| *part != "mod").count()
}

#[test]
fn paths_to_the_root_are_found() {
    let text = "use crate::{channel::{ring, spsc}, batch::Batch,\n job};\nfn f(e: crate::error::Error) -> super::super::host::H { super::spsc::g() }";
    let source = Source::new("flow-core/src/channel/ring.rs".into(), text.into());
    let rooms: Vec<String> =
        rooms_used(&source, "channel/ring.rs").into_iter().map(|(_, room)| room).collect();
    assert_eq!(rooms, ["channel", "batch", "job", "error", "host"]);
    let found = violations(&source);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("flow-core/src/channel/ring.rs:2: `channel` (layer 2) uses `job`"),
        "{found:?}"
    );
}
