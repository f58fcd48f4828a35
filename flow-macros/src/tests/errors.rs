//! Every message of the macro with the smallest text that causes it: `errors.txt`.
//!
//! A block of that file is a text and what is reported about it: "error at `tokens`: message", and its help. Each
//! mistake gives one error, and what is right beside it none.

use super::reported;
use std::collections::HashSet;

const ROWS: &str = include_str!("errors.txt");

/// The blocks of the file: a text, and the lines expected of it.
fn rows() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let blocks =
        ROWS.split("\n\n").map(str::trim).filter(|block| !block.is_empty() && !block.starts_with("//"));
    blocks.map(|block| {
        let mut lines = block.lines();
        (lines.next().unwrap_or_default(), lines.collect())
    })
}

#[test]
fn every_row_reports_what_it_says() {
    let mut wrong = String::new();
    for (text, expected) in rows() {
        let (errors, warnings) = reported(text);
        let found: Vec<&str> = errors.iter().chain(&warnings).flat_map(|one| one.lines()).collect();
        if found != expected {
            wrong += &format!("{text}\n{}\n\n", found.join("\n"));
        }
    }
    assert!(wrong.is_empty(), "these texts report something else than errors.txt says:\n\n{wrong}");
}

#[test]
fn a_strict_pipeline_has_no_warnings() {
    let mut seen = 0;
    for (text, expected) in
        rows().filter(|(_, expected)| expected.iter().any(|line| line.starts_with("warning")))
    {
        let (errors, warnings) = reported(&format!("#[strict] {text}"));
        assert_eq!(errors.len() * 2, expected.len(), "{text}");
        assert!(warnings.is_empty(), "{text}");
        seen += 1;
    }
    assert!(seen > 2, "there are warnings in the file");
}

#[test]
fn there_are_many_different_messages() {
    let texts = rows().flat_map(|(_, expected)| expected).filter(|line| line.contains(" at `"));
    let messages: HashSet<&str> =
        texts.filter_map(|line| line.split_once("`: ")).map(|(_, message)| message).collect();
    assert!(messages.len() >= 60, "{} messages", messages.len());
}
