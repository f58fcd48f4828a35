//! Nothing is lost silently: every counter that the library keeps is documented, and some test reads it.

use super::source::Source;
use std::collections::BTreeMap;
use std::path::Path;

/// Counters of the library that the page does not name, or that no test reads.
pub fn unread(root: &Path, sources: &[Source]) -> Vec<String> {
    let page = std::fs::read_to_string(root.join("docs/operators.md")).expect("the table is there");
    let is_test = |source: &&Source| source.path.starts_with("tests/") || source.path.contains("/tests/");
    let tests: Vec<&str> = sources.iter().filter(is_test).map(|source| source.text.as_str()).collect();
    let mut found = Vec::new();
    for (name, place) in kept(sources) {
        if !page.contains(&format!("`{name}`")) {
            found.push(format!("{place}: docs/operators.md does not name the counter `{name}`"));
        }
        let read = [format!(".{name}\""), format!("\"{name}\"")];
        if !tests.iter().any(|text| read.iter().any(|read| text.contains(read))) {
            found.push(format!("{place}: no test reads the counter `{name}`"));
        }
    }
    found
}

/// The names of the counters that flow-core keeps, each with a file that does.
fn kept(sources: &[Source]) -> BTreeMap<&str, &str> {
    let library = sources.iter().filter(|source| source.path.starts_with("flow-core/src/"));
    library.flat_map(|source| counters(&source.text).map(|name| (name, source.path.as_str()))).collect()
}

/// `late` of `cx.metrics().counter(&format!("{}.late", id))`, `bytes` of `cx.metrics().counter("bytes")`. What a report is asked for in
/// an example is none: those lines are comments.
fn counters(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let calls = lines
        .filter_map(|line| line.split_once("metrics().counter(").or(line.split_once("metrics.counter(")));
    let calls = calls.map(|(_, call)| call);
    calls.filter_map(|call| call.split('"').nth(1)).filter_map(|name| name.rsplit('.').next())
}

#[test]
fn counters_are_found() {
    let text = "cx.metrics().counter(&format!(\"{}.late\", id));\n/// report.counter(\"x\");\nself.metrics.counter(\"checkpoints.bytes\")";
    assert_eq!(counters(text).collect::<Vec<_>>(), ["late", "bytes"]);
}
