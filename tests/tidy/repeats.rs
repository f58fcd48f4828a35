//! Pasted code: the same run of lines twice.

use crate::source::Source;
use std::collections::HashMap;

/// A run this long that stands twice is called a repeat. Blank lines, comments and imports do not count.
const RUN_LINES: usize = 30;

/// Repeats that are better than what would avoid them: a path each, and why.
const KEPT: &[(&str, &str, &str)] = &[];

/// One complaint for each pair of places.
pub fn violations(sources: &[Source]) -> Vec<String> {
    let mut seen: HashMap<Vec<&str>, (usize, usize)> = HashMap::new();
    let lines: Vec<Vec<(usize, &str)>> = sources.iter().map(code_lines).collect();
    let mut found = Vec::new();
    for (file, lines) in lines.iter().enumerate() {
        let mut skip_to = 0;
        for (start, run) in lines.windows(RUN_LINES).enumerate() {
            let text: Vec<&str> = run.iter().map(|(_, line)| *line).collect();
            let (first_file, first_line) = *seen.entry(text).or_insert((file, run[0].0));
            let itself = (first_file, first_line) == (file, run[0].0);
            if itself || start < skip_to || kept(&sources[first_file], &sources[file]) {
                continue;
            }
            skip_to = start + RUN_LINES;
            let (first, second) = (&sources[first_file].path, &sources[file].path);
            found.push(format!("{second}:{} repeats {first}:{first_line}: share it", run[0].0));
        }
    }
    found
}

fn kept(first: &Source, second: &Source) -> bool {
    KEPT.iter()
        .any(|(a, b, _)| (*a == first.path && *b == second.path) || (*b == first.path && *a == second.path))
}

fn code_lines(source: &Source) -> Vec<(usize, &str)> {
    let numbered = source.text.lines().enumerate().map(|(number, line)| (number + 1, line.trim()));
    numbered
        .filter(|(_, line)| !line.is_empty() && !line.starts_with("//") && !line.starts_with("use "))
        .collect()
}

#[test]
fn a_pasted_run_is_found_once() {
    let body: String = (0..RUN_LINES + 5).map(|n| format!("    call({n});\n")).collect();
    let file = |path: &str, text: String| Source::new(path.into(), text);
    let sources = [file("a.rs", body.clone()), file("b.rs", format!("fn other() {{}}\n{body}"))];
    assert_eq!(violations(&sources), ["b.rs:2 repeats a.rs:1: share it"]);
    assert!(violations(&sources[..1]).is_empty());
}
