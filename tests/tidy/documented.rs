//! The macro's table of operators and `docs/operators.md` name the same ones.

use std::collections::BTreeSet;
use std::path::Path;

/// Names that one of the two has and the other has not.
pub fn differences(root: &Path) -> Vec<String> {
    let read = |path: &str| std::fs::read_to_string(root.join(path)).expect("the table is there");
    let (code, page) = (read("flow-macros/src/ops.rs"), read("docs/operators.md"));
    let in_code: BTreeSet<&str> = code.lines().filter_map(name_of_row).collect();
    let (operators, reserved) =
        page.split_once("## Reserved names").expect("the page ends with the reserved names");
    let documented: BTreeSet<&str> = quoted(operators).filter_map(called).collect();

    let missing = in_code.difference(&documented);
    let mut found: Vec<String> =
        missing.map(|name| format!("docs/operators.md has no row for `{name}`")).collect();
    let first_cells =
        operators.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('|').nth(1));
    let rows: BTreeSet<&str> = first_cells.flat_map(quoted).filter_map(called).collect();
    let elsewhere = sections_without_operators(operators);
    let unknown = rows.iter().filter(|name| !in_code.contains(*name) && !elsewhere.contains(*name));
    found.extend(unknown.map(|name| format!("flow-macros/src/ops.rs has no row for `{name}`")));
    let reserved_in_code =
        code.split_once(" RESERVED: ").map_or("", |(_, rest)| rest.split_once("];").map_or("", |it| it.0));
    let held: BTreeSet<&str> = reserved_in_code.split('"').skip(1).step_by(2).collect();
    let said: BTreeSet<&str> = quoted(reserved).collect();
    found
        .extend(held.symmetric_difference(&said).map(|name| format!("reserved in one table only: `{name}`")));
    found
}

/// What follows a heading of sources, windows or aggregates is no operator.
fn sections_without_operators(page: &str) -> BTreeSet<&str> {
    let sections = page.split("\n## ").filter(|section| {
        ["Sources", "Windows", "Aggregates", "How"].iter().any(|title| section.starts_with(title))
    });
    sections.flat_map(quoted).filter_map(called).collect()
}

fn name_of_row(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("row(\"")?.split('"').next()
}

/// What stands between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// `map` of `map(|t| u)`, `a` of `a`; nothing of a type.
fn called(text: &str) -> Option<&str> {
    let name = text.trim_start_matches('.').split(['(', ':']).next().unwrap_or_default();
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit());
    is_name.then_some(name)
}
